import { createServer, request } from 'node:http'
import { join } from 'node:path'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    const message = { role: 'assistant', content: '{"reason":"late","refund":true}' }
    response.end(JSON.stringify({ id: 'c-1', model: 'gpt-5', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
})
const base = served(server)

const dir = temporaryFolder('unseen')
let made = 0
async function record(run: () => Promise<unknown>): Promise<Tape> {
  const id = `run-${made++}`
  await createRecorder({ dir })
    .run({ agent: 'desk', id }, run)
    .catch(() => undefined)
  return readTape(join(dir, `${id}.tape.jsonl`))
}
/** The verdict, and every class, part and both sides of what differs. */
async function judged(tape: Tape, run: () => Promise<unknown>): Promise<readonly unknown[]> {
  const result = await replayTape(tape, run)
  const { verdict, differences } = verdictOf(result)
  const seen = result.drift.map(({ class: name, part, recorded, live }) => `${name}: ${part}: ${recorded} -> ${live}`)
  return [verdict, ...seen, ...differences.map(({ code }) => code)]
}

interface Question {
  readonly fields?: object
  readonly answer?: object
  readonly args?: object
  readonly isTurned?: boolean
}

const reason = { type: 'string' }
const refund = { type: 'boolean' }

describe('the order of the keys of a question', () => {
  const ask =
    ({ fields = { reason, refund }, answer = { reason, refund }, args = { a: 1, b: 2 }, isTurned }: Question) =>
    async (): Promise<unknown> => {
      const client = new OpenAI({ apiKey: 'none', baseURL: base(), maxRetries: 0 })
      const parameters = { type: 'object', properties: { case: { type: 'object', properties: fields } } }
      const body = {
        model: 'gpt-5',
        messages: [{ role: 'user', content: JSON.stringify(args) }],
        tools: [{ type: 'function', function: { name: 'close', parameters } }],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'verdict', schema: { type: 'object', properties: answer } },
        },
      }
      const written = isTurned ? Object.fromEntries(Object.entries(body).reverse()) : body
      const { choices } = await client.chat.completions.create(written as never)
      return (choices as { message: { content: string } }[])[0]?.message.content
    }

  test.for([
    ['of the body', { isTurned: true }],
    ['of the fields of a tool', { fields: { refund, reason } }],
    ['of the fields of an answer', { answer: { refund, reason } }],
  ] as const)('%s is a spelling', async ([, turned]) => {
    expect(await judged(await record(ask({})), ask(turned))).toEqual([
      'same',
      'encoding: body: same value -> written differently',
    ])
  })
})

