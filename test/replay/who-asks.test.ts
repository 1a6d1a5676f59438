import http from 'node:http'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import axios from 'axios'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder, type RecorderOptions } from '../../src/record/index.ts'
import { installReplay, replayTape, type ReplayResult, unprovenError, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'

const dir = mkdtempSync(join(tmpdir(), 'harvest-who-asks-'))
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    if (request.url === '/login')
      response.setHeader('set-cookie', ['sid=s3cr3t-session-9f; Path=/; HttpOnly', 'lang=de; Path=/'])
    response.end(JSON.stringify(answerTo(request.url ?? '')))
  })
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await installReplay()
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

function answerTo(url: string): unknown {
  if (url.startsWith('/v1/chat/completions')) {
    const message = { role: 'assistant', content: 'yes', refusal: null }
    return {
      id: 'c',
      object: 'chat.completion',
      model: 'gpt-4.1',
      choices: [{ index: 0, finish_reason: 'stop', message }],
    }
  }
  if (url.startsWith('/v1/messages')) {
    const content = [{ type: 'text', text: 'yes' }]
    return { id: 'm', type: 'message', role: 'assistant', model: 'claude', stop_reason: 'end_turn', content, usage: {} }
  }
  if (url.startsWith('/token')) return { access_token: `issued-${url.slice(-1)}-0123456789`, token_type: 'Bearer' }
  return { ok: true }
}

type Agent = () => Promise<unknown>
type Headers = Readonly<Record<string, string>>

let recordings = 0

async function tapeOf(agent: Agent, options: RecorderOptions = {}): Promise<Tape> {
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'a', id: `run-${++recordings}` }, agent)
  return readTape(recorder.lastTape!)
}

/** What a replay has to say of an agent that asks otherwise than it did when recorded. */
async function changed(recorded: Agent, live: Agent, options?: RecorderOptions): Promise<ReplayResult> {
  return replayTape(await tapeOf(recorded, options), live)
}

/** Class, place and both sides of each difference; an answer that was refused has none. */
function told({ drift, problems }: ReplayResult): readonly string[] {
  const found = drift
    .filter((one) => one.class !== 'encoding')
    .map(({ class: of, path, recorded, live }) => `${of} ${path}: ${recorded} → ${live}`)
  return [...found, ...problems.map(({ code }) => code).filter((code) => code !== 'HARVEST_DRIFT')]
}

const chat =
  (options: Partial<ConstructorParameters<typeof OpenAI>[0] & object>, headers: Headers = {}): Agent =>
  async () => {
    const client = new OpenAI({ apiKey: 'sk-proj-recorded-0123456789abcdef', baseURL: `${base}/v1`, ...options })
    const messages = [{ role: 'user' as const, content: 'Refund?' }]
    const answer = await client.chat.completions.create({ model: 'gpt-4.1', messages }, { headers })
    return answer.choices[0]?.message.content
  }

const claude =
  (options: Partial<ConstructorParameters<typeof Anthropic>[0] & object>): Agent =>
  async () => {
    const client = new Anthropic({ apiKey: 'sk-ant-recorded-0123456789', baseURL: base, ...options })
    const messages = [{ role: 'user' as const, content: 'Refund?' }]
    return (await client.messages.create({ model: 'claude', max_tokens: 9, messages })).content
  }

const get =
  (headers: Headers, path = '/orders'): Agent =>
  async () =>
    (await fetch(base + path, { headers })).json()

const put =
  (headers: Headers): Agent =>
  async () =>
    (await axios.put(`${base}/orders/7`, { total: 25 }, { headers })).data

const signed = (scheme: string, credential: string): Agent =>
  get({ authorization: `${scheme} Credential=${credential}, SignedHeaders=host, Signature=ab` })

/** Several requests, one after the other. */
const each =
  (...agents: readonly Agent[]): Agent =>
  async () => {
    for (const agent of agents) await agent()
  }

const as = (token: string, path = '/orders'): Agent => get({ authorization: `Bearer ${token}` }, path)

