import http from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createRecorder, mark, type RecorderOptions, tool } from '../../src/record/index.ts'
import { fork } from '../../src/index.ts'
import { importRecording } from '../../src/importers/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import { type Json, readTape, responseBytes } from '../../src/tape/index.ts'
import { createRedactor } from '../../src/privacy/index.ts'
import { served } from '../support/served.ts'

const value = 'cs_test_a1Hq8Zr9Xv4Tn8WbQm2'
const dir = mkdtempSync(join(tmpdir(), 'harvest-named-late-'))
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    const one = said.get(/^\/said\/(\d+)$/.exec(request.url ?? '')?.[1] ?? '')
    if (one?.via === 'gzip') response.setHeader('content-encoding', 'gzip')
    if (one?.via === 'gzip') return response.end(gzipSync(JSON.stringify(one.answered)))
    if (one?.via === 'cookie') response.setHeader('set-cookie', 'sid=kept1where2it3stands; Path=/')
    if (one?.via === 'stream') {
      response.setHeader('content-type', 'text/event-stream')
      const text = JSON.stringify(one.answered)
      return response.end(
        `${pieceOf(text.slice(0, 14))}${pieceOf(text.slice(14, 20))}${pieceOf(text.slice(20))}data: [DONE]\n\n`,
      )
    }
    if (one !== undefined) return response.end(JSON.stringify(one.answered))
    const answer = { '/list': [{ id: value }], '/get': { session_id: value, user: 'ada' } }[
      request.url?.split('?')[0] ?? ''
    ] ?? { ok: true }
    if (request.headers['x-packed'] === undefined) return response.end(JSON.stringify(answer))
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(JSON.stringify(answer)))
  })
})
const base = served(server)
afterAll(() => rmSync(dir, { recursive: true, force: true }))

afterEach(() => vi.unstubAllEnvs())

async function recorded(agent: () => Promise<unknown>, options: RecorderOptions = {}): Promise<string> {
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'a' }, agent)
  recorder.flush()
  return recorder.lastTape!
}

async function expectSame(file: string, agent: () => Promise<unknown>): Promise<void> {
  const { problems, drift, notCompared } = await replayTape(readTape(file), agent)
  expect([problems, drift, notCompared]).toEqual([[], [], []])
}

const create = tool('create', async () => ({ id: value }))
const retrieve = tool('retrieve', async ({ id }: { id: string }) => ({ session: id, password: 'another1secret' }))
const login = tool('login', async (_: { password: string }) => 'in')
const finish = tool('finish', async (_: { job: string; password: string }) => ({ done: true }))

async function withTools(): Promise<unknown> {
  const { id } = await create()
  await login({ password: 'first1secret' })
  const { session } = await retrieve({ id })
  if (session !== id) throw new Error('another session')
  return finish({ job: id, password: 'second2secret' })
}

async function overHttp(headers: Record<string, string> = {}): Promise<unknown> {
  const [first] = (await (await fetch(`${base()}/list`, { headers })).json()) as [{ id: string }]
  const found = (await (await fetch(`${base()}/get?id=${first.id}`, { headers })).json()) as { user: string }
  const body = JSON.stringify({ id: first.id, user: found.user, note: `kept for ${first.id}.` })
  return (
    await fetch(`${base()}/close`, { method: 'POST', headers: { authorization: `Bearer ${first.id}` }, body })
  ).json()
}

test('a value that an answer names late stands nowhere on the closed tape, and the unchanged agent replays the same', async () => {
  for (const options of [{}, { sample: 1, decide: 'end' } as RecorderOptions])
    for (const agent of [withTools, () => overHttp(), () => overHttp({ 'x-packed': '1' })]) {
      const file = await recorded(agent, options)
      expect(readFileSync(file, 'utf8')).not.toContain(value)
      await expectSame(file, agent)
    }
})

const stream = tool('stream', async function* () {
  yield { id: value }
  yield { id: 'another' }
})
const current = tool('current', async () => ({ session: value }))

test('a piece that is not written yet when its value is named is written without it', async () => {
  const agent = async (): Promise<unknown> => {
    const answers = []
    for await (const { id } of stream()) answers.push(id === 'another' ? id : await current())
    return answers
  }
  for (const options of [{}, { sample: 1, decide: 'end' } as RecorderOptions]) {
    const file = await recorded(agent, options)
    expect(readFileSync(file, 'utf8')).not.toContain(value)
    await expectSame(file, agent)
  }
})

