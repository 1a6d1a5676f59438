import { type RunnerTestCase, TestRunner } from 'vitest'
import { uptime } from '../playback/scheduler.ts'
import { sharedOf } from '../seam/source.ts'

/** Of what is left of a time limit, this much is for saying what came of it. */
const share = 0.1

/**
 * Real ms after which a replay that begins now has to be over, so that its test can still say why it is not: Vitest's own time-out
 * would only say that there was one. `undefined` where there is no limit.
 *
 * @param test - absent: a hook runs
 */
export function timeOfReplay(test: RunnerTestCase | undefined): number | undefined {
  const begunAt = test?.result?.state === 'run' ? state().begunAt.get(test) : undefined
  const limitMs = begunAt === undefined ? hookTimeout() : test?.timeout
  if (limitMs === undefined || !(limitMs > 0) || limitMs > longest) return undefined
  const left = limitMs - (begunAt === undefined ? 0 : uptime() - begunAt)
  return Math.max(1, left * (1 - share))
}

/** The most that Node's timers can wait. */
const longest = 2 ** 31 - 1

/** Notes when the function of a test begins: the hooks before and after it have a time limit of their own. */
export function watchBeginOf(test: RunnerTestCase): void {
  const { watched, begunAt } = state()
  begunAt.delete(test)
  const suite = test.suite ?? test.file
  if (watched.has(suite)) return
  watched.add(suite)
  // The last of those that run before the function.
  TestRunner.getSuiteHooks(suite).beforeEach.push(({ task }) => void state().begunAt.set(task, uptime()))
}

function hookTimeout(): number | undefined {
  const { config } = (globalThis as { readonly __vitest_worker__?: Worker }).__vitest_worker__ ?? {}
  return config?.hookTimeout
}

interface Worker {
  readonly config?: { readonly hookTimeout?: number }
}

interface State {
  readonly watched: WeakSet<object>
  readonly begunAt: WeakMap<object, number>
}

/** One per thread, however often this module is loaded. */
function state(): State {
  return sharedOf('vitest/test-time', () => ({ watched: new WeakSet(), begunAt: new WeakMap() }))
}