describe('another key with the same scheme, shared by the same requests, is no other asker:', () => {
  const same: readonly (readonly [string, Agent, Agent])[] = [
    ['openai', chat({}), chat({ apiKey: 'not-a-key-this-is-a-replay' })],
    ['anthropic', claude({}), claude({ apiKey: 'not-a-key-this-is-a-replay' })],
    ['fetch', as('recorded-1'), as('live-1')],
    ['axios', put({ authorization: 'Basic cmVjOm9yZGVk' }), put({ authorization: 'Basic bGl2ZTpzdHVi' })],
    ['two of them', each(as('a'), as('b'), as('a')), each(as('x'), as('y'), as('x'))],
    ['the scheme in small letters', as('a'), get({ authorization: 'bearer x' })],
    ['a query', get({}, '/orders?api_key=recorded-key-12345'), get({}, '/orders?api_key=stub')],
    ['a query that is a key by its look alone', get({}, '/o?key=AIzaRecorded0123456789'), get({}, '/o?key=stub')],
    ['cookies in another order', get({ cookie: 'sid=1; lang=de' }), get({ cookie: 'lang=x; sid=y' })],
    [
      'a signed request',
      get({
        authorization: 'AWS4-HMAC-SHA256 Credential=AKIAI44QH8DHBEXAMPLE/20260101/eu/s3/aws4_request, Signature=ab',
      }),
      get({ authorization: 'AWS4-HMAC-SHA256 Credential=stub/20260102/eu/s3/aws4_request, Signature=cd' }),
    ],
  ]
  test.each(same)('%s', async (_, recorded, live) => {
    expect(told(await changed(recorded, live))).toEqual([])
  })
})

describe('who asks is told apart:', () => {
  const lost = `credentials authorization: Bearer [key-1] → (absent)`
  const others: readonly (readonly [string, Agent, Agent, readonly string[]])[] = [
    ['a key that is gone, openai', chat({}), chat({}, { authorization: null as unknown as string }), [lost]],
    ['a key that is gone, anthropic', claude({}), claude({ defaultHeaders: { authorization: null } }), [lost]],
    ['a key that is gone, fetch', as('a'), get({}), [lost]],
    ['a key that is gone, axios', put({ authorization: 'Bearer a' }), put({}), [lost]],
    ['a key that was not there', get({}), as('a'), ['credentials authorization: (absent) → Bearer [other key]']],
    [
      'another scheme',
      as('a'),
      get({ authorization: 'Basic YTpi' }),
      ['credentials authorization: Bearer [key-1] → Basic [key-1]'],
    ],
    [
      'no scheme any more',
      as('a'),
      get({ authorization: 'a' }),
      ['credentials authorization: Bearer [key-1] → [key-1]'],
    ],
    [
      'the key of another identity',
      each(as('a'), as('b'), as('a')),
      each(as('x'), as('y'), as('y')),
      ['credentials authorization: Bearer [key-1] → Bearer [key-2]'],
    ],
    [
      'one key for two identities',
      each(as('a', '/a'), as('b', '/b')),
      each(as('x', '/a'), as('x', '/b')),
      ['credentials authorization: Bearer [key-2] → Bearer [key-1]'],
    ],
    [
      'a key of its own for a later request',
      each(as('a'), as('a')),
      each(as('x'), as('y')),
      ['credentials authorization: Bearer [key-1] → Bearer [other key]'],
    ],
    [
      'a key of its own in a query',
      each(get({}, '/a?api_key=k1'), get({}, '/b?api_key=k1')),
      each(get({}, '/a?api_key=x1'), get({}, '/b?api_key=x2')),
      ['credentials ?api_key: [key-1] → [other key]'],
    ],
    [
      'another region, signed for',
      signed('AWS4-HMAC-SHA256', 'k/20260101/eu-central-1/bedrock/aws4_request'),
      signed('AWS4-HMAC-SHA256', 'k/20260101/us-east-1/bedrock/aws4_request'),
      [
        'credentials authorization: AWS4-HMAC-SHA256 [key-1]/eu-central-1/bedrock/aws4_request → AWS4-HMAC-SHA256 [key-1]/us-east-1/bedrock/aws4_request',
      ],
    ],
    [
      'another service, signed for',
      signed('TC3-HMAC-SHA256', 'k/2026-01-01/cvm/tc3_request'),
      signed('TC3-HMAC-SHA256', 'k/2026-01-02/cbs/tc3_request'),
      ['credentials authorization: TC3-HMAC-SHA256 [key-1]/cvm/tc3_request → TC3-HMAC-SHA256 [key-1]/cbs/tc3_request'],
    ],
    ['a query without its key', get({}, '/a?api_key=k1'), get({}, '/a'), ['HARVEST_DIVERGENCE']],
    [
      'a cookie that is gone',
      get({ cookie: 'sid=1; lang=de' }),
      get({ cookie: 'lang=de' }),
      ['credentials cookie: lang=[key-2]; sid=[key-1] → lang=[key-2]'],
    ],
    [
      'a cookie whose name has other letters',
      get({ cookie: 'sid=1' }),
      get({ cookie: 'Sid=1' }),
      ['credentials cookie: sid=[key-1] → Sid=[other key]'],
    ],
    [
      'a region in other letters',
      signed('AWS4-HMAC-SHA256', 'k/20260101/eu-west-1/s3/aws4_request'),
      signed('AWS4-HMAC-SHA256', 'k/20260101/eu-wesT-1/s3/aws4_request'),
      [
        'credentials authorization: AWS4-HMAC-SHA256 [key-1]/eu-west-1/s3/aws4_request → AWS4-HMAC-SHA256 [key-1]/eu-wesT-1/s3/aws4_request',
      ],
    ],
    [
      'another tenant',
      get({ 'x-tenant-id': 'tea' }),
      get({ 'x-tenant-id': 'coffee' }),
      ['credentials x-tenant-id: tea → coffee'],
    ],
    ['no tenant any more', get({ 'x-workspace': 'tea' }), get({}), ['credentials x-workspace: tea → (absent)']],
    [
      'another organization',
      chat({ organization: 'org-a' }),
      chat({ organization: 'org-b' }),
      ['credentials openai-organization: org-a → org-b'],
    ],
    [
      'another project',
      chat({ project: 'proj-a' }),
      chat({ project: 'proj-b' }),
      ['credentials openai-project: proj-a → proj-b'],
    ],
  ]
  test.each(others)('%s', async (_, recorded, live, expected) => {
    const result = await changed(recorded, live)
    expect(told(result)).toEqual(expected)
    expect(result.problems).not.toEqual([])
  })
})

