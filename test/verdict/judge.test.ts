import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parseCase, updateCase } from '../../src/cases/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { createRecorder, mark, message, state } from '../../src/record/index.ts'
import { retriever, tool } from '../../src/seam/index.ts'
import { type Json, readTape, type Tape } from '../../src/tape/index.ts'
import { type MatchOptions, renderBaseline, traceOfRun } from '../../src/trace/index.ts'
import { callsLeftOut, judge } from '../../src/verdict/index.ts'
import { assertedOutcome } from '../../src/recordings/asserted-outcome.ts'
import { chatUrl, Recording, tapeOf } from '../replay/tapes.ts'

const url = 'https://shop.test/orders'
const kase = parseCase('case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n', 'a.case.yaml')

test('of an agent that throws before it is done the error is told, and not only what it left out', async () => {
  await installReplay()
  const tape = tapeOf([{ method: 'GET', url }])
  const judged = async (agent: () => Promise<unknown>) => {
    const run = await replayTape(tape, agent)
    const verdict = judge(kase, run, {})
    // Without a case the same comes first.
    expect(verdictOf(run).differences[0]?.code).toBe(verdict.because?.error.code)
    return verdict.because?.error ?? 'green'
  }
  const broken = async () => {
    throw new RangeError('no such order')
  }
  expect(await judged(broken)).toMatchObject({
    code: 'HARVEST_OUTCOME_KIND',
    message: expect.stringContaining('threw RangeError: no such order'),
    cause: expect.any(RangeError),
  })
  expect(await judged(async () => 'done')).toMatchObject({ code: 'HARVEST_UNUSED' })
  expect(await judged(() => fetch(`${url}/7`))).toMatchObject({ code: 'HARVEST_DIVERGENCE' })
})

test('under sequence the line with the call that differs is told, and the number of the call', async () => {
  await installReplay()
  const text = 'case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline:\n  - [a(), b()]\n  - c()\n  - d()\n'
  const recording = new Recording()
  const names = ['a', 'b', 'other', 'd']
  for (const name of names) recording.call(name, [], 1)
  const run = await replayTape(recording.tape(), async () => {
    for (const name of names) await tool(name, async () => 1)()
    return null
  })
  const verdict = judge(parseCase(text, 'a.case.yaml'), run, { trace: 'sequence' })
  expect(verdict.isGreen ? 'green' : verdict.because).toMatchObject({ line: 7, divergedAt: 'call 3 of the trace' })
})

test('searches that changed places are as recorded, unless the case wants a strict order', async () => {
  await installReplay()
  const head = 'case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline:\n'
  const recording = new Recording()
  recording.call('kb', ['tea'], 'green', { kind: 'retrieval' })
  recording.call('wiki', ['cups'], 'blue', { kind: 'retrieval' })
  recording.call('order', [1], 'done')
  const tape = recording.tape({ value: 'done' })
  const [kb, wiki] = ['kb', 'wiki'].map((name) => retriever(name, async (_: string) => 'live'))
  const order = tool('order', async (_: number) => 'live')
  const agents = {
    'as recorded': async () => [await kb!('tea'), await wiki!('cups')],
    swapped: async () => [await wiki!('cups'), await kb!('tea')],
    'at once': async () => Promise.all([wiki!('cups'), kb!('tea')]),
    'one left out': async () => kb!('tea'),
  }
  const verdicts = async (baseline: string, match: MatchOptions = {}) =>
    Promise.all(
      Object.values(agents).map(async (searches) => {
        const run = await replayTape(tape, async () => {
          await searches()
          return order(1)
        })
        const verdict = judge(parseCase(`${head}${baseline}`, 'a.case.yaml'), run, match)
        return verdict.isGreen ? 'green' : verdict.because?.error.code
      }),
    )
  const recorded = '  - kb(*)\n  - wiki(*)\n  - order(*)\n'
  expect(await verdicts(recorded)).toEqual(['green', 'green', 'green', 'HARVEST_TRACE'])
  expect(await verdicts('  - wiki(*)\n  - kb(*)\n  - order(*)\n')).toEqual([
    ...['HARVEST_TRACE', 'green', 'HARVEST_TRACE', 'HARVEST_TRACE'],
  ])
  for (const trace of ['strict', 'sequence'] as const)
    expect(await verdicts(recorded, { trace })).toEqual([
      ...['green', 'HARVEST_TRACE', 'HARVEST_TRACE', 'HARVEST_TRACE'],
    ])
})

