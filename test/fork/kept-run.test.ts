import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { forkTape } from '../../src/fork/index.ts'
import { doAgain, keptRunOf } from '../../src/fork/kept-run.ts'
import { newHeadersKey } from '../../src/fork/sent-headers.ts'
import { givenAgainIn } from '../../src/live/given-again.ts'
import { openBudget } from '../../src/live/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay } from '../../src/replay/index.ts'
import { readTape, type Tape, type TapeEvent, wholeTape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let asked = 0
let id = 'c'
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    // Each second request is turned down, as by a provider that is busy.
    const isBusy = request.headers['x-stainless-lang'] !== undefined && asked++ % 2 === 0
    response.writeHead(isBusy ? 503 : 200, { 'content-type': 'application/json', 'retry-after-ms': '1' })
    const message = { role: 'assistant', content: 'Yes, mail desk@shop.example.' }
    const answer = { id, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    response.end(JSON.stringify(isBusy ? { error: { message: 'busy' } } : answer))
  })
})
beforeAll(async () => {
  await installReplay()
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterAll(() => void server.close())

/** As it comes where a provider is farther away: the client gives the body of an error up before it has it. */
function bodyLater(event: TapeEvent): TapeEvent {
  if (event.kind !== 'exchange' || event.response?.status !== 503) return event
  const later = ([n, at]: readonly [number, number]): [number, number] => [n, at + 0.1]
  const { chunks, end, ...response } = event.response
  return {
    ...event,
    response: {
      ...response,
      chunks: chunks.map(([n, at, bytes]) => [...later([n, at]), bytes] as const),
      ...(end && { end: later(end) }),
    },
  }
}

/** Of the request of a turn, which knows what was answered before. */
type Headers = (turn: number, said: string) => Record<string, string>

/** An agent that asks its model once for each of these, with headers of its own. */
const asking =
  (headersOf: Headers, contents: readonly string[] = ['refund?', 'sure?']) =>
  async (): Promise<unknown> => {
    const said: unknown[] = []
    for (const [turn, content] of contents.entries()) {
      const body = JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content }] })
      const headers = { authorization: 'Bearer sk-one', ...headersOf(turn, JSON.stringify(said)) }
      said.push(await (await fetch(`${origin()}/v1/chat/completions`, { method: 'POST', headers, body })).json())
    }
    return said
  }
const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** A fork of a run with these headers, and what is made of it by an agent with others. */
async function keptWith(headers: Record<string, string> | Headers) {
  const agent = asking(typeof headers === 'function' ? headers : () => headers)
  const folder = temporaryFolder('kept-headers')
  const recorder = createRecorder({ dir: folder, redact: { headers: ['x-region'] } })
  await recorder.run({ agent: 'desk' }, agent)
  const result = await forkTape(readTape(recorder.lastTape!), agent, {
    keep: 0,
    tail: { from: 'live', budget: openBudget({ calls: 5 }) },
  })
  expect(result.problems).toEqual([])
  const run = keptRunOf(result, folder)!
  const again = async (now: Record<string, string> | Headers) =>
    doAgain(run, { folder, load: async () => Promise.resolve(asking(typeof now === 'function' ? now : () => now)) })
  return { run, folder, again }
}

let agents = 0
const same = { replayed: expect.anything() as unknown }

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['that no tape keeps', { 'x-mode': 'a' }, { 'x-mode': 'b' }],
  ['that is not sent any more', { 'x-mode': 'a' }, {}],
  ['that was not sent', {}, { 'x-mode': 'a' }],
  ['whose value is redacted', { 'x-tenant': 'anna@shop.example' }, { 'x-tenant': 'bob@shop.example' }],
])('a kept run is not done again by code that sends another header: one %s', async (_, then, now) => {
  const { run, folder, again } = await keptWith(then)
  expect(await again(then)).toMatchObject(same)
  expect(await again(now)).toEqual({ changedHeaders: Object.keys({ ...then, ...now }) })
  const said = JSON.stringify(run)
  for (const value of Object.values(then)) expect(said).not.toContain(value.length > 1 ? value : `"${value}"`)
  expect(statSync(join(folder, 'headers.key')).mode & 0o777).toBe(0o600)
})