describe('what is asked, and under which condition:', () => {
  const others: readonly (readonly [string, Agent, Agent, readonly string[]])[] = [
    [
      'no type of the content any more',
      put({}),
      put({ 'content-type': null as unknown as string }),
      ['headers content-type: application/json → (absent)'],
    ],
    ['another version', get({ 'api-version': '1' }), get({ 'api-version': '2' }), ['headers api-version: 1 → 2']],
    [
      'another beta',
      claude({ defaultHeaders: { 'anthropic-beta': 'a' } }),
      claude({}),
      ['headers anthropic-beta: a → (absent)'],
    ],
    [
      'a prompt by name',
      chat({}, { 'helicone-prompt-id': 'refund-1' }),
      chat({}, { 'helicone-prompt-id': 'refund-2' }),
      ['headers helicone-prompt-id: refund-1 → refund-2'],
    ],
    [
      'another form of the answer',
      get({ accept: 'text/csv' }),
      get({ accept: 'application/json' }),
      ['headers accept: text/csv → application/json'],
    ],
    ['no condition any more', put({ 'if-match': '"v7"' }), put({}), ['guards if-match: "v7" → (absent)']],
    ['another condition', put({ 'if-match': '"v7"' }), put({ 'if-match': '*' }), ['guards if-match: "v7" → *']],
    [
      'a condition that was not there',
      get({}),
      get({ 'if-none-match': '"v7"' }),
      ['guards if-none-match: (absent) → "v7"'],
    ],
    [
      'a key of idempotency that is used again',
      each(put({ 'idempotency-key': 'a' }), put({ 'idempotency-key': 'b' })),
      each(put({ 'idempotency-key': 'x' }), put({ 'idempotency-key': 'x' })),
      ['guards idempotency-key: a key of its own → the key of another request'],
    ],
    [
      'a key of idempotency that is given to a request without one as well',
      each(put({ 'idempotency-key': 'a' }), put({})),
      each(put({ 'idempotency-key': 'x' }), put({ 'idempotency-key': 'x' })),
      ['guards idempotency-key: (absent) → the key of another request'],
    ],
  ]
  test.each(others)('%s', async (_, recorded, live, expected) => {
    const result = await changed(recorded, live)
    expect(told(result)).toEqual(expected)
    expect(result.problems.length > 0).toBe(expected[0]!.startsWith('guards'))
  })

  const harmless: readonly (readonly [string, Agent, Agent])[] = [
    ['an id of the request', get({ 'x-request-id': '1', traceparent: '00-1' }), get({ 'x-request-id': '2' })],
    ['the version of an SDK', chat({}), chat({}, { 'x-stainless-package-version': '99.0.0', 'user-agent': 'x' })],
    ['what a model is said to accept', chat({}), chat({}, { accept: 'text/event-stream' })],
    ['headers of the client', get({ 'x-made-by': 'tea' }), get({ 'x-made-by': 'coffee' })],
    [
      'the spelling of a type',
      put({ 'content-type': 'application/json; charset=utf-8' }),
      put({ 'content-type': 'application/json;charset=UTF-8' }),
    ],
  ]
  test.each(harmless)('%s says nothing about it', async (_, recorded, live) => {
    expect(told(await changed(recorded, live))).toEqual([])
  })
})

