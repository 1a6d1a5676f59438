import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { tool } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import type { Json, Tape } from '../../src/tape/index.ts'
import { chat, Recording } from './tapes.ts'

beforeAll(() => installReplay())

const shop = 'https://shop.test'
const post = async (url: string, body: string): Promise<string> => (await fetch(url, { method: 'POST', body })).text()
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)

interface Asked {
  readonly name: string
  readonly args: Json
}

/** A request to the shop, as it was made: `reserve A-17`. */
const made = async (what: string): Promise<string> => {
  const [path = '', order = ''] = what.split(' ')
  return post(`${shop}/${path}`, order)
}
const askWith = (body: string): Promise<string> => post('https://api.openai.com/v1/chat/completions', body)
const ask = (): Promise<string> => askWith(chat('go'))
const last = '{"choices":[{"message":{"role":"assistant","content":"done"}}]}'

const callsOf = (asked: readonly Asked[]) =>
  asked.map(({ name, args }, i) => ({
    id: `c${i}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))

/** The next question to the model, with the result of each call. */
const told = (asked: readonly Asked[], results: readonly string[]): string =>
  JSON.stringify({
    model: 'gpt-x',
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', tool_calls: callsOf(asked) },
      ...results.map((content, i) => ({ role: 'tool', tool_call_id: `c${i}`, content })),
    ],
  })

const begun = (asked: readonly Asked[]): Recording => {
  const recording = new Recording()
  const answer = JSON.stringify({ choices: [{ message: { role: 'assistant', tool_calls: callsOf(asked) } }] })
  recording.exchange({ body: chat('go'), answer })
  return recording
}

/** A model turn that asks for several tools at once, and what the agent then did, one after the other. */
const turn = (asked: readonly Asked[], done: readonly (string | Asked)[]): Tape => {
  const recording = begun(asked)
  for (const one of done) {
    if (typeof one !== 'string') recording.call(one.name, one.args, 'done')
    else {
      const [path, body = ''] = one.split(' ')
      recording.exchange({ url: `${shop}/${path}`, body })
    }
  }
  return recording.tape()
}

const replayed = async (tape: Tape, act: () => Promise<unknown>): Promise<readonly string[]> =>
  codes(
    await replayTape(tape, async () => {
      await ask()
      await act()
    }),
  )
const inTurn =
  (...steps: readonly (() => Promise<unknown>)[]) =>
  async (): Promise<void> => {
    for (const step of steps) await step()
  }

describe('requests after a model turn that asked for two tools', () => {
  const orders: readonly Asked[] = ['A-17', 'B-44'].map((order) => ({ name: 'buy', args: { order } }))
  const tape = turn(orders, ['reserve A-17', 'charge A-17', 'reserve B-44', 'charge B-44'])
  const buy = (order: string) =>
    inTurn(
      () => made(`reserve ${order}`),
      () => made(`charge ${order}`),
    )

  test('may be made for both at once, or for the second first, as each names the order of its call', async () => {
    expect(await replayed(tape, inTurn(buy('A-17'), buy('B-44')))).toEqual([])
    expect(await replayed(tape, inTurn(buy('B-44'), buy('A-17')))).toEqual([])
    expect(await replayed(tape, () => Promise.all([buy('A-17')(), buy('B-44')()]))).toEqual([])
  })

  test('are out of order where those of one call change places', async () => {
    const charged = inTurn(
      () => made('charge A-17'),
      () => made('reserve A-17'),
      buy('B-44'),
    )
    expect(await replayed(tape, charged)).toEqual(['HARVEST_ORDER'])
    const atOnce = () => Promise.all([made('reserve A-17'), made('charge A-17')]).then(buy('B-44'))
    expect(await replayed(tape, atOnce)).toEqual(['HARVEST_ORDER'])
  })

  test('are out of order where they show no call, be they fewer than the model asked for', async () => {
    for (const done of [
      ['left', 'right', 'log'],
      ['left', 'right'],
      ['check', 'charge A-17'],
    ]) {
      const changed = [done[1]!, done[0]!, ...done.slice(2)]
      expect(await replayed(turn(orders, done), inTurn(...changed.map((one) => () => made(one))))).toEqual([
        'HARVEST_ORDER',
      ])
    }
  })

  test('may change places where the result of each call has what one of them was answered', async () => {
    const answers = { left: '{"stock":"seven"}', right: '{"stock":"twelve"}', check: '{"risk":"none"}' }
    const both = told(orders, [answers.left, answers.right])
    const recorded = (...done: readonly (keyof typeof answers)[]): Tape => {
      const recording = begun(orders)
      for (const one of done) recording.exchange({ url: `${shop}/${one}`, body: '', answer: answers[one] })
      recording.exchange({ body: both, answer: last })
      return recording.tape()
    }
    const tell = () => askWith(both)
    const act = (...done: readonly string[]) => inTurn(...done.map((one) => () => made(one)), tell)
    expect(await replayed(recorded('left', 'right'), act('right', 'left'))).toEqual([])
    expect(await replayed(recorded('check', 'left', 'right'), act('check', 'right', 'left'))).toEqual([])
    expect(await replayed(recorded('check', 'left', 'right'), act('left', 'right', 'check'))).toContain('HARVEST_ORDER')
  })
})

describe('tools that a model turn asked for at once', () => {
  const refund = tool('refund', async (_: { order: string }) => 'done')
  const mail = tool('mail', async (_: { to: string }) => 'done')
  const asked: readonly Asked[] = [
    { name: 'refund', args: { order: 'A-17' } },
    { name: 'mail', args: { to: 'everyone' } },
  ]
  const [first, second] = asked as [Asked, Asked]

  test('may change places, and so may a request beside them whose answer is in the result of the one', async () => {
    const noted = '{"notes":"pays late"}'
    const tape = (results: readonly string[]): Tape => {
      const recording = begun(asked)
      recording.call('refund', first.args, 'done')
      recording.exchange({ url: `${shop}/notes`, body: 'A-17', answer: noted })
      recording.call('mail', second.args, 'sent')
      recording.exchange({ body: told(asked, results), answer: last })
      return recording.tape()
    }
    const act = (results: readonly string[]) =>
      inTurn(
        () => mail({ to: 'everyone' }),
        () => refund({ order: 'A-17' }),
        () => made('notes A-17'),
        () => askWith(told(asked, results)),
      )
    const kept = [noted, 'sent']
    expect(await replayed(tape(kept), act(kept))).toEqual([])
    for (const results of [
      ['done', 'sent'],
      ['done', noted],
      [noted, noted],
    ])
      expect(await replayed(tape(results), act(results))).toEqual(['HARVEST_ORDER'])
  })

  test('may not change places with a check of the customer, whom another call of the turn asks for', async () => {
    const check = tool('fraud_check', async (_: { customer: string; amount?: number }) => ({ ok: true }))
    const customers = tool('get_customer', async (_: { customer: string }) => ({ name: 'Ada' }))
    const pay = tool('refund', async (_: { order: string; amount: number }) => ({ refunded: 25 }))
    const turnOf: readonly Asked[] = [
      { name: 'get_customer', args: { customer: 'C-7741' } },
      { name: 'refund', args: { order: 'A-100', amount: 25 } },
    ]
    for (const about of [{ customer: 'C-7741' }, { customer: 'C-7741', amount: 25 }]) {
      const tape = turn(turnOf, [turnOf[0]!, { name: 'fraud_check', args: about }, turnOf[1]!])
      const [look, guard, act] = [
        () => customers({ customer: 'C-7741' }),
        () => check(about),
        () => pay({ order: 'A-100', amount: 25 }),
      ]
      expect(await replayed(tape, inTurn(look, guard, act))).toEqual([])
      expect(await replayed(tape, inTurn(look, act, guard))).toEqual(['HARVEST_ORDER'])
      expect(await replayed(tape, () => Promise.all([look(), inTurn(act, guard)()]))).toContain('HARVEST_ORDER')
      expect(await replayed(tape, () => Promise.all([look(), guard(), act()]))).toContain('HARVEST_ORDER')
    }
  })

  test('may not change places with a check that no call asked for, where another call is none of a step', async () => {
    const check = tool('fraud_check', async (_: { customer: string }) => 'done')
    const tape = turn(
      [{ name: 'think', args: { thought: 'refund it' } }, first],
      [{ name: 'fraud_check', args: { customer: 'c9' } }, first],
    )
    const steps = [() => refund({ order: 'A-17' }), () => check({ customer: 'c9' })]
    expect(await replayed(tape, inTurn(...steps.toReversed()))).toEqual([])
    expect(await replayed(tape, inTurn(...steps))).toContain('HARVEST_ORDER')
    const behind = async () => {
      const checked = check({ customer: 'c9' })
      await refund({ order: 'A-17' })
      return checked
    }
    expect(await replayed(tape, behind)).toContain('HARVEST_ORDER')
  })

  test('may not change places with a request that serves the same call, or that shows no call', async () => {
    for (const audit of ['audit A-17', 'audit']) {
      const tape = turn(asked, [first, audit, second])
      const act = inTurn(
        () => made(audit),
        () => refund({ order: 'A-17' }),
        () => mail({ to: 'everyone' }),
      )
      expect(await replayed(tape, act)).toEqual(['HARVEST_ORDER'])
    }
  })

  test('are told by their arguments where both have one name', async () => {
    const twice: readonly Asked[] = ['A-17', 'B-44'].map((order) => ({ name: 'refund', args: { order } }))
    const tape = turn(twice, [...twice, 'audit B-44'])
    const act = (...orders: readonly string[]) => inTurn(...orders.map((order) => () => refund({ order })))
    expect(
      await replayed(
        tape,
        inTurn(act('B-44', 'A-17'), () => made('audit B-44')),
      ),
    ).toEqual([])
    expect(
      await replayed(
        tape,
        inTurn(act('B-44'), () => made('audit B-44'), act('A-17')),
      ),
    ).toEqual(['HARVEST_ORDER'])
    expect(
      await replayed(
        tape,
        inTurn(act('A-17'), () => made('audit B-44'), act('B-44')),
      ),
    ).toEqual(['HARVEST_ORDER'])
  })
})

describe('random turns of several calls', () => {
  /** Of one tool, or each of its own, whose code asks the shop one thing after the other. */
  const turns = fc
    .record({
      steps: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 3 }),
      isOfOneTool: fc.boolean(),
      isAtOnce: fc.boolean(),
    })
    .map(({ steps, isOfOneTool, isAtOnce }) => {
      const length = (i: number): number => (isOfOneTool ? steps[0]! : steps[i]!)
      const asked = steps.map((_, i) => ({
        name: isOfOneTool ? 'buy' : `buy${i}`,
        args: { order: `A-10${i}`, amount: 100 + i },
      }))
      // Those of one tool are told by the form of their requests, others by what their answers went into.
      const chains = steps.map((_, i) =>
        Array.from({ length: length(i) }, (_, at) => ({
          url: `${shop}/${isOfOneTool ? 'do' : `do${i}`}/${at}`,
          body: JSON.stringify(
            isOfOneTool || at === 0 ? { order: `A-10${i}` } : { order: `A-10${i}`, from: `got-${i}-${at - 1}` },
          ),
          answer: JSON.stringify(isOfOneTool ? { ok: true } : { got: `got-${i}-${at}` }),
        })),
      )
      const results = chains.map((chain) => (isOfOneTool ? 'done' : chain.at(-1)!.answer))
      return { asked, chains, isAtOnce, next: told(asked, results) }
    })
  const everyOrder = (count: number) =>
    fc.shuffledSubarray([...Array(count).keys()], { minLength: count, maxLength: count })

  test('are the same whether their calls are made at once or one after the other, in any order', async () => {
    const cases = turns.chain((turn) => fc.tuple(fc.constant(turn), everyOrder(turn.chains.length), fc.boolean()))
    await fc.assert(
      fc.asyncProperty(cases, async ([{ asked, chains, isAtOnce, next }, order, isNowAtOnce]) => {
        const recording = begun(asked)
        if (isAtOnce) {
          for (let at = 0; chains.some((chain) => chain.length > at); at++) {
            const round = chains.flatMap((chain) => chain.slice(at, at + 1))
            for (const one of round) recording.exchange(one)
            recording.atOnce(round.length)
          }
        } else for (const one of chains.flat()) recording.exchange(one)
        recording.exchange({ body: next, answer: last })
        const run = async (i: number): Promise<void> => {
          for (const { url, body } of chains[i]!) await post(url, body)
        }
        const act = async (): Promise<void> => {
          if (isNowAtOnce) await Promise.all(order.map(run))
          else for (const i of order) await run(i)
          await askWith(next)
        }
        expect(await replayed(recording.tape(), act)).toEqual([])
      }),
      { numRuns: 40, seed: 1 },
    )
  })

  test('are out of order where a check comes behind what it stood before, or is not waited for', async () => {
    const tools = [0, 1, 2].map((i) => tool(`buy${i}`, async (_: { order: string; amount: number }) => 'done'))
    const check = tool('check', async (_: Json) => ({ ok: true }))
    const guards = fc.record({
      turn: turns,
      areWrapped: fc.boolean(),
      isWrapped: fc.boolean(),
      about: fc.subarray([0, 1, 2]),
      of: fc.constantFrom('order', 'amount', 'both'),
      answer: fc.constantFrom<Json>({ ok: true }, 'done', { name: 'done' }),
      at: fc.nat(),
      isLost: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(guards, async ({ turn, areWrapped, isWrapped, about, of, answer, at, isLost }) => {
        const { asked: named, chains } = turn
        const asked = areWrapped ? named.map((one, i) => ({ ...one, name: `buy${i}` })) : named
        const next = areWrapped
          ? told(
              asked,
              asked.map(() => 'done'),
            )
          : turn.next
        const args = about
          .flatMap((i) => asked.slice(i, i + 1))
          .map(({ args: { order, amount } }) =>
            of === 'order' ? { order } : of === 'amount' ? { amount } : { order, amount },
          )
        type Done = { readonly record: (recording: Recording) => unknown; readonly act: () => Promise<unknown> }
        const actions = asked.flatMap(({ name, args: own }, i): readonly Done[] =>
          areWrapped
            ? [{ record: (recording) => recording.call(name, own, 'done'), act: () => tools[i]!(own) }]
            : chains[i]!.map((one) => ({
                record: (recording) => recording.exchange(one),
                act: () => post(one.url, one.body),
              })),
        )
        const guard: Done = isWrapped
          ? { record: (recording) => recording.call('check', args, answer), act: () => check(args) }
          : {
              record: (recording) =>
                recording.exchange({
                  url: `${shop}/check`,
                  body: JSON.stringify(args),
                  answer: JSON.stringify(answer),
                }),
              act: () => post(`${shop}/check`, JSON.stringify(args)),
            }
        const place = at % actions.length
        const recording = begun(asked)
        for (const { record } of actions.toSpliced(place, 0, guard)) record(recording)
        recording.exchange({ body: next, answer: last })
        const result = await replayed(recording.tape(), async () => {
          for (const [i, { act }] of actions.entries()) {
            if (i !== place) await act()
            else if (isLost) await Promise.all([guard.act(), act()])
            else await act().then(guard.act)
          }
          await askWith(next)
        })
        expect(result).toContain('HARVEST_ORDER')
      }),
      { numRuns: 80, seed: 1 },
    )
  })
})