const start = tool('start', async ({ job }: { job: string }) => ({ session_id: job, ok: true }))
const close = tool('close', async (_: { job: string; note: string }) => ({ done: true }))

function withConstant(job: string) {
  return async (): Promise<unknown> => {
    await start({ job })
    mark('started', { job })
    await fetch(`${base()}/close?job=${job}`, { method: 'POST', body: JSON.stringify({ job }) })
    return close({ job, note: `closed ${job}.` })
  }
}

test('a constant of the agent that an answer names late is compared by its fingerprint, and without one that is said', async () => {
  const key = 'Zm9yLXRlc3RzLW9ubHktbm90LWEtc2VjcmV0LWtleQ=='
  for (const recordedWith of [key, undefined]) {
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', recordedWith)
    const file = await recorded(withConstant('import2025q4batch7'))
    expect(readFileSync(file, 'utf8')).not.toContain('import2025q4batch7')
    const tape = readTape(file)
    const told = async (job: string) => {
      const { problems, drift, notCompared } = await replayTape(tape, withConstant(job))
      return [...problems, ...drift, ...notCompared].map((one) =>
        'path' in one ? `${'class' in one ? one.class : one.why} at ${one.path}` : one.code,
      )
    }
    if (recordedWith === undefined) {
      expect(await told('import2025q4batch7')).toEqual(['recorded without HARVEST_FINGERPRINT_KEY at args.job'])
      continue
    }
    expect(await told('import2025q4batch7')).toEqual([])
    expect(await told('import2026q1batch9')).toEqual(['redacted at args.job'])
    vi.stubEnv('HARVEST_FINGERPRINT_KEY', undefined)
    expect(await told('import2025q4batch7')).toEqual([
      `no HARVEST_FINGERPRINT_KEY with the id ${tape.header.printed?.key} here at args.job`,
    ])
  }
})

const model = 'gpt-4.1-mini-2025-04-14'

/** Where dialects have the model, and the name of a tool. */
const asked: Readonly<Record<string, (model: string) => readonly [path: string, body: Json]>> = {
  'in the body': (model) => ['/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] }],
  'in the path of Gemini': (model) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ parts: [{ text: 'hi' }] }] },
  ],
  'in the path of Bedrock': (model) => [
    `/model/${model}/converse`,
    { messages: [{ role: 'user', content: [{ text: 'hi' }] }] },
  ],
  'in the path of a deployment': (model) => [
    `/openai/deployments/${model}/chat/completions?api-version=2024-10-21`,
    { messages: [{ role: 'user', content: 'hi' }] },
  ],
  'as a tool it may use': (name) => [
    '/v1/chat/completions',
    {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name, description: 'says "hi"', parameters: {} } }],
    },
  ],
  'as a tool of another dialect': (name) => [
    '/v1/messages',
    { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [{ name, input_schema: { type: 'object' } }] },
  ],
}

test.each(Object.entries(asked))(
  'what a request asks for stays on the tape though an answer calls it a secret, and another one is noticed: %s',
  async (_, request) => {
    const say = tool('say', async () => ({ session: model }))
    const ask = async (name: string): Promise<unknown> => {
      const [path, body] = request(name)
      return (await fetch(`${base()}${path}`, { method: 'POST', body: JSON.stringify(body) })).json()
    }
    const agent = (name: string) => async (): Promise<unknown> => {
      await ask(name)
      await say()
      return ask(name)
    }
    const file = await recorded(agent(model))
    await expectSame(file, agent(model))
    const { problems, drift } = await replayTape(readTape(file), agent('gpt-4.1-nano-2025-04-14'))
    expect([...problems, ...drift]).not.toEqual([])
  },
)

test('the name of a call, a mark or a sender stays though an answer calls it a secret', async () => {
  const agent = async (): Promise<unknown> => {
    const answer = await tool(model, async () => ({ session: model, password: model }))()
    mark(model, answer)
    return tool(model, async () => 'done')()
  }
  for (const options of [{}, { sample: 1, decide: 'end' } as RecorderOptions]) {
    const file = await recorded(agent, options)
    expect(readTape(file).events.flatMap((event) => ('name' in event ? [event.name] : []))).toEqual([
      model,
      model,
      model,
    ])
    expect(readFileSync(file, 'utf8')).not.toContain(`"session":"${model}"`)
    await expectSame(file, agent)
  }
})

