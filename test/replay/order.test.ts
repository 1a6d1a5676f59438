import { once } from 'node:events'
import http, { createServer, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createRecorder, retriever, tool, value } from '../../src/record/index.ts'
import { installReplay, type ReplayResult, replayTape } from '../../src/replay/index.ts'
import {
  type ExchangeEvent,
  type Json,
  type Moment,
  readTape,
  type Tape,
  type TapeEvent,
} from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { chat, Recording, tapeOf } from './tapes.ts'

beforeAll(() => installReplay())

const shop = 'https://shop.test'
const get = async (path: string): Promise<string> => (await fetch(`${shop}${path}`)).text()
const post = async (path: string, body: string): Promise<string> =>
  (await fetch(`${shop}${path}`, { method: 'POST', body })).text()
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const returned = ({ outcome }: ReplayResult): unknown => (outcome.status === 'returned' ? outcome.value : outcome.error)

const dir = temporaryFolder('reads')
const echo = served(createServer(({ url = '' }, response) => response.end(url)))

const search = retriever('kb', async (words: string) => post('/kb', words))
const look = retriever('wiki', async (words: string) => post('/wiki', words))

/** Two searches made one after the other, each with the request it makes. */
function searched(): Tape {
  let n = 0
  const one = (name: string, words: string, result: string): readonly TapeEvent[] => {
    const [call, at] = [n, n]
    n += 6
    const request: ExchangeEvent = {
      ...{ kind: 'exchange', n: call + 1, at: at + 1, in: call, via: 'undici', method: 'POST' },
      ...{ url: `${shop}/${name}`, request: { headers: [], body: words } },
      response: {
        ...{ moment: [call + 2, at + 2], status: 200, headers: [] },
        ...{ chunks: [[call + 3, at + 3, result]], end: [call + 4, at + 4] },
      },
    }
    const settled: Moment = [call + 5, at + 5]
    return [{ kind: 'retrieval', n: call, at, name, args: [words], settled, result }, request]
  }
  return { ...tapeOf([]), events: [...one('kb', 'tea', 'green'), ...one('wiki', 'cups', 'blue')] }
}

interface Made {
  readonly path: string
  readonly method?: string
  readonly answer?: Json
}

/** Requests to a shop, made one after the other. */
const serial = (made: readonly Made[], input?: Json): Tape =>
  tapeOf(
    made.map(({ path, method = 'GET', answer = { ok: path } }) => ({
      method,
      url: `${shop}${path}`,
      answer: JSON.stringify(answer),
      ...(method === 'GET' ? {} : { body: '{}' }),
    })),
    input === undefined ? {} : { input },
  )