test.each<[string, 'missing' | 'another', (file: string) => void]>([
  ['is gone', 'missing', (file) => rmSync(file)],
  ['was cut off', 'missing', (file) => writeFileSync(file, '')],
  ['is damaged', 'missing', (file) => writeFileSync(file, 'garbage')],
  [
    'is that of other forks',
    'another',
    (file) => writeFileSync(file, readFileSync(join(keyed(), 'headers.key'), 'utf8')),
  ],
])('a kept run whose key of header digests %s is not taken for one that sends other headers', async (_, is, spoil) => {
  const { folder, again } = await keptWith({ 'x-mode': 'a' })
  spoil(join(folder, 'headers.key'))
  for (const mode of ['a', 'b']) expect(await again({ 'x-mode': mode })).toEqual({ headersKey: is })
})

test('a kept run without any header to compare needs no key of digests, and is told from one that sends such a header', async () => {
  const { folder, again } = await keptWith({})
  rmSync(join(folder, 'headers.key'))
  expect(await again({})).toMatchObject(same)
  expect(await again({ 'x-mode': 'a' })).toEqual({ changedHeaders: ['x-mode'] })
})

function keyed(): string {
  const folder = temporaryFolder('kept-headers-2')
  newHeadersKey(folder)
  return folder
}

test.each<[string, Headers]>([
  ['its key', () => ({ authorization: 'Bearer sk-two' })],
  ['what tells of its trace', () => ({ traceparent: `00-${randomBytes(16).toString('hex')}-00f067aa0ba902b7-01` })],
  ['what tells of its client', () => ({ 'user-agent': `desk/${agents++}` })],
  ['what a redacted answer said', (_, said) => ({ 'x-nonce': /[\w-]+@[\w.-]+/.exec(said)?.[0] ?? '' })],
  ['a value that is another one each time', () => ({ 'x-nonce': `${process.hrtime.bigint()}` })],
])('a kept run is done again by code that sends other headers of no meaning: %s', async (_, headers) => {
  const sent: Headers = (...now) => ({ 'x-mode': 'a', ...headers(...now) })
  const { again } = await keptWith((...now) => ({ ...sent(...now), authorization: 'Bearer sk-one' }))
  expect(await again(sent)).toMatchObject(same)
  expect(await again((...now) => ({ ...sent(...now), 'x-mode': 'b' }))).toEqual({ changedHeaders: ['x-mode'] })
})

test('a kept run done again says which headers were not compared', async () => {
  const headers: Headers = () => ({ baggage: 'tenant=a', 'x-route-key': 'eu', 'x-ctx': `a.${process.hrtime.bigint()}` })
  const { again } = await keptWith(headers)
  expect(await again(headers)).toMatchObject({
    notCompared: { unkept: ['authorization', 'baggage', 'x-route-key'], varying: ['x-ctx'] },
  })
})

