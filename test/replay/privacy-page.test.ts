import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import { client, createRecorder, type RecorderOptions, tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape, responseBytes, type Tape } from '../../src/tape/index.ts'

// Sentences of docs/privacy.md that take a whole recording.
const dir = mkdtempSync(join(tmpdir(), 'harvest-privacy-page-'))
const packed = gzipSync('{"status":"sent"}', { level: 1 })
let pieces = ['tr33house-', 'of-ada']
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/packed') return void response.setHeader('content-encoding', 'gzip').end(packed)
    response.end(request.url === '/piece' ? JSON.stringify({ note: pieces.shift() }) : '{}')
  })
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await installReplay()
})
afterEach(() => vi.unstubAllEnvs())
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

let recordings = 0
async function recorded(agent: () => Promise<unknown>, options: RecorderOptions = {}): Promise<[Tape, string]> {
  const recorder = createRecorder({ dir, ...options })
  await recorder.run({ agent: 'a', id: `run-${++recordings}` }, agent)
  return [readTape(recorder.lastTape!), readFileSync(recorder.lastTape!, 'utf8')]
}
const ask = async (path: string, headers: Readonly<Record<string, string>> = {}): Promise<string> =>
  (await fetch(base + path, { headers })).text()
const headersOf = ({ events }: Tape): Readonly<Record<string, string>>[] =>
  events.flatMap((event) => (event.kind === 'exchange' ? [Object.fromEntries(event.request.headers)] : []))

