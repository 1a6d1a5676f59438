import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createRecorder, type RecorderOptions, runSignal } from '../../src/record/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { cutsOf, partialText } from '../../src/tape/partial.ts'
import { inProcess } from '../cli/in-process.ts'

// Sentences of docs/production.md that no other test shows.
let open: ServerResponse | undefined
const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume().on('end', () => {
    if (request.url === '/small') return void response.end('{"status":"sent"}')
    open = response
    if (request.url === '/gzip') response.setHeader('content-encoding', 'gzip')
    response.flushHeaders()
  })
})
let base = ''
beforeAll(async () => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function recording(options: RecorderOptions = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-production-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir, ...options })
  return {
    dir,
    recorder,
    text: () =>
      readdirSync(dir)
        .map((name) => readFileSync(join(dir, name), 'utf8'))
        .join(''),
  }
}

/** What of an answer is on the tape when so much of it has arrived, and in the end. */
async function whileArriving(
  path: string,
  pieces: readonly (string | Buffer)[],
  options?: RecorderOptions,
): Promise<readonly [string, string]> {
  const { recorder, text } = recording(options)
  let early = ''
  await recorder.run({ agent: 'a' }, async () => {
    const { body } = await fetch(base + path)
    const reader = body!.getReader()
    for (const piece of pieces) {
      open!.write(piece)
      await reader.read()
    }
    // At most a second behind.
    for (let turn = 0; turn < 25 && !text().includes('"pieces"'); turn++) await sleep(40)
    early = text()
    open!.end()
    while (!(await reader.read()).done);
  })
  return [early, text()]
}

const words = 'Your order has been found and will be sent tomorrow morning by bicycle. '.repeat(4)

test('an answer that streams is on the tape while it arrives, up to the first secret and without its last words', async () => {
  const [early, whole] = await whileArriving('/', [words, 'Bye for now'])
  expect(early).toContain('Your order has been found')
  expect(early).not.toContain('for now')
  expect(whole).toContain('for now')
  const [before, after] = await whileArriving('/', [
    words,
    words,
    words,
    'Ask ada@shop.example. ',
    'It is late. ',
    words,
  ])
  expect(before).toContain('Your order has been found')
  expect(before).not.toContain('It is late')
  expect(after).toContain('It is late')
  for (const text of [before, after]) expect(text).not.toContain('ada@')
})

test('bodies in a content encoding, and all of a recorder with rules of its own, wait for their end', async () => {
  const packed = gzipSync(words)
  const [early, whole] = await whileArriving('/gzip', [packed.subarray(0, 40), packed.subarray(40)])
  expect(early).not.toContain(packed.subarray(0, 30).toString('base64').slice(0, 16))
  expect(whole).toContain(packed.subarray(0, 30).toString('base64').slice(0, 16))
  const rules = [{ kind: 'ticket', pattern: /KD-\d{8}/g }]
  const [nothing, all] = await whileArriving('/', [words, 'Bye for now'], { redact: { rules } })
  expect(nothing).not.toContain('Your order')
  expect(all).toContain('Your order')
})

test('`onTape` and `lastTape` know kept tapes only, and a run counts once for each of its reasons', async () => {
  const tapes: string[] = []
  const { recorder } = recording({ sample: 0, onTape: (path) => tapes.push(path) })
  recorder.run({ agent: 'a', id: 'dropped' }, () => 1)
  recorder.flush()
  expect([tapes, recorder.lastTape]).toEqual([[], undefined])
  const both = (): unknown =>
    recorder.run({ agent: 'a', id: 'both' }, ({ flag }) => {
      flag('x')
      throw new Error('y')
    })
  expect(both).toThrow('y')
  recorder.run({ agent: 'a', id: 'dropped-too' }, () => 1)
  recorder.flush()
  expect(tapes.map((path) => readTape(path).header.id)).toEqual(['both'])
  expect(recorder.lastTape).toBe(tapes[0])
  expect(recorder.stats).toMatchObject({ runs: 3, kept: 1, because: { flag: 1, error: 1 } })
})