test('what stands on the tape of a run that has not ended stays there until it ends', async () => {
  const recorder = createRecorder({ dir })
  const text = (): string => readFileSync(join(dir, 'ends-late.tape.jsonl'), 'utf8')
  await recorder.run({ agent: 'a', id: 'ends-late' }, async () => {
    const { id } = await create()
    await retrieve({ id })
    expect(text()).toContain(value)
    expect(readTape(join(dir, 'ends-late.tape.jsonl')).close).toBeUndefined()
  })
  expect(text()).not.toContain(value)
})

test('the id of the run stays, and so does what it drew at random; that is not compared where it was named', async () => {
  const agent = async (): Promise<unknown> => {
    const job = randomUUID()
    await start({ job })
    return close({ job, note: 'closed' })
  }
  const recorder = createRecorder({ dir, redact: { keys: ['session_id'] } })
  await recorder.run({ agent: 'a', id: value }, async () => [
    await retrieve({ id: (await create()).id }),
    await agent(),
  ])
  const tape = readTape(recorder.lastTape!)
  expect(tape.header.id).toBe(value)
  const drawn = tape.events.flatMap((event) => (event.kind === 'draws' ? event.draws : []))
  const uuid = drawn.find(([kind]) => kind === 'uuid')?.[2] as string
  expect(readFileSync(recorder.lastTape!, 'utf8').split(uuid)).toHaveLength(2)
  const { problems, drift, notCompared } = await replayTape(tape, async () => [
    await retrieve({ id: (await create()).id }),
    await agent(),
  ])
  expect([problems, drift]).toEqual([[], []])
  expect(notCompared.map(({ path, why }) => `${path}: ${why}`)).toEqual([
    'args.job: recorded without HARVEST_FINGERPRINT_KEY',
  ])
})

test('a recording of another tool is imported without a value that a later answer names', () => {
  const entry = (path: string, text: string) => ({
    startedDateTime: `2026-01-01T00:00:0${path.length}.000Z`,
    time: 5,
    request: { method: 'GET', url: `https://shop.example${path}`, headers: [] },
    response: { status: 200, headers: [], content: { mimeType: 'application/json', text } },
  })
  const entries = [
    entry('/a', JSON.stringify([{ id: value }])),
    entry(`/ab`, JSON.stringify({ session: value })),
    entry('/abc', JSON.stringify({ note: `for ${value}.` })),
  ]
  const bytes = Buffer.from(JSON.stringify({ log: { version: '1.2', entries } }))
  const draft = importRecording({ file: 'a.har', bytes, id: 'imported', agent: 'a' })
  const text = JSON.stringify(draft)
  expect(text).not.toContain(value)
  expect(text.split('redacted-secret-1000001')).toHaveLength(4)
})

/** Places in which nothing says that a value is secret, and places in which the name before it does. */
const neutral: readonly ((v: string) => Json)[] = [
  (v) => ({ id: v }),
  (v) => ({ note: `see ${v}, please` }),
  (v) => ({ body: JSON.stringify({ id: v, next: [v] }) }),
  (v) => ({ data: Buffer.from(JSON.stringify({ id: v })).toString('base64') }),
  (v) => `https://shop.example/orders/${v}?page=1`,
]
const naming: readonly ((v: string) => Json)[] = [
  (v) => ({ token: v }),
  (v) => ({ object: 'session', session: v, status: 'open' }),
  (v) => ({ login: { password: v } }),
  (v) => ['tool', '--token', v],
  (v) => `https://shop.example/?session=${v}`,
  (v) => `SHOP_TOKEN=${v}\n`,
]
const vias = ['tool', 'http', 'gzip', 'stream', 'yields', 'mark', 'cookie'] as const
interface Said {
  readonly via: (typeof vias)[number]
  readonly asked: Json
  readonly answered: Json
  readonly own: string
  /** What stands before the value in headers; absent: it stands in none. */
  readonly header?: string | undefined
  /** It is asked at once with the one behind it. */
  readonly isAtOnce?: boolean
}

const said = new Map<string, Said>()

const call = tool('call', async (_: { asked: Json; own: Json }, at: string) => said.get(at)!.answered)
const pieces = tool('pieces', async function* (_: { asked: Json }, at: string) {
  yield said.get(at)!.answered
  yield 'end'
})

