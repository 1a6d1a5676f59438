import { beforeAll, describe, expect, test } from 'vitest'
import { message, retriever, tool } from '../../src/record/index.ts'
import { inexactParts, installReplay, type ReplayOptions, replayTape, verdictOf } from '../../src/replay/index.ts'
import {
  contentsFlag,
  currentFlags,
  decodeValue,
  encodeFor,
  encodeValue,
  fieldsFlag,
  type Tape,
} from '../../src/tape/index.ts'
import { Recording } from './tapes.ts'

beforeAll(() => installReplay())

class Money {
  readonly #cents: number
  readonly currency = 'EUR'
  constructor(cents: number) {
    this.#cents = cents
  }
  toString(): string {
    return `${this.#cents}`
  }
}
class Unseen {
  constructor(cents: number) {
    Object.defineProperty(this, 'cents', { value: cents })
  }
}
/** As compilers write a private name for runtimes that have none. */
const cents = new WeakMap<Lowered, number>()
class Lowered {
  readonly currency = 'EUR'
  constructor(value: number) {
    cents.set(this, value)
  }
}
class Half extends Unseen {
  readonly currency = 'EUR'
}
class Price {
  readonly cents: number
  constructor(cents: number) {
    this.cents = cents
  }
}

function form(amount: string): FormData {
  const data = new FormData()
  data.append('amount', amount)
  return data
}
function aborted(isAborted: boolean): AbortSignal {
  const controller = new AbortController()
  if (isAborted) controller.abort()
  return controller.signal
}

/** Each as it was recorded and as it is now. */
const compared: readonly (readonly [name: string, recorded: unknown, now: unknown])[] = [
  ['the status of a Response', new Response(null, { status: 200 }), new Response(null, { status: 500 })],
  ['a header of a Response', Response.json(1), new Response('1', { headers: { 'content-type': 'text/x' } })],
  ['the address of a Request', new Request('http://h.example/a'), new Request('http://h.example/b')],
  ['the size of a Blob', new Blob(['a']), new Blob(['ab'])],
  ['the type of a Blob', new Blob([], { type: 'text/a' }), new Blob([], { type: 'text/b' })],
  ['the name of a File', new File([], 'a'), new File([], 'b')],
  ['a field of FormData', form('1'), form('2')],
  ['an AbortSignal', aborted(false), aborted(true)],
  ['a field of an instance', new Price(1), new Price(2)],
  ['null and undefined', null, undefined],
  ['a header of Headers', new Headers({ accept: 'a/b' }), new Headers({ accept: 'a/c' })],
  ['a parameter of URLSearchParams', new URLSearchParams('a=1'), new URLSearchParams('a=2')],
  ['a URL', new URL('http://h.example/a'), new URL('http://h.example/b')],
  ['an entry of a Map', new Map([['a', 1]]), new Map([['a', 2]])],
  ['an item of a Set', new Set([1]), new Set([2])],
  ['the flags of a RegExp', /a/g, /a/i],
  ['a Date', new Date(1), new Date(2)],
  ['the bytes of a typed array', Uint8Array.of(1), Uint8Array.of(2)],
  ['the class of a typed array', Uint8Array.of(1), Int8Array.of(1)],
  ['the bytes of an ArrayBuffer', new ArrayBuffer(1), new ArrayBuffer(2)],
  [
    'a header of a Request',
    new Request('http://h.example'),
    new Request('http://h.example', { headers: { accept: 'a/b' } }),
  ],
]

/** What a tape does not hold, and how that is said. */
const hidden: readonly (readonly [name: string, value: unknown, said: string])[] = [
  ['a body that is inside of a value', new Response('x'), 'the body of a Response'],
  ['the bytes of a Blob', new Blob(['x']), 'the bytes of a Blob'],
  ['private fields', new Money(1), 'what lies behind the fields of a Money'],
  ['a promise', Promise.resolve(1), 'what lies behind the fields of a Promise'],
  ['a generator', (function* () {})(), 'what lies behind the fields of a class without a name'],
  ['an instance of a class of the platform', new Intl.Collator(), 'what lies behind the fields of a Collator'],
  ['an instance without a field that is seen', new Unseen(1), 'what lies behind the fields of a Unseen'],
  ['private names as older runtimes have them', new Lowered(1), 'what lies behind the fields of a Lowered'],
  ['a field of an instance that is not enumerable', new Half(1), 'what lies behind the fields of a Half'],
  [
    'a field that is not enumerable',
    Object.defineProperty({ a: 1 }, 'b', { value: 1 }),
    'fields that are not enumerable',
  ],
  ['what a WeakMap holds', new WeakMap(), 'what lies behind the fields of a WeakMap'],
  ['fields named by symbols', { [Symbol.for('x')]: 1 }, 'fields with a symbol for a name'],
]

