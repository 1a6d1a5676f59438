import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { orderExchange, tapeText } from '../host/refund.ts'
import { built } from '../support/built.ts'
import { type Desk, deskProject, openDesk, recordDesk, otherRefund, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'

const inbox = 'recordings/inbox'

/** Pays back what was paid, and asks a person when that is much: its code decides, no model. */
const payer = `import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
const refund = tool('refund', async (order: { order_id: string; amount: number }) => 'ok')
export async function payer({ order_id }: { order_id: string }) {
  const { amount } = await lookup({ order_id })
  if (amount > 500) return { asked: 'a person' }
  if (amount > 100) return { refunded: 25 }
  await refund({ order_id, amount })
  return { refunded: amount }
}
export async function keeper({ order_id }: { order_id: string }) {
  const runs = globalThis.runsOfKeeper = (globalThis.runsOfKeeper ?? 0) + 1
  const { amount } = await lookup({ order_id })
  await refund({ order_id, amount })
  return { refunded: amount, runs }
}
export async function orders() {
  const response = await fetch('http://127.0.0.1:45998/orders', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"order_id":"A-1"}' })
  if (!response.ok) return { failed: response.status }
  return { amount: (await response.json()).amount }
}
`

/** Of the arm with the change, which asks nicely. */
const isChanged = (messages: unknown): boolean => JSON.stringify(messages).includes('please')

describe('harvest patch', () => {
  let cwd = ''
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    execFileSync('git', ['init', '--quiet'], { cwd })
    writeFileSync(join(cwd, 'src/payer.ts'), payer)
    const config = readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')
    const agents = '"payer":"./src/payer.ts#payer","keeper":"./src/payer.ts#keeper","orders":"./src/payer.ts#orders",'
    writeFileSync(join(cwd, 'vitest.config.ts'), config.replace('agents: {', `agents: {${agents}`))
    mkdirSync(join(cwd, inbox), { recursive: true })
    writeFileSync(join(cwd, inbox, 'paid.tape.jsonl'), tapeText('paid', { agent: 'payer', input: { order_id: 'A-1' } }))
    const kept = { agent: 'keeper', input: { order_id: 'A-1' }, returned: { refunded: 25, runs: 1 } }
    writeFileSync(join(cwd, inbox, 'kept.tape.jsonl'), tapeText('kept', kept))
    const ordered = tapeText('ordered', { agent: 'orders', events: [orderExchange], returned: { amount: 25 } })
    writeFileSync(join(cwd, inbox, 'ordered.tape.jsonl'), ordered)
    await recordDesk(cwd, desk)
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const patch = (...args: string[]) => harvest(['patch', ...args], { cwd, env: { DESK_URL: desk.url, CI: '1' } })

  it('what was perhaps mistyped is said with the line that works', { tags: 'thorough' }, async () => {
    const type = (...words: readonly string[]) => harvest(words, { cwd, env: { DESK_URL: desk.url } })
    const text = await patch('paid', '--step', '1', '--set', 'result.amount="600"')
    expect(text.stderr).toContain('result.amount was a number, and is set to a string\n')
    expect(text.stdout).toContain('25 → "600"')
    expect((await type(...printed(text.stderr, 'did you mean'))).stdout).toContain('25 → 600')
    const status = await patch('ordered', '--step', '1', '--set', 'status=gone')
    expect((await type(...printed(status.stderr, 'such as an error of the server'))).stdout).toContain('200 → 500')
    const unknown = await type('fork', 'first', '--step', '1', '--decide', 'pay_out(amount=1)')
    expect(unknown.code).toBe(2)
    const known = await type(...printed(unknown.stderr, 'if the agent knows such'))
    expect(known.stdout).toContain('pay_out(amount: 1)')
    const reference = ['blame', 'paid', '--bad', 'refund(*)', '--dry-run', '--cross-version', '--reference']
    const bad = await type(...reference, 'paid')
    expect(bad.stderr).toContain('is no good run: it is graded bad')
    const next = [
      printed(bad.stderr, 'name a good run', { '<tape|case>': 'ordered' }),
      printed(bad.stderr, 'or go on without one'),
    ]
    for (const words of next) expect(await type(...words)).toMatchObject({ code: 0 })
  })

  it('a changed tool result, and the outcome is gone', async () => {
    const { code, stdout, stderr } = await patch('paid', '--step', '1', '--set', 'result.amount=600')
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "step 1, result.amount: 25 → 600
      recorded: returned {"refunded":25}

      the outcome is gone
      The run now returned {"asked":"a person"}
      The tool calls are others: ["lookup_order(order_id)"]
      "
    `)
    expect(code).toBe(0)
  })

  it('a changed tool result, and the same outcome comes of other tool calls', async () => {
    const { stdout } = await patch('paid', '--step', '1', '--set', 'result.amount=200', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      survives: true,
      traceChanged: true,
      changed: [{ step: 1, path: 'result.amount', before: 25, value: 200 }],
    })
  })

  it('an answer of a service: its body, and its status', { tags: 'thorough' }, async () => {
    const body = JSON.parse(
      (await patch('ordered', '--step', '1', '--set', 'body.amount=30', '--json')).stdout,
    ) as object
    expect(body).toMatchObject({ survives: false, outcome: { status: 'returned', value: { amount: 30 } } })
    const status = await patch('ordered', '--step', '1', '--set', 'status=503', '--json')
    expect(JSON.parse(status.stdout)).toMatchObject({ survives: false, outcome: { value: { failed: 503 } } })
  })

  it('what a model would say to a changed question nobody recorded: undecided, exit code 1', async () => {
    const { code, stdout } = await patch('first', '--step', '2', '--set', 'result.total=30')
    expect(stdout).toContain('step 2, result.total: 25 → 30')
    expect(stdout).toContain('undecided\nWith this change a model is asked something else')
    expect(stdout).toMatch(/result of lookup_order, steps 3 and 5: .*25.*30/)
    expect(stdout).toContain('--live')
    expect(code).toBe(1)
  })

  it('from undecided the printed commands lead to live models, refused for other code, and to how often it survives', {
    tags: 'thorough',
  }, async () => {
    desk.decide = usual
    const recordings = "it's recs"
    mkdirSync(join(cwd, recordings, 'inbox'), { recursive: true })
    copyFileSync(join(cwd, inbox, 'first.tape.jsonl'), join(cwd, recordings, 'inbox/the first.tape.jsonl'))
    const runs = ['--runs', '2', '--parallel', '1']
    const offline = await patch('the first', '--dir', recordings, '--step', '2', '--set', 'result.total=30', ...runs)
    const live = printed(offline.stdout, 'to continue with live models')
    expect(live).toContain('--live')
    // The tape does not say which code it ran: the command says that it may be another one.
    const refused = await patch(...live.slice(1).filter((word) => word !== '--cross-version'))
    expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('HARVEST_CROSS_VERSION')])
    const asked = desk.asked.length
    const anyway = printed(refused.stderr, 'to continue anyway')
    expect(anyway.toSorted()).toEqual(live.toSorted())
    const decided = await patch(...live.slice(1))
    expect(decided).toMatchObject({ code: 1, stderr: '', stdout: expect.stringContaining('model calls') as string })
    // Two runs of either kind rule nothing out.
    const finer = live.map((word, at) => (live[at - 1] === '--runs' ? '8' : word))
    expect(printed(decided.stdout, 'for a finer answer, with more runs').toSorted()).toEqual(finer.toSorted())
    expect(desk.asked.length - asked).toBeGreaterThan(4)
  })

  it('--live asks the models what comes of it, and counts', { tags: 'thorough' }, async () => {
    let runs = 0
    desk.decide = (messages) => {
      const done = usual(messages)
      return typeof done === 'string' && isChanged(messages) && ++runs === 1 ? 'That is another total.' : done
    }
    const args = ['first', '--set', 'input.text=Refund A-100, please.', '--live', '--runs', '4', '--parallel', '1']
    const { code, stdout } = await patch(...args, '--cross-version', '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      survives: null,
      rate: { survived: 3, runs: 4, undecided: 0 },
      // As many without the change, drawn beside them.
      beside: { survived: 4, runs: 4, undecided: 0, chance: 1 },
      spent: { modelCalls: 24 },
    })
    expect(code).toBe(1)
  })

  it('what a model said is not changed where models are asked for real: the printed fork keeps the run up to it', {
    tags: 'thorough',
  }, async () => {
    const words = ['first', '--step', '5', '--set', 'body.choices.0.message.content=Done.']
    const asked = desk.asked.length
    const refused = await patch(...words, '--live')
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('a model answers step 5 itself') as string,
    ])
    expect(desk.asked).toHaveLength(asked)
    const fork = printed(refused.stderr, 'to keep the run up to it, with this change')
    expect(fork).toEqual(['fork', ...words, '--live'])
    const { code, stdout } = await harvest(['fork', ...fork.slice(1), '--cross-version'], {
      cwd,
      env: { DESK_URL: desk.url, CI: '1' },
    })
    expect([code, stdout]).toEqual([0, expect.stringContaining('Done.') as string])
    expect(refused.stderr).toContain('to replay the change from the tape: npx vitest-harvest patch first --step 5')
    expect((await patch(...printed(refused.stderr, 'to replay the change from the tape').slice(1))).code).toBe(0)
  })

  it('an agent that keeps state between runs is refused before a model is asked, as by fork and rerun', {
    tags: 'thorough',
  }, async () => {
    const before = desk.asked.length
    const promoted = await harvest(['promote', 'kept', '--as', 'keeps', '--unverified'], { cwd })
    expect(promoted).toMatchObject({ code: 0 })
    const changed = ['kept', '--set', 'input.order_id=B-2']
    for (const line of [
      ['patch', ...changed],
      ['fork', ...changed],
      ['rerun', 'keeps'],
    ]) {
      const words = [...line, '--live', '--cross-version']
      const { code, stderr } = await harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '1' } })
      expect([code, stderr]).toEqual([1, expect.stringContaining('The agent keeps state between runs') as string])
      expect(stderr).toContain('globalThis.runsOfKeeper')
    }
    expect(desk.asked).toHaveLength(before)
  })

  it('Ctrl-C prints how the runs ended that were made until then and what they cost, and decides nothing', {
    tags: 'thorough',
  }, async () => {
    const input = 'input.text=Refund A-100, please.'
    const words = ['patch', 'first', '--set', input, '--live', '--runs', '4', '--parallel', '1', '--cross-version']
    const child = spawn(process.execPath, [built('cli/main.js'), ...words], {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '1', VITEST: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const before = desk.asked.length
    // A run with the change and one without have ended when the question that is left open is asked.
    desk.decide = (messages) => (desk.asked.length - before < 7 ? usual(messages) : void child.kill('SIGINT'))
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    desk.decide = usual
    expect(code, stderr).toBe(130)
    expect(stdout).toMatch(
      /^undecided\n1 of 1 live runs end so; without the change, sampled in pairs, 1 of 1\. No effect/m,
    )
    expect(stdout).toMatch(/^6 model calls, .*, \$0\.0027[^\n]*\nstopped after 2 of 8 runs\n$/m)
    expect(stderr).toContain('Its runs are not kept.')
  })

  it('live runs of which many leave the tape are no rate, and the printed command runs their tools too', async () => {
    // Of either arm one run of four.
    const [refund, refundBeside] = [otherRefund(4), otherRefund(4)]
    desk.decide = (messages, question) => (isChanged(messages) ? refund : refundBeside)(messages, question)
    const args = ['first', '--set', 'input.text=Refund A-100, please.', '--live', '--cross-version', '--parallel', '1']
    const { code, stdout } = await patch(...args, '--runs', '4')
    expect(stdout).toMatch(/\nundecided\n3 of 3 live runs end so.* Too many others could not be judged\.\n/)
    expect(stdout).not.toContain('95 % (Wilson)')
    expect(code).toBe(1)
    const next = printed(stdout, 'to run tools for real, with their side effects')
    expect(next).toEqual(['fork', ...args, '--runs', '4', '--tools', 'live'])
  })

  it('a model that cannot be asked is no result, and more runs are offered where none is shown', {
    tags: 'thorough',
  }, async () => {
    const args = ['first', '--set', 'input.text=Refund A-100, please.', '--live', '--cross-version', '--runs', '2']
    desk.decide = () => ({ status: 401, message: 'Incorrect API key provided' })
    const lost = await patch(...args)
    expect(lost.stdout).toContain('No live run could be judged.\n\nA model answered with status 401: Incorrect API key')
    expect(printed(lost.stdout, 'once the key')).toEqual(['patch', ...args])
    desk.decide = () => 'Ask a person.'
    const other = await patch(...args)
    expect([lost.code, other.code]).toEqual([1, 1])
    const more = printed(other.stdout, 'for a finer answer, with more runs')
    expect(more).toEqual(['patch', ...args.slice(0, -1), '8'])
  })

  it('another input is what the agent is called with; the tape itself stays as it is', async () => {
    const before = readFileSync(join(cwd, inbox, 'paid.tape.jsonl'))
    const { stdout } = await patch('paid', '--set', 'input.order_id=B-2', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ survives: null, because: expect.stringContaining('B-2') as string })
    expect(readFileSync(join(cwd, inbox, 'paid.tape.jsonl'))).toEqual(before)
  })

  it.each([
    ['nothing to set', ['paid'], 'patch needs --set', 2],
    ['no value', ['paid', '--set', 'result.amount'], 'path=value', 2],
    ['a step that is not there', ['paid', '--step', '9', '--set', 'result=1'], '1 to 2', 2],
    [
      'a mistyped key',
      ['paid', '--step', '1', '--set', 'result.amuont=1'],
      'did you mean amount? npx vitest-harvest patch paid --step 1 --set result.amount=1',
      2,
    ],
    [
      'a mistyped beginning',
      ['paid', '--step', '1', '--set', 'reslt.amount=1'],
      'did you mean result? npx vitest-harvest patch paid --step 1 --set result.amount=1',
      2,
    ],
    [
      'a status that is no number',
      ['ordered', '--step', '1', '--set', 'status=gone'],
      'an error of the server: npx vitest-harvest patch ordered --step 1 --set status=500',
      2,
    ],
    ['a path that is none', ['paid', '--step', '1', '--set', 'result..[=1'], 'HARVEST_PATCH_PATH', 2],
    ['code that was not recorded, live', ['paid', '--live', '--set', 'input.order_id=1'], 'HARVEST_CROSS_VERSION', 4],
  ])('%s is refused', async (_, args, message, exitCode) => {
    const { code, stdout, stderr } = await patch(...args)
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: '' })
  })
})