test('a session that a recorded answer began goes on with its cookie, and without it is another', async () => {
  const session =
    (keeps: boolean): Agent =>
    async () => {
      const login = await fetch(`${base}/login`)
      const cookie = login.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ')
      return (await fetch(`${base}/orders`, keeps ? { headers: { cookie } } : {})).json()
    }
  const tape = await tapeOf(session(true))
  expect(JSON.stringify(tape)).not.toContain('s3cr3t-session')
  expect(told(await replayTape(tape, session(true)))).toEqual([])
  expect(told(await replayTape(tape, session(false)))).toMatchObject([
    /^credentials cookie: lang=.*sid=.* → \(absent\)$/,
  ])
})

test('a token that an answer brought is told from that of another answer', async () => {
  const orders =
    (swapped: boolean): Agent =>
    async () => {
      const tokens = []
      for (const path of ['/token/1', '/token/2'])
        tokens.push(((await (await fetch(base + path)).json()) as { access_token: string }).access_token)
      if (swapped) tokens.reverse()
      await as(tokens[0]!, '/orders/tea')()
      await as(tokens[1]!, '/orders/coffee')()
    }
  const tape = await tapeOf(orders(false))
  expect(JSON.stringify(tape)).not.toContain('issued-')
  expect(told(await replayTape(tape, orders(false)))).toEqual([])
  expect(told(await replayTape(tape, orders(true)))).toEqual([
    'credentials authorization: Bearer redacted-secret-1 → Bearer redacted-secret-2',
    'credentials authorization: Bearer redacted-secret-2 → Bearer redacted-secret-1',
  ])
})

describe('two services that were sent two keys', () => {
  /** Replays an agent whose keys are given by name, where a machine has these values for them. */
  async function replayed(machine: Headers, kinds: (key: string) => string = (key) => `Bearer ${key}`) {
    const other = http.createServer((_, response) => response.end('{}'))
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const ask = (here: string, elsewhere: string): Agent => {
      return async () => {
        await get({ authorization: kinds(here) })()
        await (await fetch(there, { headers: { authorization: kinds(elsewhere) } })).text()
      }
    }
    const tape = await tapeOf(ask('a', 'b'))
    other.close()
    Object.assign(process.env, machine)
    const { WHO_ASKS_HERE: here = 'x', WHO_ASKS_THERE: elsewhere = 'x' } = process.env
    try {
      return told(await replayTape(tape, ask(here, elsewhere)))
    } finally {
      for (const name of Object.keys(machine)) delete process.env[name]
    }
  }

  test('may not be sent one, in the words of what a machine that has one for both needs', async () => {
    const asks = (here: string, there: string) =>
      each(get({ authorization: `Bearer ${here}` }), get({ 'x-api-key': there }), get({ 'x-api-key': here }, '/rest'))
    const tape = await tapeOf(asks('a', 'b'))
    Object.assign(process.env, { SHOP_KEY: 'x', BANK_KEY: 'x' })
    try {
      const { problems } = await replayTape(tape, asks('x', 'x'))
      expect(problems.map(({ code, facts }) => [code, facts.what, facts.where?.['variables']])).toEqual([
        [
          'HARVEST_DRIFT',
          'One value stands for two recorded keys here: x-api-key',
          'SHOP_KEY, BANK_KEY have one value',
        ],
      ])
    } finally {
      for (const name of ['SHOP_KEY', 'BANK_KEY']) delete process.env[name]
    }
  })

  test('may not be sent one', async () => {
    expect(await replayed({})).toEqual(['credentials authorization: Bearer [key-2] → Bearer [key-1]'])
    expect(await replayed({ WHO_ASKS_HERE: 'one', WHO_ASKS_THERE: 'two' })).toEqual([])
  })

  test('may be sent one that the machine has for both', async () => {
    const both = { WHO_ASKS_HERE: 'a stand-in', WHO_ASKS_THERE: 'a stand-in' }
    expect(await replayed(both)).toEqual([])
    const basic = (key: string) => `Basic ${Buffer.from(`me:${key}`).toString('base64')}`
    expect(await replayed(both, basic)).toEqual([])
  })
})

