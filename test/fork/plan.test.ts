import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fork, type ForkPlan, type ForkResult, forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { mark, tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { type CallEvent, type Step, stepsOf, type Tape } from '../../src/tape/index.ts'
import { agent as generated, openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  await installReplay()
  world = await openWorld()
})
afterAll(() => world.close())

const codes = ({ problems }: ForkResult): readonly string[] => problems.map(({ code }) => code)
const messageOf = ({ prefix }: ForkResult): string =>
  (prefix.divergence?.message ?? '').replace(
    /tape {6}\S+|127\.0\.0\.1:\d+|(harvest doctor) \S+|(\.ts):[\d:]+/g,
    '$1$2…',
  )

const price = tool('price', async ({ item }: { item: string }) => ({ item, cents: 250 }))
const stock = tool('stock', async ({ item }: { item: string }) => ({ item, left: 3 }))

/** Asks two tools at once, then a third time by what they said. */
async function shop(input: unknown): Promise<unknown> {
  const { item } = input as { item: string }
  const plan = mark('plan', { most: 5 })
  const [{ cents }, { left }] = await Promise.all([price({ item }), stock({ item })])
  const state = mark('state', { budget: 1_000 })
  const count = Math.min(left, plan.most, Math.floor(state.budget / cents))
  const again = count > 1 ? await price({ item: `${item} x${count}` }) : undefined
  return { count, cents, again: again?.item, id: crypto.randomUUID(), at: new Date().toISOString().slice(0, 10) }
}

async function shopTape(item = 'pen'): Promise<Tape> {
  return world.record(shop, { item })
}

const offline = { from: 'tape' } as const

describe('the kept steps', () => {
  test('a request that is not the recorded one stops every conclusion, and shows both', async () => {
    const script = { base: world.base, topic: 'a', turns: 1, width: 1, draws: false, pauseMs: 0 }
    const tape = await world.record(generated, script)
    const other = (input: unknown): unknown => generated({ ...(input as object), topic: 'b' })
    const result = await forkTape(tape, other, { keep: 2, tail: offline })
    expect(result.prefix.isExact).toBe(false)
    expect(codes(result)).toEqual(['HARVEST_FORK_PREFIX'])
    expect(messageOf(result)).toMatchInlineSnapshot(`
      "The run diverged from its tape before the fork

        …
        kept      steps 1 to 2
        expected  step 1, POST …/v1/chat/completions
        actual    POST …/v1/chat/completions
        at        test/fork/world.ts…

        differs at messages[0].content
        recorded  a 
        now       b 

      A fork is only comparable when everything before its change is as recorded.
      → to see what the agent does differently: npx vitest-harvest doctor…
      → or keep fewer steps
      (HARVEST_FORK_PREFIX)"
    `)
  })

  test('a call with other arguments does, too', async () => {
    const tape = await shopTape()
    const result = await forkTape(tape, () => shop({ item: 'pencil' }), { keep: 1, tail: offline })
    expect(codes(result)).toEqual(['HARVEST_FORK_PREFIX'])
    expect(messageOf(result)).toMatchInlineSnapshot(`
      "The run diverged from its tape before the fork

        …
        kept      step 1
        expected  step 1, tool price
        actual    price({"item":"pencil"})
        at        test/fork/plan.test.ts…

        differs at item
        recorded  pen
        now       pencil

      A fork is only comparable when everything before its change is as recorded.
      → to see what the agent does differently: npx vitest-harvest doctor…
      → or keep fewer steps
      (HARVEST_FORK_PREFIX)"
    `)
  })

  test('a run that ends before them does, too', async () => {
    const result = await forkTape(await shopTape(), () => 'done', { keep: 3, tail: offline })
    expect(result.prefix).toMatchObject({ steps: 0, isExact: false })
    expect(messageOf(result)).toMatchInlineSnapshot(`
      "The run diverged from its tape before the fork

        …
        kept      steps 1 to 3
        expected  step 1, tool price
        actual    nothing more

      A fork is only comparable when everything before its change is as recorded.
      → to see what the agent does differently: npx vitest-harvest doctor…
      → or keep fewer steps
      (HARVEST_FORK_PREFIX)"
    `)
  })

  test('another policy behind them does not', async () => {
    const tape = await shopTape()
    const policy = async (input: unknown): Promise<unknown> => {
      await Promise.all([price(input as { item: string }), stock(input as { item: string })])
      return 'enough'
    }
    const result = await forkTape(tape, policy, { keep: 2, tail: offline })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toEqual({ status: 'returned', value: 'enough' })
    expect(result.isInert).toBe(false)
  })
})

