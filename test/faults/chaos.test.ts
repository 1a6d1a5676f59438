import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  chaos,
  type ChaosAgent,
  type ChaosOptions,
  type ChaosReport,
  type Fault,
  faultSchedule,
  type FaultSchedule,
} from '../../src/faults/index.ts'
import { tool } from '../../src/record/index.ts'
import type { ExchangeEvent, Tape } from '../../src/tape/index.ts'
import { requests, tapeOf, toolCall } from './tapes.ts'

const charge = tool('charge', async (_order: { amount: number }) => 'charged')
const comparison = tool('receipt', async (_order: { amount: number }) => 'sent')
const balance = tool('balance', async (_order: { id: string }) => ({ amount: 0 }))

const shop = tapeOf(
  [
    toolCall(1, 'balance', { id: 'A-1' }, { amount: 25 }),
    toolCall(10, 'charge', { amount: 25 }, 'charged'),
    toolCall(20, 'receipt', { amount: 25 }, 'sent'),
  ],
  { charged: 25 },
)

async function buy(): Promise<{ charged: number }> {
  const { amount } = await balance({ id: 'A-1' })
  await charge({ amount })
  await comparison({ amount })
  return { charged: amount }
}

/** Tries anything three times. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i++) {
    try {
      return await work()
    } catch (error) {
      if (i === 2) throw error
    }
  }
}

async function late(ms: number): Promise<never> {
  await new Promise((over) => setTimeout(over, ms))
  throw new Error('it takes too long')
}

const search = (agent: ChaosAgent, more: Partial<ChaosOptions> = {}, tape: Tape = shop) =>
  chaos(tape, { faults: ['tool-error'], runs: 60, seed: 1, hangMs: 1_000, ...more, agent })
const kinds = (schedule: FaultSchedule | undefined) => schedule?.map(({ step, kind }) => `${step}:${kind}`)

describe('what counts as failing', () => {
  it('giving up with the error of the fault does not', async () => {
    const report = await search(buy)
    expect(report.survived).toBe(true)
    expect(Object.keys(report.endings)).toEqual(['gave-up'])
    expect(await search(buy, { fail: ['gave-up'] })).toMatchObject({ survived: false, failure: { class: 'gave-up' } })
  })

  it('another end than that of the unchanged run does, where the tape does not say how the run ended', async () => {
    const unseen: Tape = { ...shop, close: { ...shop.close!, outcome: { status: 'unknown' } } }
    const lenient = async () => {
      const { charged } = await buy().catch(() => ({ charged: 0 }))
      return { charged }
    }
    expect(await search(buy, {}, unseen)).toMatchObject({ survived: true, endings: { 'gave-up': expect.any(Number) } })
    expect(await search(lenient, {}, unseen)).toMatchObject({ survived: false, failure: { class: 'outcome' } })
  })

  it('another error is a crash, and it says where', async () => {
    const report = await search(async () => {
      const found = await balance({ id: 'A-1' }).catch(() => undefined)
      const { amount } = found as { amount: number }
      await charge({ amount })
      await comparison({ amount })
      return { charged: amount }
    })
    expect(report.failure).toMatchObject({
      class: 'crash',
      schedule: [{ step: 1, kind: 'tool-error', args: {} }],
      said: expect.stringMatching(/^threw TypeError: .*amount.* at .*chaos\.test\.ts:\d+/) as string,
    })
  })

  it('doing a thing twice, when its second half failed', async () => {
    const report = await search(() => patiently(buy))
    expect(kinds(report.failure?.schedule)).toEqual(['3:tool-error'])
    expect(report.failure).toMatchObject({
      class: 'trace',
      said: 'did balance({"id":"A-1"}) 2 times, and 1 when recorded',
    })
    const reads = await search(() => patiently(buy), { reads: ['bal*'] })
    expect(reads.failure).toMatchObject({ said: 'did charge({"amount":25}) 2 times, and 1 when recorded' })
    expect((await search(() => patiently(buy), { reads: ['balance', 'charge'] })).survived).toBe(true)
  })

  it('asking a service twice to change something, when its answer was cut short', async () => {
    const [sent] = requests(1)
    const posted = tapeOf([{ ...sent, method: 'POST' } as ExchangeEvent], 'ok')
    const agent = (): Promise<string> =>
      patiently(async () => {
        const response = await fetch('http://127.0.0.1:45998/items/0', { method: 'POST' })
        if (response.ok) await response.json()
        return 'ok'
      })
    const cut = { faults: ['http-truncated-json', 'http-503'] }
    expect((await search(agent, cut, posted)).failure).toMatchObject({
      class: 'trace',
      schedule: [{ kind: 'http-truncated-json' }],
      said: 'did POST http://127.0.0.1:45998/items/0 2 times, and 1 when recorded',
    })
    expect(await search(agent, { ...cut, reads: ['POST http://127.0.0.1:45998/*'] }, posted)).toMatchObject({
      survived: true,
    })
  })

  it('doing a thing twice, when its answer was only late', { tags: 'thorough' }, async () => {
    // It waits three seconds, and asks once more.
    const impatient = async (): Promise<{ charged: number }> => {
      const { amount } = await balance({ id: 'A-1' })
      await patiently(() => Promise.race([charge({ amount }), late(3_000)]))
      await comparison({ amount })
      return { charged: amount }
    }
    const slow = { faults: ['tool-slow'], reads: ['balance'] }
    expect((await search(impatient, slow)).failure).toMatchObject({
      class: 'trace',
      schedule: [{ step: 2, kind: 'tool-slow' }],
      said: 'did charge({"amount":25}) 2 times, and 1 when recorded',
    })
    expect(await search(impatient, { ...slow, reads: ['charge'] })).toMatchObject({ survived: true })
    // A call that never answers, or fails, may not have been done: what happened to it is not known.
    for (const kind of ['tool-no-answer', 'tool-error'])
      expect(await search(impatient, { faults: [kind], reads: ['balance', 'receipt'] })).not.toMatchObject({
        failure: { class: 'trace' },
      })
    // Who waits no longer and does without has done it once, and may not say what it did not hear.
    const fleeting = async (): Promise<unknown> => {
      const { amount } = await balance({ id: 'A-1' })
      const charged = await Promise.race([charge({ amount }), late(3_000)]).then(
        () => amount,
        () => 'unknown',
      )
      await comparison({ amount })
      return { charged }
    }
    expect((await search(fleeting, slow)).failure).toMatchObject({ class: 'outcome' })
  })

  it('sending a service the same twice, when its answer was only late', async () => {
    const [sent] = requests(1)
    const posted = tapeOf([{ ...sent, method: 'POST' } as ExchangeEvent], 'ok')
    const agent = (): Promise<string> =>
      patiently(async () => {
        const signal = AbortSignal.timeout(3_000)
        const response = await fetch('http://127.0.0.1:45998/items/0', { method: 'POST', signal })
        await response.text()
        return 'ok'
      })
    expect((await search(agent, { faults: ['http-slow'] }, posted)).failure).toMatchObject({
      class: 'trace',
      schedule: [{ kind: 'http-slow' }],
      said: 'did POST http://127.0.0.1:45998/items/0 2 times, and 1 when recorded',
    })
  })

  it('but not sending it twice with one key, which is done once', async () => {
    const [sent] = requests(1)
    const send = sent as ExchangeEvent
    const headers = [...send.request.headers, ['idempotency-key', 'abc-1']] as const
    const posted = tapeOf([{ ...send, method: 'POST', request: { ...send.request, headers } } as ExchangeEvent], 'ok')
    const agentWith = (keyOf: (nth: number) => string) => (): Promise<string> => {
      let asked = 0
      return patiently(async () => {
        const given = { 'idempotency-key': keyOf(asked++) }
        const signal = AbortSignal.timeout(3_000)
        await (await fetch('http://127.0.0.1:45998/items/0', { method: 'POST', headers: given, signal })).text()
        return 'ok'
      })
    }
    const slow = { faults: ['http-slow'] }
    expect(
      await search(
        agentWith(() => 'abc-1'),
        slow,
        posted,
      ),
    ).toMatchObject({ survived: true })
  })

  it('saying that all is well when a tool never answered', async () => {
    const report = await search(async () => {
      const { amount } = await patiently(() => balance({ id: 'A-1' }))
      await patiently(() => charge({ amount }))
      await comparison({ amount }).catch(() => undefined)
      return { charged: amount }
    })
    expect(report.failure).toMatchObject({ class: 'trace', schedule: [{ step: 3 }] })
    expect(report.failure?.said).toContain('never got an answer from receipt')
  })

  it('never answering', { tags: 'thorough' }, async () => {
    const report = await search(buy, { faults: ['tool-no-answer'], runs: 3, timeoutMs: 5_000 })
    expect(report.failure).toMatchObject({ class: 'hang', schedule: [{ kind: 'tool-no-answer' }] })
  })

  it('another outcome; as a case says it when it says so', async () => {
    const agent = async () => {
      const { amount } = await balance({ id: 'A-1' }).catch(() => ({ amount: 0 }))
      return amount === 0 ? { charged: 0 } : buy2(amount)
    }
    const buy2 = async (amount: number) => {
      await charge({ amount })
      await comparison({ amount })
      return { charged: amount }
    }
    const report = await search(agent, { fail: ['outcome'] })
    expect(report.failure).toMatchObject({ class: 'outcome', said: 'returned {"charged":0}', schedule: [{ step: 1 }] })
    expect((await search(agent, { fail: ['outcome'], expected: { charged: '*' } })).survived).toBe(true)
  })

  it('what a judge of the caller says', async () => {
    const report = await search(buy, {
      judge: ({ outcome }) => (outcome.status === 'threw' ? 'the customer got no answer' : undefined),
    })
    expect(report.failure).toMatchObject({ class: 'judged', said: 'the customer got no answer' })
  })

  it('nothing, of a kind whose every run left the tape or ended before its step, and of one that cannot happen', async () => {
    const patient = () => patiently(buy)
    const reads = ['balance', 'charge']
    const mixed = await search(patient, { faults: ['value-stale', 'tool-slow', 'message-dropped'], reads })
    expect(mixed).toMatchObject({ survived: null, unjudged: ['value-stale'], untried: ['message-dropped'] })
    expect(mixed.endings['survived']).toBeGreaterThan(0)
    // It gives up at its first call, so nothing happens to the second.
    const examples = [[1, 2, 3].flatMap((step) => [{ step, kind: step === 1 ? 'tool-reset' : 'tool-slow', args: {} }])]
    const early = await search(buy, { faults: ['tool-reset', 'tool-slow'], examples, runs: 1 })
    expect(early).toMatchObject({ survived: null, endings: { 'gave-up': 1 }, unjudged: ['tool-slow'], untried: [] })
  })

  it('leaving the tape does not: nobody knows what would have come of it', async () => {
    const report = await search(buy, { faults: ['value-stale'] })
    expect(report).toMatchObject({ survived: null, endings: { 'off-tape': report.schedules } })
    const strict = await search(buy, { faults: ['value-stale'], smallest: true, fail: ['off-tape'] })
    expect(strict.failure).toMatchObject({
      schedule: [{ step: 1, kind: 'value-stale', args: { path: 'amount', by: 1 } }],
      said: 'asked for charge({"amount":24})',
    })
  })
})

describe('the search', () => {
  /** Has four retries for its whole run. */
  async function frugal(): Promise<number> {
    let left = 3
    for (let i = 0; i < 12; ) {
      const { ok } = await fetch(`http://127.0.0.1:45998/items/${i}`).catch(() => ({ ok: false }))
      if (ok) i++
      else if (left-- === 0) throw new RangeError('out of retries')
    }
    return 12
  }
  const many = tapeOf(requests(12), 12)
  const http = ['http-429', 'http-500', 'http-reset', 'http-slow', 'http-empty', 'http-wrong-type']

  it('leaves exactly as many faults as are needed together', async () => {
    for (const seed of [1, 2, 3]) {
      const { failure } = await search(frugal, { faults: http, runs: 100, seed }, many)
      expect(failure).toMatchObject({ class: 'crash', said: expect.stringContaining('out of retries') as string })
      expect(failure?.schedule).toHaveLength(4)
      expect(failure?.schedule.filter(({ kind }) => !['http-429', 'http-500', 'http-reset'].includes(kind))).toEqual([])
    }
  })

  it('is the same again with its seed, and one run with its path', async () => {
    const { failure, seed, path, runs } = await search(frugal, { faults: http, runs: 100, seed: -7 }, many)
    expect(seed).toBe(-7)
    const again = await search(frugal, { faults: http, seed, path: path ?? '' }, many)
    expect(again.failure?.schedule).toEqual(failure?.schedule)
    // With three runs without faults: the control, which another order makes two of, and whether it keeps what it asks. And
    // with those that show that it fails again, and only with the faults.
    expect(again.runs).toBe(14)
    expect(runs).toBeGreaterThan(10)
    expect((await search(frugal, { faults: http, runs: 100, seed: -7 }, many)).failure).toEqual(failure)
  })

  it('refuses a path that leads to no schedule, and says which there are', async () => {
    const lost = async (path: string) =>
      search(frugal, { faults: http, seed: 1, path }, many).catch((error: unknown) => error)
    const there = async (path: string): Promise<readonly string[]> => {
      const said = (await lost(path)) as { facts?: { where?: { readonly 'there are'?: string } } }
      return said.facts?.where?.['there are']?.split(' to ') ?? []
    }
    const [first, last] = await there('999:999')
    expect([first, last]).toEqual(['999:0', expect.stringMatching(/^999:\d+$/)])
    const next = last!.replace(/\d+$/, (n) => `${Number(n) + 1}`)
    expect(await there(next)).toEqual([first, last])
    expect(await lost(last!)).toMatchObject({ survived: expect.anything() as boolean })
    expect(await there('999:999:0')).toEqual([first, last])
    expect(await there('99999999999999999999')).toEqual(['0', '99999'])
    for (const path of ['100000', '100000:0', 'x', '1:', ':', '1::0'])
      expect(await lost(path)).toMatchObject({ code: 'HARVEST_CHAOS_OPTION' })
  })

  it('tells with each run what would be reported if it ended there, with the seed it drew', async () => {
    const told: ChaosReport[] = []
    const report = await search(
      frugal,
      { faults: http, runs: 100, seed: undefined as unknown as number, onRun: ({ known }) => told.push(known) },
      many,
    )
    const { path: _, interrupted, ...rest } = report
    expect([interrupted, told[0]?.interrupted]).toEqual([undefined, { made: 1, of: 100 }])
    expect(told.at(-1)).toMatchObject({ ...rest, runs: expect.any(Number) as number })
    const found = told.find(({ failure }) => failure !== undefined)
    expect(found).toMatchObject({ survived: false, seed: report.seed, failure: { shrinkRuns: 0 } })
    expect(told[0]?.seed).toBe(report.seed)
  })

  it('shrinks the schedule of an incident that is given to it', async () => {
    const incident = Array.from({ length: 12 }, (_, i): Fault[] => [
      { step: i + 1, kind: i % 2 === 0 ? 'http-429' : 'http-slow', args: i % 2 === 0 ? {} : { ms: 100 } },
    ]).flat()
    const { failure, schedules } = await search(frugal, { faults: http, examples: [incident], seed: 1 }, many)
    expect(schedules).toBe(1)
    expect(failure).toMatchObject({ drawn: 12 })
    expect(failure?.schedule).toHaveLength(4)
  })

  it('takes an arbitrary of the caller, and what fast-check was configured with', async () => {
    const mine = faultSchedule(many, { faults: ['http-429'], densities: [0.1] })
    const before = fc.readConfigureGlobal()
    fc.configureGlobal({ ...before, numRuns: 5 })
    try {
      const one = mine.filter((list) => list.length === 1)
      const report = await chaos(many, { agent: frugal, faults: one, seed: 1 })
      expect(report).toMatchObject({ survived: true })
      expect(report.schedules).toBeLessThanOrEqual(5)
    } finally {
      fc.configureGlobal(before)
    }
    const { failure } = await search(frugal, { faults: fc.constant([]).chain(() => mine), runs: 300 }, many)
    expect(kinds(failure?.schedule)?.every((one) => one.endsWith('http-429'))).toBe(true)
  })

  it('claims that nothing can be taken out only when it was tried', async () => {
    const two: FaultSchedule = [
      { step: 2, kind: 'tool-slow', args: { ms: 5 } },
      { step: 3, kind: 'tool-error', args: {} },
    ]
    const fixed = await search(buy, { faults: fc.constant(two), fail: ['gave-up'] })
    expect(fixed.failure).toMatchObject({ schedule: two, isMinimal: false, shrinkRuns: 0 })
    const shrunk = await search(buy, { faults: ['tools'], examples: [two], fail: ['gave-up'] })
    expect(shrunk.failure).toMatchObject({ schedule: [two[1]], isMinimal: true })
  })

  it('runs every schedule until a sequential test can tell, when single runs may say wrong', async () => {
    let n = 0
    // Says wrong in every seventh run.
    const judge = ({ outcome }: { readonly outcome: { readonly status: string } }): string | undefined =>
      (outcome.status === 'threw') !== (++n % 7 === 0) ? 'failed' : undefined
    const report = await search(buy, { faults: ['tools'], judge, noisy: true, runs: 20 })
    expect(report.failure?.schedule).toHaveLength(1)
    expect(report.failure?.schedule[0]?.kind).not.toBe('tool-slow')
    expect(report.runs).toBeGreaterThan(4 * report.schedules)
  })

  it('counts what was tried, once each', async () => {
    const report = await search(() => patiently(buy), { fail: ['crash'], runs: 200 })
    expect(report.survived).toBe(true)
    // Three tools that can fail: seven schedules.
    expect(report.schedules).toBeLessThanOrEqual(7)
    // And two without faults: the control, and whether it keeps what it asks byte for byte.
    expect(report.runs).toBe(report.schedules + 2)
    expect(report.tried).toEqual({ 'tool-error': report.schedules })
  })

  it('ends when its time is up', async () => {
    const report = await search(frugal, { faults: ['http-slow'], runs: 100_000, timeMs: 200 }, many)
    expect(report).toMatchObject({ survived: true, interrupted: { of: 100_000 } })
    expect(report.schedules).toBeLessThan(100_000)
  })

  it('knows of no survival once someone gave it up before its last schedule', async () => {
    const giveUp = new AbortController()
    const report = await search(
      frugal,
      {
        faults: ['http-slow'],
        runs: 50,
        signal: giveUp.signal,
        onRun: ({ known }) => known.schedules === 3 && giveUp.abort(),
      },
      many,
    )
    expect(report).toMatchObject({ survived: null, schedules: 3, interrupted: { of: 50 } })
    expect(report.interrupted?.made).toBeLessThan(50)
  })

  it('runs other code of the agent where that is a fault', async () => {
    const broken = () => Promise.reject(new RangeError('a regression'))
    const report = await search(buy, { faults: ['regression'], variants: { next: broken } })
    expect(report.failure).toMatchObject({
      schedule: [{ step: 0, kind: 'regression', args: { variant: 'next' } }],
      said: expect.stringContaining('a regression') as string,
    })
  })

  it('finds the order of arrival an agent relies on', async () => {
    const parallel = tapeOf(
      [
        toolCall(1, 'balance', { id: 'A-1' }, { amount: 1 }, { settled: [10, 10] }),
        toolCall(2, 'balance', { id: 'A-2' }, { amount: 2 }, { settled: [11, 20] }),
        toolCall(3, 'balance', { id: 'A-3' }, { amount: 3 }, { settled: [12, 30] }),
      ],
      [1, 2, 3],
    )
    const agent = async () => {
      const seen: number[] = []
      await Promise.all(['A-1', 'A-2', 'A-3'].map(async (id) => seen.push((await balance({ id })).amount)))
      return seen
    }
    const report = await search(agent, { faults: ['order'], smallest: true }, parallel)
    expect(report.failure).toMatchObject({ class: 'outcome', schedule: [{ kind: 'order-late', args: { by: 1 } }] })
  })
})