function tapeOf(fill: (recording: Recording) => void, value: unknown, flags = [contentsFlag, fieldsFlag]): Tape {
  const recording = new Recording()
  fill(recording)
  const tape = recording.tape({ value: encodeValue(value) })
  return { ...tape, header: { ...tape.header, flags: [...currentFlags, ...flags] } }
}

const look = tool('look', async (_: object) => 'ok')
const asArgument = (value: unknown) =>
  tapeOf((recording) => recording.call('look', encodeValue({ value }), 'ok'), 'done')
const asMessage = (value: unknown) => tapeOf((recording) => recording.message('a', 'b', encodeValue({ value })), 'done')

describe('what an instance holds beside its fields is compared', () => {
  test.each(compared)('%s', async (_, recorded, now) => {
    const verdicts = async (value: unknown) => {
      const runs = [
        await replayTape(
          tapeOf(() => undefined, { value: recorded }),
          () => ({ value }),
        ),
        await replayTape(asArgument(recorded), async () => (await look({ value }), 'done')),
        await replayTape(asMessage(recorded), () => (message('a', 'b', { value }), 'done')),
      ]
      return runs.map((run) => verdictOf(run).verdict)
    }
    expect(await verdicts(recorded)).toEqual(['same', 'same', 'same'])
    expect(await verdicts(now)).toEqual(['different', 'different', 'different'])
  })

  test('a tape that was recorded before that says so, and is as green as before', async () => {
    const old = tapeOf(() => undefined, {}, [])
    const value = { $type: 'instance', class: 'Response', fields: {} }
    const tape = { ...old, close: { ...old.close!, outcome: { status: 'returned' as const, value } } }
    const run = await replayTape(tape, () => new Response(null, { status: 500 }))
    expect(verdictOf(run).verdict).toBe('same')
    expect(run.notCompared).toMatchObject([
      { path: 'outcome', placeholder: 'what lies behind the fields of a Response' },
    ])
  })
})

/** Each of a kind that is neither a list nor fields. */
const kinds: Readonly<Record<string, () => object>> = {
  Set: () => new Set([1]),
  Map: () => new Map([['a', 1]]),
  Date: () => new Date(1),
  RegExp: () => /a/g,
  URL: () => new URL('http://h.example/a'),
  URLSearchParams: () => new URLSearchParams('a=1'),
  Headers: () => new Headers({ accept: 'a/b' }),
  Buffer: () => Buffer.from('ab'),
  Float32Array: () => Float32Array.of(1, Number.NaN),
  ArrayBuffer: () => new ArrayBuffer(2),
  DataView: () => new DataView(new ArrayBuffer(2)),
  String: () => Object('ab') as object,
  'a class of sets': () => new (class Bag extends Set<number> {})([1]),
}

describe.each(Object.entries(kinds))('the fields of its own that a %s has', (_, make) => {
  const fielded = (fields: object): object => Object.assign(make(), fields)
  const verdicts = async (recorded: object, now: object) => {
    const runs = [
      await replayTape(
        tapeOf(() => undefined, { value: recorded }),
        () => ({ value: now }),
      ),
      await replayTape(asArgument(recorded), async () => (await look({ value: now }), 'done')),
    ]
    return runs.map((run) => `${verdictOf(run).verdict}, ${run.notCompared.length}`)
  }

  test('are compared, those that only one side has, too', async () => {
    expect(await verdicts(fielded({ limit: 5 }), fielded({ limit: 5 }))).toEqual(['same, 0', 'same, 0'])
    for (const now of [fielded({ limit: 50 }), fielded({}), fielded({ limit: 5, all: true })])
      expect(await verdicts(fielded({ limit: 5 }), now)).toEqual(['different, 0', 'different, 0'])
    expect(await verdicts(fielded({}), fielded({ limit: 5 }))).toEqual(['different, 0', 'different, 0'])
  })

  test('are given back, and lead back to what has them', () => {
    const value = fielded({ limit: { most: 5 } })
    Object.assign(value, { self: value })
    const again = decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as never) as {
      limit: object
      self: object
    }
    expect(again).toBeInstanceOf(Object.getPrototypeOf(make()).constructor.name === 'Bag' ? Set : make().constructor)
    expect([again.limit, again.self === again]).toEqual([{ most: 5 }, true])
  })

  test('are listed as not compared where the recorder did not write them', async () => {
    const flags = [contentsFlag]
    const old = tapeOf(() => undefined, null, flags)
    const tape = {
      ...old,
      close: { ...old.close!, outcome: { status: 'returned' as const, value: encodeFor(flags, make()) } },
    }
    const run = await replayTape(tape, () => fielded({ limit: 5 }))
    expect([verdictOf(run).verdict, run.notCompared.map(({ placeholder }) => placeholder)]).toEqual([
      'same',
      [expect.stringMatching(/^the fields of a \w+$/)],
    ])
  })
})