describe('changes', () => {
  test('a changed result leads to another run; what it asks then is off the tape', async () => {
    const tape = await shopTape()
    const result = await fork(tape, { agent: shop, step: 2, change: { path: 'result.left', value: 2 } })
    expect(codes(result)).toEqual(['HARVEST_NOT_RECORDED'])
    expect(result.prefix).toEqual({ steps: 2, isExact: true })
    expect(result.problems[0]?.facts.where).toMatchObject({ asked: 'price({"item":"pen x2"})' })
  })

  test('a changed result that changes nothing behind it is inert', async () => {
    const tape = await shopTape()
    const same = await fork(tape, { agent: shop, step: 1, change: { path: 'result.item', value: 'other' } })
    expect(codes(same)).toEqual([])
    // Chance behind the change is the fork's own, so the id it returns is another one.
    expect(same.isInert).toBe(false)
    const tapeOfSum = await world.record(async () => (await price({ item: 'a' })).cents, undefined)
    const sum = async (): Promise<number> => (await price({ item: 'a' })).cents
    const inert = await fork(tapeOfSum, { agent: sum, step: 1, change: { path: 'result.item', value: 'b' } })
    expect(inert).toMatchObject({ isInert: true, problems: [] })
    const other = await fork(tapeOfSum, { agent: sum, step: 1, change: { path: 'result.cents', value: 1 } })
    expect(other).toMatchObject({ isInert: false, outcome: { value: 1 } })
  })

  test('a mark hands over what the fork says, to the code that goes on with it', async () => {
    const tape = await shopTape()
    const seen = await fork(tape, {
      agent: shop,
      keep: 2,
      changes: [{ mark: 'state', data: { budget: 250 } }],
    })
    expect(codes(seen)).toEqual([])
    expect(seen.outcome).toMatchObject({ value: { count: 1 } })
    expect(seen.branch.tape.events).toContainEqual(expect.objectContaining({ name: 'state', data: { budget: 250 } }))
    const replay = await replayTape(tape, shop)
    expect(replay.comparison.outcomeEqual).toBe(true)
  })

  test('a changed input reaches the agent', async () => {
    const tape = await shopTape()
    const result = await forkTape(tape, shop, {
      keep: 0,
      changes: [{ path: 'input.item', value: 'ink' }],
      tail: {
        from: 'script',
        answer: ({ kind }) => (kind === 'tool' ? { result: { item: 'ink', cents: 1, left: 9 } } : undefined),
      },
    })
    expect(result.outcome).toMatchObject({ value: { count: 5, again: 'ink' } })
    expect(result.branch.tape.header.input).toEqual({ item: 'ink' })
  })

  test('the clock is ahead by as much as the plan says, behind the kept steps', async () => {
    const tape = await shopTape()
    const day = 24 * 60 * 60 * 1000
    const result = await forkTape(tape, shop, { keep: 3, clockOffsetMs: 2 * day, tail: offline })
    const ahead = new Date(Date.parse(tape.header.startedAt) + 2 * day).toISOString().slice(0, 10)
    expect(result.outcome).toMatchObject({ value: { at: ahead } })
  })
})

