import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, type ReportedTest, withJson } from './reports.ts'

const repository = path.resolve(import.meta.dirname, '../..')

const handWritten = `import { record, replay } from 'vitest-harvest/vitest'
import { tool } from 'vitest-harvest/record'
import { beforeEach, describe, expect, it } from 'vitest'
import { refundAgent } from './refund.ts'

class Card {
  #number = 4
  get last() { return this.#number }
}
const charge = tool('charge', async (_: unknown) => 'charged')

const tape = 'recordings/golden/one.tape.jsonl'
const agent = (input: unknown) => refundAgent(input as { order_id: string })

it('replays', async () => {
  const run = await replay(tape, agent)
  expect(run).toMatchTrace()
  expect(run).toMatchTrace(['lookup_order(*)', 'refund(amount, order_id)'])
  expect(run).toCall('refund', { amount: 25 })
  expect(run).not.toCall('escalate')
  expect(run).toReplayExactly()
  expect(run.outcome).toEqual({ status: 'returned', value: { refunded: 25 } })
})
it('other trace', async () => { expect(await replay(tape, agent)).toMatchTrace(['refund(*)', 'lookup_order(*)']) })
it('no call', async () => { expect(await replay(tape, agent)).toCall('escalate') })
it('other call', async () => { expect(await replay(tape, agent)).toCall('refund', { amount: 26 }) })
it('not exact', async () => {
  const run = await replay(tape, async (input) => (await agent(input), { refunded: 26 }), { outcome: 'ignore' })
  expect(run).toReplayExactly()
})
it('no run', async () => { expect(replay(tape, agent)).toCall('refund') })
it('diverges', async () => { await replay(tape, () => refundAgent({ order_id: 'B-2' })) })
it('collected', async () => {
  const run = await replay(tape, () => refundAgent({ order_id: 'B-2' }), { problems: 'collect' })
  expect(run.problems.map(({ code }) => code)).toEqual(['HARVEST_DIVERGENCE', 'HARVEST_DIVERGENCE'])
})
it('throws now', async () => { await replay(tape, async (input) => { await agent(input); throw new RangeError('now it throws') }) })
it('throws at once', async () => { await replay(tape, () => { throw new RangeError('it cannot begin') }) })
it('never ends', { timeout: 3_000 }, async () => {
  await replay(tape, async () => { await agent({ order_id: 'A-1' }); await new Promise(() => {}) })
})
it('never goes on', { timeout: 3_000 }, async () => { await replay(tape, () => new Promise(() => {})) })
describe('after slow hooks', () => {
  beforeEach(async () => { await new Promise((resolve) => setTimeout(resolve, 600)) })
  it('replays all the same', { timeout: 500 }, async () => { await replay(tape, agent) })
})
it('no tape', async () => { await replay('recordings/golden/two.tape.jsonl', agent) })
it('records', async () => {
  const paying = async (input: unknown) => (await charge({ card: new Card() }), agent(input))
  const { value, tape } = await record(() => paying({ order_id: 'C-3' }), { input: { order_id: 'C-3' } })
  const run = await replay(tape, paying)
  expect([value, run.outcome]).toEqual([{ refunded: 25 }, { status: 'returned', value: { refunded: 25 } }])
})
`

const forgetful = `import { record, replay } from 'vitest-harvest/vitest'
import { afterEach, aroundEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { refundAgent } from './refund.ts'

const start = () => replay('recordings/golden/one.tape.jsonl', (input) => refundAgent(input as { order_id: string }))
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
let early: Promise<unknown>
let late: Promise<unknown> | undefined
beforeAll(() => { early = start() })
afterEach(async () => { await late })
aroundEach(async (runTest) => { const around = start(); await runTest(); await around })

it('forgets', () => { start() })
it('forgets what swallows', () => { start().catch(() => undefined) })
it('forgets its own function', () => { void (async () => { expect(await start()).toReplayExactly() })() })
it('forgets each time', { retry: 1 }, () => { start() })
it.fails('forgets where it fails', () => { start(); expect(1).toBe(2) })
describe.concurrent('beside others', () => {
  it('forgets', async () => { await wait(5); start() })
  it('awaits', async () => { await start() })
  it('begins last', async () => { await wait(10) })
})
it('awaits what began before', async () => { await early })
it('awaits later', async () => { const run = start(); await wait(1); await run })
it('awaits after each', () => { late = start() })
it('awaits when it is finished', () => { const run = start(); onTestFinished(async () => { await run }) })
it('forgets a recording', () => { record(() => new Promise(() => {}), { agent: 'refund', dir: 'recordings/left' }) })
`

