import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'
import { reported, type ReportedTest, summaryOf, withJson } from './reports.ts'

/** Agents that each do one thing wrong, by the name of their export. */
const badAgents = `import { connect } from 'node:net'
import { tool } from 'vitest-harvest/record'
const lookupOrder = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => 'ok')

export async function throws({ order_id }: any) {
  await lookupOrder({ order_id })
  await refund({ order_id, amount: 25 })
  throw new TypeError('no such order\\n::error::forged by a tape')
}
export async function asksElse({ order_id }: any) {
  await lookupOrder({ order_id })
  await refund({ order_id: 'B-2', amount: 25 })
}
export async function leavesOut({ order_id }: any) {
  await lookupOrder({ order_id })
  return { refunded: 25 }
}
export async function hangs({ order_id }: any) {
  await lookupOrder({ order_id })
  await new Promise((resolve) => ((globalThis as any).wakeZombie = resolve))
  await refund({ order_id: 'ZOMBIE', amount: 1 })
  console.log('the zombie refunded')
}
export async function afterHang({ order_id }: any) {
  await lookupOrder({ order_id })
  const wake = (globalThis as any).wakeZombie
  wake?.()
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  await refund({ order_id, amount: 25 })
  return { woke: wake !== undefined }
}
export async function spins() {
  const end = Date.now() + 3_600_000
  while (Date.now() < end);
}
export async function rejects({ order_id }: any) {
  Promise.reject(new RangeError('nobody waits for this'))
  await lookupOrder({ order_id })
  await refund({ order_id, amount: 25 })
  return { refunded: 25 }
}
export async function escapes() {
  await new Promise((resolve) => connect(45999, '127.0.0.1').on('error', resolve).on('connect', resolve))
  return { refunded: 25 }
}
export const notAFunction = 1
`
// Agent and case → export.
const names = {
  throws: 'throws',
  'asks-else': 'asksElse',
  'leaves-out': 'leavesOut',
  hangs: 'hangs',
  'hangs-next': 'afterHang',
  spins: 'spins',
  rejects: 'rejects',
  escapes: 'escapes',
  'no-function': 'notAFunction',
}
const agents = [
  ...Object.entries(names).map(([name, exported]) => `'${name}': './src/bad.ts#${exported}'`),
  `'broken-module': './src/broken.ts#agent'`,
  `'missing-module': './src/nowhere.ts#agent'`,
  `'never-loads': './src/never.ts#agent'`,
].join(', ')

const tampered = (text: string) => text.replace('"amount":25', '"amount":26')