describe('who answers behind the kept steps', () => {
  test('another tape answers what it was asked', async () => {
    const [tape, reference] = [await shopTape(), await shopTape()]
    const result = await forkTape(tape, shop, { keep: 2, tail: { from: 'reference', tape: reference } })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: { again: 'pen x3' } })
    expect(result.isInert).toBe(false)
  })

  test('the names of earlier versions, donor and pinned, are read', async () => {
    const [tape, reference] = [await shopTape(), await shopTape()]
    const earlier = { keep: 2, modes: { 3: 'pinned' }, tail: { from: 'donor', tape: reference } } as unknown as ForkPlan
    const result = await forkTape(tape, shop, earlier)
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: { again: 'pen x3' } })
  })

  test('a replaced tool runs for real, with what the agent gave it', async () => {
    const tape = await shopTape()
    const seen: unknown[] = []
    const result = await forkTape(
      tape,
      shop,
      { keep: 2, tail: offline },
      { tools: { price: async (given: { item: string }) => ({ item: 'replaced', was: seen.push(given) }) } },
    )
    expect(codes(result)).toEqual([])
    expect(seen).toEqual([{ item: 'pen x3' }])
    expect(result.outcome).toMatchObject({ value: { again: 'replaced' } })
    expect(result.ranForReal).toEqual(['price'])
  })

  test('single steps are replayed or live, whatever the tail says', async () => {
    const tape = await shopTape()
    const silent = { from: 'script', answer: () => ({ result: { item: 'scripted', cents: 1, left: 1 } }) } as const
    const replayed = await forkTape(tape, shop, { keep: 2, modes: { 3: 'replayed' }, tail: silent })
    expect(replayed.outcome).toMatchObject({ value: { again: 'pen x3' } })
    const live = await forkTape(tape, shop, { keep: 2, modes: { 3: 'live' }, tail: silent })
    expect(live.ranForReal).toEqual(['price'])
    const scripted = await forkTape(tape, shop, { keep: 2, tail: silent })
    expect(scripted.outcome).toMatchObject({ value: { again: 'scripted' } })
  })

  test.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('boom in the script')
      },
      'Error: boom in the script',
    ],
    ['answers with what is none', () => ({ foo: 1 }), '{"foo":1}'],
    ['answers with a word', () => true, 'true'],
    ['answers with a promise', async () => ({ result: 1 }), 'a promise'],
  ])('a script that %s leaves the run without a grade, and says what it did', async (_, answer, said) => {
    const script = { from: 'script', answer } as unknown as ForkPlan['tail']
    const { problems } = await forkTape(await shopTape(), shop, { keep: 2, ...(script && { tail: script }) })
    expect(problems[0]).toMatchObject({ code: 'HARVEST_FORK_SCRIPT' })
    expect(problems[0]?.message).toContain(said)
  })

  test('a question asked again gets its last recorded answer again', async () => {
    const twice = async (): Promise<unknown> => [
      await price({ item: 'a' }),
      await stock({ item: 'a' }),
      await price({ item: 'a' }),
    ]
    const once = async (): Promise<unknown> => [await price({ item: 'a' }), await stock({ item: 'a' })]
    const tape = await world.record(once, undefined)
    const result = await forkTape(tape, twice, { keep: 1, tail: offline })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: [{ cents: 250 }, { left: 3 }, { cents: 250 }] })
  })

  test('a run that asks the same for ever is stopped', async () => {
    const forEver = async (): Promise<unknown> => {
      for (;;) await price({ item: 'a' })
    }
    const tape = await world.record(() => price({ item: 'a' }), undefined)
    const result = await forkTape(tape, forEver, { keep: 1, tail: offline })
    expect(codes(result)).toEqual(['HARVEST_NOT_RECORDED'])
    expect(result.outcome.status).toBe('threw')
  })

  test('a timer set before the fork fires behind it, when models are asked for real', async () => {
    const script = { base: world.base, topic: 't', turns: 1, width: 1, draws: false, pauseMs: 0 }
    const waits = async (input: unknown): Promise<unknown> => {
      const late = new Promise((resolve) => setTimeout(() => resolve('fired'), 150))
      await price({ item: 'a' })
      await generated(input)
      return late
    }
    const tape = await world.record(waits, script)
    const result = await forkTape(tape, waits, { keep: 1, tail: { from: 'live', budget: openBudget({}) } })
    expect(result).toMatchObject({ problems: [], outcome: { value: 'fired' } })
  })

  test('a live model at another address gets what was meant for the recorded one', async () => {
    const script = { base: world.base, topic: 'l', turns: 1, width: 1, draws: false, pauseMs: 0 }
    const tape = await world.record(generated, script)
    const moved: Tape = JSON.parse(JSON.stringify(tape).replaceAll(world.base, 'http://model.test')) as Tape
    const tail = { from: 'live', budget: openBudget({}), baseUrl: world.base } as const
    const result = await forkTape(moved, generated, { keep: 0, tail })
    expect(codes(result)).toEqual([])
    expect(result.comparison.outcomeEqual).toBe(true)
    expect(result.branch.ownEvents).toContainEqual(
      expect.objectContaining({ url: 'http://model.test/v1/chat/completions' }),
    )
  })
})

test('what a tape cannot have is refused before anything runs', async () => {
  const tape = await shopTape()
  const plans: readonly unknown[] = [
    { keep: 9, tail: offline },
    { keep: 1.5, tail: offline },
    { keep: 1, modes: { 1: 'mutated' }, tail: offline },
    { keep: 1, modes: { 7: 'live' }, tail: offline },
    { keep: 1, tail: { from: 'cache' } },
    { keep: 1, changes: [{ step: 8, path: 'result', value: 1 }], tail: offline },
    { keep: 1, changes: [{ step: 1, text: 'no' }], tail: offline },
    { keep: 1, changes: [{ step: 1, path: 'result' }], tail: offline },
    { keep: 1, changes: ['result'], tail: offline },
  ]
  for (const plan of plans) {
    await expect(forkTape(tape, shop, plan as ForkPlan)).rejects.toMatchObject({ code: 'HARVEST_FORK_PLAN' })
  }
  const say = { step: 1, decide: { say: 'no' } }
  await expect(
    forkTape(tape, shop, { keep: 1, changes: [say], tail: offline }),
  ).rejects.toThrowErrorMatchingInlineSnapshot(`
    [HarvestError: Cannot set a decision at step 1

      step  tool price

    Its answer is the result of a function, not what a model decided.
    → change its value with --set instead: result.… of a tool call, body.… or status of an answer
    (HARVEST_FORK_DECIDE)]
  `)
})