/** Asks one thing after another, each with the value as the first answer brought it. */
function asking(first: Said, rest: readonly Said[], forms: readonly ((v: string) => Json)[]) {
  return async (): Promise<unknown> => {
    const ask = async ({ via, own, header }: Said, at: number, asked: Json, id = ''): Promise<unknown> => {
      const key = String(at)
      if (via === 'tool') return call({ asked, own: { password: own } }, key)
      if (via === 'mark') return mark('asked', { asked })
      if (via === 'yields') return readAll(pieces({ asked }, key))
      const answer = await fetch(`${base()}/said/${at}`, {
        method: 'POST',
        headers:
          header === undefined ? {} : { authorization: header + id, 'x-tenant-id': id, 'x-api-key': 'own9key8of7it' },
        body: JSON.stringify({ asked, own: { password: own } }),
      })
      return via === 'stream' ? deltas(await answer.text()) : answer.json()
    }
    const { id } = (await ask(first, 0, null)) as { id: string }
    const heard: Promise<unknown>[] = []
    for (const [at, one] of rest.entries()) {
      heard.push(ask(one, at + 1, forms[at]!(id), id))
      if (one.isAtOnce !== true) await Promise.all(heard)
    }
    return [id, await Promise.all(heard)]
  }
}

const pieceOf = (content: string): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
function deltas(text: string): string {
  return text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map(
      (line) => (JSON.parse(line.slice(6)) as { choices: [{ delta: { content: string } }] }).choices[0].delta.content,
    )
    .join('')
}

const step = fc.record({
  via: fc.constantFrom(...vias),
  asked: fc.constantFrom(...neutral, ...naming),
  answered: fc.constantFrom(...neutral, ...neutral, ...naming),
  own: fc.constantFrom('first1secret', 'second2secret', 'third3secret'),
  header: fc.constantFrom(undefined, 'Bearer ', 'Token ', ''),
  isAtOnce: fc.boolean(),
})
const values = fc
  .stringMatching(/^[a-z]{2}_[A-Za-z0-9]{18,26}$/)
  .filter(
    (v) =>
      createRedactor().scan(v).length === 0 &&
      naming.every((form) => createRedactor().scan(JSON.stringify(form(v))).length > 0),
  )

test('no matter where a value stands before it is named, and where it is named, the tape holds it nowhere and the unchanged agent replays the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      values,
      fc.constantFrom('tool' as const, 'http' as const, 'gzip' as const),
      fc.array(step, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...naming),
      fc.boolean(),
      async (v, via, steps, named, isHeld) => {
        const first: Said = { via, asked: null, answered: { id: v }, own: 'first1secret' }
        const rest = [
          ...steps.map((one): Said => ({ ...one, asked: null, answered: one.answered(v) })),
          { via: 'http', asked: null, answered: named(v), own: 'third3secret' } as const,
          { via: 'tool', asked: null, answered: { id: v }, own: 'last4secret' } as const,
        ]
        said.clear()
        ;[first, ...rest].forEach((one, at) => said.set(String(at), one))
        const agent = asking(first, rest, [...steps.map(({ asked }) => asked), neutral[0]!, neutral[1]!])
        const file = await recorded(agent, isHeld ? { sample: 1, decide: 'end' } : {})
        const tape = readTape(file)
        const bodies = tape.events.map((event) =>
          event.kind === 'exchange' && event.response?.headers.some(([name]) => name === 'content-encoding')
            ? gunzipSync(responseBytes(event)).toString()
            : '',
        )
        for (const text of [readFileSync(file, 'utf8'), ...bodies]) {
          expect(text).not.toContain(v)
          expect(text).not.toContain(
            Buffer.from(JSON.stringify({ id: v }))
              .toString('base64')
              .slice(0, 24),
          )
        }
        await expectSame(file, agent)
      },
    ),
    { numRuns: 60 },
  )
})

async function readAll(yielded: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const one of yielded) all.push(one)
  return all
}

test('a fork of a run recognises such a constant, and goes on from its answers', async () => {
  const agent = withConstant('import2025q4batch7')
  const file = await recorded(agent)
  const made = await fork(readTape(file), { agent, step: 3, change: { path: 'result.done', value: false } })
  expect(made.problems).toEqual([])
  expect(made.outcome).toMatchObject({ status: 'returned', value: { done: false } })
})