describe('reads that were made one after the other when recorded', () => {
  const two = serial([{ path: '/customers/7' }, { path: '/orders?of=7' }, { path: '/refunds', method: 'POST' }])

  test('may be under way at the same time, if all that follows waits for both', async () => {
    const result = await replayTape(two, async () => {
      const answers = await Promise.all([get('/customers/7'), get('/orders?of=7')])
      return [...answers, await post('/refunds', '{}')]
    })
    expect(codes(result)).toEqual([])
    expect(returned(result)).toEqual(['{"ok":"/customers/7"}', '{"ok":"/orders?of=7"}', '{"ok":"/refunds"}'])
  })

  test('may so be three, whichever is answered last', async () => {
    const three = serial([{ path: '/a' }, { path: '/b' }, { path: '/c' }, { path: '/d' }])
    const result = await replayTape(three, async () => [
      ...(await Promise.all(['/a', '/b', '/c'].map(get))),
      await get('/d'),
    ])
    expect(codes(result)).toEqual([])
  })

  test('are requests to an MCP server that only read, too, and its tools are none', async () => {
    const asked = (method: string, id: number) => JSON.stringify({ jsonrpc: '2.0', id, method, params: { name: 'a' } })
    const ask = async (method: string, id: number): Promise<string> => post('/mcp', asked(method, id))
    const twice = async (method: string): Promise<readonly string[]> => {
      const answer = JSON.stringify({ jsonrpc: '2.0', result: {} })
      const made = [1, 2].map((id) => ({ url: `${shop}/mcp`, body: asked(method, id), answer }))
      return codes(await replayTape(tapeOf(made), () => Promise.all([ask(method, 1), ask(method, 2)])))
    }
    for (const method of ['tools/list', 'resources/read', 'prompts/get']) expect(await twice(method)).toEqual([])
    for (const method of ['tools/call', 'logging/setLevel']) expect(await twice(method)).toEqual(['HARVEST_ORDER'])
  })

  test('are out of order when a later action does not wait for the first', async () => {
    const result = await replayTape(two, async () => {
      const customer = get('/customers/7')
      await get('/orders?of=7')
      await post('/refunds', '{}')
      return await customer
    })
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
    expect(result.problems[0]?.facts.what).toBe(
      'The agent made step 3, POST shop.test/refunds, before step 1 was answered',
    )
  })

  test('are out of order when the agent ends without the answer of the first', async () => {
    const reads = serial([{ path: '/allowed' }, { path: '/order' }])
    const result = await replayTape(reads, async () => {
      void get('/allowed')
      return await get('/order')
    })
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('may be under way at the same time where the second asks for what the first was answered: it has that without the answer', async () => {
    const tape = (answer: Json, input: Json): Tape =>
      serial(
        [{ path: '/topics', answer }, { path: '/find?q=please+refund+A-17' }, { path: '/do', method: 'POST' }],
        input,
      )
    const find = () => get('/find?q=please+refund+A-17')
    for (const answer of [{ topic: 'refund' }, { last: 'A-17' }, { said: 'please refund A-17' }]) {
      for (const input of [{}, { text: 'please refund A-17' }]) {
        for (const agent of [
          () => Promise.all([get('/topics'), find()]),
          () => Promise.all([find(), get('/topics')]),
          async () => [await find(), await get('/topics')],
        ]) {
          const result = await replayTape(tape(answer, input), async () => [await agent(), await post('/do', '{}')])
          expect(codes(result)).toEqual([])
        }
      }
    }
  })

  test('are other reads where the second is asked for with the first, and does not wait for it', async () => {
    const tape = serial([{ path: '/customer', answer: 'A-17' }, { path: '/orders/A-17' }])
    const told = async (last: unknown): Promise<string> => get(`/orders/${String(last)}`)
    const last = async (): Promise<unknown> => JSON.parse(await get('/customer'))
    expect(codes(await replayTape(tape, async () => told(await last())))).toEqual([])
    const lost = await replayTape(tape, async () => {
      const customer = last()
      return [await told(customer), await customer]
    })
    expect(codes(lost)).toContain('HARVEST_DIVERGENCE')
  })

  test('may change places, one after the other, if all that follows waits for both', async () => {
    const result = await replayTape(two, async () => [
      await get('/orders?of=7'),
      await get('/customers/7'),
      await post('/refunds', '{}'),
    ])
    expect(codes(result)).toEqual([])
    expect(returned(result)).toEqual(['{"ok":"/orders?of=7"}', '{"ok":"/customers/7"}', '{"ok":"/refunds"}'])
  })

  test('may be made in any order and at the same time, if all that follows waits for them', async () => {
    const path = fc.stringMatching(/^\/[a-z]{3,9}$/)
    const reads = fc.uniqueArray(path, { minLength: 2, maxLength: 5 })
    const order = (paths: readonly string[]) =>
      fc.shuffledSubarray([...paths], { minLength: paths.length, maxLength: paths.length })
    await fc.assert(
      fc.asyncProperty(
        reads.chain((paths) =>
          fc.tuple(fc.constant(paths), order(paths), fc.nat(paths.length - 1), fc.subarray(paths)),
        ),
        fc.integer({ min: 1, max: 5 }),
        async ([paths, now, at, searches], together) => {
          // The answer of one of the reads holds the name of another one.
          const [teller, named] = [paths[at]!, paths[(at + 1) % paths.length]!]
          const recording = new Recording()
          for (const path of paths) {
            const answer = path === teller ? { next: named.slice(1) } : {}
            if (searches.includes(path)) recording.call('kb', [path.slice(1)], [answer], { kind: 'retrieval' })
            else recording.exchange({ method: 'GET', url: `${shop}${path}`, answer: JSON.stringify(answer) })
          }
          recording.exchange({ url: `${shop}/do`, body: '{}' })
          const agent = (isAwaited: boolean) => async () => {
            const ask = (one: string): Promise<unknown> => (searches.includes(one) ? search(one.slice(1)) : get(one))
            const made: Promise<unknown>[] = []
            for (let i = 0; i < now.length; i += together) {
              const these = now.slice(i, i + together).map(ask)
              made.push(...these)
              if (isAwaited || i + together < now.length) await Promise.all(these)
            }
            await post('/do', '{}')
            await Promise.all(made)
          }
          const result = await replayTape(recording.tape(), agent(true))
          expect(codes(result)).toEqual([])
          expect(result.comparison.served).toBe(paths.length + 1)
          expect(codes(await replayTape(recording.tape(), agent(false)))).toEqual(['HARVEST_ORDER'])
        },
      ),
      { numRuns: 20, seed: 1 },
    )
  })

  test('that change places are out of order where the one that is made later is not waited for', async () => {
    const [afterwards, atTheEnd] = [
      await replayTape(two, async () => {
        await get('/orders?of=7')
        const customer = get('/customers/7')
        await post('/refunds', '{}')
        return await customer
      }),
      await replayTape(serial([{ path: '/a' }, { path: '/b' }]), async () => {
        await get('/b')
        void get('/a')
        await new Promise((resolve) => setTimeout(resolve, 10))
      }),
    ]
    expect(codes(afterwards)).toEqual(['HARVEST_ORDER'])
    expect(afterwards.problems[0]?.message).toContain('look for a lost `await`')
    expect(codes(atTheEnd)).toEqual(['HARVEST_ORDER'])
  })

  test('that change places are out of order where an action stood or stands between them', async () => {
    const between = serial([{ path: '/a' }, { path: '/do', method: 'POST' }, { path: '/b' }])
    const made: readonly (readonly [Tape, readonly string[]])[] = [
      [between, ['/b', '/do', '/a']],
      [between, ['/b', '/a', '/do']],
      [two, ['/orders?of=7', '/refunds', '/customers/7']],
    ]
    for (const [tape, paths] of made) {
      const result = await replayTape(tape, async () => {
        for (const path of paths) await (path === '/do' || path === '/refunds' ? post(path, '{}') : get(path))
      })
      expect(codes(result)).toContain('HARVEST_ORDER')
      expect(result.problems[0]?.message).toContain('which it made later')
      expect(result.problems[0]?.message).not.toContain('lost `await`')
    }
  })

  test('of which one is never made are named by that one', async () => {
    const made = async (...paths: readonly string[]): Promise<ReplayResult> =>
      replayTape(two, async () => {
        for (const path of paths) await (path === '/refunds' ? post(path, '{}') : get(path))
      })
    expect((await made('/orders?of=7', '/refunds')).problems[0]?.facts).toMatchObject({
      what: 'The agent skipped step 1, GET shop.test/customers/7',
      detail: 'Made instead: step 2, GET shop.test/orders?of=7',
    })
    expect((await made('/orders?of=7')).problems[0]?.facts).toMatchObject({
      what: 'The agent left out 2 recorded steps',
    })
  })

  test('may change places where both are made before either is answered', async () => {
    const result = await replayTape(two, async () => {
      const answers = await Promise.all([get('/orders?of=7'), get('/customers/7')])
      return [...answers, await post('/refunds', '{}')]
    })
    expect(codes(result)).toEqual([])
  })

  test('may not change places where a later action waits for one of them alone', async () => {
    const result = await replayTape(two, async () => {
      const order = get('/orders?of=7')
      const customer = get('/customers/7')
      await order
      await post('/refunds', '{}')
      return await customer
    })
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('may be of `node:http`, whose clients take an answer for complete before its end', async () => {
    const ask = async (path: string): Promise<string> => {
      const [response] = (await once(http.get(`${echo()}${path}`), 'response')) as [IncomingMessage]
      return text(response)
    }
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'reads' }, async () => [await ask('/a'), await ask('/b'), await ask('/c')])
    const tape = readTape(recorder.lastTape!)
    for (const agent of [
      async () => [await ask('/b'), await ask('/a'), await ask('/c')],
      async () => [...(await Promise.all([ask('/b'), ask('/a')])), await ask('/c')],
    ]) {
      const result = await replayTape(tape, agent)
      expect([codes(result), returned(result)]).toEqual([[], ['/b', '/a', '/c']])
    }
  })

  test('may be two searches, in any order, with what these do inside', async () => {
    const tape = searched()
    for (const tools of [{}, { run: ['kb', 'wiki'] }]) {
      for (const agent of [
        async () => [await search('tea'), await look('cups')],
        async () => [await look('cups'), await search('tea')].toReversed(),
        async () => Promise.all([search('tea'), look('cups')]),
        async () => (await Promise.all([look('cups'), search('tea')])).toReversed(),
      ]) {
        const result = await replayTape(tape, agent, { tools })
        expect(codes(result)).toEqual([])
        expect(returned(result)).toEqual(['green', 'blue'])
      }
    }
  })

  test('may be searches, but not where a model, a tool or a write stood or stands between them', async () => {
    const ask = async () =>
      fetch('https://api.openai.com/v1/chat/completions', { method: 'POST', body: chat('which?') })
    const note = tool('note', async () => 'live')
    const betweens: readonly (readonly [(recording: Recording) => unknown, () => Promise<unknown>])[] = [
      [(recording) => recording.exchange({ body: chat('which?') }), ask],
      [(recording) => recording.call('note', [], 'noted'), note],
      [(recording) => recording.exchange({ url: `${shop}/do`, body: '{}' }), async () => post('/do', '{}')],
    ]
    for (const [record, between] of betweens) {
      const recording = new Recording()
      recording.call('kb', ['tea'], 'green', { kind: 'retrieval' })
      record(recording)
      recording.call('wiki', ['cups'], 'blue', { kind: 'retrieval' })
      const agents = [
        [async () => look('cups'), between, async () => search('tea')],
        [async () => look('cups'), async () => search('tea'), between],
        [between, async () => search('tea'), async () => look('cups')],
      ]
      for (const calls of agents) {
        const result = await replayTape(recording.tape(), async () => {
          for (const call of calls) await call()
        })
        expect(codes(result)).toContain('HARVEST_ORDER')
      }
    }
  })
})

describe('what may do something', () => {
  test.for([
    ['a request that is no read', [{ path: '/reserve', method: 'POST' }, { path: '/stock' }]],
    ['a read before a request that is none', [{ path: '/stock' }, { path: '/reserve', method: 'POST' }]],
  ] as const)('may not be under way together with another: %s', async ([, made]) => {
    const send = ({ path, method }: Made) => (method === undefined ? get(path) : post(path, '{}'))
    const result = await replayTape(serial(made), () => Promise.all(made.map(send)))
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('may not be under way together with another: wrapped tools', async () => {
    const look = tool('look', async (_: number) => 'live')
    const recording = new Recording()
    recording.call('look', [1], 'a')
    recording.call('look', [2], 'b')
    const result = await replayTape(recording.tape(), () => Promise.all([look(1), look(2)]))
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })

  test('may not be under way together with another: a model that is asked whether another may be', async () => {
    const ask = (text: string) =>
      fetch('https://api.openai.com/v1/chat/completions', { method: 'POST', body: chat(text) }).then((one) =>
        one.text(),
      )
    const tape = tapeOf([{ body: chat('is this harmless?') }, { body: chat('do it') }])
    const result = await replayTape(tape, () => Promise.all([ask('is this harmless?'), ask('do it')]))
    expect(codes(result)).toEqual(['HARVEST_ORDER'])
  })
})

describe('two branches of which each checks and then acts', () => {
  const [check, act] = [tool('check', async (_: string) => 'live'), tool('act', async (_: string) => 'live')]
  /** Events of calls by name, with the number each was made at and the one it was answered at. */
  const tapeWith = (calls: readonly (readonly [call: string, n: number, end: number])[]): Tape => ({
    ...tapeOf([]),
    events: calls.map(([[kind, id], n, end]) => ({
      ...{ kind: 'tool', name: kind === 'c' ? 'check' : 'act', args: [id!], result: 'ok' },
      ...{ n, at: n, settled: [end, end] },
    })),
  })
  // prettier-ignore
  const branches = tapeWith([
    ['cA', 0, 2],
    ['cB', 1, 4],
    ['aA', 3, 6],
    ['aB', 5, 7],
  ])
  /** A call, calls one after the other, or calls side by side. */
  type Program = string | { readonly all: readonly (readonly Program[])[] }
  const run = async (program: readonly Program[]): Promise<void> => {
    for (const one of program) {
      if (typeof one !== 'string') await Promise.all(one.all.map(run))
      else await (one.startsWith('c') ? check : act)(one.slice(1))
    }
  }
  const sides = (...all: readonly string[]): Program => ({ all: all.map((side) => side.split(' ')) })
  const judged = async (tape: Tape, program: readonly Program[]) => {
    const result = await replayTape(tape, () => run(program))
    const listed = result.drift.map(({ class: name, path, part }) => `${name} ${path}: ${part}`)
    return { codes: codes(result), listed }
  }

  test('are listed where an action of one comes on an answer of the other now: both may be waited for, or the wrong one', async () => {
    const made: readonly (readonly [harmful: readonly Program[], harmless: readonly Program[], listed: string])[] = [
      [[sides('cA', 'cB aA aB')], [sides('cA', 'cB'), 'aA', 'aB'], 'step 3, tool act'],
      [[sides('cA', 'cB aB aA')], [sides('cA', 'cB'), 'aB', 'aA'], 'step 3, tool act'],
      [[sides('cA aA aB', 'cB')], [sides('cA aA', 'cB'), 'aB'], 'step 4, tool act'],
      [[sides('cB aA aB', 'cA')], [sides('cB', 'cA'), 'aA', 'aB'], 'step 3, tool act'],
      [['cA', sides('aA aB', 'cB')], ['cA', sides('aA', 'cB'), 'aB'], 'step 4, tool act'],
    ]
    for (const [harmful, harmless, listed] of made)
      for (const program of [harmful, harmless])
        expect(await judged(branches, program)).toEqual({ codes: [], listed: [`awaits order: ${listed}`] })
  })

  test('are the same, and not listed, where each action still comes on its check', async () => {
    for (const program of [[sides('cA aA', 'cB aB')], [sides('cB aB', 'cA aA')], 'cA aA cB aB'.split(' ')])
      expect(await judged(branches, program)).toEqual({ codes: [], listed: [] })
    for (const program of ['cA cB aA aB', 'cB cA aA aB', 'cA cB aB aA'].map((all) => all.split(' ')))
      expect(await judged(branches, program)).toEqual({ codes: [], listed: [] })
  })

  test('are red or listed in each order in which an action does not wait for its check', async () => {
    const orders = (calls: readonly string[]): readonly (readonly string[])[] =>
      calls.length === 1
        ? [calls]
        : calls.flatMap((first, i) => orders(calls.toSpliced(i, 1)).map((rest) => [first, ...rest]))
    const isWaiting = (id: string, side: readonly string[]): boolean =>
      side.includes(`c${id}`) && side.indexOf(`a${id}`) > side.indexOf(`c${id}`)
    const silent: string[] = []
    for (const calls of orders(['cA', 'aA', 'cB', 'aB'])) {
      for (const at of [1, 2, 3]) {
        const all = [calls.slice(0, at), calls.slice(at)]
        const { codes: problems, listed } = await judged(branches, [{ all }])
        const isHarmless = ['A', 'B'].every((id) => all.some((side) => isWaiting(id, side)))
        const isSilent = problems.length + listed.length === 0
        if (isHarmless !== isSilent) silent.push(all.join(' | '))
      }
    }
    expect(silent).toEqual([])
  })

  test('are told by both answers, and red where the config says so', async () => {
    const result = await replayTape(branches, () => run([sides('cA', 'cB aA aB')]), { drift: { awaits: 'fail' } })
    expect(result.problems.map(({ code, facts }) => [code, facts.what])).toEqual([
      ['HARVEST_DRIFT', 'The agent waits for less or more than when this run was recorded: step 3, tool act'],
    ])
    expect(result.drift.map(({ recorded, live }) => [recorded, live])).toEqual([
      ['after step 1', 'after step 2; it may not wait for step 1, tool check any more'],
    ])
  })
})

describe('a named value', () => {
  const limit = (): Promise<number> => value('limit', async () => 1)
  const flag = (): boolean => value('flag', () => true)
  const recorded = (): Tape => {
    const recording = new Recording()
    recording.call('limit', [], 25, { kind: 'value' })
    recording.call('flag', [], false, { kind: 'value', sync: true })
    recording.exchange({ method: 'GET', url: `${shop}/a`, answer: 'a' })
    recording.exchange({ method: 'GET', url: `${shop}/b`, answer: 'b' })
    return recording.tape()
  }

  test.for([
    ['where it was recorded', async () => [await limit(), flag(), await get('/a'), await get('/b')]],
    ['later', async () => [await get('/a'), await limit(), await get('/b'), flag()]],
    ['at the end', async () => [await get('/a'), await get('/b'), flag(), await limit()]],
    ['beside requests', async () => [...(await Promise.all([get('/a').then(() => get('/b')), limit()])), flag()]],
  ] as const)('may be read %s', async ([, agent]) => {
    const result = await replayTape(recorded(), agent)
    expect(codes(result)).toEqual([])
    expect(returned(result)).toEqual(expect.arrayContaining([25, false]))
    expect(result.comparison.relaxed).toBe(0)
  })

  test('read more often than recorded is another run, which is seen to its end', async () => {
    const result = await replayTape(recorded(), async () => {
      const read: unknown[] = [flag()]
      for (let i = 0; i < 5; i++) read.push(await limit())
      return [...read, await get('/a'), await get('/b')]
    })
    expect(returned(result)).toEqual([false, 25, 25, 25, 25, 25, 'a', 'b'])
    expect(
      result.problems.map(({ message }) => message.replace(/order\.test\.ts:\d+:\d+/, 'order.test.ts')),
    ).toMatchInlineSnapshot(`
        [
          "The agent read the value limit more often than recorded

          tape   refund
          at     test/replay/order.test.ts
          value  read 5 times, recorded 1

        It was recorded once. The next value is unknown, so the last one was served again.
        → read it once and keep it, or record the run again and promote the new tape
        (HARVEST_TAPE_EXHAUSTED)",
        ]
      `)
  })

  test('left out is left out', async () => {
    const result = await replayTape(recorded(), async () => [flag(), await get('/a'), await get('/b')])
    expect(codes(result)).toEqual(['HARVEST_UNUSED'])
  })
})