const forgetfulHook = `import { replay } from 'vitest-harvest/vitest'
import { beforeAll, it } from 'vitest'
import { refundAgent } from './refund.ts'
beforeAll(() => { replay('recordings/golden/one.tape.jsonl', () => refundAgent({ order_id: 'B-2' })) })
it('sees nothing of it', () => {})
`

const swallowing = `import { replay } from 'vitest-harvest/vitest'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { refundAgent } from './refund.ts'

const start = () => replay('recordings/golden/one.tape.jsonl', () => refundAgent({ order_id: 'B-2' }))
const other = () => replay('recordings/golden/one.tape.jsonl', async (input) => (await refundAgent(input as { order_id: string }), { refunded: 26 }))
const same = () => replay('recordings/golden/one.tape.jsonl', (input) => refundAgent(input as { order_id: string }))
const none = () => {}
const collected = () => replay('recordings/golden/one.tape.jsonl', () => refundAgent({ order_id: 'B-2' }), { problems: 'collect' })
const threw = () => replay('recordings/golden/one.tape.jsonl', async () => { throw new RangeError('out') })
const isFirst = ({ task }: { task: { result?: { retryCount?: number } } }) => task.result?.retryCount === 0

describe('red', () => {
  it('settles all', async () => { await Promise.allSettled([start(), same()]) })
  it('counts settled ones', async () => { expect(await Promise.allSettled([start(), same()])).toHaveLength(2) })
  it('catches', async () => { try { await start() } catch {} })
  it('catches by a promise', async () => { await other().catch(none) })
  it('catches and prints', async () => { await start().catch((error) => console.log(error.message)) })
  it('skips', async ({ skip }) => { try { await start() } catch { skip('no key') } })
  it('catches a missing tape', async () => { await replay('recordings/golden/two.tape.jsonl', none).catch(none) })
  it('catches what the agent throws', async () => { await replay('recordings/golden/one.tape.jsonl', async () => { throw new RangeError('out') }).catch(none) })
  it.concurrent('catches beside others', async () => { await other().catch(none) })
  it('expects one of two', async () => { await Promise.all([expect(start()).rejects.toThrow(), other().catch(none)]) })
  it('tries again', { retry: 1 }, async () => { await start().catch(none) })
  it('tries again until it is', { retry: 1 }, async (context) => { await (isFirst(context) ? start() : same()) })
  it('tries again until the agent returns', { retry: 2 }, async (context) => { await (isFirst(context) ? threw() : same()) })
  it('tries again until it skips', { retry: 1 }, async (context) => { if (isFirst(context)) await start(); else context.skip('later') })
  it('looks at it and tries again', { retry: 1 }, async (context) => {
    const run = await (isFirst(context) ? collected() : same())
    expect(run.verdict.verdict).toBe('same')
  })
  it('tries again before it has the verdict', { retry: 1 }, async (context) => {
    if (!isFirst(context)) return void (await same())
    void start().catch(none)
    throw new Error('flaky')
  })
  describe('in a hook', () => {
    beforeEach(async () => { await start().catch(none) })
    it('sees nothing of it', none)
  })
  const withRun = it.extend<{ run: unknown }>({ run: async ({}, use) => { await use(await start().catch(none)) } })
  withRun('has a fixture that catches', ({ run }) => { expect(run).toBeUndefined() })
})
describe('green', () => {
  it('expects it', async () => { await expect(start()).rejects.toThrow('HARVEST_DIVERGENCE') })
  it('expects it of a function', async () => { await expect(async () => { await other() }).rejects.toMatchObject({ code: 'HARVEST_OUTCOME' }) })
  it('expects its text', async () => { await expect(start()).rejects.toThrowErrorMatchingSnapshot() })
  it('expects the error', async () => { expect(await start().catch((error) => error)).toBeInstanceOf(Error) })
  it('expects its code', async () => { try { await other() } catch (error) { expect((error as { code: string }).code).toBe('HARVEST_OUTCOME') } })
  it('expects its fields', async () => { expect(await start().catch((error) => error)).toMatchObject({ code: 'HARVEST_DIVERGENCE' }) })
  it('settles all that are the same', async () => { await Promise.allSettled([same(), same()]) })
  it.fails('waits for it', async () => { await start() })
  it('tries again for a reason of its own', { retry: 1 }, async (context) => {
    await same()
    await expect(start()).rejects.toThrow()
    if (isFirst(context)) throw new Error('flaky')
  })
  it('looks at it each time', { repeats: 1 }, async () => { expect((await collected()).verdict.verdict).toBe('different') })
  it.fails('waits for it each time', { retry: 1 }, async () => { await start() })
})
`