test('`runSignal()` is undefined outside of a run, and that of the handle in one', () => {
  const { recorder } = recording()
  expect(runSignal()).toBeUndefined()
  recorder.run({ agent: 'a' }, ({ signal }) => expect(runSignal()).toBe(signal))
  expect(runSignal()).toBeUndefined()
})

test('what happens outside of a run is on no tape', async () => {
  const { recorder, text } = recording()
  crypto.randomUUID()
  const outside = Date.now()
  recorder.run({ agent: 'a' }, () => 'answered')
  expect(text()).not.toContain(String(outside))
  expect(readTape(recorder.lastTape!).events).toEqual([])
})

test('`VITEST_HARVEST_RECORD=off` turns off the module that records a program, and another word is an error', () => {
  const { dir } = recording()
  const register = fileURLToPath(new URL('../../src/record/register.ts', import.meta.url))
  const run = (word: string): string =>
    execFileSync(process.execPath, ['--import', register, '-e', 'Date.now()'], {
      env: { ...process.env, VITEST_HARVEST_DIR: dir, VITEST_HARVEST_RECORD: word },
      stdio: ['ignore', 'pipe', 'pipe'],
      encoding: 'utf8',
    })
  run('off')
  expect(readdirSync(dir)).toEqual([])
  expect(() => run('of')).toThrow('HARVEST_RECORDER_OPTION')
  run('on')
  expect(readdirSync(dir)).toHaveLength(1)
})

test('a tape with a body that is cut is shown as partial, and of a compressed one size and digest alone are kept', async () => {
  const { recorder, text } = recording({ bodies: { maxMegabytes: 0.01 } })
  // What does not shrink: it is over its cap packed as well.
  const packed = gzipSync(randomBytes(400_000).toString('hex'))
  await recorder.run({ agent: 'a', id: 'cut' }, async () => {
    for (const [path, body] of [
      ['/', Buffer.from(words.repeat(2_000))],
      ['/gzip', packed],
    ] as const) {
      const response = await fetch(base + path)
      open!.end(body)
      await response.arrayBuffer()
    }
  })
  const tape = readTape(recorder.lastTape!)
  const shown = await inProcess(['show', recorder.lastTape!])
  expect(shown.stdout.replace(/\s+/g, ' ')).toContain(partialText(cutsOf(tape)))
  const [, exchange] = tape.events.filter((event) => event.kind === 'exchange')
  expect(exchange?.response).toMatchObject({ chunks: [], whole: { size: packed.length } })
  expect(text()).not.toContain(packed.subarray(0, 30).toString('base64').slice(0, 16))
})

test('a recorder made late records the same as one that was there first', async () => {
  const index = JSON.stringify(new URL('../../src/record/index.ts', import.meta.url).href)
  const events = async (early: boolean): Promise<unknown> => {
    const { dir } = recording()
    const make = `const { createRecorder } = await import(${index}); const recorder = createRecorder({ dir: process.argv[1] })`
    const load = `const http = await import('node:http'); const asked = globalThis.fetch`
    const run = `await recorder.run({ agent: 'a', id: 'r' }, async () => {
      await (await asked('${base}/small')).text()
      await new Promise((done) => http.get('${base}/small', (response) => response.resume().on('end', done)))
      return crypto.randomUUID().length + (Date.now() > 0)
    })`
    const lines = early ? [make, load, run] : [load, make, run]
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', lines.join('\n'), dir])
    const tape = readTape(join(dir, 'r.tape.jsonl'))
    return tape.events.map((event) =>
      event.kind === 'exchange'
        ? [
            event.via,
            event.method,
            event.url,
            event.request,
            event.response?.status,
            event.response?.chunks.map((one) => one[2]),
          ]
        : event.kind === 'draws'
          ? event.draws.map(([kind]) => kind)
          : event.kind,
    )
  }
  const [first, late] = await Promise.all([events(true), events(false)])
  expect(late).toEqual(first)
  expect(first).toHaveLength(3)
})
