// Over 300 lines: what a test may not keep from its verdict, in one place.
import { AsyncLocalStorage } from 'node:async_hooks'
import { chai, type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest'
import { HarvestError, withFacts } from '../errors/index.ts'
import { siteIn, siteOf } from '../seam/caller.ts'
import { seamState, sharedOf } from '../seam/source.ts'
import { watchBeginOf } from './test-time.ts'
import { tellVitest } from './unheard.ts'

/** What a test started and has to await. */
interface Work {
  readonly call: string
  readonly from: Error
  promise?: Promise<unknown>
}

/** Why a work failed. Whoever catches that may keep it from the test. */
interface Failure {
  readonly error: unknown
  readonly call: string
  /** The test said itself that it has to be. */
  isExpected: boolean
}

/** One attempt of a test, with its hooks. */
interface Attempt {
  readonly test: RunnerTestCase
  /** How many retries came before it. */
  readonly retries: number
  readonly works: Set<Work>
  readonly failures: Failure[]
  /** Failures that nothing threw: the test was to look at them, so they count where it failed. */
  readonly collected: Failure[]
  isOver: boolean
}

interface State {
  readonly attempts: AsyncLocalStorage<Attempt>
  /** All attempts of each test of this run, the first one first. */
  readonly byTest: WeakMap<RunnerTestCase, Attempt[]>
  /** Begun outside of any attempt: in `beforeAll`, while a file is loaded, or by a test that is over. */
  readonly loose: Set<Work>
  /** Of those, and of the file that is run. */
  looseFailures: { readonly file: string | undefined; readonly failures: Failure[] } | undefined
  readonly watched: WeakSet<RunnerTestFile>
  /** The files that are over, of each run of this worker. */
  readonly over: WeakMap<object, Set<string>>
  /** Of each copy of `expect`. */
  readonly observed: WeakSet<object>
}

/**
 * Does `work`, and turns the test red that ends before it does, or that passes although it failed: its result would go unseen.
 * What no running test began turns its file red.
 *
 * @param call - for people: `replay()`
 * @param isVerdict - an error of it says what is wrong with the agent
 */
export function untilAwaited<T>(call: string, work: () => Promise<T>, isVerdict = false): Promise<T> {
  const { attempts, loose } = state()
  const attempt = attempts.getStore()
  const one: Work = { call, from: new Error('site') }
  const isLoose = attempt === undefined || attempt.isOver
  const works = isLoose ? loose : attempt.works
  const failures = isLoose ? looseFailuresHere() : attempt.failures
  const isNoted = isVerdict && !(isLoose && TestRunner.getCurrentTest<RunnerTestCase | undefined>()?.fails)
  // Where this module was loaded for an earlier file, no hook watches this one.
  if (works === loose) watchFileOf(TestRunner.getCurrentTest<RunnerTestCase | undefined>())
  works.add(one)
  one.promise = (async () => {
    try {
      return await work()
    } catch (error) {
      if (isNoted) failures.push({ error, call, isExpected: false })
      throw error
    } finally {
      works.delete(one)
    }
  })()
  // No hook of its file looks any more.
  if (isFileOver(attempt)) tellVitest(notAwaited(new Set([one]), 'test file'), 'Unhandled Rejection')
  return one.promise as Promise<T>
}

/** Notes a failure that a replay hands to its test instead of throwing it. */
export function noteCollected(call: string, error: unknown): void {
  state().attempts.getStore()?.collected.push({ error, call, isExpected: false })
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
  collector.on('aroundAll', async (runSuite, ...[suite]) => {
    await runSuite()
    // What the last test left for the next turn of the event loop begins now.
    await new Promise<void>((resolve) => seamState().natives.setImmediate(resolve))
    endFile()
    requireNoneLoose(suite.file)
  })
}

/**
 * Notes the failures that a test says have to be: by `expect(…).rejects`, or by what it expects of the error, its message or
 * its code. All else that catches them keeps them from the test.
 */
export function watchExpectations(): void {
  const { observed } = state()
  chai.use(({ Assertion: { prototype } }, { flag, overwriteMethod, overwriteProperty }) => {
    if (observed.has(prototype)) return
    observed.add(prototype)
    // Vitest calls it for each `expect()`.
    overwriteMethod(prototype, 'withTest', (withTest: (...args: unknown[]) => unknown) => {
      return function (this: Chai.AssertionStatic, ...args: unknown[]) {
        expectFailure((error) => isAbout(flag(this, 'object'), error))
        return withTest.apply(this, args)
      }
    })
    overwriteProperty(prototype, 'rejects', (rejects: () => unknown) => {
      return function (this: Chai.AssertionStatic) {
        const given: unknown = flag(this, 'object')
        const promise: unknown = typeof given === 'function' ? given() : given
        flag(this, 'object', promise)
        Promise.resolve(promise).catch((thrown: unknown) => expectFailure((error) => error === thrown))
        return rejects.call(this)
      }
    })
  })
}

/** Of the test that runs this code, and of what its file did before it. */
function expectFailure(isMeant: (error: unknown) => boolean): void {
  const { attempts } = state()
  for (const one of [...(attempts.getStore()?.failures ?? []), ...looseFailuresHere()])
    if (isMeant(one.error)) one.isExpected = true
}

/** Whether a value is an error, its message or its code. */
function isAbout(value: unknown, error: unknown): boolean {
  if (value === error) return true
  if (typeof value !== 'string' || !(error instanceof Error)) return false
  return value === error.message || (error instanceof HarvestError && value === error.code)
}

async function aroundTest(runTest: () => Promise<void>, { task }: { readonly task: RunnerTestCase }): Promise<void> {
  watchBeginOf(task)
  const { attempts, byTest } = state()
  const retries = task.result?.retryCount ?? 0
  const attempt: Attempt = { test: task, retries, works: new Set(), failures: [], collected: [], isOver: false }
  const all = [...(byTest.get(task) ?? []), attempt]
  byTest.set(task, all)
  await attempts.run(attempt, runTest)
  attempt.isOver = true
  requireReached(attempt)
  await requireNoneRetried(all)
  const error = notAwaited(attempt.works, 'test')
  if (error === undefined) return
  // An error would be what such a test waits for.
  if (task.fails === true) tellVitest(error, 'Unhandled Rejection')
  // One that has failed or timed out may have awaited it.
  else if (task.result?.state === 'pass') throw error
}

/** A test that passes, or is skipped, although a replay of it failed would hide that. */
function requireReached({ test, failures }: Attempt): void {
  const hidden = failures.find(({ isExpected }) => !isExpected)
  if (hidden === undefined || isRed(test)) return
  keepFromSkipping(test)
  throw caught(hidden, 'test')
}

/** So would a retry that passes after a replay of an earlier attempt failed. */
async function requireNoneRetried(all: readonly Attempt[]): Promise<void> {
  const test = all[0]?.test
  if (test === undefined || isRed(test)) return
  // An attempt that nothing retried is a repetition, and stands for itself.
  const retried = all.map((one, at) => ({ one, isRetried: (all[at + 1]?.retries ?? 0) > one.retries }))
  for (const [at, { one, isRetried }] of retried.entries()) {
    if (!isRetried) continue
    // That attempt failed before these said what they found.
    await Promise.allSettled([...one.works].flatMap(({ promise }) => promise ?? []))
    const hidden = [...one.failures, ...one.collected].find(({ isExpected }) => !isExpected)
    if (hidden === undefined) continue
    keepFromSkipping(test)
    throw retriedAway(hidden, at + 1, all.length)
  }
}

/** What a test waits for that is to fail is an error: without one it is red by itself. */
function isRed({ result, fails }: RunnerTestCase): boolean {
  return result === undefined || result.state === 'fail' || fails === true
}

/** Vitest would skip it all the same. Not in its types. */
function keepFromSkipping({ result }: RunnerTestCase): void {
  delete (result as { pending?: boolean }).pending
}

function requireLooseReached(file: RunnerTestFile): void {
  const hidden = looseFailuresHere().find((one) => !one.isExpected && !isReported(file, one.error))
  state().looseFailures = undefined
  if (hidden !== undefined) throw caught(hidden, 'test file')
}

function isReported(task: RunnerTask, error: unknown): boolean {
  const message = error instanceof Error ? error.message : String(error)
  if (task.result?.errors?.some((one) => one.message === message)) return true
  return 'tasks' in task && task.tasks.some((one) => isReported(one, error))
}

/** The error that was kept from the test. */
function caught({ error, call }: Failure, owner: string): unknown {
  if (!(error instanceof HarvestError)) return error
  const told = withFacts(error, {
    fix: [
      `the ${owner} caught this error: let it through, or say that it has to be: await expect(${call.replace('()', '(…)')}).rejects.toThrow(…)`,
      "to look at the verdict instead: replay(tape, agent, { problems: 'collect' })",
      ...(error.facts.fix ?? []),
    ],
  })
  const frames = (error.stack ?? '').split('\n').filter((line) => siteOf(line) !== undefined)
  told.stack = [`${told.name}: ${told.message}`, ...frames].join('\n')
  return told
}

/** The error of an attempt that was retried. */
function retriedAway({ error }: Failure, attempt: number, now: number): HarvestError {
  const told = HarvestError.is(error)
    ? error
    : new HarvestError(
        'HARVEST_OUTCOME_KIND',
        {
          what: 'The agent threw, but not in each attempt',
          fix: ['to see what it threw: npx vitest run --retry=0, several times'],
        },
        { cause: error },
      )
  return withFacts(told, {
    where: { attempt: `${attempt} of this test; attempt ${now} was not red`, ...told.facts.where },
    why: 'A retry does not turn a replay green: from one tape, the agent has to do the same each time.',
    fix: [
      'make the agent keep nothing from run to run, such as a variable of a module or a file',
      ...(HarvestError.is(error) ? ['to see each attempt: npx vitest run --retry=0, several times'] : []),
      ...(told.facts.fix ?? []),
    ],
  })
}

/** A file that was not collected left others. */
function looseFailuresHere(): Failure[] {
  const file = runningFile()
  const one = state()
  if (one.looseFailures?.file !== file) one.looseFailures = undefined
  return (one.looseFailures ??= { file, failures: [] }).failures
}

function runningFile(): string | undefined {
  return worker()?.filepath
}

/** Not in Vitest's types. Another one in each run. */
function worker(): { readonly filepath?: string } | undefined {
  return (globalThis as { readonly __vitest_worker__?: { readonly filepath?: string } }).__vitest_worker__
}

function endFile(): void {
  const { over } = state()
  const run = worker()
  if (run?.filepath === undefined) return
  over.set(run, (over.get(run) ?? new Set()).add(run.filepath))
}

/** Whether the file of the test that is running, or of the one that began this, is over. */
function isFileOver(attempt: Attempt | undefined): boolean {
  const run = worker()
  const file = attempt?.test.file.filepath ?? run?.filepath
  return run !== undefined && file !== undefined && state().over.get(run)?.has(file) === true
}

function watchFileOf(test: RunnerTestCase | undefined): void {
  const { watched } = state()
  if (test === undefined || watched.has(test.file)) return
  watched.add(test.file)
  const hooks = TestRunner.getSuiteHooks(test.file)
  hooks.aroundEach.unshift(aroundTest)
  hooks.afterAll.unshift(() => requireNoneLoose(test.file))
}

function requireNoneLoose(file: RunnerTestFile): void {
  requireLooseReached(file)
  const error = notAwaited(state().loose, 'test file')
  if (error !== undefined) throw error
}

function notAwaited(works: Set<Work>, owner: string): HarvestError | undefined {
  const [first, ...others] = works
  if (first === undefined) return undefined
  if (works === state().loose) works.clear()
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
    byTest: new WeakMap(),
    loose: new Set(),
    looseFailures: undefined,
    watched: new WeakSet(),
    over: new WeakMap(),
    observed: new WeakSet(),
  }))
}
