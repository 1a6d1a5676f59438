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
const ask = (): Promise<string> => post('https://api.openai.com/v1/chat/completions', chat('go'))

const callsOf = (asked: readonly Asked[]) =>
  asked.map(({ name, args }, i) => ({
    id: `c${i}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))

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
    const told = (results: readonly string[]): string =>
      JSON.stringify({
        model: 'gpt-x',
        messages: [
          { role: 'user', content: 'go' },
          { role: 'assistant', tool_calls: callsOf(orders) },
          ...results.map((content, i) => ({ role: 'tool', tool_call_id: `c${i}`, content })),
        ],
      })
    const both = told([answers.left, answers.right])
    const recorded = (...done: readonly (keyof typeof answers)[]): Tape => {
      const recording = begun(orders)
      for (const one of done) recording.exchange({ url: `${shop}/${one}`, body: '', answer: answers[one] })
      recording.exchange({ body: both, answer: '{"choices":[{"message":{"role":"assistant","content":"done"}}]}' })
      return recording.tape()
    }
    const tell = () => post('https://api.openai.com/v1/chat/completions', both)
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

  test('may change places, and a request beside them that serves the one may change places with the other', async () => {
    const tape = turn(asked, [first, 'audit A-17', second])
    const act = inTurn(
      () => mail({ to: 'everyone' }),
      () => refund({ order: 'A-17' }),
      () => made('audit A-17'),
    )
    expect(await replayed(tape, act)).toEqual([])
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
    ).toEqual([])
    expect(
      await replayed(
        tape,
        inTurn(act('A-17'), () => made('audit B-44'), act('B-44')),
      ),
    ).toEqual(['HARVEST_ORDER'])
  })
})
