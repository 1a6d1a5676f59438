import { holdsAt, type Values } from './atoms.ts'
import type { Core } from './lower.ts'
import type { RunPosition } from './position.ts'
import type { Window } from './types.ts'

/**
 * At which positions of a finished run a formula holds: 1 or 0 for each. Every part is gone through once, past
 * operators forward and future ones backward, so it takes time in proportion to positions times parts.
 *
 * @see K. Havelund, G. Roşu, Synthesizing monitors for safety properties (TACAS 2002), for the past
 */
export function columnOf(core: Core, run: readonly RunPosition[], values: Values): Uint8Array {
  const column = new Uint8Array(run.length)
  const forward = (at: (index: number) => boolean): Uint8Array => {
    for (let index = 0; index < run.length; index++) column[index] = at(index) ? 1 : 0
    return column
  }
  const backward = (at: (index: number) => boolean): Uint8Array => {
    for (let index = run.length - 1; index >= 0; index--) column[index] = at(index) ? 1 : 0
    return column
  }
  switch (core.op) {
    case 'atom':
      return forward((index) => holdsAt(core.atom, run[index]!, values))
    case 'not': {
      const of = columnOf(core.of, run, values)
      return forward((index) => of[index] === 0)
    }
    case 'and':
    case 'or': {
      const [left, right] = [columnOf(core.left, run, values), columnOf(core.right, run, values)]
      const needed = core.op === 'and' ? 2 : 1
      return forward((index) => left[index]! + right[index]! >= needed)
    }
    case 'previous': {
      const of = columnOf(core.of, run, values)
      return forward((index) => of[index - 1] === 1)
    }
    case 'next': {
      const of = columnOf(core.of, run, values)
      return forward((index) => of[index + 1] === 1)
    }
    case 'always': {
      const of = columnOf(core.of, run, values)
      let always = true
      return backward((index) => (always &&= of[index] === 1))
    }
    case 'once':
    case 'eventually': {
      const of = columnOf(core.of, run, values)
      const order = core.op === 'once' ? forward : backward
      // The nearest one: when it is too far away, all are.
      let nearest: RunPosition | undefined
      return order((index) => {
        if (of[index] === 1) nearest = run[index]!
        return nearest !== undefined && isWithin(core.within, nearest, run[index]!)
      })
    }
    case 'since':
    case 'until': {
      const [left, right] = [columnOf(core.left, run, values), columnOf(core.right, run, values)]
      const order = core.op === 'since' ? forward : backward
      let nearest: RunPosition | undefined
      return order((index) => {
        if (right[index] === 1) nearest = run[index]!
        else if (left[index] === 0) nearest = undefined
        return nearest !== undefined && isWithin(core.within, nearest, run[index]!)
      })
    }
    case 'count': {
      const of = columnOf(core.of, run, values)
      const hits: RunPosition[] = []
      let first = 0
      return forward((index) => {
        if (of[index] === 1) hits.push(run[index]!)
        while (first < hits.length && !isWithin(core.within, hits[first]!, run[index]!)) first++
        return hits.length - first >= core.count
      })
    }
  }
}

/** Whether two positions are no further apart than a window says; in either order. */
export function isWithin(within: Window | undefined, one: RunPosition, other: RunPosition): boolean {
  if (within === undefined) return true
  if ('steps' in within) return Math.abs(one.issued - other.issued) <= within.steps
  return Math.abs(one.atMs - other.atMs) <= within.ms
}
