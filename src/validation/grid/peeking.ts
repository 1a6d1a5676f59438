import { confidenceSequence, wilson } from '../../stats/index.ts'
import { randomOf } from '../structural/random.ts'
import type { Count } from './tally.ts'

/** Sequences of draws with a known chance, looked at after every draw. */
export interface PeekingTally {
  /** Such as `p=.2, 400 looks`. */
  readonly id: string
  readonly chance: number
  /** Sequences whose confidence sequence missed the truth at some time. */
  readonly everMissed: Count
  /** The same of the Wilson interval, which promises nothing of the kind. */
  readonly everMissedByWilson: Count
}

const chances = [0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.8, 0.95] as const
const looks = 400

/** Draws sequences and looks at both intervals after every draw. */
export function measurePeeking(sequences: number, seed: number): readonly PeekingTally[] {
  const holds = membership()
  return chances.map((chance) => {
    let missed = 0
    let missedByWilson = 0
    for (let number = 0; number < sequences; number++) {
      const random = randomOf(seed, 'peeking', chance * 1000, number)
      let hits = 0
      let isMissed = false
      let isMissedByWilson = false
      for (let runs = 1; runs <= looks && !(isMissed && isMissedByWilson); runs++) {
        if (random() < chance) hits++
        const { byWilson, bySequence } = holds(chance, hits, runs)
        isMissed ||= !bySequence
        isMissedByWilson ||= !byWilson
      }
      missed += isMissed ? 1 : 0
      missedByWilson += isMissedByWilson ? 1 : 0
    }
    return {
      id: `p=${chance}, ${looks} looks`,
      chance,
      everMissed: [missed, sequences],
      everMissedByWilson: [missedByWilson, sequences],
    }
  })
}

/** The same counts come again and again; each interval is made once. */
function membership(): (chance: number, hits: number, runs: number) => { byWilson: boolean; bySequence: boolean } {
  const known = new Map<number, { readonly byWilson: boolean; readonly bySequence: boolean }>()
  let last = Number.NaN
  return (chance, hits, runs) => {
    if (chance !== last) known.clear()
    last = chance
    const key = runs * (looks + 1) + hits
    const found = known.get(key)
    if (found !== undefined) return found
    const isIn = ({ low, high }: { readonly low: number; readonly high: number }): boolean =>
      chance >= low && chance <= high
    const made = { byWilson: isIn(wilson(hits, runs)), bySequence: isIn(confidenceSequence(hits, runs)) }
    known.set(key, made)
    return made
  }
}