const swallowingHook = (where: string) => `import { replay } from 'vitest-harvest/vitest'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { refundAgent } from './refund.ts'
const start = () => replay('recordings/golden/one.tape.jsonl', () => refundAgent({ order_id: 'B-2' }))
const next = setImmediate
${where}
`

describeLanes('tests by hand under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  let tests: ReadonlyMap<string, ReportedTest>
  let output = ''
  const message = (name: string) => tests.get(name)?.failureMessages.join('\n')
  beforeAll(async () => {
    home = openHome(lane)
    project = home.project('by-hand', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...golden('one', refundBaseline),
      'src/hand.test.ts': handWritten,
      'src/hand-forgets.test.ts': forgetful,
      'src/hand-forgets-in-a-hook.test.ts': forgetfulHook,
      'src/hand-forgets-next.test.ts': swallowingHook(
        'it("passes before its replay", () => { vi.useFakeTimers(); next(() => void start().catch(() => undefined)) })',
      ),
      'src/hand-forgets-later.test.ts': swallowingHook(
        'it("passes long before", () => { next(() => next(() => void start().catch(() => undefined))) })',
      ),
      'src/hand-swallows.test.ts': swallowing,
      'src/hand-swallows-in-a-hook.test.ts': swallowingHook(
        'beforeAll(async () => { await start().catch(() => undefined) }); it("passes in a hook", () => {})',
      ),
      'src/hand-swallows-at-the-top.test.ts': swallowingHook(
        'await start().catch(() => undefined); it("passes at the top", () => {})',
      ),
      'src/hand-expects-in-a-hook.test.ts': swallowingHook(
        `let failed: unknown
beforeAll(async () => { failed = await start().catch((error) => error) })
it('expects what a hook caught', () => { expect(failed).toBeInstanceOf(Error) })`,
      ),
      'types.ts': `import 'vitest-harvest/vitest'
import { expect } from 'vitest'
expect(1).toCall('refund', { amount: 25 })
expect(1).not.toMatchTrace(['refund(*)'], { trace: 'superset' })
expect(1).toReplayExactly()
// @ts-expect-error there is no such trace mode
expect(1).toMatchTrace([], { trace: 'loose' })
// @ts-expect-error a name is a text
expect(1).toCall(1)
// @ts-expect-error there is no such matcher
expect(1).toCallNobody('refund')
`,
      'config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ plugins: [harvest({ agents: { refund: './src/refund.ts' }, drift: { model: 'fail' } })] })
// @ts-expect-error there is no such option
harvest({ agents: {}, agent: 'refund' })
`,
    })
    output = (await project.run(['run', 'src/hand', ...withJson])).output
    tests = reported(project)
  })
  afterAll(() => home?.[Symbol.dispose]())

  it('replay, and say what the agent did', () => {
    const passed = [...tests].filter(([, { status }]) => status === 'passed').map(([name]) => name)
    const awaiting = ['after each', 'later', 'what began before', 'when it is finished'].map((when) => `awaits ${when}`)
    const beside = ['beside others awaits', 'beside others begins last']
    const others = [
      'after slow hooks replays all the same',
      'collected',
      'forgets where it fails',
      'records',
      'replays',
      'sees nothing of it',
    ]
    const expected = [
      'expects what a hook caught',
      'passes at the top',
      'passes before its replay',
      'passes in a hook',
      'passes long before',
    ]
    expect(passed.filter((name) => !/^(green|red) /.test(name)).sort()).toEqual(
      [...awaiting, ...beside, ...expected, ...others].sort(),
    )
  })

  it('are red where they keep from the test what a replay threw, unless they expect it', () => {
    const [green, red] = ['green ', 'red '].map((name) => [...tests].filter(([test]) => test.startsWith(name)))
    expect(green!.filter(([, { status }]) => status !== 'passed')).toEqual([])
    expect(red!.filter(([, { status }]) => status !== 'failed')).toEqual([])
    expect([green!.length, red!.length]).toEqual([11, 18])
    expect(message('red settles all')).toMatch(/HARVEST_DIVERGENCE/)
    expect(message('red settles all')).toContain('the test caught this error')
    expect(message('red catches what the agent throws')).toContain('RangeError: out')
    expect(message('red expects one of two')).toContain('HARVEST_OUTCOME')
    for (const file of ['in-a-hook', 'at-the-top'])
      expect(output).toMatch(new RegExp(`FAIL .*hand-swallows-${file}.test.ts[^]*the test file caught this error`))
    expect(output).not.toMatch(/FAIL .*hand-expects-in-a-hook/)
  })

  it('are red where a retry passes after an attempt whose replay did not, with the attempt', () => {
    const again = ['until it is', 'until the agent returns', 'until it skips', 'before it has the verdict']
    for (const name of [...again.map((when) => `tries again ${when}`), 'looks at it and tries again'])
      expect(message(`red ${name}`)).toMatch(
        /attempt +1 of this test; attempt \d was not red\n[^]*A retry does not turn/,
      )
    expect(message('red tries again until it is')).toContain('(HARVEST_DIVERGENCE)')
    expect(message('red tries again until the agent returns')).toContain('(HARVEST_OUTCOME_KIND)')
  })

  it('are red where they end before a replay or a recording does, with the line that began it', () => {
    const forgot = ['', ' what swallows', ' its own function', ' each time'].map((what) => `forgets${what}`)
    for (const name of [...forgot, 'beside others forgets'])
      expect(message(name)).toMatch(
        /The test ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets\.test\.ts:\d+:\d+\n[^]*await replay\(…\)[^]*HARVEST_TEST_OVER/,
      )
    expect(message('forgets a recording')).toContain('The test ended before its record() did')
    // Said beside the tests: an error is what this one waits for.
    expect(output).toMatch(/Vitest caught 2 unhandled errors[^]*The test ended before its replay\(\) did/)
    expect(output).toMatch(
      /The test file ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets-in-a-hook\.test\.ts:4:/,
    )
  })

  it('turn the run red that begin one when it is over', () => {
    expect(output).toMatch(
      /FAIL .*hand-forgets-next\.test\.ts[^]*The test file ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets-next\.test\.ts:/,
    )
    // Nothing of its file looks any more.
    expect(output).toMatch(
      /Vitest caught [^]*The test file ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets-later\.test\.ts:/,
    )
  })

  it('name what was not compared in a green run, with its step and path', () => {
    expect(output).toMatch(/^ +Contents +not compared: hidden part \(records step \d+: args\.card\)$/m)
  })

  it('fail with the difference', () => {
    expect(message('other trace')).toContain("The run's calls differ from the baseline")
    expect(message('no call')).toContain(
      'the agent never called escalate\n\nIts calls were\n  lookup_order(order_id: "A-1")\n  refund(',
    )
    expect(message('other call')).toContain('the agent never called refund with {"amount":26}')
    expect(message('not exact')).toContain('the replay of one is not exact:\n  the outcome is not the recorded one')
    expect(message('no run')).toContain('a promise: await replay() first')
    expect(message('no tape')).toContain('HARVEST_TAPE_MISSING')
  })

  it('cannot overlook a divergence, or an agent that throws', () => {
    expect(message('diverges')).toContain('HARVEST_DIVERGENCE')
    expect(message('throws now')).toContain('RangeError: now it throws')
    expect(message('throws at once')).toContain('RangeError: it cannot begin')
  })

  it('say what an agent that never ends waits for, before the time of the test is up', () => {
    const next = 'step 1, tool lookup_order'
    expect(message('never ends')).toMatch(
      /The agent never answered\n[^]*test\(name, run, 20_000\)\n\(HARVEST_AGENT_TIMEOUT\)/,
    )
    expect(message('never ends')).not.toContain(next)
    expect(message('never goes on')).toMatch(new RegExp(`next +${next}.*, which the agent has not asked`))
    for (const name of ['never ends', 'never goes on']) expect(message(name)).not.toContain('timed out')
  })

  it('record into the inbox, and never in CI', { tags: 'thorough' }, async () => {
    const inbox = () => readdirSync(path.join(project.folder, 'recordings/inbox'))
    expect(inbox()).toHaveLength(1)
    await project.run(['run', 'src/hand', '-t', 'records', ...withJson], { env: { CI: '1' } })
    tests = reported(project)
    expect(message('records')).toContain('HARVEST_RECORD_REFUSED')
    expect(inbox()).toHaveLength(1)
  })

  it.each(['true', 'false'])('know the types of the matchers and of the config, skipLibCheck %s', (skipLibCheck) => {
    const options = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,esnext.disposable',
      '--types',
      'node',
    ]
    const roots = [
      '--typeRoots',
      path.join(repository, 'node_modules/@types'),
      '--ignoreConfig',
      '--skipLibCheck',
      skipLibCheck,
    ]
    const compiler = path.join(repository, 'node_modules/.bin/tsc')
    const { stdout, status } = spawnSync(compiler, [...options, ...roots, 'types.ts', 'config.ts'], {
      cwd: project.folder,
      encoding: 'utf8',
    })
    expect([stdout, status]).toEqual(['', 0])
  })
})
