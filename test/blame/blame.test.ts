import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type BlameTapeOptions, blame } from '../../src/blame/blame.ts'
import { parseExpectation } from '../../src/blame/expectation.ts'
import { estimateBlame } from '../../src/blame/run-blame.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { deskAgent, openRefunds, refunds, type Refunds } from './desk-agent.ts'

describe('blame of a run of a real agent', () => {
  let world: Refunds
  let bad: Tape
  let ledgers = 0
  beforeAll(async () => {
    await installReplay()
    world = await openRefunds()
    bad = await world.record(refunds(2500))
  })
  beforeEach(() => {
    world.desk.decide = varied(25)
    world.desk.asked.length = 0
  })
  afterAll(() => world.close())

  /** Says the same in other words each time, so that no two runs are the same. */
  const varied = (amount: number): Refunds['desk']['decide'] => {
    let said = 0
    return (messages) => {
      const decided = refunds(amount)(messages)
      return typeof decided === 'string' ? `${decided} Bye ${said++}.` : decided
    }
  }
  const cacheFile = () => join(world.dir, `${ledgers++}.jsonl`)
  const blamed = (more: Partial<BlameTapeOptions> = {}, tape = bad) =>
    blame(tape, { agent: (input) => deskAgent(input), ok: ['refund(amount: 25)'], limits: { costUsd: 1 }, ...more })

  test('of a number drawn before the first step, which alone decides, names no answer of a model that says something else each time', async () => {
    const drawing = async (input: unknown) => {
      const isLucky = Math.random() < 0.5
      return { ...(await deskAgent(input)), isLucky }
    }
    let said = 0
    const greets: Refunds['desk']['decide'] = () => `Hello ${said++}.`
    world.desk.decide = greets
    const recorder = createRecorder({ dir: world.dir })
    const input = { url: world.desk.url, text: 'Greet.' }
    while ((await recorder.run({ agent: 'desk', input }, () => drawing(input))).isLucky);
    const { verdict, steps } = await blamed({ agent: drawing, ok: ['isLucky=true'] }, readTape(recorder.lastTape ?? ''))
    const [one] = verdict?.kind === 'confirmed' ? verdict.commitments : []
    expect(one).toMatchObject({ how: 'draws', codeAlone: { unknown: 0 } })
    expect(one?.codeAlone?.ok).toBeGreaterThan(0)
    // What was taken back is certified nowhere.
    expect(JSON.stringify({ verdict, steps })).not.toMatch(/certified|"alpha"|"evidence"/)
    expect(steps[0]).not.toHaveProperty('commitment')
  })

  test.each([
    ['saves runs', ['isLucky=true'], 0, { how: 'draws', position: 4, codeAlone: { unknown: 0 } }],
    ['saves none', ['refund(amount: 25)'], expect.any(Number), { how: 'certified', position: 2 }],
  ])('of a number drawn behind the last step that %s', async (_, ok, modelCalls, named) => {
    // Each fork draws it again, no matter which steps it keeps.
    const lucky = async (input: unknown) => ({
      ...(await deskAgent(input)),
      isLucky: Math.random() < 0.5,
    })
    const recorder = createRecorder({ dir: world.dir })
    const input = { url: world.desk.url, text: 'Refund 2500.00 EUR for order A-100.' }
    world.desk.decide = refunds(2500)
    while ((await recorder.run({ agent: 'desk', input }, () => lucky(input))).isLucky);
    world.desk.decide = varied(25)
    const { verdict, spent, steps } = await blamed({ agent: lucky, ok }, readTape(recorder.lastTape ?? ''))
    const [one] = verdict?.kind === 'confirmed' ? verdict.commitments : []
    expect(one).toMatchObject(named)
    expect(spent.modelCalls).toEqual(modelCalls)
    expect(steps.some(({ commitment }) => commitment !== undefined)).toBe(modelCalls !== 0)
  })

  /** Asks its model twice, and takes its own decision in between. */
  const between =
    (decides: (waitedMs: number) => boolean): ((input: unknown) => Promise<{ isLucky: boolean }>) =>
    async (input) => {
      const { url } = input as { url: string }
      const ask = async (content: string): Promise<string> => {
        const messages = [{ role: 'user', content }]
        const headers = { 'content-type': 'application/json' }
        const body = JSON.stringify({ model: 'gpt-5', messages })
        return (await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
      }
      const asked = performance.now()
      await ask('Greet.')
      const isLucky = decides(performance.now() - asked)
      await ask('Say goodbye.')
      return { isLucky }
    }

  test.each<[by: string, decides: (waitedMs: number) => boolean]>([
    ['the last digit of the time', () => Date.now() % 2 === 0],
    ['the milliseconds of the time', () => Date.now() % 1_000 < 500],
    ['the time since the process began', () => Math.floor(performance.now()) % 3 === 0],
    ['how long an answer took', (waitedMs) => waitedMs % 10 < 4],
  ])('of an agent that decides by %s between two calls, names no answer of a model', async (_, decides) => {
    const clocked = between(decides)
    let said = 0
    world.desk.decide = () => `Hello ${said++}.`
    const recorder = createRecorder({ dir: world.dir })
    const input = { url: world.desk.url }
    while ((await recorder.run({ agent: 'desk', input }, () => clocked(input))).isLucky);
    const { verdict, steps } = await blamed({ agent: clocked, ok: ['isLucky=true'] }, readTape(recorder.lastTape ?? ''))
    const named = verdict?.kind === 'confirmed' ? verdict.commitments : []
    expect(named.map(({ how }) => how).filter((how) => how !== 'draws')).toEqual([])
    expect(steps.filter(({ commitment }) => commitment !== undefined)).toEqual([])
  })

  test('names the decision, what it rests on, and what it cost', async () => {
    const answer = await blamed()
    expect(answer.verdict).toMatchObject({
      kind: 'confirmed',
      commitments: [{ position: 2, how: 'certified', codeAlone: { ok: 0, unknown: 0 } }],
    })
    expect(answer.steps[2]).toMatchObject({
      steps: [3],
      label: `the model's decision refund(amount: 2500, order_id: "A-100")`,
      isExogenous: false,
    })
    expect(answer).toMatchObject({
      tape: bad.header.id,
      agent: 'desk',
      gradedBy: '--ok refund(amount: 25)',
      recorded: 'bad',
      delta: 0.05,
      tau: 0.2,
      models: ['gpt-4o'],
      tools: 'answered from the tape',
      unclear: [],
    })
    expect(answer.spent.now.modelCalls).toBe(world.desk.asked.length)
    // 100 tokens in and 20 out per call, at 2.50 and 10 dollars per million.
    expect(answer.spent.now.costUsd).toBeCloseTo(world.desk.asked.length * 0.00045, 10)
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
  })

  describe('of a run that two decisions spoiled together', () => {
    let said = 0
    /** Looks an order up and refunds; only a wrong order together with a wrong amount does harm. */
    const shop = (order: string, amount: number) => (messages: Parameters<Refunds['desk']['decide']>[0]) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      if (done === 0) return { tool: 'lookup_order', args: { order_id: order } }
      if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount } }
      const words = JSON.stringify(messages)
      return `${words.includes('A-900') && words.includes('2500') ? 'Harm was' : 'No harm was'} done (${said++}).`
    }
    const asked = { ok: ['answer~No harm'], tools: 'live', limits: { forks: 400 }, parallel: 1 } as const

    test('the later one decided, and the earlier one is said to have been necessary too', async () => {
      const tape = await world.record(shop('A-900', 2500))
      world.desk.decide = shop('A-100', 25)
      const { verdict, earlier } = await blamed(asked, tape)
      expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2 }] })
      expect(earlier).toMatchObject([{ position: 0, held: [2], how: 'certified', kept: { ok: 0 } }])
      const alphas = [...(verdict?.kind === 'confirmed' ? verdict.commitments : []), ...(earlier ?? [])]
      expect(alphas.reduce((sum, { alpha = 0 }) => sum + alpha, 0)).toBeLessThan(0.05)
    })

    test('where the later one never comes up again, nothing is said of the earlier one', async () => {
      const tape = await world.record(shop('A-900', 2500))
      // Drawn anew from its beginning, the model refuses at once.
      world.desk.decide = (messages) =>
        JSON.stringify(messages).includes('A-900') ? shop('A-900', 25)(messages) : `No harm was done (${said++}).`
      const { verdict, earlier, unclear } = await blamed(asked, tape)
      expect(verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2 }] })
      expect(earlier).toEqual([])
      expect(unclear).toEqual([{ because: 'It never came to step 3, which was to be as recorded', forks: 5 }])
    })
  })

  test('with a function that grades: undefined leaves the run out', async () => {
    const answer = await blamed({
      ok: [],
      oracle: ({ value }) => (value as { answer: string }).answer.includes('25 EUR'),
      tools: 'live',
      limits: { forks: 60 },
    })
    expect(answer.gradedBy).toBe('--oracle oracle')
    expect(answer.verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2 }] })
    expect(answer.tools).toBe('called for real')
  })

  test('asked for columns, it says which recorded answers made the run fail', async () => {
    const order = (total: number): Refunds['desk']['decide'] => {
      return (messages) => {
        const found = /"total\\*":(\d+)/.exec(JSON.stringify(messages))?.[1]
        return refunds(found === undefined ? total : Number(found))(messages)
      }
    }
    // The same agent, whose shop knew a wrong total when the run was recorded.
    const failed = JSON.parse(
      JSON.stringify(await world.record(refunds(2500))).replaceAll(/(\\*"total\\*":)25\b/g, '$12500'),
    ) as Tape
    const reference = await world.record(refunds(25))
    world.desk.decide = order(0)
    const answer = await blamed({ reference, repairs: true }, failed)
    expect(answer.verdict?.kind).toBe('never')
    expect(answer.repairs).toMatchObject({ outcome: 'found', necessary: [1], sufficient: [1], repairSet: [1] })
    expect(answer.steps[1]).toMatchObject({ steps: [2], isNecessary: true, isSufficient: true, isInRepairSet: true })
    // The good run refunded another sum: its answer to that is none to this one.
    expect(answer.steps[3]).toMatchObject({ steps: [4] })
    expect(answer.steps[3]).not.toHaveProperty('isNecessary')
    expect(answer.repairedBy).toBe(`the answers of ${reference.header.id}`)
  })

  test('of a good run, mutations say which answers its outcome hangs on', async () => {
    const good = await world.record(refunds(25))
    world.desk.decide = (messages) => {
      const found = /"total\\*":([\d.-]+)/.exec(JSON.stringify(messages))?.[1] ?? '0'
      return refunds(Number(found))(messages)
    }
    const answer = await blamed({ mutate: true, tools: 'live' }, good)
    expect(answer.verdict).toBeUndefined()
    const named = answer.mutations?.verdict.kind === 'responsible' ? answer.mutations.verdict.positions : []
    expect(named.map(({ position }) => answer.steps[position]?.label)).toContain(
      'the answer of lookup_order(order_id: "A-100")',
    )
    // What the tool of the refund answers comes too late to change what was asked of it.
    expect(answer.steps[3]?.isResponsible).toBe(false)
  })

  test('stopped by its limit it says so, and goes on later without a fork thrown away', async () => {
    const file = cacheFile()
    const first = await blamed({ cacheFile: file, limits: { forks: 7 } })
    expect(first).toMatchObject({ verdict: { kind: 'unresolved' }, stoppedBy: 'forks', spent: { forks: 7 } })
    expect(readFileSync(file, 'utf8').trimEnd().split('\n')).toHaveLength(7)
    const asked = world.desk.asked.length
    const second = await blamed({ cacheFile: file, crossVersion: true })
    expect(second.verdict?.kind).toBe('confirmed')
    expect(second.reused.forks).toBe(7)
    expect(second.spent.now.modelCalls).toBe(world.desk.asked.length - asked)
    const third = await blamed({ cacheFile: file, crossVersion: true })
    expect(third.verdict).toEqual(second.verdict)
    expect(third.spent.now.forks).toBe(0)
  })

  test('stops before the dollars are spent', async () => {
    const answer = await blamed({ limits: { costUsd: 0.006 } })
    expect(answer).toMatchObject({ verdict: { kind: 'unresolved' }, stoppedBy: 'costUsd' })
    expect(answer.spent.costUsd).toBeLessThanOrEqual(0.006)
    expect(answer.spent.forks).toBeGreaterThan(2)
  })

  test('forks that ran unknown code are not counted unless that is asked for', async () => {
    const file = cacheFile()
    await blamed({ cacheFile: file, limits: { forks: 2 } })
    await expect(blamed({ cacheFile: file })).rejects.toMatchObject({ code: 'HARVEST_CROSS_VERSION' })
  })

  test('a fork that another model answers is refused, unless that is asked for', async () => {
    const upgraded = (): BlameTapeOptions['agent'] => {
      let runs = 0
      return (input) => deskAgent(input, runs++ < 2 ? 'gpt-4o' : 'gpt-4.1')
    }
    await expect(blamed({ agent: upgraded() })).rejects.toMatchObject({
      code: 'HARVEST_CROSS_VERSION',
      facts: { where: { recorded: 'gpt-4o', now: 'gpt-4.1' } },
    })
    const answer = await blamed({ agent: upgraded(), crossVersion: true, limits: { forks: 3 } })
    expect(answer.models).toEqual(['gpt-4.1'])
  })

  test('what replays, and is graded bad, is told what it will cost, for nothing', async () => {
    const estimate = await estimateBlame(bad, {
      agent: 'desk',
      load: async () => (input) => deskAgent(input),
      judging: { by: 'expectations', ok: [parseExpectation('refund(amount: 25)', '--ok')], bad: [] },
      timeoutMs: 10_000,
    })
    expect(estimate).toMatchObject({ recorded: 'bad', reused: 0 })
    const { low, likely, high } = estimate
    expect(low.forks).toBeLessThan(likely.forks)
    expect(likely.forks).toBeLessThan(high.forks)
    expect((high.costUsd ?? 0) / high.modelCalls).toBeCloseTo(0.00045, 4)
    expect(world.desk.asked).toEqual([])
  })

  test.each([
    ['nobody says what is bad', { ok: [] }, 'HARVEST_ORACLE_MISSING'],
    ['two say it', { oracle: () => true }, 'HARVEST_ORACLE_CONFLICT'],
    ['the recorded run is fine', { ok: ['refund(amount: 2500)'] }, 'HARVEST_ORACLE_OK'],
    ['columns are asked for and nobody knows good answers', { repairs: true }, 'HARVEST_BLAME_NO_REPAIRS'],
    ['there is no limit', { limits: {} as never }, 'HARVEST_BLAME_LIMITS'],
    ['it does not replay', { agent: () => 'other' }, 'HARVEST_CONTROL'],
  ] as const)('is refused before a model is asked when %s', async (_, more, code) => {
    await expect(blamed(more)).rejects.toMatchObject({ code })
    expect(world.desk.asked).toEqual([])
  })

  test('models that cannot be reached say nothing about the agent', async () => {
    const gone = await openRefunds()
    const tape = await gone.record(refunds(2500))
    await gone.close()
    const answer = await blamed({ limits: { forks: 12 } }, tape)
    expect(answer.verdict?.kind).toBe('undecidable')
    expect(answer.unclear[0]?.because).toContain('A model could not be reached')
  })

  test('says why all ungraded forks are ungraded, rare reasons together, and that calls alone grade them', async () => {
    let amount = 3000
    world.desk.decide = (messages) => refunds(amount++)(messages)
    const { verdict, unclear, isGradedByCalls } = await blamed({ limits: { forks: 12 } })
    const ungraded = verdict?.kind === 'undecidable' ? verdict.ungraded : 0
    expect(ungraded).toBeGreaterThan(5)
    expect(unclear.reduce((sum, { forks }) => sum + forks, 0)).toBe(ungraded)
    expect(unclear.at(-1)?.because).toBe('other reasons')
    expect(isGradedByCalls).toBe(true)
    const { isGradedByCalls: ofAnswers } = await blamed({ ok: ['answer~something else'], limits: { forks: 1 } })
    expect(ofAnswers).toBeUndefined()
  })

  test('an agent that throws before it asks anything found another world', async () => {
    const keyless = (input: unknown) => {
      // Replays are lent one.
      if (process.env['OPENAI_API_KEY'] === undefined) throw new Error('no key')
      return deskAgent(input)
    }
    const answer = await blamed({ agent: keyless, limits: { forks: 12 } })
    expect(answer.verdict?.kind).toBe('undecidable')
    expect(answer.unclear).toContainEqual({
      because: 'The agent threw before it asked anything: Error: no key',
      forks: expect.any(Number) as number,
    })
  })
})
