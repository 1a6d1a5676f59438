import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { seamState } from '../seam/index.ts'

/**
 * Runs `work` and returns what it left unhandled with its result: rejections of promises that nobody awaited.
 *
 * Vitest reports them too, but blames the test that happens to run last. In the event, the async context is still
 * that of whoever made the promise.
 */
export async function withStrays<T>(
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly strays: readonly unknown[] }> {
  const strays: unknown[] = []
  const result = await contexts().run(strays, work)
  // Node emits the event once the microtasks of a turn are done.
  await setImmediate()
  return { result, strays }
}

const key = 'vitest/stray-rejections'

/** One listener per process, however often this module is loaded. */
function contexts(): AsyncLocalStorage<unknown[]> {
  const { shared } = seamState()
  const existing = shared.get(key)
  if (existing instanceof AsyncLocalStorage) return existing
  const created = new AsyncLocalStorage<unknown[]>()
  shared.set(key, created)
  process.on('unhandledRejection', (reason) => created.getStore()?.push(reason))
  return created
}