describe('refuses', () => {
  it.each([
    ['half of its runs', (n: number) => n % 2 === 0],
    ['its first run with a fault alone', (n: number) => n === 0],
    ['all but the first runs', (n: number) => n > 3],
  ])('to blame the faults where what is not on the tape decides: %s', async (_, fails) => {
    let n = -2
    const agent = async () => {
      const isWrong = n++ >= 0 && fails(n - 1)
      const { charged } = await buy()
      return { charged: isWrong ? 0 : charged }
    }
    const found = search(agent, { faults: ['tool-slow'] })
    await expect(found).rejects.toMatchObject({
      code: 'HARVEST_CONTROL',
      facts: { what: 'The agent ends otherwise when it is run again, so no fault can be judged' },
    })
  })

  it('an agent that leaves its tape without faults, or does not end as its case says', async () => {
    await expect(search(async () => ({ charged: 26 }))).rejects.toMatchObject({ code: 'HARVEST_CONTROL' })
    await expect(search(buy, { expected: { charged: 26 } })).rejects.toMatchObject({ code: 'HARVEST_CHAOS_CONTROL' })
    const ofCase = search(buy, { expected: { charged: 26 }, control: { caseId: 'paid' } })
    // Without the name of the case, the update would renew every case.
    await expect(ofCase).rejects.toMatchObject({
      facts: {
        where: { case: 'paid' },
        fix: [
          'to see what it does: npx vitest-harvest show paid --replay',
          'if the new outcome is right: npx vitest-harvest test paid --update-recordings --reason "…"',
        ],
      },
    })
  })

  it('a failure without any fault for a failure of the agent', async () => {
    const none = { faults: fc.constant([]), judge: () => 'failed' }
    await expect(search(buy, none)).rejects.toMatchObject({ code: 'HARVEST_CONTROL' })
  })

  it('faults that cannot happen to the run', async () => {
    await expect(search(buy, { faults: ['http'] })).rejects.toMatchObject({ code: 'HARVEST_CHAOS_NO_FAULT_APPLIES' })
  })

  it('names that are not known, and a path without its seed', async () => {
    await expect(search(buy, { faults: ['htp'] })).rejects.toThrow('did you mean: --faults http')
    await expect(search(buy, { fail: ['crashes' as 'crash'] })).rejects.toMatchObject({ code: 'HARVEST_CHAOS_OPTION' })
    await expect(chaos(shop, { agent: buy, path: '1:0' })).rejects.toMatchObject({ code: 'HARVEST_CHAOS_OPTION' })
  })

  it('to take a mistake of the judge for one of the agent', async () => {
    const judge = () => {
      throw new Error('the judge is broken')
    }
    await expect(search(buy, { judge })).rejects.toThrow('the judge is broken')
  })
})