test('the fingerprint is that of what was done, not of when', async () => {
  const tape = await shopTape()
  const answer = ({ kind }: Step): { result: { item: string } } | undefined =>
    kind === 'tool' ? { result: { item: 'x' } } : undefined
  const plan = (seed: string): ForkPlan => ({ keep: 3, seed, tail: { from: 'script', answer } })
  const sum = async (): Promise<unknown> => {
    await shop({ item: 'pen' })
    return 'sum'
  }
  const [a, b] = [await forkTape(tape, sum, plan('a')), await forkTape(tape, sum, plan('b'))]
  expect(a.fingerprint).toBe(b.fingerprint)
  const c = await forkTape(tape, shop, plan('a'))
  expect(c.fingerprint).not.toBe(a.fingerprint)
  expect(stepsOf(c.branch.tape)).toHaveLength(3)
})

test('a step that asks what the changed one asked gets its own answer, unless the change was a failure', async () => {
  const polls = async (): Promise<unknown> => {
    const seen: unknown[] = []
    for (let i = 0; i < 3; i++)
      seen.push(
        await price({ item: 'same' }).then(
          ({ cents }) => cents,
          ({ message }: Error) => message,
        ),
      )
    return seen
  }
  let cents = 0
  const price = tool('poll', async (_: { item: string }) => ({ cents: ++cents }))
  const tape = await world.record(polls, undefined)
  const other = await fork(tape, { agent: polls, keep: 3, changes: [{ step: 1, path: 'result.cents', value: 9 }] })
  expect(other).toMatchObject({ problems: [], outcome: { value: [9, 2, 3] } })
  const failed = await fork(tape, { agent: polls, keep: 1, changes: [{ step: 1, path: 'error', value: 'no' }] })
  expect(failed).toMatchObject({ problems: [], outcome: { value: ['no', 1, 2] } })
})

test('attempts are answered one after the other, then the changed or the recorded answer', async () => {
  const tries = async (): Promise<unknown> => {
    const seen: unknown[] = []
    for (let i = 0; i < 4; i++)
      seen.push(
        await flaky({ item: 'a' }).then(
          ({ left }) => left,
          ({ message }: Error) => message,
        ),
      )
    return seen
  }
  const flaky = tool('flaky', async (_: { item: string }) => ({ left: 1 }))
  const tape = await world.record(() => flaky({ item: 'a' }), undefined)
  const failed =
    (message: string) =>
    (step: Step): Step => {
      const { result: _result, ...call } = step as CallEvent
      return { ...call, error: { $type: 'error', class: 'Error', name: 'Error', message } }
    }
  const attempts = { step: 1, attempts: [failed('first'), failed('second')] }
  const plan = { keep: 1, changes: [attempts], tail: offline }
  expect(await forkTape(tape, tries, plan)).toMatchObject({
    problems: [],
    outcome: { value: ['first', 'second', 1, 1] },
  })
  const changes = [attempts, { step: 1, path: 'result.left', value: 5 }]
  expect(await forkTape(tape, tries, { ...plan, changes })).toMatchObject({
    outcome: { value: ['first', 'second', 5, 1] },
  })
  const always = [attempts, { step: 1, rewrite: failed('for good'), always: true }]
  expect(await forkTape(tape, tries, { ...plan, changes: always })).toMatchObject({
    outcome: { value: ['first', 'second', 'for good', 'for good'] },
  })
})

test('the ids a provider gives are no part of a fingerprint, what its model decides is', async () => {
  const conversations = async (input: unknown): Promise<unknown> => {
    const { base } = input as { base: string }
    const post = async (messages: unknown): Promise<unknown> => {
      const body = JSON.stringify({ model: 'm-1', messages, width: 1 })
      return (await fetch(`${base}/v1/chat/completions`, { method: 'POST', body })).json()
    }
    return post([{ role: 'user', content: 'hi' }, await post([{ role: 'user', content: 'hi' }])]).then(() => 'done')
  }
  const tape = await world.record(conversations, { base: world.base })
  const told = async (id: string, city: string): Promise<string> => {
    const call = {
      id: `call_${id}`,
      type: 'function',
      function: { name: 'weather', arguments: JSON.stringify({ city }) },
    }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const body = { id: `chatcmpl-${id}`, object: 'chat.completion', choices: [{ index: 0, message }] }
    const fork = await forkTape(tape, conversations, { keep: 0, tail: { from: 'script', answer: () => ({ body }) } })
    expect(fork.problems).toEqual([])
    return fork.fingerprint
  }
  expect(await told('1234567', 'Oslo')).toBe(await told('7654321', 'Oslo'))
  expect(await told('1234567', 'Oslo')).not.toBe(await told('1234567', 'Rome'))
})
