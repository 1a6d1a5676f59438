import type { Mocked } from '../seam/intercept/index.ts'
import { seamState } from '../seam/source.ts'

/** Finds the place in a set-up file at which something was replaced: `setup.ts:3`. */
type FindMock = (what: Mocked) => string | undefined

const key = 'replay/find-mock'

/** Has messages name the place a mock was put up at; who runs the tests knows their set-up files. */
export function nameMocksBy(find: FindMock): void {
  seamState().shared.set(key, find)
}

export function placeOfMock(what: Mocked): string | undefined {
  const find = seamState().shared.get(key) as FindMock | undefined
  return find?.(what)
}

/** How many timers wait on the clock of fake timers, which does not move in a replay; 0 without fake timers. */
export function timersOnFakeClock(): number {
  const { clock } = globalThis.setTimeout as { readonly clock?: { readonly countTimers?: () => number } }
  return clock?.countTimers?.() ?? 0
}