test('headers of a request are kept as the table says, and all others are dropped and named', async () => {
  const section = readFileSync('docs/privacy.md', 'utf8').split('## Headers of requests')[1]!.split('\n## ')[0]!
  const rows = [...section.matchAll(/^\| (?!Kept)([^|]+) \| ([^|]+) \|/gm)].map(([, names = '', as = '']) => {
    const written = [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    // A pattern is one name here; parts of names are tried as a name that holds them.
    return [written.map((name) => name.replace('*', 'unmodified-since')), as] as const
  })
  const asTheyAre = rows.filter(([, as]) => as === 'they are').flatMap(([names]) => names)
  expect(asTheyAre.length).toBeGreaterThan(15)
  const parts: Readonly<Record<string, string>> = { prompt: 'x-prompt-id', instructions: 'x-instructions-id' }
  const tenants = rows.find(([, as]) => as.includes('placeholders'))![0].map((name) => `x-${name}`)
  const names = [...asTheyAre.map((name) => parts[name] ?? name), ...tenants]
  const values: Readonly<Record<string, string>> = {
    'content-type': 'text/csv',
    accept: 'text/csv',
    range: 'bytes=0-9',
  }
  const sent = Object.fromEntries(names.map((name) => [name, values[name] ?? 'tea']))
  const credentials = { authorization: 'Bearer recorded-1', 'x-api-key': 'recorded-2', cookie: 'sid=recorded-3' }
  const [tape, text] = await recorded(
    () =>
      ask('/a?api_key=recorded-4', {
        ...sent,
        ...credentials,
        'x-tenant-id': 'ada@shop.example',
        'x-order-channel': 'web',
        'x-made-by': 'nobody',
      }),
    { redact: { headers: ['x-order-channel'] } },
  )
  const [kept] = headersOf(tape)
  expect(kept).toMatchObject({
    ...sent,
    authorization: 'Bearer [key-2]',
    'x-api-key': '[key-3]',
    cookie: 'sid=[key-4]',
    'x-tenant-id': 'redacted-1@email.invalid',
    'x-order-channel': 'web',
  })
  expect(tape.events.find((event) => event.kind === 'exchange')?.url).toMatch(/\?api_key=\[key-1\]$/)
  expect(kept).not.toHaveProperty('x-made-by')
  expect(text).toContain('x-made-by')
  for (const secret of ['recorded-', 'nobody', 'ada@']) expect(text).not.toContain(secret)
})

test('keys of a run get numbers as they appear, a signed request that of who signs, and another key all along is not seen', async () => {
  const signed = (who: string, signature: string): Readonly<Record<string, string>> => ({
    authorization: `AWS4-HMAC-SHA256 Credential=${who}/20260101/eu/s3/aws4_request, Signature=${signature}`,
  })
  const agent = (one: string, other: string) => async () => {
    for (const key of [one, other, one]) await ask('/a', { authorization: `Bearer ${key}` })
    for (const signature of ['ab', 'cd']) await ask('/b', signed(`AKIA${other}`, signature))
    await ask('/b', { authorization: `Digest username="${one}", response="${other}"` })
    await ask('/b', { authorization: `Hawk id="${one}", mac="${other}"` })
  }
  const [tape] = await recorded(agent('recorded-a', 'recorded-b'))
  const kept = headersOf(tape).map(({ authorization }) => authorization)
  expect(kept.slice(0, 3)).toEqual(['Bearer [key-1]', 'Bearer [key-2]', 'Bearer [key-1]'])
  expect(kept[3]).toBe(kept[4])
  expect(kept[3]).toMatch(/ \[key-\d\]\/eu\/s3\/aws4_request$/)
  // What answers a challenge is another each time; who signs is the same.
  expect(kept.slice(5).map((one) => /\[key-\d\]/.exec(one ?? '')?.[0])).toEqual(['[key-1]', '[key-1]'])
  const { problems, drift } = await replayTape(tape, agent('another-customer', 'a-third-one'))
  expect([problems, drift.filter((one) => one.class !== 'encoding')]).toEqual([[], []])
})

test('a fingerprint is the HMAC of the value, its kind and the salt of the run, and the tape has the id of the key', async () => {
  const key = 'Zm9yLXRlc3RzLW9ubHktbm90LWEtc2VjcmV0LWtleQ=='
  vi.stubEnv('HARVEST_FINGERPRINT_KEY', key)
  const [tape, text] = await recorded(() => ask('/mail', { 'x-tenant-id': 'anna@shop.example' }))
  const { salt = '', key: id = '' } = tape.header.printed ?? {}
  const mac = createHmac('sha256', key)
    .update(['harvest print 1', salt, 'email', 'anna@shop.example'].join('\0'))
    .digest()
  expect(text).toContain(`"${mac.subarray(0, 96 / 8).toString('base64url')}"`)
  expect(id).toMatch(/^[0-9a-f]{8}$/)
  expect(text).not.toContain(key)
})

test('a compressed answer that hides nothing keeps its bytes', async () => {
  const [tape] = await recorded(() => ask('/packed'))
  const [exchange] = tape.events.filter((event) => event.kind === 'exchange')
  expect(responseBytes(exchange!)).toEqual(packed)
})

test('parameters of a query are found by their name or their column, and values in its text by the name before them', async () => {
  const [, text] = await recorded(async () => {
    using db = new DatabaseSync(':memory:')
    const asked = client(db)
    asked.exec(
      "create table users (name text, password text); insert into users values ('ada', 'from-a-column-1'), ('eve', 'not-read-1')",
    )
    asked.prepare('select * from users where password = :password').all({ password: 'by-its-name-1' })
    asked.prepare('select * from users where password = $password').all({ $password: 'by-its-name-2' })
    asked.prepare("select * from users where password = 'in-the-text-1'").all()
    asked.exec("insert into users (name, password) values ('bob', 'in-the-text-2')")
    asked.prepare("select password from users where name = 'ada'").all()
    asked.prepare('select * from users where password = ?').all('by-its-column-1')
    asked.prepare('update users set password = ?').run('by-its-column-2')
    asked.prepare('insert into users (name, password) values (?, ?)').run('ada', 'by-its-column-3')
    asked.prepare('select * from users where lower(password) = ?').all('in-a-call-1')
  })
  for (const secret of ['by-its-name', 'by-its-column', 'in-the-text']) expect(text).not.toContain(secret)
  expect(text).toContain('in-a-call-1')
  // The insert names no column before its values; the row that is read has one.
  expect(text).toContain('not-read-1')
  expect(text).not.toContain('from-a-column-1')
})

test('pieces of one secret in several answers, or in several pieces of a tool, are not found', async () => {
  const spell = tool('spell', async function* (_: string) {
    yield 'password=tr33'
    yield 'house'
  })
  pieces = ['sk-ant-api03-K7fq2Zr9', 'Xv4Tn8WbJh5gRt7kPm2vQs9d']
  const [, text] = await recorded(async () => {
    await ask('/piece')
    await ask('/piece')
    for await (const _ of spell('x'));
  })
  expect(text).toContain('Xv4Tn8WbJh5gRt7kPm2vQs9d')
  expect(text).toContain('"house"')
})

test('pieces of one secret in several messages of a WebSocket, and the numbers beside a token, are not found', () => {
  const redactor = createRedactor({})
  const message = (delta: string): string =>
    redactor.text(JSON.stringify({ type: 'response.output_text.delta', delta }))
  const messages = [message('sk-ant-api03-K7fq2Zr9'), message('Xv4Tn8WbJh5gRt7kPm2vQs9d')]
  expect(messages.join('')).toContain('Xv4Tn8WbJh5gRt7kPm2vQs9d')
  const events = ['sk-ant-api03-K7fq2Zr9', 'Xv4Tn8WbJh5gRt7kPm2vQs9d'].map((token) => {
    const choice = { delta: { content: token }, logprobs: { content: [{ token, bytes: [...Buffer.from(token)] }] } }
    return `data: ${JSON.stringify({ choices: [choice] })}\n\n`
  })
  const clean = redactor.text(events.join(''))
  expect(clean).not.toContain('Xv4Tn8WbJh5gRt7kPm2vQs9d')
  expect(clean).toContain([...Buffer.from('Xv4Tn8WbJh5gRt7kPm2vQs9d')].join(','))
})
