import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { refuseUnfinished } from '../../src/recordings/promotable.ts'
import {
  type ExchangeEvent,
  parseTape,
  readTape,
  redactorFlag,
  serializeTape,
  type Tape,
} from '../../src/tape/index.ts'

const packers: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => zlib.gzipSync(bytes),
  'x-gzip': (bytes) => Buffer.concat([zlib.gzipSync(bytes.subarray(0, 9)), zlib.gzipSync(bytes.subarray(9))]),
  deflate: (bytes) => zlib.deflateSync(bytes),
  'deflate, raw': (bytes) => zlib.deflateRawSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes),
  zstd: (bytes) => zlib.zstdCompressSync(bytes),
  'gzip, br, zstd': (bytes) => zlib.zstdCompressSync(zlib.brotliCompressSync(zlib.gzipSync(bytes))),
}
const codingOf = (name: string): string => name.replace(', raw', '')

const dir = mkdtempSync(join(tmpdir(), 'harvest-compressed-'))
let base = ''
const server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    const name = decodeURIComponent(request.url!.slice(1))
    const pack = packers[name]
    const text = Buffer.from(`{"token":"An5w3rT0k3nOf77Chars","from":"carol@shop.test"}`)
    if (pack === undefined)
      return void response.setHeader('content-encoding', 'lzma').end(text.map((byte) => byte ^ 255))
    response.setHeader('content-encoding', codingOf(name)).end(pack(text))
  })
})
beforeAll(async () => {
  await installReplay()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Node's own client: it sends and gives the bytes as they are. */
function send(path: string, coding: string | undefined, body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const headers = coding === undefined ? {} : { 'content-encoding': coding }
    const request = http.request(`${base}/${encodeURIComponent(path)}`, { method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve(Buffer.concat(pieces)))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

const question = (password: string): Buffer => Buffer.from(JSON.stringify({ password, from: 'alice@shop.test' }))

async function recorded(agent: () => Promise<unknown>, id?: string): Promise<{ tape: Tape; text: string }> {
  const recorder = createRecorder({ dir, onWarning: () => undefined })
  await recorder.run({ agent: 'a', ...(id === undefined ? {} : { id }) }, agent)
  return { tape: readTape(recorder.lastTape!), text: readFileSync(recorder.lastTape!, 'utf8') }
}

const exchangesOf = (tape: Tape): readonly ExchangeEvent[] => tape.events.filter((event) => event.kind === 'exchange')

test('secrets are gone from requests and answers in every coding, and the run replays exactly, packed by another level', async () => {
  const agent = async (level: 'first' | 'again'): Promise<string[]> => {
    const answers: string[] = []
    for (const [name, pack] of Object.entries(packers)) {
      const given = question('Pa55word-of-the-request')
      const packed = level === 'again' && name === 'gzip' ? zlib.gzipSync(given, { level: 1 }) : pack(given)
      const answer = await send(name, codingOf(name), packed)
      answers.push(name === 'gzip' ? zlib.gunzipSync(answer).toString() : String(answer.length > 0))
    }
    return answers
  }
  const { tape, text } = await recorded(() => agent('first'))
  expect(tape.header.flags).toContain(redactorFlag)
  expect(tape.close?.incomplete).toBeUndefined()
  const bodies = exchangesOf(tape).map(({ request }) => request.body)
  expect(new Set(bodies)).toEqual(new Set(['{"password":"redacted-secret-1","from":"redacted-1@email.invalid"}']))
  expect(exchangesOf(tape).map(({ request }) => request.coded)).toEqual([
    ['gzip'],
    ['gzip'],
    ['deflate'],
    ['deflate-raw'],
    ['br'],
    ['zstd'],
    ['zstd', 'br', 'gzip'],
  ])
  for (const secret of ['Pa55word', 'An5w3rT0k3n', 'alice@', 'carol@']) expect(text).not.toContain(secret)
  let heard: readonly string[] = []
  const { problems, comparison } = await replayTape(tape, async () => (heard = await agent('again')))
  expect(problems).toEqual([])
  expect(comparison.identical).toBe(Object.keys(packers).length)
  expect(heard[0]).toBe('{"token":"redacted-secret-2","from":"redacted-2@email.invalid"}')
})

test('a body that cannot be searched is not kept, the tape is no case, and a replay that needs it says so', async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(65 * 1024 * 1024))
  const agents: Readonly<Record<string, () => Promise<unknown>>> = {
    'an answer in a coding nobody knows': () => send('lzma', undefined, question('x')),
    'a request that is not in its coding': () => send('gzip', 'gzip', Buffer.from([1, 2, 3, 255])),
    'a request with bytes behind its end': () =>
      send('gzip', 'gzip', Buffer.concat([zlib.gzipSync('x'), Buffer.from('\0password=Pa55word-behind')])),
    'a request of four codings': () => send('gzip', 'gzip, gzip, gzip, gzip', Buffer.from([1, 2, 3, 255])),
    'a small request that becomes too large': () => send('gzip', 'gzip', bomb),
  }
  for (const [name, agent] of Object.entries(agents)) {
    const { tape, text } = await recorded(agent)
    expect(tape.close?.incomplete, name).toBe('1 body could not be searched for secrets, and is not kept')
    expect(text.length, name).toBeLessThan(4_000)
    expect(() => refuseUnfinished(tape), name).toThrow('--accept-unsearched')
    expect(() => refuseUnfinished(tape, true), name).not.toThrow()
    const { problems } = await replayTape(tape, () => agent().catch(() => undefined))
    expect(
      problems.map(({ code }) => code),
      name,
    ).toContain('HARVEST_BODY_UNSEARCHED')
  }
})

test('a tape of the first finders is replayed by them, whatever those of now find in the live request', async () => {
  const agent = (): Promise<unknown> =>
    send('gzip', undefined, Buffer.from('{"token":"K7fq2Zr9Xv4Tn8Wb","to":"dora@shop.test"}'))
  const { tape, text } = await recorded(agent)
  expect(text).toContain(String.raw`{\"token\":\"redacted-secret-1\",\"to\":\"redacted-1@email.invalid\"}`)
  const body = '{"token":"K7fq2Zr9Xv4Tn8Wb","to":"redacted-1@email.invalid"}'
  const flags = tape.header.flags.filter((flag) => flag !== redactorFlag)
  const madeWith = (given: readonly string[]): Tape => {
    const events = exchangesOf(tape).map((event) => ({ ...event, request: { ...event.request, body } }))
    const { events: _, ...close } = tape.close!
    return parseTape(serializeTape({ ...tape.header, flags: given }, events, close), 'made')
  }
  for (const [made, identical] of [
    [tape, 1],
    [madeWith(flags), 1],
    // The flag alone makes the difference.
    [madeWith([...flags, redactorFlag]), 0],
  ] as const) {
    const { comparison } = await replayTape(made, () => agent().catch(() => undefined))
    expect(comparison.identical).toBe(identical)
  }
})

test('ids, agents and names of files hold no secret, and two ids that differ by one alone stay two', async () => {
  const ids = ['order of anna@shop.test', 'order of bert@shop.test']
  const tapes = []
  for (const id of ids) {
    const recorder = createRecorder({ dir })
    await recorder.run({ agent: 'mail-of-anna@shop.test', id }, async () => 'done')
    tapes.push(recorder.lastTape!)
  }
  expect(new Set(tapes).size).toBe(2)
  for (const file of tapes) {
    expect(basename(file)).not.toMatch(/anna|bert/)
    expect(readFileSync(file, 'utf8')).not.toMatch(/anna|bert/)
    expect(readTape(file).header.agent).toBe('redacted-1@email.invalid')
  }
})
