import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, retriever, tool } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import { reachOf } from '../../src/replay/tools.ts'
import { keepDefinitions } from '../../src/seam/source.ts'
import { encodeValue, readTape, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { Recording } from './tapes.ts'

// `tools: run`: the bodies of wrapped functions run beside their recording.
beforeAll(() => installReplay())

const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const rates = 'https://rates.test/EUR'
const run: ReplayOptions = { tools: 'run' }

/** `convert({ amount: 10 })` asks for a rate and answers 12. */
function converted(): Tape {
  const recording = new Recording()
  const call = recording.call('convert', { amount: 10 }, { total: 12 })
  recording.events.pop()
  const rate = recording.exchange({ method: 'GET', url: rates, answer: '{"rate":1.2}', in: call.n })
  const end = (rate.response?.end?.[0] ?? 0) + 1
  recording.events.unshift({ ...call, settled: [end, 50] })
  return recording.tape({ value: { total: 12 } })
}

interface Args {
  readonly amount: number
}
const rateOf = async (url = rates): Promise<number> => ((await (await fetch(url)).json()) as { rate: number }).rate
const convert = (body: (args: Args) => unknown) => (): unknown => tool('convert', body)({ amount: 10 })

test('a body that does what it did is green, and is counted as run', async () => {
  const agent = convert(async ({ amount }) => ({ total: amount * (await rateOf()) }))
  const result = await replayTape(converted(), agent, run)
  expect(codes(result)).toEqual([])
  expect(result.ranForReal).toEqual(['convert'])
  expect(result.comparison).toMatchObject({ recorded: 2, served: 2, covered: 0, outcomeEqual: true })
})

test('a body that returns an instance of a class, and a plain object when recorded, is told so', async () => {
  class Total {
    total = 12
  }
  const agent = convert(async () => {
    await rateOf()
    return new Total()
  })
  const { problems } = await replayTape(converted(), agent, run)
  expect(problems.map(({ facts }) => facts.detail)).toEqual([
    '  differs at result\n  recorded  a plain object\n  now       an instance of Total',
  ])
})

describe('an argument with a member that is undefined, recorded without it', () => {
  const search = (...given: readonly unknown[]) => ({
    given,
    agent: () => tool('search', hits)(...(given as [object])),
  })
  const hits = (query: object): object => ({ limit: { limit: 10, ...query }.limit ?? 'all' })
  const taped = (args: unknown): Tape => {
    const recording = new Recording()
    recording.call('search', encodeValue(args) as never, { limit: 10 })
    return recording.tape({ value: { limit: 10 } })
  }

  test.for([
    ['is the same', [{ a: 1 }], [{ a: 1, b: undefined }]],
    ['is the same further in', [{ a: { c: [{ d: 1 }] } }], [{ a: { c: [{ d: 1, b: undefined }], b: undefined } }]],
    ['is the same in the second argument', ['x', { a: 1 }], ['x', { a: 1, b: undefined }]],
    ['is the same as a last argument', ['x'], ['x', undefined]],
  ] as const)('%s, both ways', async ([, one, other]) => {
    for (const [was, is] of [
      [one, other],
      [other, one],
    ] as const) {
      const result = await replayTape(
        taped(was.length === 1 && typeof was[0] === 'object' ? was[0] : was),
        search(...is).agent,
      )
      expect([codes(result), result.drift]).toEqual([[], []])
    }
  })

  test.for([
    ['an item of a list', [{ a: [1] }], [{ a: [1, undefined] }]],
    ['null', [{ a: 1 }], [{ a: 1, b: null }]],
    ['an argument before another', ['x'], [undefined, 'x']],
    [
      'a field of a class',
      [{ a: new (class Query {})() }],
      [
        {
          a: new (class Query {
            b = undefined
          })(),
        },
      ],
    ],
  ] as const)('is not the same as %s', async ([, was, is]) => {
    const result = await replayTape(
      taped(was.length === 1 && typeof was[0] === 'object' ? was[0] : was),
      search(...is).agent,
    )
    expect(codes(result)).toEqual(['HARVEST_DIVERGENCE'])
  })

  test('reaches a body that runs, which may tell it from an absent one', async () => {
    const [tape, asked] = [taped({ a: 1 }), search({ a: 1, limit: undefined })]
    expect(codes(await replayTape(tape, asked.agent))).toEqual([])
    const result = await replayTape(tape, asked.agent, run)
    expect(codes(result)).toEqual(['HARVEST_RESULTS'])
    expect(result.drift).toMatchObject([{ path: 'result.limit', recorded: '10', live: 'all' }])
  })
})

describe('a body that changed is different, at the line where the function was wrapped:', () => {
  test('another field', async () => {
    keepDefinitions()
    const changed = convert(async ({ amount }) => ({ total: amount + (await rateOf()) }))
    const result = await replayTape(converted(), changed, run)
    expect(codes(result)).toEqual(['HARVEST_RESULTS'])
    expect(result.drift).toMatchObject([
      { class: 'results', part: 'convert', path: 'result.total', recorded: '12', live: '11.2', stepNumber: 1 },
    ])
    expect(result.drift[0]?.site).toMatch(/^test\/replay\/tools\.test\.ts:\d+:\d+$/)
    // The agent goes on with the recorded result: what follows is judged by itself.
    expect(result.outcome).toMatchObject({ value: { total: 12 } })
    expect(
      result.problems[0]?.message.replaceAll(/tools\.test\.ts:\d+:\d+/g, 'tools.test.ts:<line>'),
    ).toMatchInlineSnapshot(`
      "The code of convert no longer returns its recorded result

        tape      refund
        at        test/replay/tools.test.ts:<line>
        recorded  step 1, tool convert

        differs at result.total
        recorded  12
        now       11.2

      Its body ran with the recorded arguments. The agent went on with the recorded result.
      → if the new result is right: record the run again and promote the new tape
      → to exclude it: tools: { run: […] } without convert
      (HARVEST_RESULTS)"
    `)
  })

  test('it throws', async () => {
    const result = await replayTape(
      converted(),
      convert(async () => {
        await rateOf()
        throw new RangeError('too much')
      }),
      run,
    )
    expect(codes(result)).toEqual(['HARVEST_RESULTS'])
    expect(result.drift).toMatchObject([{ path: '', recorded: 'returned', live: 'threw RangeError: too much' }])
  })

  test('it asks another address: that request is the problem, and the result is not told as well', async () => {
    const agent = convert(async ({ amount }) => ({ total: amount * (await rateOf('https://rates.test/USD')) }))
    const result = await replayTape(converted(), agent, run)
    expect(codes(result)).toEqual(['HARVEST_DIVERGENCE', 'HARVEST_RESULTS'])
    expect(result.problems[1]?.facts.what).toBe('The code of convert left out 1 recorded step')
    expect(result.outcome).toMatchObject({ value: { total: 12 } })
  })

  test('it no longer asks', async () => {
    const result = await replayTape(
      converted(),
      convert(async () => Promise.resolve({ total: 12 })),
      run,
    )
    expect(codes(result)).toEqual(['HARVEST_RESULTS'])
    expect(result.problems[0]?.message).toContain('GET rates.test/EUR')
  })

  test('it does not wait for what it asked', async () => {
    const agent = convert(({ amount }) => Promise.resolve({ total: `${amount} ${String(rateOf())}` }))
    const result = await replayTape(converted(), agent, run)
    expect(codes(result)).toContain('HARVEST_RESULTS')
  })
})

test('without the option no body runs, and nothing is claimed about it', async () => {
  for (const options of [{}, { tools: 'serve' }, { tools: { run: ['other'] } }] satisfies ReplayOptions[]) {
    const result = await replayTape(
      converted(),
      convert(() => 'broken'),
      options,
    )
    expect(codes(result)).toEqual([])
    expect(result.ranForReal).toEqual([])
  }
})

test('a function that threw when recorded has to throw the same', async () => {
  const recording = new Recording()
  const { result: _, ...call } = recording.call('convert', { amount: 10 }, null)
  recording.events.splice(0, 1, { ...call, error: encodeValue(new RangeError('no rate')) })
  const tape = recording.tape()
  const caught = (body: () => Promise<unknown>) => () => (convert(body)() as Promise<unknown>).catch(String)
  const fails = (error: Error) => () => Promise.reject(error)
  expect(codes(await replayTape(tape, caught(fails(new RangeError('no rate'))), run))).toEqual([])
  expect((await replayTape(tape, caught(fails(new RangeError('other'))), run)).drift).toMatchObject([
    { path: 'error.message', recorded: 'no rate', live: 'other' },
  ])
  const swallowed = await replayTape(
    tape,
    caught(() => Promise.resolve(null)),
    run,
  )
  expect(swallowed.drift).toMatchObject([{ recorded: 'threw RangeError: no rate', live: 'returned null' }])
  expect(swallowed.outcome).toMatchObject({ value: 'RangeError: no rate' })
})

test('a body runs with the recorded arguments when the agent has others, and both are told', async () => {
  const recording = new Recording()
  recording.call('double', [2], 4)
  const double = tool('double', async (n: number) => Promise.resolve(n * 2))
  const result = await replayTape(recording.tape(), () => double(3), run)
  expect(result.drift).toMatchObject([{ class: 'arguments', path: 'args[0]', recorded: '2', live: '3' }])
})

test('a body that answers at once is compared, and one that answers later than it did too', async () => {
  const recording = new Recording()
  recording.call('double', [2], 4, { sync: true })
  const tape = recording.tape()
  const agent = (body: (n: number) => unknown) => () => void tool('double', body)(2)
  expect(
    codes(
      await replayTape(
        tape,
        agent((n) => n * 2),
        run,
      ),
    ),
  ).toEqual([])
  expect(
    codes(
      await replayTape(
        tape,
        agent((n) => n + 1),
        run,
      ),
    ),
  ).toEqual(['HARVEST_RESULTS'])
  expect(
    codes(
      await replayTape(
        tape,
        agent(async (n) => Promise.resolve(n + 1)),
        run,
      ),
    ),
  ).toEqual(['HARVEST_RESULTS'])
})

test('the pieces of a stream are compared, and no more is read than when recorded', async () => {
  const recording = new Recording()
  const { result: _, settled: __, ...call } = recording.call('list', [], null)
  const tape = (): Tape => {
    recording.events.splice(0, 1, {
      ...call,
      yields: [
        [1, 1, 'a'],
        [2, 2, 'b'],
      ],
      settled: [3, 3],
    })
    return recording.tape({ value: ['a', 'b'] })
  }
  const agent = (pieces: readonly string[]) => async () => {
    const list = tool('list', async function* () {
      for (const piece of pieces) {
        await Promise.resolve()
        yield piece
      }
    })
    const heard: string[] = []
    for await (const piece of list()) heard.push(piece)
    return heard
  }
  expect(codes(await replayTape(tape(), agent(['a', 'b', 'c']), run))).toEqual([])
  const changed = await replayTape(tape(), agent(['a', 'c']), run)
  expect(changed.drift).toMatchObject([{ path: 'pieces[1]', recorded: 'b', live: 'c' }])
  expect(changed.outcome).toMatchObject({ value: ['a', 'b'] })
})

test('retrievers run the same way; calls inside a body run as well', async () => {
  const recording = new Recording()
  const outer = recording.call('search', { q: 'x' }, ['x!'], { kind: 'retrieval' })
  const inner = recording.call('shout', { q: 'x' }, 'x!', { in: outer.n })
  recording.events.splice(0, 2, { ...outer, settled: [9, 9] }, inner)
  const agent = (sign: string) => () => {
    const shout = tool('shout', async ({ q }: { q: string }) => Promise.resolve(q + sign))
    return retriever('search', async ({ q }: { q: string }) => [await shout({ q })])({ q: 'x' })
  }
  expect(codes(await replayTape(recording.tape(), agent('!'), run))).toEqual([])
  const result = await replayTape(recording.tape(), agent('?'), run)
  // The outer body got the recorded result of the inner one: only where it broke is told.
  expect(result.drift).toMatchObject([{ part: 'shout', recorded: 'x!', live: 'x?' }])
  const only = await replayTape(recording.tape(), agent('?'), { tools: { run: ['search'] } })
  expect([codes(only), only.ranForReal]).toEqual([[], ['search']])
})

test('a body that never ends is told as an agent that hangs', async () => {
  const agent = convert(() => new Promise(() => undefined))
  const result = await replayTape(converted(), agent, { ...run, hangMs: 200 } as ReplayOptions)
  expect(codes(result)).toContain('HARVEST_AGENT_TIMEOUT')
})

test('what was redacted on the tape is compared by its placeholder, and is said', async () => {
  const recording = new Recording()
  recording.call('who', [], { mail: 'redacted-1@email.invalid', age: 4 })
  const agent = (age: number) => () => tool('who', async () => Promise.resolve({ mail: 'a@shop.example', age }))()
  const same = await replayTape(recording.tape(), agent(4), run)
  expect(codes(same)).toEqual([])
  expect(same.notCompared).toMatchObject([{ kind: 'email' }])
  expect((await replayTape(recording.tape(), agent(5), run)).drift).toMatchObject([{ path: 'result.age' }])
})

describe('an integration lane', () => {
  const server = createServer((request, response) => {
    const text = request.url === '/slow' ? '{"rate":1.2}' : '{"rate":1.3}'
    setTimeout(() => response.end(text), request.url === '/slow' ? 300 : 0)
  })
  let base = ''
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => void server.close())
  const agent = (path: string, amount = 10) =>
    convert(async () => ({ total: amount * (await rateOf(`${base}${path}`)) }))

  test('requests of a body reach the origins that are named, and nothing else does', async () => {
    const live = { tools: { run: ['convert'], live: [base] } } satisfies ReplayOptions
    expect((await replayTape(converted(), agent('/now'), live)).drift).toMatchObject([
      { class: 'results', path: 'result.total', recorded: '12', live: '13' },
    ])
    const refused = await replayTape(converted(), agent('/now'), run)
    expect(codes(refused)).toContain('HARVEST_DIVERGENCE')
    const outside = await replayTape(converted(), () => rateOf(`${base}/now`), live)
    expect(codes(outside)).toContain('HARVEST_DIVERGENCE')
  })

  test('a time-out of the body does not fire while the real answer is under way', async () => {
    const body = async ({ amount }: Args): Promise<unknown> => {
      const controller = new AbortController()
      const timer = setTimeout(() => controller.abort(), 5_000)
      const answer = await fetch(`${base}/slow`, { signal: controller.signal })
      clearTimeout(timer)
      return { total: amount * ((await answer.json()) as { rate: number }).rate }
    }
    const result = await replayTape(converted(), convert(body), { tools: { run: ['*'], live: [base] } })
    expect(codes(result)).toEqual([])
  })
})

