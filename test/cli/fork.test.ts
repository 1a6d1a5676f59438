import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orderExchange, tapeText } from '../host/refund.ts'
import { type Desk, deskProject, openDesk, recordDesk, otherRefund, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'
import { inProcess } from './in-process.ts'
import { built } from '../support/built.ts'
import { hasTerminal } from './terminal.ts'

const inbox = 'recordings/inbox'

/** Pays back what was paid, and asks a person when that is much: its code decides, no model. */
const payer = `import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => 'ok')
export async function payer({ order_id }: { order_id: string }) {
  const { amount } = await lookup({ order_id })
  if (amount === 99) {
    writeFileSync('began', '')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 8_000)
    writeFileSync('stayed', '')
  }
  if (amount > 500) return { asked: 'a person' }
  await refund({ order_id, amount })
  return { refunded: amount }
}
const flag = process.env.DESK_FLAG
export async function flagged({ order_id }: { order_id: string }) {
  const { amount } = await lookup({ order_id })
  await refund({ order_id, amount })
  return { refunded: amount, kind: flag === 'on', note: existsSync('note.local') ? readFileSync('note.local', 'utf8') : 'none' }
}
export async function cautious({ order_id }: { order_id: string }) {
  await lookup({ order_id })
  return { asked: 'a colleague' }
}
export async function orders() {
  const response = await fetch('http://127.0.0.1:45998/orders', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"order_id":"A-1"}' })
  if (!response.ok) return { failed: response.status }
  return { amount: (await response.json()).amount }
}
`
/** Answers what the tape does not: a script for tails. */
const script = `export const isRight = ({ value }: { value?: { refunded?: number } }) => value?.refunded === 25
export const answer = (asked: { kind: string; name?: string }) =>
  asked.kind === 'tool' ? { result: 'done by ' + asked.name } : undefined
`

interface Told {
  readonly judged: number
  readonly asRecorded: number
  readonly distinct: number
  readonly changed: readonly object[]
  readonly spent: { readonly modelCalls: number }
  readonly madeAnew: readonly string[]
  readonly branches: readonly {
    readonly seed: string
    readonly reused: boolean
    readonly outcome: object
    readonly problems: readonly { readonly code: string }[]
    readonly saved: string | null
  }[]
}

describe('harvest fork', () => {
  let cwd = ''
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, 'src/payer.ts'), payer)
    writeFileSync(join(cwd, 'src/script.ts'), script)
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\n.vitest\n*.local\n')
    const config = readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')
    const agents =
      '"payer":"./src/payer.ts#payer","cautious":"./src/payer.ts#cautious","flagged":"./src/payer.ts#flagged","orders":"./src/payer.ts#orders",'
    writeFileSync(join(cwd, 'vitest.config.ts'), config.replace('agents: {', `agents: {${agents}`))
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the agents')
    mkdirSync(join(cwd, inbox), { recursive: true })
    writeFileSync(join(cwd, inbox, 'paid.tape.jsonl'), tapeText('paid', { agent: 'payer', input: { order_id: 'A-1' } }))
    const flagged = tapeText('flagged', { agent: 'flagged', input: { order_id: 'A-1' } })
    writeFileSync(join(cwd, inbox, 'flagged.tape.jsonl'), flagged)
    const ordered = tapeText('ordered', { agent: 'orders', events: [orderExchange], returned: { amount: 25 } })
    writeFileSync(join(cwd, inbox, 'ordered.tape.jsonl'), ordered)
    await recordDesk(cwd, desk, 'first', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    // The same ticket, and the model refuses.
    desk.decide = (messages) => (messages.length > 2 ? 'I refunded nothing.' : usual(messages))
    await recordDesk(cwd, desk, 'donor', ['Refund A-100.'])
    desk.decide = usual
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const fork = (...args: string[]) => harvest(['fork', ...args], { cwd, env: { DESK_URL: desk.url } })
  const told = async (...args: string[]): Promise<Told> => {
    const { stdout, stderr } = await fork(...args, '--json')
    expect(stderr).toBe('')
    return JSON.parse(stdout) as Told
  }

  it('a changed tool result, offline: what was kept, what was changed, what comes of it', async () => {
    const { code, stdout, stderr } = await fork('paid', '--step', '1', '--result', '{"amount":600}')
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "paid: 2 steps, agent payer
      kept: step 1, asked for byte for byte as recorded; no call, no cost
      changed: step 1, result: {"amount":25} → {"amount":600}
      behind: the tape answers where the same is asked
      recorded: returned {"refunded":25}

      seed  outcome  tool calls  first difference                                        cost
         1  other    other       step 2 is missing: refund(order_id: "A-1", amount: 25)  none

      seed 1: returned {"asked":"a person"}

      the outcome is another one
      "
    `)
    expect(code).toBe(0)
  })

  it('no fork begins that is not paid to its end', { tags: 'thorough' }, async () => {
    desk.decide = usual
    desk.asked.length = 0
    const made = async (...limits: readonly string[]) => {
      const words = ['first', '--step', '1', '--live', '--runs', '9', '--no-cache', '--cross-version']
      const { branches, spent } = await told(...words, ...limits)
      return [branches.filter(({ problems }) => problems.length === 0).length, spent.modelCalls]
    }
    expect(await made('--max-calls', '12', '--parallel', '16')).toEqual([4, 12])
    expect(await made('--max-calls', '7')).toEqual([2, 6])
    expect(await made('--max-cost', '0.002', '--parallel', '16')).toEqual([1, 3])
    expect(await made('--max-calls', '2')).toEqual([0, 0])
    expect(desk.asked.length).toBe(21)
  })

  it('a step drawn anew, live: how many end as recorded, each fork once, and what it cost', async () => {
    let runs = 0
    desk.decide = (messages) => {
      const done = usual(messages)
      return typeof done === 'string' && ++runs % 4 === 0 ? 'I refunded nothing.' : done
    }
    const { code, stdout, stderr } = await fork('first', '--step', '5', '--live', '--runs', '4', '--parallel', '1')
    desk.decide = usual
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "first: 5 steps, agent desk
      kept: steps 1 to 4, asked for byte for byte as recorded; no call, no cost
      behind: models are asked, tools answer from the tape
      recorded: returned {"answer":"I refunded 25 EUR."}

      seed  outcome      tool calls   first difference                                             cost
         1  as recorded  as recorded  none                                                         $0.0004
         2  as recorded  as recorded  none                                                         $0.0004
         3  as recorded  as recorded  none                                                         $0.0004
         4  other        as recorded  step 5 answers "I refunded nothing.", not "I refunded 25     $0.0004
                                      EUR."

      seed 1, 2, 3: returned {"answer":"I refunded 25 EUR."}
      seed 4: returned {"answer":"I refunded nothing."}

      3 of 4 (95 %: 30.1 % – 95.4 %) end as recorded; 2 distinct runs
      4 model calls, 400 tokens in, 80 out, $0.0018; tools from the tape
      "
    `)
    expect(code).toBe(0)
  })

  it('runs that leave the tape are in no rate of ends, and are graded by the calls they made', {
    tags: 'thorough',
  }, async () => {
    desk.decide = otherRefund(2)
    const args = ['first', '--step', '3', '--live', '--runs', '4', '--parallel', '1', '--cross-version', '--seed', '50']
    const ends = await fork(...args)
    expect(ends.stdout).toContain(
      '\nundecided: 2 of 4 runs could not be judged; of the others 2 of 2 end as recorded\n',
    )
    const graded = await fork(...args, '--no-cache', '--ok', 'refund(amount: 26)')
    desk.decide = usual
    expect(graded.stdout).toContain('\nundecided: 2 of 4 runs left the tape; of the others 2 of 2 end as recorded\n')
    expect(graded.stdout).toContain('\n2 of 4 (95 %: 15.0 % – 85.0 %) are graded ok\n')
    expect([ends.code, graded.code]).toEqual([1, 0])
  })

  it('an interrupted or repeated command goes on with what the same code was asked before; other code runs anew', {
    tags: 'thorough',
  }, async () => {
    const args = (times: number) => ['first', '--step', '3', '--live', '--runs', `${times}`, '--cross-version']
    const reused = ({ branches }: Told) => branches.map((one) => one.reused)
    const first = await told(...args(2))
    expect(first).toMatchObject({ judged: 2, asRecorded: 2, distinct: 1, spent: { modelCalls: 4 } })
    const asked = desk.asked.length
    const again = await told(...args(2))
    expect(again.branches.map(({ reused: _, ...one }) => one)).toEqual(
      first.branches.map(({ reused: _, ...one }) => one),
    )
    expect(reused(again)).toEqual([true, true])
    expect({ spent: again.spent.modelCalls, asked: desk.asked.length - asked }).toEqual({ spent: 0, asked: 0 })
    expect(reused(await told(...args(3)))).toEqual([true, true, false])
    expect(desk.asked.length - asked).toBe(2)
    // What no run loads, such as the file of an oracle, is other code by name alone.
    writeFileSync(join(cwd, 'src/other.ts'), 'export {}\n')
    const beside = await told(...args(1))
    expect([reused(beside), beside.madeAnew]).toEqual([[true], []])
    const code = readFileSync(join(cwd, 'src/desk.ts'), 'utf8')
    writeFileSync(join(cwd, 'src/desk.ts'), `${code}// other code\n`)
    const anew = await told(...args(1))
    writeFileSync(join(cwd, 'src/desk.ts'), code)
    rmSync(join(cwd, 'src/other.ts'))
    expect(reused(anew)).toEqual([false])
    expect(anew.madeAnew).toEqual(['1 kept fork made again: changed since: src/desk.ts, src/other.ts'])
  })

  it.each([
    ['text', ['--step', '3']],
    ['json', ['--step', '3', '--json']],
    ['text', ['--critical', '--bad', 'refund(*)']],
    ['json', ['--critical', '--bad', 'refund(*)', '--json']],
  ])('Ctrl-C prints in %s what was known until then: %j', { tags: 'thorough' }, async (form, more) => {
    const args = ['fork', 'first', ...more, '--live', '--runs', '4', '--parallel', '1', '--no-cache', '--cross-version']
    const child = spawn(process.execPath, [built('cli/main.js'), ...args], {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
    let asked = 0
    // The sixth question is left open.
    desk.decide = (messages) => (++asked < 6 ? usual(messages) : void child.kill('SIGINT'))
    const [code] = await once(child, 'close')
    desk.decide = usual
    expect(code).toBe(130)
    expect(said.stderr).toContain('HARVEST_CLI_INTERRUPTED')
    if (form === 'text') {
      expect(said.stdout).toMatch(more[0] === '--critical' ? /^step 1 .*judged/m : /\d of \d runs|end as recorded/)
      expect(said.stdout).toMatch(/^stopped after \d+ of \d+ forks$/m)
      // Of the fork that did not end too; of the process that was ended the error would say another sum.
      expect(`${said.stdout}${said.stderr}`.match(/\d+ model calls?,/g)).toEqual(['5 model calls,'])
      expect(said.stdout).toMatch(/^5 model calls, .*; 1 more call still open, cost not known; tools from the tape$/m)
      return
    }
    const { interrupted, spent } = JSON.parse(said.stdout) as {
      interrupted: { made: number; of: number }
      spent: object
    }
    expect(spent).toMatchObject({ modelCalls: 5, open: 1 })
    expect(interrupted.made).toBeGreaterThan(0)
    expect(interrupted.made).toBeLessThan(interrupted.of)
  })

  it('a fork whose agent read a variable, or a file that git ignores, runs anew where that is not as it was', {
    tags: 'thorough',
  }, async () => {
    const args = ['fork', 'flagged', '--step', '1', '--result', '{"amount":30}', '--json']
    const reused = async (env: Record<string, string> = {}) => {
      const { stdout } = await harvest(args, { cwd, env: { SHLVL: '7', ...env } })
      const { branches, madeAnew } = JSON.parse(stdout) as Told
      return branches[0]?.reused === true || madeAnew.join()
    }
    const anew = (changed: string) => `1 kept fork made again: changed since: ${changed}`
    expect(await reused()).toBe('')
    expect(await reused({ DESK_OTHER: 'read by nothing', SHLVL: '8' })).toBe(true)
    expect(await reused({ DESK_FLAG: 'on' })).toBe(anew('environment variable DESK_FLAG (was unset, is set)'))
    expect(await reused({ DESK_FLAG: 'on' })).toBe(true)
    writeFileSync(join(cwd, 'note.local'), 'kind')
    expect(await reused({ DESK_FLAG: 'on' })).toBe(anew('note.local'))
    rmSync(join(cwd, 'note.local'))
  })

  it('--critical says which forks were made before', { tags: 'thorough' }, async () => {
    const args = ['first', '--critical', '--bad', 'refund(*)']
    const { stdout } = await fork(...args)
    expect(stdout).not.toContain('reused')
    const again = await fork(...args)
    expect(again.stdout).toMatch(/^\d+ forks? reused: made by the same code on \d{4}-\d\d-\d\d$/m)
    expect(printed(again.stdout, 'to run them again')).toEqual(['fork', ...args, '--no-cache'])
  })

  it('--fresh runs it all the same', { tags: 'thorough' }, async () => {
    const args = ['paid', '--step', '1', '--result', '{"amount":600}']
    const { stdout } = await fork(...args)
    expect(stdout).toMatch(/^1 fork reused: made by the same code on \d{4}-\d\d-\d\d$/m)
    const again = printed(stdout, 'to run it again')
    expect(again).toEqual(['fork', ...args, '--no-cache'])
    expect((await told(...again.slice(1))).branches).toMatchObject([{ reused: false }])
  })

  it('--save keeps the branch as a tape, which shows and differs like any other', { tags: 'thorough' }, async () => {
    const args = ['paid', '--step', '1', '--set', 'result.amount=30', '--tail', 'src/script.ts#answer', '--save']
    const made = await fork(...args)
    expect(made.stdout).toContain('returned {"refunded":30}')
    const show = printed(made.stdout, 'to read it')
    const [, saved = ''] = show
    const fixed = printed(made.stdout, 'to put the run of a fixed agent', { '<case>': 'of-its-incident' })
    expect(await harvest(fixed, { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('_MISSING') as string,
    })
    const { stdout } = await harvest(show, { cwd })
    expect(stdout).toContain('"order_id":"A-1","amount":30')
    expect(stdout).toMatch(/^branch of +paid {2}recordings\/inbox\/paid\.tape\.jsonl\nparts at +step 1; /m)
    const listed = await harvest(['ls'], { cwd })
    expect(listed.stdout).toMatch(/branch of[^]* paid +returned {"refunded":30}/)
    const removed = await harvest(['tapes', 'rm', 'paid', '--yes'], { cwd })
    expect(removed.stderr).toContain(`→ to remove the branches first: npx vitest-harvest tapes rm ${saved}`)
    expect(removed.code).toBe(2)
    const diff = await harvest(['diff', 'paid', saved], { cwd })
    expect(diff.stdout).toContain('amount')
    expect(diff.code).toBe(1)
  })

  it('is what the prompt of the debugger calls branch, and compare tells how the kept run differs', {
    tags: 'thorough',
  }, async () => {
    const script = 'branch 1 result.amount=700 --tail src/script.ts#answer; compare paid'
    const branched = await harvest(['debug', 'paid', '--json', '-x', script], { cwd })
    const [branch, same] = branched.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly branches?: readonly { readonly saved: string }[] })
    const saved = branch?.branches?.[0]?.saved ?? ''
    expect(branch).toMatchObject({ branches: [{ outcome: { status: 'returned', value: { asked: 'a person' } } }] })
    expect(same).toMatchObject({ class: 'same' })
    const again = 'branch 1 result.amount=700 --tail src/script.ts#answer'
    const compared = await harvest(['debug', 'paid', '-x', `${again}; compare ${saved}`], { cwd })
    expect(compared.stdout).toMatch(/^B .*~/m)
    expect(compared.stdout).toContain('asked')
    expect(compared.code).toBe(0)
    // What it prints to go on is the command that ran, not the debugger around it.
    const ran = ['fork', 'recordings/inbox/paid.tape.jsonl', '--step', '1', '--set', 'result.amount=700', '--save']
    const rerun = printed(compared.stdout, 'to run it again')
    expect(rerun).toEqual([...ran, '--tail', 'src/script.ts#answer', '--no-cache'])
    expect((await told(...rerun.slice(1))).branches).toMatchObject([{ reused: false }])
    const wrong = await harvest(
      ['debug', 'paid', '-x', 'compare; branch 1; branch 1 a b; branch 1 result.amount=700 --tools live'],
      { cwd },
    )
    expect(wrong.stdout).toContain('→ like this: compare refund-99x')
    expect(wrong.stdout).toMatch(/^→ like this: branch 1 result\.\w+=\w+$/m)
    expect(wrong.stdout).toContain('→ as one text: branch 1 "a b"')
    expect(wrong.stdout).toContain('→ to call live models: branch 1 result.amount=700 --tools=live --live\n')
    expect(wrong.code).toBe(2)
  })

  it('changes the arguments of a decision that are named, and says which it keeps and which are missing', {
    tags: 'thorough',
  }, async () => {
    const changed = (stdout: string): string => /^changed: .*$/m.exec(stdout)?.[0] ?? stdout
    const decided = 'changed: step 3, what the model decides: refund(order_id: "A-100", amount: 25) → refund('
    const part = await fork('first', '--step', '3', '--decide', 'refund(amount=10)')
    expect(changed(part.stdout)).toBe(`${decided}order_id: "A-100", amount: 10), order_id as recorded`)
    const whole = await fork('first', '--step', '3', '--decide', 'refund({"amount":10})')
    expect(changed(whole.stdout)).toBe(`${decided}amount: 10), without order_id`)
    const line = 'what_if 3 refund(amount=10) lookup_order() refund(order_id="A-100", amount=5)'
    const debug = await harvest(['debug', 'first', '-x', line], { cwd, env: { DESK_URL: desk.url } })
    expect(debug.stdout.split('\n').slice(0, 3)).toEqual([
      'refund(amount=10): the model decides refund(order_id: "A-100", amount: 10), order_id as recorded',
      'lookup_order(): the model decides lookup_order(), without order_id',
      expect.stringMatching(/^change /),
    ])
    // No tape holds what a tool answers to another call.
    expect(debug.code).toBe(1)
  })

  it('of the prompt of the debugger is made once, and again with --no-cache', { tags: 'thorough' }, async () => {
    const askedBy = async (...more: readonly string[]): Promise<number> => {
      const asked = desk.asked.length
      const line = ['what_if 2 result.total=31 --live --cross-version', ...more].join(' ')
      const { stderr } = await harvest(['debug', 'first', '-x', line], { cwd, env: { DESK_URL: desk.url } })
      expect(stderr).toBe('')
      return desk.asked.length - asked
    }
    const once = await askedBy()
    expect(once).toBeGreaterThan(0)
    expect(await askedBy()).toBe(0)
    expect(await askedBy('--no-cache')).toBe(once)
  })

  it('of the prompt of the debugger is refused for what fork refuses, with lines to type there', {
    tags: 'thorough',
  }, async () => {
    const debug = async (script: readonly string[]) =>
      harvest(['debug', 'first', '-x', script.join('; ')], { cwd, env: { DESK_URL: desk.url } })
    const asked = desk.asked.length
    const wrong = await debug([
      'what_if 2 reslt.total=30',
      'what_if 2 total=30',
      'what_if 2 result.totl=30',
      'what_if 3 refnd(amount=25) --live --runs 2',
      'branch 3 refnd(amount=25)',
      'what_if 2 result.total=25 --live',
      "what_if 2 result.total=30 result.total=99 --ok 'refnud(amount: 25)'",
      "what_if 2 result.total=30 --bad 'refund(amuont: 25)'",
    ])
    expect(wrong.stdout).toMatchInlineSnapshot(`
      "step 2 calls no model, so it cannot say 'reslt.total=30'
      → did you mean: what_if 2 result.total=30
      → its values have paths: result.order_id, result.total
      step 2 calls no model, so it cannot say 'total=30'
      → did you mean: what_if 2 result.total=30
      → its values have paths: result.order_id, result.total
      Unknown path 'result.totl' in the recorded value
        step   2
        there  order_id, total
      → did you mean total? what_if 2 result.total=30
      → to see where a value is recorded: npx vitest-harvest show first --find '<value>'
      No model could decide refnd(amount=25): unknown tool refnd
        tools known  lookup_order, refund
      Its models were not offered it, and the run did not call it, so the agent would fail on it.
      → did you mean refund? what_if 3 'refund(amount=25)' --live --runs=2
      → if the agent knows such a tool all the same: what_if 3 'refnd(amount=25)' --any-name --live --runs=2
      No model could decide refnd(amount=25): unknown tool refnd
        tools known  lookup_order, refund
      Its models were not offered it, and the run did not call it, so the agent would fail on it.
      → did you mean refund? branch 3 'refund(amount=25)'
      → if the agent knows such a tool all the same: branch 3 'refnd(amount=25)' --any-name
      The change sets what is there already
        at     step 2, result.total
        value  25
      → give another value
      No run could meet --ok refnud(amount: 25): unknown tool refnud
        at           --ok
        tools known  lookup_order, refund
      It is in no recorded call, offered tool or good run, so every run would get the same grade.
      → did you mean refund? what_if 2 result.total=30 result.total=99 '--ok=refund(amount: 25)'
      → if the tool was never called, or only the fixed agent has it: what_if 2 result.total=30 result.total=99 '--ok=refnud(amount: 25)' --any-name
      No run could meet --bad refund(amuont: 25): unknown argument amuont
        at               --bad
        arguments known  order_id, amount
      It is in no recorded call, offered tool or good run, so every run would get the same grade.
      → did you mean amount? what_if 2 result.total=30 '--bad=refund(amount: 25)'
      → if only the fixed agent has it: what_if 2 result.total=30 '--bad=refund(amuont: 25)' --any-name
      "
    `)
    expect([wrong.code, desk.asked.length]).toEqual([2, asked])
    const budget = ['what_if 2 result.total=30 --live --runs 3 --max-calls 1 --cross-version']
    const limited = await debug(budget)
    expect(limited.stdout).toMatchInlineSnapshot(`
      "change           as recorded  95 %  unchanged  first difference
      result.total=30  not judged         undecided  HARVEST_BUDGET_USED
      3 not judged: What is left of the budget does not pay for one more run (HARVEST_BUDGET_USED)
      → to leave room for all runs: what_if 2 result.total=30 --live --runs 3 --cross-version --max-calls=54
      "
    `)
    expect(limited.code).toBe(1)
    const [, more = ''] = /^→ to leave room for all runs: (.*)$/m.exec(limited.stdout) ?? []
    const enough = await debug([more])
    expect(enough.stdout).not.toContain('not judged')
    expect(enough.code).toBe(0)
  })

  it('of the prompt of the debugger without a change is refused with one of the step that was typed, which works', {
    tags: 'thorough',
  }, async () => {
    const debug = async (line: string) => harvest(['debug', 'first', '-x', line], { cwd, env: { DESK_URL: desk.url } })
    const typed = ['what_if 2 --runs 2', 'branch 4', 'what_if 3 --live --cross-version', 'what_if']
    const lines = await Promise.all(
      typed.map(async (line) => /^→ like this: (.*)$/m.exec((await debug(line)).stdout)?.[1] ?? ''),
    )
    expect(lines).toEqual([
      'what_if 2 result.order_id=other --runs 2',
      'branch 4 result.order_id=other',
      "what_if 3 'I am not sure.' --live --cross-version",
      "what_if 1 'I am not sure.'",
    ])
    const followed = await debug(lines.join('; '))
    expect(followed.stdout).not.toContain('like this')
    expect([0, 1]).toContain(followed.code)
  })

  it('of the prompt of the debugger runs the agent that is debugged', { tags: 'thorough' }, async () => {
    const asked = async (script: string, ...args: readonly string[]) =>
      harvest(['debug', 'paid', '--json', '-x', script, ...args], { cwd })
    const own = await asked('what_if 1 result.amount=30')
    expect(JSON.parse(own.stdout)).toMatchObject({ differs: null })
    const other = await asked('what_if 1 result.amount=30; branch 1 result.amount=30', '--agent', 'cautious')
    const [rows, refused] = other.stdout.trim().split('\n')
    expect(JSON.parse(rows ?? '')).toMatchObject({ code: 'HARVEST_CONTROL' })
    expect(refused).toContain('branch runs the agent of the tape, not cautious')
    const module = await asked('what_if 1 result.amount=30', '--module', './src/payer.ts#cautious')
    expect(module.stdout).toContain('forks run an agent of the Vitest config, and this one is ./src/payer.ts#cautious')
  })

  it.skipIf(!hasTerminal)('of the prompt of the debugger ends with whoever leaves', { tags: 'thorough' }, async () => {
    const command = `'${process.execPath}' '${built('cli/main.js')}' debug paid`
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name))
    const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd, env: Object.fromEntries(own) })
    const ended = once(terminal, 'close')
    const said = text(terminal.stdout)
    terminal.stdin.write('what_if 1 result.amount=30 result.amount=99 --parallel 1\r')
    while (!existsSync(join(cwd, 'began'))) await setTimeout(20)
    terminal.stdin.write('\u0004')
    await ended
    expect(await said).toMatch(/amount=30 +not judged +HARVEST_NOT_RECORDED\r[^]*stopped after 1 of 2 forks\r/)
    // The prompt is gone: it is a command for the shell.
    const again = `what_if 1 result.amount=30 result.amount=99 --parallel 1`
    expect(await said).toContain(`are kept: npx vitest-harvest debug paid --commands '${again}'\r`)
    expect(existsSync(join(cwd, 'stayed'))).toBe(false)
  })

  it.skipIf(!hasTerminal)(
    'of the prompt of the debugger ends with Ctrl-C, which says what was known, does nothing typed behind it, and keeps the prompt',
    { tags: 'thorough' },
    async () => {
      const command = `'${process.execPath}' '${built('cli/main.js')}' debug first --live --cross-version`
      const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS|FORCE_COLOR|CI$)/.test(name))
      const env = { ...Object.fromEntries(own), DESK_URL: desk.url, NO_COLOR: '1', TERM: 'dumb' }
      const terminal = spawn('script', ['-qec', command, '/dev/null'], { cwd, env })
      const ended = once(terminal, 'close')
      let said = ''
      terminal.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
      const before = desk.asked.length
      // The sixth question is left open: nothing but Ctrl-C ends it.
      desk.decide = (messages) =>
        desk.asked.length - before < 6 ? usual(messages) : void terminal.stdin.write('\u0003')
      const line = 'what_if 2 result.total=30 --runs 4 --parallel 1 --tools live'
      terminal.stdin.write(`${line}; first\r${line}\r`)
      while (!said.includes('stopped after')) await setTimeout(20)
      desk.decide = usual
      // An idle prompt takes the first Ctrl-C for one to leave, as ever.
      while (!said.endsWith('(1/5) ')) await setTimeout(20)
      terminal.stdin.write('goto 2\r')
      while (!said.endsWith('(2/5) ')) await setTimeout(20)
      terminal.stdin.write('\u0003')
      while (!said.includes('To exit')) await setTimeout(20)
      terminal.stdin.write('\u0003')
      await ended
      expect(said).toMatch(/^5 model calls, .*; 1 more call still open, cost not known; tools for real\r$/m)
      // Neither the rest of the line nor the next one is done.
      expect(said).toMatch(/^stopped after \d of 8 forks\r\n→.*\r\n(?:\(1\/5\) )+goto 2\r$/m)
      expect(said).toContain(`→ to go on, as forks that ended are kept: ${line}\r\n`)
      expect(desk.asked.length - before).toBe(6)
    },
  )

  it('of the debugger, ended in its middle, says which of its forks were made and how they ended', {
    tags: 'thorough',
  }, async () => {
    rmSync(join(cwd, 'began'), { force: true })
    const line = 'what_if 1 result.amount=30 result.amount=99 --parallel 1; first'
    const own = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name))
    const args = [built('cli/main.js'), 'debug', 'paid', '-x', line]
    const debug = spawn(process.execPath, args, {
      cwd,
      env: Object.fromEntries(own),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = text(debug.stdout)
    const ended = once(debug, 'close')
    while (!existsSync(join(cwd, 'began'))) await setTimeout(20)
    debug.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(await said).toMatchInlineSnapshot(`
      "change            as recorded  95 %  first difference
      result.amount=30  not judged         HARVEST_NOT_RECORDED
      result.amount=99  not judged         HARVEST_CLI_INTERRUPTED
      → the tape does not hold what the model says then; to ask it: add --live to the line, and --tools live if it may call otherwise
      stopped after 1 of 2 forks
      → to go on, as forks that ended are kept: npx vitest-harvest debug paid --commands 'what_if 1 result.amount=30 result.amount=99 --parallel 1; first'
      "
    `)
    expect(existsSync(join(cwd, 'stayed'))).toBe(false)
  })

  it('grades by the function its case names, unless --ok or --bad is given', { tags: 'thorough' }, async () => {
    const golden = join(cwd, 'recordings/golden')
    mkdirSync(golden, { recursive: true })
    const paid = tapeText('paid', { agent: 'payer', input: { order_id: 'A-1' } })
    writeFileSync(join(golden, 'paid-right.tape.jsonl'), paid)
    const kase =
      'case: paid-right\nagent: payer\ntape: paid-right.tape.jsonl\nexpect: pass\noutcome: { refunded: 30 }\n'
    const file = join(golden, 'paid-right.case.yaml')
    writeFileSync(file, `${kase}oracle: ./src/script.ts#isRight\n`)
    const args = ['paid-right', '--step', '1', '--set', 'result.amount=30', '--tail', 'src/script.ts#answer'] as const
    expect(await told(...args)).toMatchObject({
      gradedBy: 'the oracle of its case, ./src/script.ts#isRight',
      recorded: 'ok',
      branches: [{ grade: 'bad' }],
    })
    expect(await told(...args, '--ok', 'refunded=30')).toMatchObject({ recorded: 'bad', branches: [{ grade: 'ok' }] })
    writeFileSync(file, `${kase}oracle: ./src/script.ts#isWrong\n`)
    const { code, stderr } = await fork(...args)
    expect(stderr).toContain('paid-right.case.yaml:6:1\n')
    expect(stderr).toContain('→ name one that it has: oracle: ./src/script.ts#isRight')
    expect(code).toBe(2)
    rmSync(golden, { recursive: true })
  })

  it('pays the calls of a function that asks a model from its budget, which has to be allowed, and says what they were', {
    tags: 'thorough',
  }, async () => {
    const golden = join(cwd, 'recordings/golden')
    mkdirSync(golden, { recursive: true })
    writeFileSync(
      join(cwd, 'src/judge.ts'),
      `export const judge = async ({ value }: any): Promise<boolean> => {
  const messages = [{ role: 'user', content: 'Is it right? ' + JSON.stringify(value) }]
  const body = JSON.stringify({ model: 'gpt-4o', messages })
  const response = await fetch(process.env.DESK_URL + '/v1/chat/completions', { method: 'POST', body })
  return (await response.text()).includes('yes')
}
`,
    )
    writeFileSync(join(golden, 'judged.tape.jsonl'), readFileSync(join(cwd, inbox, 'first.tape.jsonl')))
    const kase = 'case: judged\nagent: desk\ntape: judged.tape.jsonl\nexpect: pass\noracle: ./src/judge.ts#judge\n'
    writeFileSync(join(golden, 'judged.case.yaml'), kase)
    let judged = 0
    desk.decide = (messages) => {
      if (!String(messages[0]?.content).startsWith('Is it right?')) return usual(messages)
      judged++
      return 'yes'
    }
    const words = ['judged', '--step', '3', '--live', '--cross-version', '--parallel', '1', '--no-cache', '--runs', '3']
    const forked = async (most: number) => {
      const before = desk.asked.length
      judged = 0
      const { stdout, stderr } = await fork(...words, '--max-calls', `${most}`)
      const [, calls] = /^(\d+) model calls, /m.exec(stdout) ?? []
      const [, grading] = /^of which grading (\d+) model calls, \$/m.exec(stdout) ?? []
      const said = stdout + stderr
      return { calls: Number(calls), grading: Number(grading), asked: desk.asked.length - before, said }
    }
    const whole = await forked(100)
    expect(whole, whole.said).toMatchObject({ calls: whole.asked, grading: judged })
    const most = whole.asked - 3
    const limited = await forked(most)
    expect(limited, limited.said).toMatchObject({ calls: limited.asked, grading: judged })
    expect(limited.asked).toBeLessThanOrEqual(most)
    expect(judged, limited.said).toBeGreaterThan(1)
    expect(limited.said).toContain('to leave room for all runs')
    // Where no model may be paid it is asked once, and refused.
    judged = 0
    const unpaid = await fork('judged', '--step', '3', '--no-cache')
    expect({ ...unpaid, judged }).toMatchObject({
      code: 2,
      judged: 1,
      stderr: expect.stringMatching(/spent +1 model call, /),
    })
    for (const about of ['to pay for grades, with a limit', 'or grade by a call that is right']) {
      const [, ...args] = printed(unpaid.stderr, about, { '<call>': 'refund(amount: 25)' })
      expect(await fork(...args)).toMatchObject({ stdout: expect.stringContaining('graded by ') })
    }
    desk.decide = usual
    rmSync(golden, { recursive: true })
  })

  it('what a tape holds goes with it: its forks are forgotten when it is removed', { tags: 'thorough' }, async () => {
    const kept = join(cwd, inbox, '.forks')
    writeFileSync(join(cwd, inbox, 'gone.tape.jsonl'), tapeText('gone', { agent: 'payer', input: { order_id: 'A-1' } }))
    mkdirSync(join(kept, 'gone'), { recursive: true })
    writeFileSync(join(kept, 'gone', 'x.json'), '{}')
    const before = readdirSync(kept)
    await harvest(['tapes', 'rm', 'gone', '--yes'], { cwd })
    expect(readdirSync(kept)).toEqual(before.filter((name) => name !== 'gone'))
  })

  it('what the tape cannot answer is not guessed: nothing is judged, exit code 1', { tags: 'thorough' }, async () => {
    const { code, stdout } = await fork('first', '--step', '2', '--set', 'result.total=30')
    expect(stdout).toContain('not judged')
    expect(stdout).toContain('HARVEST_NOT_RECORDED')
    expect(stdout).toContain('→ to continue with live models: npx vitest-harvest fork ')
    expect(code).toBe(1)
  })

  it('a fork that leaves its tape goes on with the answers of another run where one leads it to its end, which was tried', {
    tags: 'thorough',
  }, async () => {
    desk.decide = (messages) => {
      const call = usual(messages)
      return messages.length === 4 ? { tool: 'refund', args: { order_id: 'A-100', amount: 10 } } : call
    }
    await recordDesk(cwd, desk, 'ten', ['Refund A-100.'])
    desk.decide = usual
    const lost = await fork('first', '--step', '3', '--decide', 'refund(order_id=A-100, amount=10)')
    expect(lost).toMatchObject({ code: 1, stdout: expect.stringContaining('not judged') as string })
    const next = printed(lost.stdout, 'to go on with the answers of another run, which was tried')
    expect(next.slice(-2)).toEqual(['--tail', 'ten'])
    expect(await fork(...next.slice(1))).toMatchObject({ code: 0, stderr: '' })
    // Others called that tool as well, and not with these arguments.
    const other = await fork('first', '--step', '3', '--decide', 'refund(order_id=A-100, amount=11)')
    rmSync(join(cwd, inbox, 'ten.tape.jsonl'))
    expect(other.stdout).toContain('→ to run its tools for real')
    expect(other.stdout).not.toContain('--tail')
  })

  it('a model that cannot be asked is no outcome', { tags: 'thorough' }, async () => {
    const args = ['first', '--step', '5', '--live', '--model-server', 'http://127.0.0.1:9']
    const { code, stdout } = await fork(...args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining('no fork could be judged') as string })
    expect(stdout).toContain('HARVEST_FORK_MODEL_UNREACHABLE')
    expect(printed(stdout, 'once the key (usually OPENAI_API_KEY), quota and address of the model are right')).toEqual([
      'fork',
      ...args,
    ])
  })

  it('an agent that throws before it asks anything, as without its key, says nothing and is not kept', {
    tags: 'thorough',
  }, async () => {
    const args = ['fork', 'first', '--step', '2', '--live']
    const { code, stderr } = await harvest(args, { cwd, env: { DESK_URL: 'no address', CI: '' } })
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('HARVEST_CONTROL') as string })
    expect(stderr).toContain('The agent threw TypeError')
    expect(printed(stderr, 'once its key and environment are right')).toEqual(args)
    expect((await harvest(args, { cwd, env: { DESK_URL: desk.url, CI: '' } })).code).toBe(0)
  })

  it('--critical tries other decisions at every model step, and says what was not tried', async () => {
    const { code, stdout, stderr } = await fork('first', '--critical', '--tail', 'donor', '--bad', 'refund(*)')
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "graded by --bad refund(*); the recorded run is bad

      step 1  critical, effect +1.00
        the model decided: lookup_order(order_id: "A-100")
        calls nothing and says "Nothing more to do.": another outcome, ok (step 2 is missing: lookup_order(order_id: "A-100"))
        1 of 1 alternatives get another grade
      step 3  critical, effect +1.00
        the model decided: refund(order_id: "A-100", amount: 25)
        calls nothing and says "Nothing more to do.": another outcome, ok (step 4 is missing: refund(order_id: "A-100", amount: 25))
        as the reference run: says "I refunded nothing.": another outcome, ok (step 4 is missing: refund(order_id: "A-100", amount: 25))
        2 of 2 alternatives get another grade
      step 5  unknown
        the model decided: says "I refunded 25 EUR."
        no alternative to try: the model called no tool

      critical: 1, 3
      no judged alternative changes the grade: none
      nothing could be judged: 5
      best alternative: step 1, calls nothing and says "Nothing more to do."
      not tried: values and texts the run does not know, other answers of tools
      "
    `)
    expect(code).toBe(0)
  })

  it('of a step that was resampled, --critical says what the model decided', { tags: 'thorough' }, async () => {
    desk.decide = (messages) => {
      const call = usual(messages)
      const isRefund = typeof call === 'object' && 'tool' in call && call.tool === 'refund'
      return isRefund ? { tool: 'refund', args: { order_id: 'A-100', amount: 10 } } : call
    }
    const args = ['first', '--critical', '--live', '--ok', 'refund(amount: 10)', '--any-name']
    const decisions = await fork(...args, '--json')
    desk.decide = usual
    const { stdout } = await fork(...args)
    interface Found {
      readonly decisions: readonly { readonly step: number; readonly tried: readonly { readonly instead: string }[] }[]
      readonly best: { readonly instead: string } | null
    }
    const found = JSON.parse(decisions.stdout) as Found
    const resampled = found.decisions.toSorted((a, b) => a.step - b.step).map(({ tried }) => tried.at(-1)?.instead)
    expect(resampled).toEqual([
      'resampled (1): lookup_order(order_id: "A-100")',
      'resampled (1): refund(order_id: "A-100", amount: 10)',
      'resampled (1): says "I refunded 25 EUR."',
    ])
    // Runs that keep the decision are as good now.
    expect(found.best).toBeNull()
    expect(stdout).not.toContain('best alternative')
  })

  it('--json names tapes from the project, however they were named', { tags: 'thorough' }, async () => {
    const file = 'recordings/inbox/paid.tape.jsonl'
    for (const name of ['paid', file, join(cwd, file)]) {
      const change = ['--step', '1', '--result', '{"amount":600}', '--tail', name]
      expect(await told(name, ...change)).toMatchObject({ tape: file, tail: { file } })
    }
    for (const name of ['first', join(cwd, inbox, 'first.tape.jsonl')])
      expect(await told(name, '--critical', '--tail', 'donor', '--bad', 'refund(*)')).toMatchObject({
        tape: 'recordings/inbox/first.tape.jsonl',
        tail: { file: 'recordings/inbox/donor.tape.jsonl' },
      })
  })

  it('a decision on the answer of a tool leads to the step of its model', { tags: 'thorough' }, async () => {
    const refused = await fork('first', '--step', '4', '--decide', 'refund(amount=10)')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('models decide at steps 1, 3 and 5')])
    const next = printed(refused.stderr, 'models decide at')
    expect((await fork(...next.slice(1))).stdout).toContain('changed: step 3')
  })

  it('--critical with nothing that grades proposes to say what is right', { tags: 'thorough' }, async () => {
    const ends = await fork('first', '--critical', '--tail', 'donor')
    const graded = printed(ends.stderr, 'to say what would be right', { '<right>': 'refund(*)' })
    expect((await fork(...graded.slice(1))).stdout).toContain('graded by --ok refund(*); the recorded run is ok')
  })

  it.each([
    ['nothing to fork at', ['paid'], 'fork needs --step <n>', 2],
    ['a step that is not there', ['paid', '--step', '9', '--result', '1'], '1 to 2', 2],
    ['a changed answer without its step', ['paid', '--result', '1'], '--step <n>', 2],
    [
      'a mistyped key',
      ['paid', '--step', '1', '--set', 'result.amuont=1'],
      'did you mean amount? --set result.amount=1',
      2,
    ],
    [
      'a value that is there already',
      ['paid', '--step', '1', '--set', 'result.amount=25'],
      'sets what is there already',
      2,
    ],
    ['an edit that finds nothing', ['paid', '--step', '1', '--edit', 's/26/1/'], 'HARVEST_FORK_EDIT', 2],
    [
      'a result that is no JSON',
      ['paid', '--step', '1', '--result', '{"amount":600'],
      'Invalid --result: expected JSON',
      2,
    ],
    [
      'a decision for a tool nobody knows',
      ['first', '--step', '1', '--decide', 'refnd(amount=1)'],
      "did you mean refund? --decide 'refund(amount=1)' instead of 'refnd(amount=1)'",
      2,
    ],
    ['a text without what stands for it', ['paid', '--step', '1', '--replace', '25'], 'belong together', 2],
    ['a file that is not there', ['paid', '--step', '1', '--answer', 'no.json'], 'a file that can be read', 2],
    ['two decisions at once', ['first', '--step', '1', '--say', 'x', '--decide', 'a()'], '--say', 2],
    ['a mark that is not there', ['paid', '--mark', 'plan=1'], 'no mark', 2],
    ['a live tail nobody agreed to', ['first', '--step', '1', '--tail', 'live'], 'confirm with --live', 2],
    ['a live step nobody agreed to', ['first', '--step', '1', '--mode', '3=live'], 'needs --live', 2],
    ['tools that run for real without models', ['first', '--step', '1', '--tools', 'live'], 'needs --live', 2],
    ['tools of nobody', ['first', '--step', '1', '--live', '--tools', 'none'], 'tape or live', 2],
    ['two tails', ['first', '--step', '1', '--tail', 'tape', '--live'], 'exclude each other', 2],
    ['a tail that is not there', ['first', '--step', '1', '--tail', 'frist'], 'Invalid --tail', 2],
    ['a change and --critical', ['first', '--critical', '--step', '1'], 'exclude each other', 2],
    ['code that was not recorded, live', ['paid', '--step', '1', '--live'], 'HARVEST_CROSS_VERSION', 4],
  ])('%s is refused', { tags: 'thorough' }, async (_, args, message, exitCode) => {
    const { code, stdout, stderr } = await inProcess(['fork', ...args, '--dir', join(cwd, 'recordings')])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
  })
})
