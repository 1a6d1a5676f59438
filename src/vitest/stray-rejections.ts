import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Stray } from '../playback/problems.ts'
import { tellVitest } from './unheard.ts'
import { sharedOf } from '../seam/source.ts'

/** Turns of the event loop in which what was started last may still fail. */
const lastTurns = 4

/**
 * Runs `work` and returns what it left unhandled with its result: rejections of promises that were not awaited, and what
 * was thrown in a callback.
 *
 * Vitest reports them too, but blames the test that happens to run last. In the event, the async context is still
 * that of whoever made the promise.
 */
export async function withStrays<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly strays: readonly Stray[] }> {
  const strays: Stray[] = []
  const result = await contexts().run(strays, work)
  // Node emits the event once the microtasks of a turn are done.
  for (let turn = 0; turn < lastTurns; turn++) await setImmediate()
  return { result, strays }
}

/** One listener per process, however often this module is loaded. */
function contexts(): AsyncLocalStorage<Stray[]> {
  return sharedOf('vitest/stray-rejections', () => {
    const created = new AsyncLocalStorage<Stray[]>()
    process.on('unhandledRejection', (error) => {
      const strays = created.getStore()
      if (strays === undefined) tellVitest(error, 'Unhandled Rejection')
      else strays.push({ kind: 'rejected', error })
    })
    process.on('uncaughtException', (error) => {
      const strays = created.getStore()
      if (strays === undefined) tellVitest(error, 'Uncaught Exception')
      else strays.push({ kind: 'threw', error })
    })
    return created
  })
}