test('what the bodies of a tape were seen to do is known before any of them runs', () => {
  expect(reachOf(converted(), 'run')).toEqual([{ kind: 'tool', name: 'convert', asks: ['GET rates.test/EUR'] }])
  expect(reachOf(converted(), { run: ['other'] })).toEqual([])
})

describe('what a body that runs makes of its arguments', () => {
  interface Cart {
    readonly items: string[]
    readonly total?: object
  }
  type Body = (cart: Cart, more: string) => unknown
  const bodies: { readonly [name: string]: (change: (cart: Cart, more: string) => void) => Body } = {
    'answers at once': (change) => (cart, more) => (change(cart, more), 'ok'),
    'answers later': (change) => async (cart, more) => {
      await Promise.resolve()
      change(cart, more)
      return 'ok'
    },
    throws: (change) => async (cart, more) => {
      await Promise.resolve()
      change(cart, more)
      throw new RangeError('full')
    },
  }
  const agent = (body: Body) => async (): Promise<unknown> => {
    const cart: Cart = { items: ['a'] }
    await Promise.resolve(tool('add', body)(cart, 'b')).catch(String)
    return cart.items.length
  }
  const leaves = (): void => undefined
  const pushes = ({ items }: Cart, more: string): void => void items.push(more)
  const recorded = async (body: Body): Promise<Tape> => {
    const dir = temporaryFolder('changed-args')
    const recorder = createRecorder({ dir, onWarning: () => undefined })
    await recorder.run({ agent: 'shop', id: 'run' }, agent(body))
    return readTape(join(dir, 'run.tape.jsonl'))
  }
  const seen = async (tape: Tape, body: Body) => {
    const result = await replayTape(tape, agent(body), run)
    const said = result.notCompared.map(({ path, placeholder }) => `${path}: ${placeholder}`)
    return { result, said, drift: result.drift.map(({ path, recorded: was, live }) => [path, was, live]) }
  }

  test.for(Object.keys(bodies))('reaches the agent, and is listed where it changed them before: it %s', async (way) => {
    const body = bodies[way]!(pushes)
    const { result, said } = await seen(await recorded(body), body)
    expect([codes(result), result.outcome]).toEqual([[], { status: 'returned', value: 2 }])
    expect(said).toEqual(['args: what the call changed in its arguments'])
  })

  test.for(Object.keys(bodies))('is different where it changes what it left: it %s', async (way) => {
    const { result, drift } = await seen(await recorded(bodies[way]!(leaves)), bodies[way]!(pushes))
    expect(codes(result)[0]).toBe('HARVEST_RESULTS')
    expect(result.problems[0]?.facts.what).toBe('The code of add no longer leaves its arguments as recorded')
    expect(drift).toEqual([['args[0].items[1]', '(absent)', 'b']])
  })

  test.for(Object.keys(bodies))('is different where it leaves what it changed: it %s', async (way) => {
    const { result, drift } = await seen(await recorded(bodies[way]!(pushes)), bodies[way]!(leaves))
    expect(codes(result)[0]).toBe('HARVEST_RESULTS')
    expect(drift).toEqual([['args', 'args: changed by the call', 'as they were given']])
  })

  test('is the same where it leaves them, and where they are left in words alone', async () => {
    const body = bodies['answers later']!
    const { result, said } = await seen(
      await recorded(body(leaves)),
      body((cart) => void Object.assign(cart, { total: undefined })),
    )
    expect([codes(result), said]).toEqual([[], []])
  })

  test('is listed where the tape does not say whether it did', async () => {
    const recording = new Recording()
    recording.call('add', [{ items: ['a'] }, 'b'], 'ok')
    const { result, said } = await seen(recording.tape({ value: 2 }), bodies['answers later']!(pushes))
    expect([codes(result), said]).toEqual([[], ['args: what the call changed in its arguments']])
  })
})