test('calls made at once are the same one after the other, and calls that waited are not the same at once', async () => {
  await installReplay()
  const dir = mkdtempSync(join(tmpdir(), 'harvest-order-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const names = ['look', 'count', 'pay'] as const
  const [look, count, pay] = names.map((name) => tool(name, async (_: number) => (await pause(5), name)))
  const agents = {
    'at once': async () => [await Promise.all([look!(1), count!(2)]), await pay!(3)],
    'one by one': async () => [await look!(1), await count!(2), await pay!(3)],
    'the other first': async () => [await count!(2), await look!(1), await pay!(3)],
    'all at once': async () => Promise.all([look!(1), count!(2), pay!(3)]),
    'another argument': async () => [await look!(1), await count!(9), await pay!(3)],
  }
  const recorder = createRecorder({ dir })
  const judged = async (recorded: keyof typeof agents, baseline: string, match: MatchOptions = {}) => {
    await recorder.run({ agent: 'a' }, async () => void (await agents[recorded]()))
    const tape = readTape(recorder.lastTape!)
    const parsed = parseCase(
      `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: ${baseline}\n`,
      'a.case.yaml',
    )
    const runs = Object.values(agents).map(async (agent) => {
      const run = await replayTape(tape, async () => void (await agent()))
      const verdict = judge(parsed, run, match)
      return verdict.isGreen ? 'green' : verdict.because?.error.code
    })
    return Promise.all(runs)
  }
  const [trace, order, argument] = ['HARVEST_TRACE', 'HARVEST_ORDER', 'HARVEST_DIVERGENCE']
  const atOnce = '[[look(*), count(*)], pay(*)]'
  expect(await judged('at once', atOnce)).toEqual(['green', 'green', 'green', order, argument])
  expect(await judged('at once', atOnce, { trace: 'strict' })).toEqual(['green', trace, trace, order, argument])
  expect(await judged('one by one', '[look(*), count(*), pay(*)]')).toEqual([order, 'green', order, order, argument])
})

describe('a call that a model asked for and whose recorded step is left out', () => {
  const ask = (id: string | undefined, name: string, args: object) => ({
    ...(id === undefined ? {} : { id }),
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  })
  const asks = [ask('c1', 'look', { id: 1 }), ask('c2', 'look', { id: 2 })]
  const pays = [ask('c1', 'pay', { amount: 25 })]
  const said = (message: object) => JSON.stringify({ choices: [{ message: { role: 'assistant', ...message } }] })
  const user = { role: 'user', content: 'Pay.' }
  const turn = (calls: readonly { readonly id?: string }[], results: readonly string[]) => [
    { role: 'assistant', content: null, tool_calls: calls },
    ...results.map((content, at) => ({ role: 'tool', tool_call_id: calls[at]!.id, content })),
  ]
  const [first, second, third] = [
    [user],
    [user, ...turn(asks, ['A', 'B'])],
    [user, ...turn(asks, ['A', 'B']), ...turn(pays, ['paid'])],
  ]
  const body = (messages: unknown) => JSON.stringify({ model: 'm-1', messages })
  const recorded = (): Tape => {
    const recording = new Recording()
    recording.exchange({ body: body(first), answer: said({ tool_calls: asks }) })
    recording.call('look', { id: 1 }, 'A')
    recording.call('look', { id: 2 }, 'B')
    recording.exchange({ body: body(second), answer: said({ tool_calls: pays }) })
    recording.call('pay', { amount: 25 }, 'paid')
    recording.exchange({ body: body(third), answer: said({ content: 'Done.' }) })
    return recording.tape({ value: 'done' })
  }
  const agent =
    (leaves: readonly string[], isOver = false) =>
    async () => {
      const post = (messages: unknown) =>
        fetch(chatUrl, { method: 'POST', body: body(messages) }).then((one) => one.text())
      const call = async (name: string, args: object) => {
        if (!leaves.includes(`${name} ${Object.values(args)[0]}`)) await tool(name, async (_: object) => 'live')(args)
      }
      await post(first)
      if (isOver) return 'done'
      await call('look', { id: 1 })
      await call('look', { id: 2 })
      await post(second)
      await call('pay', { amount: 25 })
      await post(third)
      return 'done'
    }
  const judged = async (baseline: string, run: () => Promise<unknown>) => {
    await installReplay()
    const text = `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: ${baseline}\n`
    const verdict = judge(parseCase(text, 'a.case.yaml'), await replayTape(recorded(), run), {})
    return verdict.because?.error.code ?? 'green'
  }
  const baseline = '[[look(*), look(*)], pay(*)]'
  const all = ['look 1', 'look 2', 'pay 25']

  test.for([[['pay 25']], [['look 1']], [['look 2']], [all]])(
    'is red, even where the model hears of a result: %j',
    async ([leaves]) => {
      expect(await judged(baseline, agent([]))).toBe('green')
      expect(await judged(baseline, agent(leaves!))).toBe('HARVEST_TRACE')
    },
  )

  test('is green where the reviewed baseline is without it', async () => {
    expect(await judged('[[look(*), look(*)]]', agent(['pay 25']))).toBe('green')
    expect(await judged('[pay(*)]', agent(['look 1', 'look 2']))).toBe('green')
    expect(await judged('[]', agent(all))).toBe('green')
  })

  test('is written into no baseline by an update', async () => {
    await installReplay()
    const run = await replayTape(recorded(), agent(['pay 25']))
    expect(renderBaseline(traceOfRun(run))).toEqual([['look(id)', 'look(id)']])
    expect(renderBaseline(traceOfRun(await replayTape(recorded(), agent([]))))).toHaveLength(2)
  })
})

describe('calls of one tool of which a case leaves some out', () => {
  const tape = (): Tape => {
    const recording = new Recording()
    recording.call('lookup', { id: 'A' }, 1)
    recording.call('refund', { id: 'A', amount: 25 }, 1)
    recording.call('refund', { id: 'B', amount: 2500 }, 1)
    return recording.tape()
  }
  const refunds =
    (...made: readonly object[]) =>
    async () => {
      await tool('lookup', async (_: object) => 1)({ id: 'A' })
      for (const args of made) await tool('refund', async (_: object) => 1)(args)
      return null
    }
  const [little, much] = [
    { id: 'A', amount: 25 },
    { id: 'B', amount: 2500 },
  ]
  const head = 'case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\n'
  const judged = async (text: string, run: () => Promise<unknown>, match: MatchOptions = {}) => {
    await installReplay()
    return judge(parseCase(text, 'a.case.yaml'), await replayTape(tape(), run), match)
  }
  const open = `${head}baseline: [lookup(id), 'refund(amount, id)']\n`

  test('are to be named by its baseline: with keys alone it would take the others as well', async () => {
    for (const made of [little, much])
      expect((await judged(open, refunds(made))).because?.error).toMatchObject({
        code: 'HARVEST_TRACE',
        facts: { what: 'The baseline does not say which recorded calls are left out' },
      })
    // Of a known bug it is not said that it is gone.
    const known = await judged(open.replace('expect: pass', 'expect: fail'), refunds(much))
    expect(known.because?.error.code).toBe('HARVEST_TRACE')
    const [first] = (await judged(open, refunds(little))).open ?? []
    expect(first?.error.facts.where).toMatchObject({ 'left out': 'refund(amount: 2500, id: "B")' })
  })

  test('are named by an update, and then no others may be left out', async () => {
    await installReplay()
    const run = await replayTape(tape(), refunds(little))
    const exactly = callsLeftOut(run).map(({ name }) => name)
    for (const before of [open, `${head}baseline: [lookup(id), 'refund(amount, id)', 'refund(amount, id)']\n`]) {
      const text = updateCase(before, { baseline: traceOfRun(run), exactly })
      expect(parseCase(text, 'a').baseline).toEqual(['lookup(id)', 'refund(amount: 25, id: "A")'])
      expect((await judged(text, refunds(little))).isGreen).toBe(true)
      expect((await judged(text, refunds(much))).because?.error.code).toBe('HARVEST_TRACE')
      // A second update has nothing to add.
      expect(updateCase(text, { baseline: traceOfRun(run), exactly })).toBe(text)
    }
  })

  test('may be any where a wildcard or `match` says so, and all of them', async () => {
    const any = `${head}baseline: [lookup(id), refund(*)]\n`
    expect((await judged(any, refunds(much))).isGreen).toBe(true)
    const byHand = `${head}baseline: [lookup(id), 'refund(amount: *, id: "B")']\n`
    expect((await judged(byHand, refunds(much))).isGreen).toBe(true)
    expect((await judged(open, refunds(much), { args: 'ignore' })).isGreen).toBe(true)
    expect((await judged(open, refunds(much), { trace: 'subset' })).isGreen).toBe(true)
    expect((await judged(`${head}baseline: [lookup(id)]\n`, refunds())).isGreen).toBe(true)
  })
})

test('an update that is proposed renews the case in question and no other', async () => {
  await installReplay()
  const text = 'case: a-1\nagent: a\ntape: a.tape.jsonl\nexpect: pass\n'
  const kase = parseCase(`${text}baseline: []\n`, 'a-1.case.yaml')
  const bare = parseCase(text, 'a-1.case.yaml')
  const first = async (tape: Tape, agent: () => Promise<unknown>, of = kase): Promise<readonly unknown[]> => {
    const because = judge(of, await replayTape(tape, agent), {}).because?.error
    return [because?.code, because?.facts.fix?.find((step) => step.includes('--update-recordings'))]
  }
  const step = (what: string) =>
    `if the new ${what} is right: npx vitest-harvest test a-1 --update-recordings --reason "…"`
  const calls = new Recording()
  calls.call('a', [], 1)
  const called = async () => void (await tool('a', async () => 1)())
  const close = { kind: 'close', n: 1, at: 1, events: 0, outcome: { status: 'returned', value: 1 } } as never
  const silent = { ...tapeOf([]), close }
  expect(await first(calls.tape(), called)).toEqual(['HARVEST_TRACE', step('behaviour')])
  expect(await first(silent, async () => 2)).toEqual(['HARVEST_OUTCOME', step('outcome')])
  expect(await first(silent, async () => mark('new') ?? 1)).toEqual(['HARVEST_MARKS', step('behaviour')])
  expect(await first(calls.tape(), async () => undefined, bare)).toEqual(['HARVEST_UNUSED', step('behaviour')])
})

/** What a case that says this of the outcome of its tape thinks of another ending. */
async function judgedEnd(
  recorded: object,
  said: string,
  live: () => Promise<unknown>,
): Promise<'green' | { readonly code: string; readonly at: string | undefined }> {
  await installReplay()
  const close = { kind: 'close', n: 1, at: 1, events: 0, outcome: recorded } as never
  const run = await replayTape({ ...tapeOf([]), close }, live)
  const text = `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n${said}`
  const { because } = judge(parseCase(text, 'a.case.yaml'), run, {})
  return because === undefined ? 'green' : { code: because.error.code, at: because.error.facts.where?.['differs at'] }
}

test('an outcome with every recorded key may get no other key, one with some of them may', async () => {
  const recorded = { status: 'returned', value: { answer: 'ok', order: { id: 'A-1', lines: [{ sku: 'a' }] } } }
  const whole = 'outcome: { answer: ok, order: { id: A-1, lines: [{ sku: a }] } }'
  const order = { id: 'A-1', lines: [{ sku: 'a' }] }
  const judged = (said: string, value: unknown) => judgedEnd(recorded, said, async () => value)
  const differs = (at: string) => ({ code: 'HARVEST_OUTCOME', at })
  expect(await judged(whole, { answer: 'ok', order })).toBe('green')
  expect(await judged(whole, { answer: 'ok', order, approved: true })).toEqual(differs('approved'))
  const paid = { ...order, lines: [{ sku: 'a', paid: true }] }
  expect(await judged(whole, { answer: 'ok', order: paid })).toEqual(differs('order.lines[0].paid'))
  // What an update wrote has every recorded key as well.
  expect(await judged(whole.replace('ok', 'done'), { answer: 'done', order, more: 1 })).toEqual(differs('more'))
  expect(await judged('outcome: { answer: ok }', { answer: 'ok', order: 5, approved: true })).toBe('green')
  expect(await judged("outcome: { answer: ok, order: '*' }", { answer: 'ok', order: paid })).toBe('green')
})

test('a text `*` that the agent returned is a value, and one that a person wrote is a wildcard', async () => {
  const recorded = { status: 'returned', value: { granted: true, scope: '*', at: [{ host: '*' }] } }
  const judged = (said: string, value: object) =>
    judgedEnd(recorded, said, async () => ({ granted: true, scope: '*', at: [{ host: '*' }], ...value }))
  const { outcome } = tapeOf([]).close!
  const close = { kind: 'close', n: 1, at: 1, events: 0, outcome: recorded } as never
  expect([outcome.status, assertedOutcome({ ...tapeOf([]), close })]).toEqual(['returned', undefined])
  const whole = "outcome: { granted: true, scope: '*', at: [{ host: '*' }] }"
  for (const said of [whole, '']) {
    expect(await judged(said, {})).toBe('green')
    for (const other of [{ scope: 'read' }, { at: [{ host: 'a' }] }, { granted: false }])
      expect(await judged(said, other)).toMatchObject({ code: 'HARVEST_OUTCOME' })
  }
  expect(await judged("outcome: { granted: true, scope: '*' }", { scope: 'read' })).toBe('green')
})

test('a case that says of the error what its tape does wants its fields and causes too', async () => {
  const fields = { orderId: 'A-1', retryable: false }
  const error = { $type: 'error', class: 'Refused', name: 'Refused', message: 'no', fields }
  const judged = (said: string, live: object, options?: ErrorOptions) =>
    judgedEnd({ status: 'threw', error }, said, async () => {
      throw Object.assign(new Error('no', options), { name: 'Refused', ...live })
    })
  const promoted = 'outcome: { $threw: { name: Refused, message: no } }'
  expect(await judged(promoted, fields)).toBe('green')
  for (const [other, at] of [
    [{ ...fields, retryable: true }, 'retryable'],
    [{ ...fields, orderId: 'A-2' }, 'orderId'],
    [{ ...fields, more: 1 }, 'more'],
    [{}, 'orderId'],
  ] as const)
    expect(await judged(promoted, other)).toEqual({ code: 'HARVEST_OUTCOME', at: `fields.${at}` })
  expect(await judged(promoted, fields, { cause: new Error('late') })).toMatchObject({ code: 'HARVEST_OUTCOME' })
  const loose = 'outcome: { $threw: { name: Refused } }'
  expect(await judged(loose, { ...fields, retryable: true })).toBe('green')
  const named = 'outcome: { $threw: { name: Refused, retryable: false } }'
  expect(await judged(named, { ...fields, retryable: true })).toEqual({ code: 'HARVEST_OUTCOME', at: 'retryable' })
})

test('an update writes another value in the place of a text `*` that was recorded, and keeps a wildcard', () => {
  const text = "case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\noutcome: { status: open, mask: '*' }\n"
  const update = (recorded: Json) =>
    parseCase(updateCase(text, { outcome: { status: 'open', mask: 'abc' }, recorded }), 'a').outcome
  expect(update({ status: 'open', mask: '*' })).toEqual({ status: 'open', mask: 'abc' })
  expect(update({ status: 'open', mask: 'xyz' })).toEqual({ status: 'open', mask: '*' })
})

test('an update writes what is new where every recorded key is asserted', () => {
  const text = 'case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\noutcome:\n  answer: ok\n'
  const outcome = { answer: 'ok', approved: true }
  const updated = updateCase(text, { outcome, recorded: { answer: 'ok' } })
  expect(parseCase(updated, 'a').outcome).toEqual(outcome)
  expect(updateCase(text, { outcome, recorded: { answer: 'ok', order: 1 } })).toBe(text)
})

test('a known-bad case that goes another way is led to fix; a changed result of a tool is not, since forks do not see it', async () => {
  await installReplay()
  const known = parseCase('case: a\nagent: a\ntape: a.tape.jsonl\nexpect: fail\nbaseline: []\n', 'a.case.yaml')
  const other = judge(known, await replayTape(tapeOf([{ method: 'GET', url }]), () => fetch(`${url}/7`)), {})
  expect(other.isGreen ? 'green' : other.because?.error).toMatchObject({
    code: 'HARVEST_CASE_NO_LONGER_FAILS',
    message: expect.stringContaining('→ if the agent is fixed: npx vitest-harvest fix a\n'),
  })
  const recording = new Recording()
  recording.call('price', [], 1)
  const run = await replayTape(recording.tape(), () => tool('price', async () => 2)(), { tools: 'run' })
  const changed = judge(known, run, {})
  expect(changed.isGreen ? 'green' : changed.because?.error.message).not.toContain('vitest-harvest fix')
})

test('a key of the agent itself in what it returns or throws is compared as its tape has it, and told nobody', async () => {
  await installReplay()
  const key = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  const redacted = 'redacted-github-token-1'
  const ends = [
    [{ status: 'returned', value: { with: redacted, n: 1 } }, `outcome: { with: ${redacted}, n: 1 }\n`],
    [
      { status: 'threw', error: { $type: 'error', class: 'Error', name: 'Error', message: `no ${redacted}` } },
      `outcome: { $threw: { name: Error, message: no ${redacted} } }\n`,
    ],
  ] as const
  for (const [outcome, said] of ends) {
    const close = { kind: 'close', n: 1, at: 1, events: 0, outcome } as never
    const text = `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: []\n`
    const judged = async (secret: string, n: number, more: string = said) => {
      const run = await replayTape({ ...tapeOf([]), close }, async () => {
        if (outcome.status === 'threw') throw new Error(n === 1 ? `no ${secret}` : `never ${secret}`)
        return { with: secret, n }
      })
      return judge(parseCase(text + more, 'a.case.yaml'), run, {}).because
    }
    expect(await judged(key, 1), outcome.status).toBeUndefined()
    expect(await judged(key, 1, said.replaceAll(redacted, key)), 'as a person wrote it').toBeUndefined()
    for (const more of [said, '']) {
      const because = await judged(key, 2, more)
      expect(because?.error.code).toBe('HARVEST_OUTCOME')
      expect(JSON.stringify([because, because?.error.message])).not.toContain(key)
    }
    expect((await judged('nothing', 1))?.error.code, 'no key at all').toBe('HARVEST_OUTCOME')
  }
})

test('a member that is undefined is as good as an absent one, in what is returned, said, marked, kept and answered', async () => {
  await installReplay()
  const dir = mkdtempSync(join(tmpdir(), 'harvest-undefined-'))
  const agent =
    (value: unknown, result = value) =>
    async () => {
      message('planner', 'worker', value)
      mark('plan', value)
      state('plan', value)
      await tool('look', async () => result)()
      return value
    }
  const judged = async (was: unknown, is: unknown, outcome = '', tools: readonly string[] = []) => {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'a' }, agent(was))
    const text = `case: a\nagent: a\ntape: a.tape.jsonl\nexpect: pass\nbaseline: [look()]\n${outcome}`
    const run = await replayTape(readTape(recorder.lastTape!), agent(is), { tools: { run: tools } })
    const { isGreen } = judge(parseCase(text, 'a.case.yaml'), run, {})
    // One that says nothing of the outcome is judged as its tape is.
    if (outcome === '')
      expect([isGreen, isGreen]).toEqual([verdictOf(run).verdict === 'same', run.comparison.outcomeEqual])
    return isGreen ? 'green' : 'red'
  }
  const run = ['look']
  const [bare, more] = [{ a: 1 }, { a: 1, none: undefined }]
  expect(await judged(bare, more, '', run)).toBe('green')
  expect(await judged(more, bare, '', run)).toBe('green')
  expect(await judged({ at: [bare] }, { at: [more] }, '', run)).toBe('green')
  expect(await judged({ at: [more] }, { at: [bare], none: undefined }, '', run)).toBe('green')
  expect(await judged(bare, more, 'outcome: { a: 1 }\n')).toBe('green')
  expect(await judged(more, bare, 'outcome: { a: 1, none: { $type: undefined } }\n')).toBe('green')
  expect(await judged(bare, { a: 1, none: null })).toBe('red')
  expect(await judged(bare, { none: undefined })).toBe('red')
  // An item keeps its place, and a value of its own is not null.
  expect(await judged([null], [undefined])).toBe('red')
  expect(await judged([undefined], [null])).toBe('red')
  expect(await judged([1], [1, undefined])).toBe('red')
  expect(await judged(null, undefined)).toBe('red')
  // Fields of a class are written by its code.
  class Plan {
    a = 1
    none?: undefined
    constructor(isWhole: boolean) {
      if (isWhole) this.none = undefined
      else delete this.none
    }
  }
  expect(await judged(new Plan(true), new Plan(true))).toBe('green')
  expect(await judged(new Plan(false), new Plan(true))).toBe('red')
  rmSync(dir, { recursive: true })
})
