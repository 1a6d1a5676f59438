import { AsyncLocalStorage } from 'node:async_hooks'
import { type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest'
import { HarvestError } from '../errors/index.ts'
import { siteIn, siteOf } from '../seam/caller.ts'
import { sharedOf } from '../seam/source.ts'
import { tellVitest } from './unheard.ts'

/** What a test started and has to await. */
interface Work {
  readonly call: string
  readonly from: Error
  promise?: Promise<unknown>
}

/** One attempt of a test, with its hooks. */
interface Attempt {
  readonly test: RunnerTestCase
  readonly works: Set<Work>
  isOver: boolean
}

interface State {
  readonly attempts: AsyncLocalStorage<Attempt>
  /** Begun outside of any attempt: in `beforeAll`, while a file is loaded, or by a test that is over. */
  readonly loose: Set<Work>
  readonly watched: WeakSet<RunnerTestFile>
}

/**
 * Does `work`, and turns the test red that ends before it does: its result would go unseen. What no running test began
 * turns its file red.
 *
 * @param call - for people: `replay()`
 */
export function untilAwaited<T>(call: string, work: () => Promise<T>): Promise<T> {
  const { attempts, loose } = state()
  const attempt = attempts.getStore()
  const one: Work = { call, from: new Error('site') }
  const works = attempt === undefined || attempt.isOver ? loose : attempt.works
  // Where this module was loaded for an earlier file, no hook watches this one.
  if (works === loose) watchFileOf(TestRunner.getCurrentTest<RunnerTestCase | undefined>())
  works.add(one)
  one.promise = (async () => {
    try {
      return await work()
    } finally {
      works.delete(one)
    }
  })()
  return one.promise as Promise<T>
}

/** The test that runs this code. Vitest itself only knows which one began last. */
export function currentTest(): RunnerTestCase | undefined {
  return state().attempts.getStore()?.test ?? TestRunner.getCurrentTest<RunnerTestCase | undefined>()
}

/**
 * Watches the tests of the file that is being collected. Not by `aroundEach()`: that makes the automatic fixtures of each
 * test within the hook, and by its time limit.
 */
export function watchTests(): void {
  const collector = TestRunner.getCurrentSuite()
  collector.on('aroundEach', aroundTest)
  collector.on('aroundAll', async (runSuite) => {
    await runSuite()
    requireNoneLoose()
  })
}

async function aroundTest(runTest: () => Promise<void>, { task }: { readonly task: RunnerTestCase }): Promise<void> {
  const attempt: Attempt = { test: task, works: new Set(), isOver: false }
  await state().attempts.run(attempt, runTest)
  attempt.isOver = true
  const error = notAwaited(attempt.works, 'test')
  if (error === undefined) return
  // An error would be what such a test waits for.
  if (task.fails === true) tellVitest(error, 'Unhandled Rejection')
  // One that has failed or timed out may have awaited it.
  else if (task.result?.state === 'pass') throw error
}

function watchFileOf(test: RunnerTestCase | undefined): void {
  const { watched } = state()
  if (test === undefined || watched.has(test.file)) return
  watched.add(test.file)
  const hooks = TestRunner.getSuiteHooks(test.file)
  hooks.aroundEach.unshift(aroundTest)
  hooks.afterAll.unshift(() => requireNoneLoose())
}

function requireNoneLoose(): void {
  const error = notAwaited(state().loose, 'test file')
  if (error !== undefined) throw error
}

function notAwaited(works: Set<Work>, owner: string): HarvestError | undefined {
  const [first, ...others] = works
  if (first === undefined) return undefined
  works.clear()
  // The error below says it already.
  for (const { promise } of [first, ...others]) promise?.catch(() => undefined)
  const places = [first, ...others].map(({ from }) => siteIn(from)).filter((site) => site !== undefined)
  const error = new HarvestError('HARVEST_TEST_OVER', {
    what: `The ${owner} ended before its ${first.call} did`,
    where: { at: [...new Set(places)].join(', ') || 'unknown' },
    why: 'A promise that is not awaited cannot turn a test red.',
    fix: [
      `await it: await ${first.call.replace('()', '(…)')}`,
      'or, where it is in a function of yours: await that function too',
    ],
  })
  // Vitest shows the lines around the first, and names those that led to it.
  const frames = (first.from.stack ?? '').split('\n').filter((line) => siteOf(line) !== undefined)
  error.stack = [`${error.name}: ${error.message}`, ...frames].join('\n')
  return error
}

/** One per thread, however often this module is loaded. */
function state(): State {
  return sharedOf('vitest/under-way', () => ({
    attempts: new AsyncLocalStorage(),
    loose: new Set(),
    watched: new WeakSet(),
  }))
}
