import { execFileSync } from 'node:child_process'
import { appendFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskAgent, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { type Answered, warmHarvest as harvest, warmRun as start } from './harvest.ts'
import { many } from './many.ts'
import { printed } from './printed.ts'
import { configFor } from './project.ts'

/** An agent without a step, one that ends otherwise each time, and one that asks no model. */
const others = `import { tools } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
export const shelf = { total: 25 }
const shop = tools({ count: async () => ({ total: shelf.total }) })
export const stillAgent = async () => ({ answer: 'nothing' })
export const heapAgent = async (ticket: any) => ({ ...(await deskAgent(ticket)), heap: process.memoryUsage().heapUsed })
export const plainAgent = async () => shop.count()
`

const recordOthers = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './moody.ts'
import { heapAgent, plainAgent, shelf, stillAgent } from './others.ts'
const recorder = createRecorder({ commit: process.argv[2] })
const ticket = { text: 'Refund A-100.' }
await recorder.run({ agent: 'still', id: 'still', input: ticket }, stillAgent)
await recorder.run({ agent: 'heap', id: 'heap', input: ticket }, () => heapAgent(ticket))
await recorder.run({ agent: 'moody', id: 'moody', input: ticket }, () => deskAgent(ticket))
await recorder.run({ agent: 'plain', id: 'few', input: ticket }, plainAgent)
shelf.total = 30
await recorder.run({ agent: 'plain', id: 'enough', input: ticket }, plainAgent)
`

/** Asks what it asked as long as it runs alone: neither before nor behind its forks is anything of that to be seen. */
const moody = deskAgent
  .replace(
    '  const messages',
    `  const shared = globalThis as any
  const runs = (shared.running = (shared.running ?? 0) + 1)
  using _ = { [Symbol.dispose]: () => void shared.running-- }
$&`,
  )
  .replace('content: JSON.stringify(result)', "$& + (runs > 1 ? runs : '')")

const oracle = `export const isRight = ({ sideEffects }: any): boolean =>
  sideEffects.some(({ name, args }: any) => name === 'refund' && args.amount === 25)
export const isThirty = ({ value }: any): boolean => value.total === 30
export const isNone = (): boolean => false
`

const tooMuch: Desk['decide'] = (messages) => {
  const done = messages.filter(({ role }) => role === 'tool').length
  if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
  return done === 2 ? 'I refunded 2500 EUR.' : usual(messages)
}

describe('whoever is refused, or told that nothing could be judged, comes by what is printed to what works', () => {
  let desk: Desk
  let cwd = ''
  let code = ''
  const file = (): string => join(cwd, 'src/desk.ts')
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const run = (words: readonly string[]): Promise<Answered> =>
    harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })
  async function refused(words: readonly string[], error: string, exitCode = 2): Promise<string> {
    const { code: exited, stderr } = await run(words)
    expect({ exited, stderr }).toEqual({ exited: exitCode, stderr: expect.stringContaining(error) as string })
    return stderr
  }
  async function worked(words: readonly string[]): Promise<string> {
    const { code: exited, stdout, stderr } = await run(words)
    expect(exited, stdout + stderr).toBe(0)
    return stdout
  }
  beforeAll(async () => {
    desk = await openDesk(tooMuch)
    cwd = deskProject()
    code = readFileSync(file(), 'utf8')
    const keys = ['still', 'heap', 'plain'].map((key) => [key, `./src/others.ts#${key}Agent`])
    const agents = {
      desk: './src/desk.ts#deskAgent',
      moody: './src/moody.ts#deskAgent',
      ...(Object.fromEntries(keys) as Record<string, string>),
    }
    writeFileSync(join(cwd, 'vitest.config.ts'), configFor(agents))
    writeFileSync(join(cwd, 'src/others.ts'), others)
    writeFileSync(join(cwd, 'src/moody.ts'), moody)
    writeFileSync(join(cwd, 'src/record-others.ts'), recordOthers)
    writeFileSync(join(cwd, 'src/oracle.ts'), oracle)
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings\n.vitest\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    const head = git('rev-parse', 'HEAD').trim()
    await recordDesk(cwd, desk, 'bad', ['Refund A-100.', head])
    desk.decide = () => 'I cannot.'
    await recordDesk(cwd, desk, 'talk', ['Refund A-100.', head])
    desk.decide = usual
    await recordDesk(cwd, desk, 'good', ['Refund A-100.', head])
    desk.decide = tooMuch
    const env = { DESK_URL: desk.url }
    const recorded = await start(process.execPath, ['src/record-others.ts', head], { cwd, env })
    expect(recorded).toMatchObject({ code: 0, stderr: '' })
    desk.decide = usual
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  it('of blame: nobody said what is right, or named a function that is not there', { tags: 'thorough' }, async () => {
    const none = await refused(['blame', 'bad', '--dry-run'], 'HARVEST_ORACLE_MISSING')
    const mistyped = printed(none, 'to grade runs by a function', { '<file#export>': './src/oracle.ts#isRihgt' })
    const wrong = await refused(mistyped, 'HARVEST_ORACLE_EXPORT')
    const graded = await worked(printed(wrong, 'name one that it has'))
    expect(graded).toContain('is graded bad (by --oracle ./src/oracle.ts#isRight)')
    // Before anything is to be paid for, too.
    const asked = ['blame', 'bad', '--oracle', './src/orcale.ts#isRight']
    const [gone, bare] = many([asked, asked.slice(0, 2)], cwd)
    expect([gone?.code, bare?.code, bare?.stderr]).toEqual([2, 2, expect.stringContaining('HARVEST_ORACLE_MISSING')])
    expect(printed(gone?.stderr ?? '', 'did you mean')).toEqual(['blame', 'bad', '--oracle', './src/oracle.ts#isRight'])
    // A case may name no function of elsewhere.
    await worked(['promote', 'bad', '--as', 'known', '--expect', 'fail', '--unverified'])
    appendFileSync(join(cwd, 'recordings/golden/known.case.yaml'), 'oracle: ./node_modules/other/oracle.ts#isRight\n')
    const outside = await refused(['blame', 'known', '--dry-run'], 'HARVEST_ORACLE_OUTSIDE')
    const named = printed(outside, 'or on the command line', { '<file#export>': './src/oracle.ts#isRight' })
    expect(await worked(named)).toContain('is graded bad')
  })

  it('of blame: a run that has nothing to resample, to change or to repair costs nothing', {
    tags: 'thorough',
  }, async () => {
    const asked = desk.asked.length
    for (const more of [['--live'], ['--repairs', '--reference', 'good', '--dry-run']]) {
      const empty = await refused(['blame', 'still', '--ok', 'answer~25 EUR', ...more], 'HARVEST_BLAME_NO_STEPS')
      const show = printed(empty, 'to see what the run holds')
      expect(show).toEqual(['show', 'still'])
    }
    const talk = ['blame', 'talk', '--ok', 'answer~25 EUR'] as const
    const noMutants = await refused([...talk, '--mutate', '--dry-run'], 'HARVEST_BLAME_NO_MUTANTS')
    const nothing = ['--repairs', '--reference', 'good', '--dry-run']
    const noRepairs = await refused([...talk, ...nothing], 'HARVEST_BLAME_NO_REPAIRS')
    const estimate = printed(noMutants, 'to resample steps instead, and see first what that costs')
    expect(printed(noRepairs, 'to resample steps instead, and see first what that costs')).toEqual(estimate)
    expect(await worked(estimate)).toContain('1 step in 1 place')
    const good = await refused(['blame', 'talk', '--ok', 'answer~cannot', '--mutate', '--dry-run'], 'NO_MUTANTS')
    const [still, said] = many([['show', 'still'], printed(good, 'to see what the run holds')], cwd)
    expect([still?.code, said?.code, said?.stdout]).toEqual([0, 0, expect.stringContaining('I cannot.')])
    expect(desk.asked.length).toBe(asked)
  })

  it('of blame: where no model is asked, a good run shows which answer decided', { tags: 'thorough' }, async () => {
    const blame = ['blame', 'few', '--ok', 'total=30', '--live']
    const answered = await run(blame)
    // A good run of the same input is in the inbox.
    expect(answered.stdout).toContain("The agent's own code decided")
    const named = printed(answered.stdout, 'to find which recorded answers decided, with a good run')
    expect(named.slice(-2)).toEqual(['--reference', 'enough'])
    expect(await worked(named)).toContain('No model decided the outcome: recorded answers did.')
    // Where none is, whoever blames has to name one.
    const enough = join(cwd, 'recordings/inbox/enough.tape.jsonl')
    const elsewhere = 'enough.tape.jsonl'
    renameSync(enough, join(cwd, elsewhere))
    const exact = await run(blame)
    expect(exact.stdout).toContain('No claim: it is not known that a run can meet it.')
    const repairs = printed(
      exact.stdout,
      'to find which recorded answers decided, name a good run with other answers',
      {
        '<tape|case>': elsewhere,
      },
    )
    expect(await worked(repairs)).toContain('No model decided the outcome: recorded answers did.')
    const meets = printed(exact.stdout, 'or name a good run that meets it', { '<tape|case>': elsewhere })
    expect(await worked(meets)).toContain("The agent's own code decided")
    // A function that grades no run ok is right, or calls each run bad: a run that went right tells.
    const apart = async (name: string) => {
      const { code, stdout } = await run(['blame', 'few', '--oracle', `./src/oracle.ts#${name}`, '--live'])
      expect([code, stdout]).toEqual([1, expect.stringContaining('or the oracle calls good runs bad, too.')])
      return printed(stdout, 'to tell the two apart, name a good run', { '<tape|case>': elsewhere })
    }
    expect(await worked(await apart('isThirty'))).toContain("The agent's own code decided")
    await refused(await apart('isNone'), 'HARVEST_BLAME_REFERENCE')
    // Repairs without a good run need tools that run again.
    const words = [...blame.slice(0, -1), '--repairs']
    const notGood = await refused([...words, '--reference', 'bad', '--dry-run'], 'HARVEST_BLAME_REFERENCE')
    const again = printed(notGood, 'or run the tools again, with their side effects')
    expect(again).toEqual([...words, '--dry-run', '--tools', 'live'])
    await worked(again)
    renameSync(join(cwd, elsewhere), enough)
    // What is bad of a run that passes too is said of it.
    await worked(['promote', 'enough', '--as', 'plenty', '--unverified'])
    const doubted = await run(['blame', 'few', '--bad', 'count(*)', '--live'])
    expect(doubted.stdout).toContain('No claim: it is not known that a run can be good.')
    expect(await worked(printed(doubted.stdout, 'to see what a run that passes does'))).toContain('count(')
  })

  it('of blame: a run that ends otherwise each time is no start', { tags: 'thorough' }, async () => {
    const before = await refused(
      ['blame', 'heap', '--ok', 'refund(amount: 25)', '--dry-run'],
      'HARVEST_BLAME_PREFLIGHT',
    )
    const doctor = await run(printed(before, 'to find the line that makes the run irreproducible'))
    expect(doctor.stdout).toMatch(/^src\/others\.ts:6:\d+\n  memory: process\.memoryUsage\(\)/m)
    const shown = await run(printed(before, 'to see the difference'))
    expect(shown.stdout).toContain('heap')
  })

  it('of blame: a small effect is certified with more runs, and those so far count', { tags: 'thorough' }, async () => {
    let n = 0
    desk.decide = (messages) => {
      const isRefund = messages.filter(({ role }) => role === 'tool').length === 1
      return isRefund
        ? { tool: 'refund', args: { order_id: 'A-100', amount: n++ % 4 === 0 ? 25 : 2500 } }
        : usual(messages)
    }
    const small = await run([
      'blame',
      'bad',
      '--ok',
      'refund(amount: 25)',
      '--live',
      '--max-cost',
      '3',
      '--tools',
      'live',
    ])
    expect(small).toMatchObject({ code: 1, stdout: expect.stringContaining('no step has a large effect') as string })
    const more = await worked(printed(small.stdout, 'to go on, with all runs so far'))
    expect(more).toMatch(/^step 3, .*decided the outcome/)
    expect(more).toContain('of earlier sessions')
    desk.decide = usual
  })

  it('of blame: forks that diverge from their tape lead to doctor, and to runs one at a time', {
    tags: 'thorough',
  }, async () => {
    const blame = ['blame', 'moody', '--ok', 'refund(amount: 25)', '--live', '--max-runs', '16', '--tools', 'live']
    const lost = await run(blame)
    expect(lost).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Undecidable: /) as string })
    const doctor = await run(printed(lost.stdout, 'to find what makes the agent diverge from its tape'))
    expect(doctor).toMatchObject({ code: 0, stderr: '' })
    const alone = await run(printed(lost.stdout, 'if runs that are under way at once disturb each other'))
    expect(alone.stdout).not.toContain('Undecidable')
    expect(alone.stdout).not.toContain('if runs that are under way')
  })

  it('of blame: too many forks leave the tape, and a call, a good run or real tools grade them', {
    tags: 'thorough',
  }, async () => {
    let n = 0
    desk.decide = (messages) => {
      const isFirst = !messages.some(({ role }) => role === 'tool')
      return isFirst ? { tool: 'lookup_order', args: { order_id: `B-${n++}` } } : usual(messages)
    }
    const estimate = await worked(['blame', 'bad', '--ok', 'answer~25 EUR', '--dry-run', '--max-runs', '20'])
    const lost = await run(printed(estimate, 'to ask the models all the same'))
    expect(lost).toMatchObject({ code: 1, stdout: expect.stringMatching(/^Undecidable: /) as string })
    const call = { '<call>': 'refund(amount: 25)' }
    const next = [
      printed(lost.stdout, 'to answer tools from a good run'),
      printed(lost.stdout, 'to call tools for real, with their side effects'),
    ]
    for (const words of next) expect(await worked(words)).toContain('decided the outcome')
    const byCall = await run(printed(lost.stdout, 'to grade runs by a call that is right', call))
    expect(byCall.stdout).toMatch(/decided the outcome|stopped by the limit of forks/)
    // Where no good run is known, whoever blames has to name one.
    const elsewhere = 'good.tape.jsonl'
    renameSync(join(cwd, 'recordings/inbox', elsewhere), join(cwd, elsewhere))
    const without = await run(printed(estimate, 'to ask the models all the same'))
    renameSync(join(cwd, elsewhere), join(cwd, 'recordings/inbox', elsewhere))
    const about = 'to answer tools as well, name a good run that made such calls'
    expect(printed(without.stdout, about, { '<tape|case>': 'good' })).toEqual(next[0])
    desk.decide = usual
  })

  it('of fork: a call that nobody answered, a branch that is kept, a step that is not there', {
    tags: 'thorough',
  }, async () => {
    const decide = ['fork', 'bad', '--step', '3', '--decide', 'refund(order_id=A-100, amount=30)']
    const unknown = await run(decide)
    expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining('no fork could be judged') as string })
    const real = await worked(printed(unknown.stdout, 'to run its tools for real'))
    expect(real).toMatch(/model calls, .*; tools for real/)
    const saved = await worked(['fork', 'bad', '--step', '3', '--say', 'No.', '--save'])
    const promoted = await worked(printed(saved, 'to make a case of it', { '<id>': 'branch' }))
    expect(promoted).toContain('branch: same')
    const [noStep, good] = many(
      [
        ['fork', 'bad', '--step', '3', '--mode', '99=replayed', '--say', 'No.'],
        ['show', 'good'],
      ],
      cwd,
      { DESK_URL: desk.url, CI: '' },
    )
    const [shown] = many([printed(noStep?.stderr ?? '', 'to see them')], cwd)
    expect(shown?.code).toBe(0)
    const right = printed(`${good?.stdout}\n${good?.stderr}`, 'if it went right, a test', { '<id>': 'fine' })
    expect(await worked(right)).toContain('fine: same')
  })

  it('of a control: a question that changed is made a case and accepted, or asked, and a change of the way is shown', {
    tags: 'thorough',
  }, async () => {
    const change = (from: string, to: string): void => writeFileSync(file(), code.replace(from, to))
    const fork = ['fork', 'good', '--step', '3', '--say', 'No.', '--dir', 'recordings']
    change('Look it up first.', 'Look it up first, always.')
    const changed = await refused(['fork', 'bad', '--step', '3', '--say', 'No.'], 'HARVEST_CONTROL', 1)
    await worked(printed(changed, 'if it went wrong, make it a case', { '<id>': 'mine' }))
    const accept = printed(changed, 'accept the change there', { '<id>': 'mine', '…': 'always' })
    expect(await worked(accept)).toContain('verdict: same')
    const mine = ['fork', 'mine', '--step', '3', '--say', 'No.']
    expect(await worked(mine)).toContain('the outcome is another one')
    change('Look it up first.', 'Look it up before.')
    const again = await refused(mine, 'HARVEST_CONTROL', 1)
    const cause = printed(again, 'if its code did not change, to find what its runs depend on')
    expect(await worked(cause)).toContain('nothing found')
    const proof = await run(printed(again, 'to ask the model'))
    expect(proof.stdout + proof.stderr).toContain('mine')
    change('JSON.parse(call.function.arguments)', "{ ...JSON.parse(call.function.arguments), note: 'now' }")
    const other = await refused(fork, 'HARVEST_CONTROL', 1)
    const shown = await worked(printed(other, 'to see the whole difference'))
    expect(shown).toContain('note')
    writeFileSync(file(), code)
  })
})
