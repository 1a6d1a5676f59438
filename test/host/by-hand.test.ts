import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, type InlineProject, type Lane, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, type ReportedTest, withJson } from './reports.ts'

const repository = path.resolve(import.meta.dirname, '../..')

const handWritten = `import { record, replay } from 'vitest-harvest/vitest'
import { tool } from 'vitest-harvest/record'
import { describe, expect, it } from 'vitest'
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

describe.each<Lane>([5, 4])('tests by hand under Vitest %i', (lane) => {
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
    const others = ['collected', 'forgets where it fails', 'records', 'replays', 'sees nothing of it']
    expect(passed.sort()).toEqual([...awaiting, ...beside, ...others])
  })

  it('are red where they end before a replay or a recording does, with the line that began it', () => {
    const forgot = ['', ' what swallows', ' its own function', ' each time'].map((what) => `forgets${what}`)
    for (const name of [...forgot, 'beside others forgets'])
      expect(message(name)).toMatch(
        /The test ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets\.test\.ts:\d+:\d+\n[^]*await replay\(…\)[^]*HARVEST_TEST_OVER/,
      )
    expect(message('forgets a recording')).toContain('The test ended before its record() did')
    // Said beside the tests: an error is what this one waits for.
    expect(output).toMatch(/Vitest caught 1 unhandled error[^]*The test ended before its replay\(\) did/)
    expect(output).toMatch(
      /The test file ended before its replay\(\) did\n\n {2}at {2}src\/hand-forgets-in-a-hook\.test\.ts:4:/,
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

  it('record into the inbox, and never in CI', async () => {
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