describe('headers that select what is done', () => {
  const headers = { 'x-api-version': '1', 'notion-version': '2022-06-28', 'x-app-version': '1', 'x-trace': 'a' }
  const send = (changed: Readonly<Record<string, string>>) => async (): Promise<number> =>
    (await fetch(`${base()}/pages`, { method: 'POST', body: '{}', headers: { ...headers, ...changed } })).status

  test.for([
    ['x-api-version', '2', 'unproven'],
    ['notion-version', '2025-09-03', 'unproven'],
    ['x-http-method-override', 'DELETE', 'different'],
    ['soapaction', 'urn:delete', 'different'],
    ['x-dry-run', 'true', 'different'],
    ['x-customer-id', 'c-7', 'different'],
    ['x-user-id', 'u-7', 'different'],
    ['content-language', 'de', 'unproven'],
    ['destination', '/trash', 'different'],
    ['x-amz-acl', 'public-read', 'different'],
    ['x-ms-copy-source', 'https://other.example/x', 'different'],
    ['x-amzn-bedrock-guardrailidentifier', 'gr-2', 'different'],
    ['x-hasura-role', 'admin', 'different'],
    ['x-scope-orgid', 'team-b', 'different'],
    ['x-environment', 'production', 'different'],
    ['time-zone', 'Asia/Tokyo', 'unproven'],
    ['x-locale', 'de-DE', 'unproven'],
    ['x-currency', 'SEK', 'unproven'],
    ['cache-control', 'no-cache', 'unproven'],
    ['pragma', 'no-cache', 'unproven'],
    ['accept-charset', 'latin1', 'unproven'],
    ['save-data', 'on', 'unproven'],
    ['slug', 'report', 'unproven'],
    ['content-range', 'bytes 0-1/2', 'different'],
    ['lock-token', '<urn:uuid:1>', 'different'],
    ['ttl', '60', 'different'],
    ['accept-encoding', 'identity', 'same'],
    ['priority', 'u=1', 'same'],
    ['from', 'desk@shop.example', 'same'],
    ['forwarded', 'for=192.0.2.1', 'same'],
    ['want-content-digest', 'sha-256=1', 'same'],
    ['x-mode', 'fast', 'same'],
    ['x-stainless-lang', 'ts', 'same'],
    ['x-client-region', 'eu', 'same'],
    ['x-app-version', '2', 'same'],
    ['x-trace', 'b', 'same'],
    ['x-ms-client-request-id', '7', 'same'],
    ['x-goog-api-client', 'gl-node/24', 'same'],
  ] as const)('%s: %s is %s', async ([name, value, verdict]) => {
    const tape = await record(send({}))
    expect((await judged(tape, send({})))[0]).toBe('same')
    expect((await judged(tape, send({ [name]: value })))[0]).toBe(verdict)
  })

  test('what is said to caches is one in several spellings, and as the standard of fetch has it where it writes that itself', async () => {
    const caches = async (was: Readonly<Record<string, string>>, is: Readonly<Record<string, string>>) =>
      (await judged(await record(send(was)), send(is)))[0]
    expect([
      await caches({ pragma: 'no-cache' }, { 'cache-control': 'no-cache' }),
      await caches(
        { 'cache-control': 'no-store, Max-Age=0' },
        { 'cache-control': 'max-age=0,no-store', pragma: 'no-cache' },
      ),
      await caches({ 'cache-control': 'max-age=0' }, { 'cache-control': 'max-age=60' }),
      await caches({ 'cache-control': 'only-if-cached' }, {}),
    ]).toEqual(['same', 'same', 'unproven', 'unproven'])
    // `fetch` adds both headers to a request under a condition, other clients do not.
    const conditional = { 'if-none-match': '"v1"' }
    const plain = () =>
      new Promise((resolve, reject) => {
        request(`${base()}/pages`, {
          method: 'POST',
          headers: { ...headers, ...conditional, 'content-type': 'text/plain;charset=UTF-8' },
        })
          .on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
          .on('error', reject)
          .end('{}')
      })
    expect((await judged(await record(send(conditional)), plain))[0]).toBe('same')
    expect((await judged(await record(plain), send(conditional)))[0]).toBe('same')
  })

  test('whether a cache may answer counts where one can: not of a deletion, and again of the read behind it', async () => {
    const made =
      (cache: 'default' | 'no-store', ...methods: readonly string[]) =>
      async (): Promise<void> => {
        for (const method of methods) await fetch(`${base()}/cached`, { method, cache })
      }
    const past = async (...methods: readonly string[]) =>
      (await judged(await record(made('default', ...methods)), made('no-store', ...methods)))[0]
    expect([await past('DELETE'), await past('PUT'), await past('POST'), await past('GET')]).toEqual([
      'same',
      'same',
      'unproven',
      'unproven',
    ])
    expect(await past('DELETE', 'GET')).toBe('unproven')
  })

  test.for(['idempotency-key', 'x-idempotency-key'])('%s may have another value and may not be gone', async (name) => {
    const tape = await record(send({ [name]: 'a1' }))
    expect((await judged(tape, send({ [name]: 'b2' })))[0]).toBe('same')
    expect((await judged(tape, send({})))[0]).toBe('different')
  })

  test('are not compared where an older recorder left them out and said so', async () => {
    const tape = await record(send({}))
    const left = new Set(['x-api-version', 'notion-version'])
    const older: Tape = {
      ...tape,
      close: { ...tape.close!, droppedHeaders: [...left] },
      events: tape.events.map((event) =>
        event.kind === 'exchange'
          ? {
              ...event,
              request: { ...event.request, headers: event.request.headers.filter(([name]) => !left.has(name)) },
            }
          : event,
      ),
    }
    expect(await judged(older, send({}))).toEqual(['same'])
  })

  test('name an operation also where the recorded request had no header that is kept', async () => {
    const put = (target?: string) => (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const options = { method: 'POST', headers: target === undefined ? {} : { 'x-amz-target': target } }
        request(`${base()}/db`, options, (response) => response.resume().on('end', () => resolve(response.statusCode)))
          .on('error', reject)
          .end('{}')
      })
    const tape = await record(put())
    expect(await judged(tape, put())).toEqual(['same'])
    expect((await judged(tape, put('DynamoDB.DeleteItem')))[0]).toBe('different')
  })
})