test('a tape whose recorder kept none of these headers is compared as it always was', async () => {
  const tape = await tapeOf(put({ authorization: 'Bearer a', 'if-match': '"v7"', 'x-tenant': 'tea' }))
  const old = ['authorization', 'if-match', 'x-tenant']
  const before: Tape = {
    ...tape,
    header: { ...tape.header, flags: tape.header.flags.filter((flag) => flag !== 'headers-1') },
    events: tape.events.map((event) =>
      event.kind === 'exchange'
        ? {
            ...event,
            request: { ...event.request, headers: event.request.headers.filter(([name]) => !old.includes(name)) },
          }
        : event,
    ),
  }
  for (const headers of [{}, { authorization: 'Basic YTpi', 'if-match': '*', 'x-tenant': 'coffee' }])
    expect(told(await replayTape(before, put(headers)))).toEqual([])
})

test('a tape names the headers it does not have, and no value of them', async () => {
  const { close } = await tapeOf(
    get({ 'x-order-channel': 'phone-order-77', 'X-Vip': '1', traceparent: '00-1', host: 'h' }),
  )
  expect(close?.droppedHeaders).toEqual(['x-order-channel', 'x-vip'])
  const named = await tapeOf(get({ 'x-order-channel': 'phone' }), { redact: { headers: ['X-Order-Channel'] } })
  expect(named.close?.droppedHeaders).toBeUndefined()
  expect(told(await replayTape(named, get({ 'x-order-channel': 'web' })))).toEqual([
    'headers x-order-channel: phone → web',
  ])
})

test('a header that tapes keep the name of is listed where it is gone or new, and decides nothing', async () => {
  const tape = await tapeOf(get({ 'x-order-channel': 'phone', 'x-shard': '1' }))
  const listed = async (headers: Headers) =>
    (await replayTape(tape, get(headers))).notCompared.map(({ kind, path }) => `${kind}: ${path}`)
  expect(await listed({ 'x-order-channel': 'web', 'x-shard': '2' })).toEqual([])
  // What clients and tracing add of themselves is not listed.
  const own = { traceparent: '00-1', 'sentry-trace': 'a', baggage: 'b', 'x-stainless-os': 'Linux', priority: 'u=1' }
  expect(await listed({ 'x-order-channel': 'web', 'x-shard': '1', ...own })).toEqual([])
  const changed = { 'x-shard': '1', 'X-Vip': '1' }
  expect(await listed(changed)).toEqual([
    'unlisted header: headers.x-order-channel, gone',
    'unlisted header: headers.x-vip, new',
  ])
  const run = await replayTape(tape, get(changed))
  expect([run.problems, run.drift, verdictOf(run).verdict]).toEqual([[], [], 'same'])
})

