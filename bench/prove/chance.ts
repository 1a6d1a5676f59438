import type { AskTally } from '../../src/blame/prove-gate.ts'
import type { Mind, Recorded } from './desk.ts'

/** How often a model is right about the changed question, and about the recorded one. */
export interface Rates {
  readonly changed: number
  readonly recorded: number
}

/** What the asks of one proof came to, as they were drawn. */
export interface Drawn {
  readonly changed: boolean[]
  readonly recorded: boolean[]
}

/**
 * A model that is right with these probabilities, drawn once an ask, and else declines; and what was drawn. Of two
 * neighbouring numbers one draws the complements of the other: the mean stays, and chance moves it less.
 */
export function rightWith({ system }: Pick<Recorded, 'system'>, rates: Rates, index: number) {
  const drawn: Drawn = { changed: [], recorded: [] }
  const even = randomFrom(Math.floor(index / 2))
  const random = index % 2 === 0 ? even : () => 1 - even()
  const mind = (): Mind => {
    let isRight: boolean | undefined
    return (asked, own) => {
      if (isRight === undefined) {
        const arm = asked.system === system ? 'recorded' : 'changed'
        isRight = random() < rates[arm]
        drawn[arm].push(isRight)
      }
      return isRight ? own(asked) : 'I cannot help with that.'
    }
  }
  return { mind, drawn }
}

/** What a judge that makes no mistake says of asks that were drawn. */
export function tallyOf(draws: readonly boolean[]): AskTally {
  const good = draws.filter(Boolean).length
  return { good, bad: draws.length - good, ungraded: 0 }
}

/** Numbers in (0, 1) that are the same on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    // Steele's and Vigna's mix of a Weyl sequence, as in splitmix32.
    state = (state + 0x9e3779b9) >>> 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (((mixed ^ (mixed >>> 15)) >>> 0) + 0.5) / 2 ** 32
  }
}
