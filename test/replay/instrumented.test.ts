import http, { createServer } from 'node:http'
import { once } from 'node:events'
import { randomBytes } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import OpenAI from 'openai'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Agent, fetch as undiciFetch, request as undiciRequest } from 'undici'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape, type ReplayResult } from '../../src/replay/index.ts'
import { readTape, type Tape } from '../../src/tape/index.ts'
import { served } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json')
  const message = { role: 'assistant', content: 'noted' }
  request.resume().on('end', () => response.end(JSON.stringify({ id: 'c-1', choices: [{ index: 0, message }] })))
})
const base = served(server)
beforeAll(() => installReplay())

interface Created {
  readonly request: { addHeader(name: string, value: string): void }
}
let tenant = 'acme'
let left: (() => void)[] = []
afterEach(() => {
  for (const leave of left) leave()
  left = []
  tenant = 'acme'
})

/** As tracing does it: each request gets an id of its own, and what the program says of itself. */
function instrument(): readonly string[] {
  for (const leave of left) leave()
  const heard: string[] = []
  const add = (message: unknown): void => {
    const { request } = message as Created
    request.addHeader('traceparent', `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`)
    request.addHeader('x-tenant-id', tenant)
    heard.push('create')
  }
  const addToHttp = (message: unknown): void => {
    const { request } = message as { readonly request: http.ClientRequest }
    request.setHeader('traceparent', `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`)
    request.setHeader('x-tenant-id', tenant)
    heard.push('create')
  }
  const answeredHttp = (): void => void heard.push('headers')
  const answered = (): void => void heard.push('headers')
  subscribe('undici:request:create', add)
  subscribe('undici:request:headers', answered)
  subscribe('http.client.request.created', addToHttp)
  subscribe('http.client.response.finish', answeredHttp)
  left.push(() => {
    unsubscribe('undici:request:create', add)
    unsubscribe('undici:request:headers', answered)
    unsubscribe('http.client.request.created', addToHttp)
    unsubscribe('http.client.response.finish', answeredHttp)
  })
  return heard
}

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"id":1}' }
const ways: { readonly [way: string]: () => Promise<unknown> } = {
  fetch: async () => (await fetch(`${base()}/orders`)).json(),
  'fetch with a body': async () => (await fetch(`${base()}/orders`, post)).json(),
  openai: async () =>
    new OpenAI({ apiKey: 'none', baseURL: base(), maxRetries: 0 }).chat.completions
      .create({ model: 'gpt-5', messages: [{ role: 'user', content: 'Note it.' }] })
      .then(({ choices }) => choices.length),
  'fetch of undici': async () => (await undiciFetch(`${base()}/orders`, post)).json(),
  'request of undici': async () => (await undiciRequest(`${base()}/orders`)).body.json(),
  'the client of Node': async () => {
    const request = http.request(`${base()}/orders`, { ...post, agent: false }).end(post.body)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    return Buffer.concat(await response.toArray()).toString()
  },
  "an agent of the code's own": async () => {
    const dispatcher = new Agent()
    const { body } = await undiciRequest(`${base()}/orders`, { dispatcher })
    const answer = await body.json()
    await dispatcher.close()
    return answer
  },
}

async function record(run: () => Promise<unknown>): Promise<Tape> {
  const dir = temporaryFolder('instrumented')
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'desk', id: 'run' }, run)
  return readTape(recorder.lastTape!)
}

const told = ({ problems, drift, notCompared }: ReplayResult): readonly string[] => [
  ...problems.map(({ code }) => code),
  ...drift.filter((one) => one.class !== 'encoding').map(({ class: of, path }) => `${of} ${path}`),
  ...notCompared.map(({ kind, path }) => `${kind} ${path}`),
]

describe('who listens to requests as tracing does is told of them in a replay too:', () => {
  test.for(Object.keys(ways))('%s: what it adds is compared, and is the same run after run', async (way) => {
    const twice = async (): Promise<unknown> => [await ways[way]!(), await ways[way]!()]
    instrument()
    const tape = await record(twice)
    const heard = instrument()
    for (let i = 0; i < 20; i++) expect(told(await replayTape(tape, twice))).toEqual([])
    expect(heard.length).toBe(80)
    tenant = 'umbrella'
    expect((await replayTape(tape, twice)).problems.map(({ code }) => code)).toContain('HARVEST_DRIFT')
  })

  test('a run recorded without it is compared with one that it adds a tenant to', async () => {
    const tape = await record(ways['fetch with a body']!)
    expect(told(await replayTape(tape, ways['fetch with a body']!))).toEqual([])
    instrument()
    expect((await replayTape(tape, ways['fetch with a body']!)).drift.map(({ path }) => path)).toContain('x-tenant-id')
  })
})