describeLanes('a case under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  let run: RunResult
  let tests: ReadonlyMap<string, ReportedTest>
  const message = (id: string) => tests.get(`golden/${id}`)?.failureMessages.join('\n') ?? ''
  const codes = (ids: readonly string[]) => ids.map((id) => tests.get(`golden/${id}`)?.meta.harvest?.['code'])
  const status = (id: string) => tests.get(`golden/${id}`)?.status

  beforeAll(async () => {
    home = openHome(lane)
    const by = (agent: string, more = refundBaseline) => golden(agent, more, { agent })
    project = home.project('verdicts', {
      'vitest.config.ts': config('', '', agents),
      ...refundSources,
      'src/bad.ts': badAgents,
      'src/broken.ts': `throw new Error('no API key')\nexport const agent = () => {}\n`,
      'src/never.ts': `await new Promise(() => {})\nexport const agent = () => {}\n`,
      ...golden('holds', `${refundBaseline}outcome: { refunded: 25 }\n`),
      ...golden(
        'other-trace',
        `title: Refunds are approved\npins: { commit: 4f2a9c1, models: [model-x, model-y] }\nlesson: { wrong: refunded without asking, right: a person is asked }\nbaseline:\n  - lookup_order(order_id)\n  - escalate(order_id)\n`,
      ),
      ...golden('other-outcome', `${refundBaseline}outcome:\n  refunded: 30\n`),
      ...golden('threw-before', refundBaseline, { threw: 'timeout' }),
      ...golden('known-bad', `expect: fail\n${refundBaseline}outcome: { refunded: 25 }\n`),
      ...golden('fixed', `expect: fail\n${refundBaseline}outcome: { refunded: 2500 }\n`),
      ...golden('fixed-by-another-way', `expect: fail\n${refundBaseline}`, { agent: 'leaves-out' }),
      ...golden('fixed-returns', `expect: fail\nlesson: { wrong: gave up }\n${refundBaseline}`, { threw: 'timeout' }),
      ...golden('fixed-throws', `expect: fail\n${refundBaseline}`, { agent: 'throws' }),
      ...golden('fixed-asks-else', `expect: fail\n${refundBaseline}`, { agent: 'asks-else' }),
      ...golden('fixed-calls-else', `expect: fail\nbaseline:\n  - lookup_order(order_id)\n  - escalate(order_id)\n`),
      ...golden('known-bad-escapes', `expect: fail\nbaseline: []\n`, { agent: 'escapes', calls: [] }),
      ...golden('known-bad-truncated', `expect: fail\n${refundBaseline}`, { isTruncated: true }),
      ...golden('known-bad-import', `expect: fail\n${refundBaseline}`, { agent: 'broken-module' }),
      ...golden('with-rules', `${refundBaseline}rules:\n  - 'never refund(amount: $a) where $a > 500'\n`),
      ...golden('truncated', refundBaseline, { isTruncated: true }),
      ...golden('tampered', refundBaseline),
      'recordings/golden/tampered.tape.jsonl': tampered(tapeText('tampered')),
      'recordings/golden/no-tape.case.yaml': `case: no-tape\nagent: refund\ntape: no-tape.tape.jsonl\nexpect: pass\n${refundBaseline}`,
      ...golden('no-such-agent', refundBaseline, { agent: 'nobody' }),
      ...golden('broken-yaml', `baseline: [ "unclosed\n`),
      ...golden('unknown-key', `${refundBaseline}basline: []\n`),
      ...Object.assign({}, ...Object.keys(names).map((agent) => by(agent))),
      // Vitest runs large files first: this one before the next, in the same worker.
      ...by('hangs', `title: ${'long '.repeat(80)}\n${refundBaseline}timeout: 4000\n`),
      ...by('hangs-next', `${refundBaseline}outcome: { woke: true }\n`),
      ...by('broken-module'),
      ...by('missing-module'),
      // Only those that never end have a short time: the others take what a busy machine needs.
      ...by('never-loads', `${refundBaseline}timeout: 800\n`),
      ...golden('spins', 'baseline: []\n', { agent: 'spins', calls: [], returned: undefined }),
      ...golden('escapes', 'baseline: []\n', { agent: 'escapes', calls: [] }),
    })
    run = await project.run([
      'run',
      ...withJson,
      '--reporter=github-actions',
      '--reporter=junit',
      '--outputFile.junit=.vitest/junit.xml',
      '--reporter=tap-flat',
    ])
    tests = reported(project)
  })
  afterAll(() => home?.[Symbol.dispose]())
  it('is green when the run makes the same calls and returns the same', () => {
    expect(status('holds')).toBe('passed')
    expect(run.code).toBe(1)
  })

  it('is red at the line of the baseline that does not hold, with a diff and its lesson', () => {
    expect(status('other-trace')).toBe('failed')
    expect(run.output).toContain('recordings/golden/other-trace.case.yaml:10:1')
    expect(run.output).toMatch(/10\| {3}- escalate\(order_id\)\n\s+\| \^/)
    expect(run.output).toMatch(
      /- Expected\n\+ Received\n\n {2}lookup_order\(order_id\)\n- escalate\(order_id\)\n\+ refund\(amount, order_id\)/,
    )
    expect(message('other-trace')).toContain('renamed    layer 2   escalate(order_id)  →  refund(amount, order_id)')
    expect(message('other-trace')).toContain(
      'Refunds are approved\n  wrong  refunded without asking\n  right  a person is asked',
    )
  })

  it('is red at its outcome when the agent returns something else', () => {
    expect(message('other-outcome')).toContain('differs at  refunded')
    expect(message('other-outcome')).toMatch(/other-outcome\.case\.yaml:8:1/)
  })

  it('is red when the agent throws where it returned, or returns where it threw', () => {
    expect(message('throws')).toMatch(/The agent threw TypeError: no such order.*, but returned when recorded\n/)
    expect(message('throws')).toMatch(/\n  at {8}src\/bad\.ts:9:9\n/)
    expect(message('threw-before')).toContain('The agent returned, but threw when recorded')
  })

  it('names the line of the agent at which it left its tape', () => {
    expect(message('asks-else')).toContain('src/bad.ts:13:9')
    expect(message('asks-else')).toContain('differs at order_id\n  recorded  A-1\n  now       B-2')
    expect(run.output).toMatch(/❯ src\/bad\.ts:13:9/)
    expect(message('leaves-out')).toContain('missing    layer 2   refund(amount, order_id)')
  })

  it('is green when a known-bad run reproduces, and red when it does not any more', () => {
    expect(status('known-bad')).toBe('passed')
    expect(message('fixed-returns')).toContain('  wrong  gave up')
  })

  it.each([
    ['fixed', 'The return value of the agent differs'],
    ['fixed-by-another-way', 'The tool calls differ from the baseline'],
    ['fixed-calls-else', 'The tool calls differ from the baseline'],
    ['fixed-asks-else', 'The agent called refund with arguments that are not on the tape'],
    ['fixed-returns', 'The agent returned, but threw when recorded'],
    ['fixed-throws', 'The agent threw TypeError: no such order'],
  ])('%s: a known-bad run that does not reproduce any more is red, and says how', (id, how) => {
    expect(message(id)).toContain('This incident no longer reproduces')
    expect(message(id)).toContain(how)
    expect(message(id)).toContain(`${id}.case.yaml:4:1`)
    expect(codes([id])).toEqual(['HARVEST_CASE_NO_LONGER_FAILS'])
  })

  it('is red for what is no decision of the agent, known bad or not', () => {
    expect(codes(['known-bad-escapes', 'known-bad-truncated', 'known-bad-import'])).toEqual([
      'HARVEST_ESCAPE',
      'HARVEST_TAPE_TRUNCATED',
      'HARVEST_AGENT_IMPORT',
    ])
  })

  it.each([
    ['no-such-agent', 2, 'HARVEST_AGENT_UNKNOWN'],
    ['broken-module', 2, 'HARVEST_AGENT_IMPORT'],
    ['missing-module', 2, 'HARVEST_AGENT_IMPORT'],
    ['never-loads', 2, 'HARVEST_AGENT_TIMEOUT'],
    ['no-function', 2, 'HARVEST_AGENT_EXPORT'],
    ['no-tape', 3, 'HARVEST_CASE_TAPE_MISSING'],
    ['truncated', 3, 'HARVEST_TAPE_TRUNCATED'],
    ['tampered', 3, 'HARVEST_TAPE_TAMPERED'],
    ['with-rules', 8, 'HARVEST_RULES_UNSUPPORTED'],
    ['unknown-key', 8, 'HARVEST_CASE_UNKNOWN_KEY'],
    ['broken-yaml', 6, 'HARVEST_CASE_SYNTAX'],
    ['hangs', 2, 'HARVEST_AGENT_TIMEOUT'],
    ['spins', 2, 'HARVEST_CLOCK_SPIN'],
    ['rejects', 2, 'HARVEST_UNHANDLED_REJECTION'],
    ['escapes', 2, 'HARVEST_ESCAPE'],
  ])('%s is red at line %i with %s', (id, line, code) => {
    expect([status(id), ...codes([id])]).toEqual(['failed', code])
    expect(message(id)).toContain(`at ${project.folder}/recordings/golden/${id}.case.yaml:${line}:`)
  })

  it('shows the error of a module that could not be loaded, at its own line', () => {
    expect(run.output).toMatch(/Caused by: Error: no API key\n ❯ src\/broken\.ts:1:7/)
  })

  it('lists what a module exports when the agent is not there', () => {
    expect(message('no-function')).toContain('functions  throws, asksElse, leavesOut')
  })

  it('says which step an agent hangs after, and nothing it does later reaches the next case', () => {
    expect(message('hangs')).toContain('after   step 1, tool lookup_order')
    expect(status('hangs-next')).toBe('passed')
    expect(run.output).not.toContain('the zombie refunded')
  })

  it('sums up in a few lines, the worst cases last', () => {
    expect(summaryOf(run)).toMatchInlineSnapshot(`
      " Recordings  2 replayed, 1 known bad reproduced, 2 escaped, 9 diverged, 6 no longer reproduced, 13 failed
          Escapes  2
              Red  golden/escapes  Blocked real I/O during replay: socket 127.0.0.1:45999
                     src/bad.ts:44:34
                   golden/known-bad-escapes  Blocked real I/O during replay: socket 127.0.0.1:45999
                     src/bad.ts:44:34
                   golden/asks-else  The agent called refund with arguments that are not on the tape
                     src/bad.ts:13:9
                   golden/hangs  The agent never answered
                   golden/leaves-out  The tool calls differ from the baseline of this case
                   golden/other-outcome  The return value of the agent differs from the outcome of this case
                   golden/other-trace  The tool calls differ from the baseline of this case
                   golden/rejects  The agent left a rejected promise unhandled
                   golden/spins  Busy loop: the agent polls the clock without yielding
                     src/bad.ts:35:15
                   and 21 more
          Reports  20 in .harvest/report; 8 more red cases have no report"
    `)
  })

  it('annotates a pull request at the line of the case', () => {
    expect(run.stdout).toMatch(/^::error file=[^,]*other-trace\.case\.yaml,title=[^,]*,line=10,column=1::HarvestError/m)
  })

  it('lets no recorded text speak to the runner of a pipeline', () => {
    expect(run.stdout).toContain('\\x3a:error::forged by a tape')
    expect(run.output.split('\n').filter((line) => /^\s*::/.test(line) && !/^::error file=/.test(line))).toEqual([])
  })

  it('tells machines the tape, the steps and the place', () => {
    const properties = (id: string) => {
      const [, block = ''] =
        new RegExp(`<testcase classname="[^"]*/${id}\\.[^]*?<properties>([^]*?)</properties>`).exec(
          project.read('.vitest/junit.xml'),
        ) ?? []
      return [...block.matchAll(/name="([^"]*)" value="([^"]*)"/g)].map(([, name, value]) => `${name}: ${value}`)
    }
    expect(properties('other-trace')).toEqual([
      'tape: other-trace, 2 of 2 steps served',
      'commit: 4f2a9c1',
      'models: model-x, model-y',
      'diverged at: layer 2 of the trace',
      'verdict: different',
      'report: .harvest/report/golden/other-trace.html',
    ])
    expect(properties('asks-else')).toEqual([
      'drift: arguments at step 2, args.order_id',
      'tape: asks-else, 2 of 2 steps served',
      'diverged at: step 2',
      'verdict: different',
      'report: .harvest/report/golden/asks-else.html',
    ])
    expect(run.stdout).toMatch(
      /not ok \d+ - recordings\/golden\/other-trace\.case\.yaml[^]*?at: ".*other-trace\.case\.yaml:10:1"/,
    )
    expect(tests.get('golden/other-trace')?.meta.harvest).toEqual({
      case: 'other-trace',
      expect: 'pass',
      tape: 'other-trace',
      agent: 'refund',
      commit: '4f2a9c1',
      models: ['model-x', 'model-y'],
      recorded: 2,
      report: '.harvest/report/golden/other-trace.html',
      served: 2,
      drift: {},
      escapes: 0,
      pins: [],
      verdict: 'different',
      questions: { unproven: [], accepted: [], proven: [], notJudged: [], obsolete: [] },
      divergedAt: 'layer 2 of the trace',
      code: 'HARVEST_TRACE',
    })
  })
})