test('a field of a class that is undefined is not as good as absent, wherever the instance stands', async () => {
  class Query {
    readonly tenant = 'a'
    constructor(hasLimit: boolean) {
      if (hasLimit) Object.assign(this, { limit: undefined })
    }
  }
  const taped = (value: unknown) => tapeOf((recording) => recording.call('look', encodeValue(value), 'ok'), 'done')
  const around: readonly ((query: Query) => object)[] = [
    (query) => query,
    (query) => ({ query }),
    (query) => new Map([['q', query]]),
    (query) => new Set([{ query }]),
  ]
  for (const given of around) {
    for (const recorded of [true, false]) {
      const verdicts = [true, false].map(async (now) => {
        const agent = async () => (await look(given(new Query(now))), 'done')
        return verdictOf(await replayTape(taped(given(new Query(recorded))), agent)).verdict
      })
      expect(await Promise.all(verdicts)).toEqual(recorded ? ['same', 'different'] : ['different', 'same'])
    }
  }
})

describe('what a tape does not hold is listed as not compared', () => {
  test.each(hidden)('%s', async (_, value, said) => {
    const runs = [
      await replayTape(
        tapeOf(() => undefined, { value }),
        () => ({ value }),
      ),
      await replayTape(asArgument(value), async () => (await look({ value }), 'done')),
      await replayTape(asMessage(value), () => (message('a', 'b', { value }), 'done')),
    ]
    const places = ['outcome', 'args', 'message to b']
    for (const [at, run] of runs.entries()) {
      expect(verdictOf(run).verdict).toBe('same')
      expect(run.notCompared).toMatchObject([{ kind: 'hidden part', placeholder: said }])
      expect(run.notCompared[0]?.path.startsWith(places[at]!)).toBe(true)
    }
    const [strict] = [
      await replayTape(
        tapeOf(() => undefined, { value }),
        () => ({ value }),
        { redacted: 'fail' },
      ),
    ]
    expect(verdictOf(strict).verdict).toBe('unproven')
  })

  test('the code of a function is', async () => {
    const value = (): number => 1
    const outcome = await replayTape(
      tapeOf(() => undefined, { value }),
      () => ({ value }),
    )
    expect(outcome.notCompared).toMatchObject([{ path: 'outcome.value', placeholder: 'the code of a function' }])
  })

  test('headers that a tape leaves out are counted', async () => {
    const run = await replayTape(
      tapeOf(() => undefined, new Headers()),
      () => new Headers({ 'x-unheard-of': '1' }),
    )
    expect(verdictOf(run).verdict).toBe('same')
    expect(run.notCompared).toMatchObject([{ path: 'outcome', placeholder: 'headers (1)' }])
  })

  test('plain data and instances that show all they hold are not', async () => {
    const value = { a: [1, new Date(0), new Map([['x', new Set([1n])]])], price: new Price(1), e: new TypeError('x') }
    expect(
      (
        await replayTape(
          tapeOf(() => undefined, value),
          () => value,
        )
      ).notCompared,
    ).toEqual([])
  })
})