test('errors that an error keeps in a field of its own are compared as errors', async () => {
  const fail = (why: string) => async (): Promise<never> => {
    throw Object.assign(new Error('no attempt succeeded'), { attempts: [new Error('busy'), new Error(why)] })
  }
  const tape = await record(fail('late'))
  expect(await judged(tape, fail('late'))).toEqual(['same'])
  expect(await judged(tape, fail('refused'))).toEqual(['different', 'HARVEST_OUTCOME'])
})

test('they are also at any depth of lists and maps of it, beside its data', async () => {
  const fail = (why: string, times: number) => async (): Promise<never> => {
    throw Object.assign(new Error('no attempt succeeded'), { byHost: { a: { cause: new Error(why), times } } })
  }
  const tape = await record(fail('busy', 1))
  expect(await judged(tape, fail('busy', 1))).toEqual(['same'])
  expect(await judged(tape, fail('refused', 1))).toEqual(['different', 'HARVEST_OUTCOME'])
  expect(await judged(tape, fail('busy', 2))).toEqual(['different', 'HARVEST_OUTCOME'])
})

test('a zero with a sign is another number in a body than one without, in every spelling of it', async () => {
  const send = (number: string) => async (): Promise<number> =>
    (await fetch(`${base()}/pages`, { method: 'POST', body: `{"shift": ${number}, "unit": "day"}` })).status
  const tape = await record(send('-0'))
  expect(await judged(tape, send('-0'))).toEqual(['same'])
  expect(await judged(tape, send('-0.0'))).toEqual(['same', 'encoding: body: same value -> written differently'])
  expect(await judged(tape, send('0'))).toEqual(['different', 'HARVEST_DIVERGENCE'])
  expect(await judged(await record(send('0')), send('-0'))).toEqual(['different', 'HARVEST_DIVERGENCE'])
  expect((await judged(await record(send('0')), send('0.0')))[0]).toBe('same')
})

test('a request that lost its method is told as that request, with the body that `node:http` sends after it', async () => {
  const send = (method?: string, isInPieces?: boolean) => () =>
    new Promise((resolve, reject) => {
      const asked = request(`${base()}/pages`, { ...(method !== undefined && { method }) })
        .on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)))
        .on('error', reject)
      if (isInPieces) asked.write('<get ')
      asked.end(isInPieces ? 'sku="b"/>' : '<get sku="b"/>')
    })
  const tape = await record(send('POST'))
  for (const isInPieces of [false, true]) {
    const { problems, escapes } = await replayTape(tape, send(undefined, isInPieces))
    expect([problems[0]?.message.split('\n')[0], escapes]).toEqual([
      `The agent called GET ${base().slice('http://'.length)}/pages, which is not on the tape`,
      [],
    ])
  }
})