test('no key reaches the tape, whatever its header, scheme or place', async () => {
  const keys = Array.from({ length: 16 }, (_, at) => `k${at}Zq8vN2xRt${at}Lw5`)
  const [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = keys as [string, ...string[]] & string[]
  const agent = each(
    get({ authorization: `Bearer ${a}`, 'x-api-key': b!, 'api-key': c!, cookie: `sid=${d}; ${e}` }),
    get({ authorization: `Basic ${Buffer.from(`greta:${f}`).toString('base64')}`, 'x-goog-api-key': g! }),
    get({ authorization: `${h} ${i}` }),
    get({ authorization: `Digest username="${j}", response="${k}"` }),
    get({ authorization: `AWS ${l}:${m}` }, `/orders?api_key=${n}&access_token=${o}`),
    get({ authorization: `Hawk id="x", mac="${p}"`, 'x-tenant': 'anna@shop.example', 'x-account-key': `${a}${b}` }),
  )
  const tape = await tapeOf(agent)
  const text = readFileSync(tape.source, 'utf8')
  for (const secret of [...keys, 'greta', 'anna@', Buffer.from(`greta:${f}`).toString('base64').slice(0, 12)])
    expect(text).not.toContain(secret)
  expect(told(await replayTape(tape, agent))).toEqual([])
})

test('a signed request on a tape that has no region says nothing of one', async () => {
  const asks = signed('AWS4-HMAC-SHA256', 'k/20260101/us-east-1/bedrock/aws4_request')
  const tape = await tapeOf(asks)
  const old = (shown: string): Tape => ({
    ...tape,
    events: tape.events.map((event) =>
      event.kind === 'exchange'
        ? { ...event, request: { ...event.request, headers: [['authorization', shown]] as const } }
        : event,
    ),
  })
  const credentials = async (shown: string) =>
    (await replayTape(old(shown), asks)).drift.filter((one) => one.class === 'credentials')
  expect(await credentials('AWS4-HMAC-SHA256 [key-1]')).toEqual([])
  expect(await credentials('Bearer [key-1]')).toHaveLength(1)
  expect(await credentials('AWS4-HMAC-SHA256 [key-1]/eu-west-1/bedrock/aws4_request')).toHaveLength(1)
})

test('a message about who asks says what a test machine needs', async () => {
  const { problems } = await changed(each(as('a', '/a'), as('b', '/b')), each(as('x', '/a'), as('x', '/b')))
  expect(problems[0]?.message.replaceAll(/^  (?:tape|at) .*\n/gm, '').replaceAll(base, '…')).toMatchInlineSnapshot(`
    "The agent sent a request with other headers than when this run was recorded: authorization

      step  2

      changed  Bearer [ [-key-2-] {+key-1+} ]

    The tape numbers the keys of a run and holds none. A test may use any values, one for each key.
    → to see the recorded step: npx vitest-harvest show run-60 --step 2
    → if the new behaviour is right: record the run again and promote the new tape
    → if such a change is harmless: drift: { credentials: 'report' }
    (HARVEST_DRIFT)"
  `)
})

test('a message about who asks tells a value that the tape has from a key that it does not have', async () => {
  const { problems } = await changed(get({ 'x-customer-id': 'C1' }), get({ 'x-customer-id': 'C2' }))
  expect(problems[0]?.message).toContain('The tape has its value, and a test has to send the same.')
  expect(problems[0]?.message).not.toContain('holds none')
})

test('what a service is asked to answer in is shown whole, with no way to ask a model', async () => {
  const tape = await tapeOf(get({ accept: '*/*' }))
  const run = await replayTape(tape, get({ accept: 'application/json' }))
  const { unproven } = verdictOf(run)
  expect(unproven.map(({ part, words }) => `${part}: ${words}`)).toEqual([
    'header accept: [-*/*-] {+application/json+}',
  ])
  const { message } = unprovenError(unproven, { caseId: 'orders', tape: 'orders' })
  expect(message).not.toContain('--prove')
  const { isOfNoModel: _, ...asked } = unproven[0]!
  expect(unprovenError([asked], { caseId: 'orders', tape: 'orders' }).message).toContain('--prove')
})

test('a body of bytes is shown without the mark that says so to us', async () => {
  const post =
    (bytes: readonly number[]): Agent =>
    async () =>
      (await fetch(`${base}/bytes`, { method: 'POST', body: new Uint8Array(bytes) })).json()
  const { problems } = await changed(post([0, 255, 250, 1]), post([0, 255, 250, 2]))
  expect(problems[0]?.message).toContain('recorded  base64:AP/6AQ==')
  expect(problems[0]?.message).not.toContain('ud800')
})

test.each([
  ['scheme', { authorization: 'Bearer a' }, { authorization: 'Token x' }, '[-Bearer-] {+Token+} [key-1]'],
  ['cookie', { cookie: 'sid=a; cart=b' }, { cookie: 'sid=x; basket=y' }, '; sid=[key-1]'],
])('where only the name of a %s changed, its key is not shown as another', async (_, was, is, words) => {
  const { problems, drift } = await changed(get(was), get(is))
  expect(problems).toHaveLength(1)
  expect(drift[0]?.words).toContain(words)
})

test('a branch is compared by scheme alone where its fork ran with other keys', async () => {
  const agent =
    (orders: string, bills: string): Agent =>
    async () => {
      await as(orders, '/orders')()
      await as(bills, '/bills')()
      const { ok } = (await as(orders, '/rest')()) as { ok: boolean }
      return (await as(bills, `/done?ok=${ok}`)()) as unknown
    }
  const tape = await tapeOf(agent('a', 'b'))
  const changes = [{ step: 3, path: 'body.ok', value: false }]
  // One stand-in for both.
  const fork = await forkTape(tape, agent('x', 'x'), {
    keep: 3,
    changes,
    tail: { from: 'live', tools: 'live', budget: openBudget({}) },
  })
  expect(fork.problems).toEqual([])
  expect(JSON.stringify(fork.branch.ownEvents)).toContain('Bearer [key]')
  const { tape: branch } = fork.branch
  expect(told(await replayTape(branch, agent('x', 'y')))).toEqual([])
  const basic = Buffer.from('a:b').toString('base64')
  const other = async () => {
    await as('x', '/orders')()
    await as('y', '/bills')()
    await as('x', '/rest')()
    return get({ authorization: `Basic ${basic}` }, '/done?ok=false')()
  }
  expect(told(await replayTape(branch, other))).toEqual(['credentials authorization: Bearer [key] → Basic [key]'])
})

/** Wherever a credential stands, which requests share one is compared, and nothing else of it. */
describe('a credential is compared in the same way', () => {
  const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
  const carriers: Readonly<Record<string, (key: string) => Agent>> = {
    'under Bearer': (key) => as(key),
    'under Basic, with the name of who asks': (key) => get({ authorization: basic(`${key}:pw`) }),
    'under Basic, with the password': (key) => get({ authorization: basic(`desk:${key}`) }),
    'under a scheme of a service': (key) => get({ authorization: `Token ${key}` }),
    'under a scheme of its own': (key) => get({ authorization: `QueueKey ${key}` }),
    'in a parameter': (key) => get({ authorization: `Token token="${key}", version=2` }),
    'without a scheme': (key) => get({ authorization: key }),
    'in x-api-key': (key) => get({ 'x-api-key': key }),
    'in api-key': (key) => get({ 'api-key': key }),
    'in x-auth-token': (key) => get({ 'x-auth-token': key }),
    'in private-token': (key) => get({ 'private-token': key }),
    'in x-auth-key': (key) => get({ 'x-auth-key': key }),
    'in token': (key) => get({ token: key }),
    'in a cookie': (key) => get({ cookie: `sid=${key}` }),
    'in one of several cookies': (key) => get({ cookie: `lang=de; sid=${key}` }),
    'in a query': (key) => get({}, `/orders?api_key=${key}`),
  }
  const keys = ['q1w2e3r4t5y6u7', 'z9x8c7v6b5n4m3', 'p0o9i8u7y6t5r4'] as const
  const [a, b, c] = keys
  test.for(Object.entries(carriers))('wherever it stands: %s', async ([, by]) => {
    const recorded = await tapeOf(each(by(a), by(b), by(a)))
    const isSame = async (...asked: readonly string[]): Promise<boolean> =>
      told(await replayTape(recorded, each(...asked.map((key) => by(key))))).length === 0
    const seen = [await isSame(a, b, a), await isSame(b, c, b), await isSame(a, b, b), await isSame(a, a, a)]
    expect([...seen, await isSame(a, b, c)]).toEqual([true, true, false, false, false])
  })
})

test('a tape whose recorder did not know a name says nothing of it', async () => {
  const tape = await tapeOf(get({ 'private-token': 'q1w2e3r4t5y6u7' }))
  const without = tape.events.map((event) =>
    event.kind === 'exchange' ? { ...event, request: { ...event.request, headers: [] } } : event,
  )
  const older = { ...tape, events: without, close: { ...tape.close!, droppedHeaders: ['private-token'] } }
  expect(told(await replayTape(older, get({ 'private-token': 'z9x8c7v6b5n4m3' })))).toEqual([])
  expect(told(await replayTape(tape, get({})))).toEqual(['credentials private-token: [key-1] → (absent)'])
})