describe('callbacks that a wrapped function is handed are listed as not compared', () => {
  const find = retriever('find', async (_: object) => 'ok')
  const asked = async (
    calls: readonly (readonly [call: typeof look, given: unknown])[],
    options: ReplayOptions = {},
  ) => {
    const tape = tapeOf((recording) => {
      for (const [call, given] of calls)
        recording.call(call === find ? 'find' : 'look', encodeValue(given), 'ok', {
          kind: call === find ? 'retrieval' : 'tool',
        })
    }, 'done')
    const run = await replayTape(
      tape,
      async () => {
        for (const [call, given] of calls) await call(given as object)
        return 'done'
      },
      options,
    )
    const said = run.notCompared.map(({ path, placeholder, stepNumber }) => `${stepNumber} ${path}: ${placeholder}`)
    return { run, said }
  }

  test('once a function and place, with the first step, and the run is the same', async () => {
    const onStep = (): void => undefined
    const { run, said } = await asked([
      [look, { onStep }],
      [look, { id: 2, onStep: (): void => undefined }],
      [find, { onStep }],
      [look, { rows: [{ onStep }] }],
    ])
    expect([verdictOf(run).verdict, said]).toEqual([
      'same',
      [
        '1 args.onStep of look: the code of a function',
        '3 args.onStep of find: the code of a function',
        '4 args.rows[0].onStep of look: the code of a function',
      ],
    ])
    expect(inexactParts(run)).toHaveLength(3)
  })

  test('as one where an object or a list has several', async () => {
    const client = { get: () => 1, put: () => 2, all: [() => 3] }
    const { said } = await asked([[look, { client, at: 1 }]])
    expect(said).toEqual(['1 args.client of look: the code of 3 functions'])
  })

  test('not what the class of an instance has for all', async () => {
    class Cart {
      readonly items: readonly string[] = ['a']
      get size(): number {
        return this.items.length
      }
      clear(): void {}
    }
    expect((await asked([[look, { cart: new Cart() }]])).said).toEqual([])
  })

  test('not where the function runs, and calls them', async () => {
    const { run, said } = await asked([[look, { onStep: () => 1 }]], { tools: 'run' })
    expect([verdictOf(run).verdict, run.ranForReal, said]).toEqual(['same', ['look'], []])
  })
})

test('an error is compared with all its data, and without what describes its request', async () => {
  const tape = (error: unknown): Tape => {
    const made = tapeOf(() => undefined, null)
    return { ...made, close: { ...made.close!, outcome: { status: 'threw', error: encodeValue(error) } } }
  }
  const failure = (details: unknown) => Object.assign(new Error('x'), { details })
  const verdict = async (before: unknown, now: unknown) => {
    const run = await replayTape(tape(failure(before)), () => {
      throw failure(now)
    })
    return verdictOf(run).verdict
  }
  expect(await verdict(new Map([['a', 1]]), new Map([['a', 2]]))).toBe('different')
  expect(await verdict(new Date(1), new Date(2))).toBe('different')
  expect(await verdict({ a: new Set([1]) }, { a: new Set([1]) })).toBe('same')
  expect(await verdict(new Request('http://h.example/a'), new Request('http://h.example/b'))).toBe('same')
})

test('what is data in a field of an error is compared, whatever stands beside it, and the rest is listed', async () => {
  const judged = async (before: object, now: object) => {
    const made = tapeOf(() => undefined, null)
    const outcome = { status: 'threw', error: encodeValue(Object.assign(new Error('x'), before)) } as const
    const run = await replayTape({ ...made, close: { ...made.close!, outcome } }, () => {
      throw Object.assign(new Error('x'), now)
    })
    const { verdict, differences } = verdictOf(run)
    return [verdict, differences[0]?.facts.where?.['differs at'], run.notCompared.map(({ path }) => path)]
  }
  class Request {
    readonly refund = 1
    readonly send = () => 1
  }
  const beside = [new Price(1), () => 1, Response.json(1), Promise.resolve(1), new Headers(), new Request()]
  for (const part of beside) {
    const of = (refund: number) => ({ order: { id: 'A-1', items: [part, 2], total: part, refund } })
    expect(await judged(of(25), of(2500))).toEqual(['different', 'fields.order.refund', []])
    expect((await judged(of(25), of(25)))[0]).toBe('same')
  }
  const total = (cents: number) => ({ order: { total: new Price(cents) } })
  expect(await judged(total(1), total(2))).toEqual(['different', 'fields.order.total.fields.cents', []])
  const machinery = { request: new Request(), order: { log: [new Request(), 1], seen: Promise.resolve(1) } }
  expect(await judged(machinery, machinery)).toEqual([
    'same',
    undefined,
    ['outcome.request', 'outcome.order.log[0]', 'outcome.order.seen'],
  ])
  // A request that one of the two errors lacks says nothing of what went wrong.
  expect(await judged({ id: 1 }, { id: 1, request: new Request() })).toEqual(['same', undefined, ['outcome.request']])
})

test('null that is returned is no undefined', async () => {
  const verdict = async (recorded: unknown, now: unknown) =>
    verdictOf(
      await replayTape(
        tapeOf(() => undefined, recorded),
        () => now,
      ),
    ).verdict
  expect(await verdict(null, null)).toBe('same')
  expect(await verdict(undefined, undefined)).toBe('same')
  expect(await verdict(null, undefined)).toBe('different')
  expect(await verdict(undefined, null)).toBe('different')
})
