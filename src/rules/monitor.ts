import { holdsAt, type Values } from './atoms.ts'
import { isWithin } from './columns.ts'
import type { Core } from './lower.ts'
import type { RunPosition } from './position.ts'
import type { Window } from './types.ts'

/**
 * One formula of the past over a run that goes on: each position takes time in proportion to the parts of the formula,
 * no matter what came before.
 */
export class Monitor {
  readonly #step: (position: RunPosition) => boolean

  constructor(core: Core, values: Values) {
    this.#step = stepOf(core, values)
  }

  /** Takes the next position; whether the formula holds there. */
  step(position: RunPosition): boolean {
    return this.#step(position)
  }
}

function stepOf(core: Core, values: Values): (position: RunPosition) => boolean {
  switch (core.op) {
    case 'atom':
      return (position) => holdsAt(core.atom, position, values)
    case 'not': {
      const of = stepOf(core.of, values)
      return (position) => !of(position)
    }
    case 'and':
    case 'or': {
      const [left, right] = [stepOf(core.left, values), stepOf(core.right, values)]
      const needed = core.op === 'and' ? 2 : 1
      // Both see every position: they remember.
      return (position) => Number(left(position)) + Number(right(position)) >= needed
    }
    case 'previous': {
      const of = stepOf(core.of, values)
      let before = false
      return (position) => {
        const now = before
        before = of(position)
        return now
      }
    }
    case 'once': {
      const of = stepOf(core.of, values)
      let latest: RunPosition | undefined
      return (position) => {
        if (of(position)) latest = position
        return latest !== undefined && isWithin(core.within, latest, position)
      }
    }
    case 'since': {
      const [left, right] = [stepOf(core.left, values), stepOf(core.right, values)]
      let latest: RunPosition | undefined
      return (position) => {
        const [isLeft, isRight] = [left(position), right(position)]
        if (isRight) latest = position
        else if (!isLeft) latest = undefined
        return latest !== undefined && isWithin(core.within, latest, position)
      }
    }
    case 'count':
      return counting(stepOf(core.of, values), core.count, core.within)
    case 'next':
    case 'eventually':
    case 'always':
    case 'until':
      throw new TypeError(`a monitor sees the past alone, and ${core.op} looks ahead`)
  }
}

/** Keeps the last hits, as many as are counted. */
function counting(of: (position: RunPosition) => boolean, count: number, within: Window | undefined) {
  const hits: RunPosition[] = []
  return (position: RunPosition): boolean => {
    if (of(position)) hits.push(position)
    if (hits.length > count) hits.shift()
    const oldest = hits[hits.length - count]
    return count === 0 || (oldest !== undefined && isWithin(within, oldest, position))
  }
}