test('a kept run knows the environment variables whose value is the key of its requests', async () => {
  const [key, user] = ['plain-gateway-pass', 'a-user-of-it']
  for (const [name, value] of Object.entries({ GATEWAY: key, GATEWAY_USER: user, TENANT: 'eu', EMPTY: '' }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const basic = `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`
  for (const authorization of [key, basic, `Bearer ${key}`]) {
    const { run, again } = await keptWith({ authorization, 'x-route-key': 'eu' })
    expect(run.keyVariables).toEqual(['GATEWAY'])
    expect(await again({ authorization, 'x-route-key': 'eu' })).toMatchObject({ keyVariables: ['GATEWAY'] })
    if (!authorization.startsWith('Bearer')) continue
    expect(await again({ authorization: 'Bearer another', 'x-route-key': 'eu' })).toMatchObject({ keyVariables: [] })
  }
})

test('a kept run done again names the environment variables whose value stands in an address or a body, where a tape may hide it', async () => {
  const { again } = await keptWith({ authorization: 'Bearer sk-one' })
  for (const [name, value] of Object.entries({
    BODY_SECRET: 'gpt-x',
    PATH_SECRET: '/v1/chat',
    HEADER_SECRET: 'sk-one',
    UNSAID: 'x y z',
  }))
    vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { saidVariables = [] } = (await again({ authorization: 'Bearer sk-one' })) as {
    saidVariables?: readonly string[]
  }
  expect(saidVariables.filter((name) => /SECRET$|^UNSAID$/.test(name))).toEqual(['BODY_SECRET', 'PATH_SECRET'])
})

test('a kept run is told from one whose requests have swapped their headers', async () => {
  const { again } = await keptWith((turn) => ({ 'x-mode': `${turn}` }))
  expect(await again((turn) => ({ 'x-mode': `${turn}` }))).toMatchObject(same)
  expect(await again((turn) => ({ 'x-mode': `${1 - turn}` }))).toEqual({ changedHeaders: ['x-mode'] })
})

test('a kept run without digests of its headers is not known to be done again', async () => {
  const { run, folder } = await keptWith({ 'x-mode': 'a' })
  const { headers: _, ...earlier } = run
  expect(await doAgain(earlier, { folder, load: async () => Promise.resolve(asking(() => ({ 'x-mode': 'a' }))) })).toBe(
    undefined,
  )
})

test('a kept run whose client tried again after an error of the provider is done again; one that asks otherwise is not', async () => {
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  const agent = (content: string) => async (): Promise<unknown> => {
    const openai = new OpenAI({ apiKey: 'k', baseURL })
    const said: unknown[] = []
    for (let turn = 0; turn < 3; turn++) {
      const messages = [{ role: 'user' as const, content: `${content} ${turn}` }]
      said.push((await openai.chat.completions.create({ model: 'gpt-x', messages })).choices[0]?.message.content)
    }
    return said
  }
  const recorder = createRecorder({ dir: temporaryFolder('kept-run') })
  await recorder.run({ agent: 'desk', id: 'desk' }, agent('refund?'))
  expect(asked).toBe(6)
  const tape = readTape(recorder.lastTape!)
  const folder = temporaryFolder('kept-run-key')
  newHeadersKey(folder)
  const run = { tape: wholeTape({ ...tape, events: tape.events.map(bodyLater) }), hasProblems: false, headers: [] }
  const again = async (content: string) => doAgain(run, { folder, load: async () => Promise.resolve(agent(content)) })
  expect(await again('refund?')).toMatchObject(same)
  expect(await again('pay?')).toEqual({ changedHeaders: [] })
  expect(asked).toBe(6)
})

test.each(['', 'garbage'])('a damaged key of header digests is replaced, and one that is there is kept: %j', (text) => {
  const folder = temporaryFolder('kept-run-empty-key')
  writeFileSync(join(folder, 'headers.key'), text)
  const key = newHeadersKey(folder)
  expect(key).toMatch(/^[\w-]{43}$/)
  expect(newHeadersKey(folder)).toBe(key)
  expect(readdirSync(folder)).toEqual(['headers.key'])
})

test('answers of a kept run that is done again count as given, and a cache that gives them once more is known', async () => {
  onTestFinished(() => void (id = 'c'))
  const agent = asking(() => ({}), ['refund?'])
  const folder = temporaryFolder('kept-answers')
  newHeadersKey(folder)
  const recorder = createRecorder({ dir: folder })
  const runOf = async (answer: string): Promise<Tape> => {
    id = answer
    await recorder.run({ agent: 'desk' }, agent)
    return readTape(recorder.lastTape!)
  }
  const [recorded, kept, other] = Array.from({ length: 3 }, () => `chatcmpl-${randomUUID()}`)
  const before = await runOf(recorded!)
  const run = { tape: wholeTape(await runOf(kept!)), hasProblems: false, headers: [] }
  expect(await doAgain(run, { folder, load: async () => Promise.resolve(agent) })).toMatchObject(same)
  const givenAgain = (tape: Tape) => givenAgainIn(tape.events, before.events)?.id
  expect(givenAgain(await runOf(kept!))).toBe(kept)
  expect(givenAgain(await runOf(other!))).toBeUndefined()
})

test('a kept run of an import is done again, though the import lacks a header that the code sends', async () => {
  const agent = asking(() => ({ accept: 'application/json' }))
  const folder = temporaryFolder('kept-imported')
  const recorder = createRecorder({ dir: folder })
  await recorder.run({ agent: 'desk' }, agent)
  const tape = readTape(recorder.lastTape!)
  const bare = (event: TapeEvent): TapeEvent =>
    event.kind === 'exchange'
      ? {
          ...event,
          request: { ...event.request, headers: event.request.headers.filter(([name]) => name !== 'accept') },
        }
      : event
  const imported = { format: 'vcrpy', grade: 'replayable', source: 'a.yaml', missing: [] } as const
  const parent = { ...tape, header: { ...tape.header, flags: [], imported }, events: tape.events.map(bare) } as Tape
  const result = await forkTape(parent, agent, { keep: 1, tail: { from: 'live', budget: openBudget({ calls: 5 }) } })
  const run = keptRunOf(result, folder)!
  const load = async () => Promise.resolve(agent)
  expect(await doAgain(run, { folder, load, parent })).toMatchObject(same)
  // Of another tape all headers were there.
  expect(await doAgain(run, { folder, load, parent: tape })).toEqual({ changedHeaders: [] })
  const other = async () => Promise.resolve(asking(() => ({ accept: 'text/plain' })))
  expect(await doAgain(run, { folder, load: other, parent })).toEqual({ changedHeaders: [] })
})
