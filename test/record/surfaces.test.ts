import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { scan } from '../../src/privacy/index.ts'
import { client, createRecorder, mark, message, tool } from '../../src/record/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { readTape } from '../../src/tape/index.ts'

/** Each is another value, so that none is found because it was met before. */
const secrets: string[] = []
const secret = (): string => {
  const made = `tr33h0use${String(secrets.length).padStart(3, '0')}Zq`
  secrets.push(made)
  return made
}
const inHex = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

/** One secret in each spelling that docs/privacy.md claims. */
const spelled = (): readonly string[] => [
  JSON.stringify({ password: secret() }),
  JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ api_key: secret() }) }) }),
  `{"note":"${inHex(`password=${secret()}`)}"}`,
  `{"password":"${inHex(secret())}"}`,
  JSON.stringify({ x: Buffer.from(JSON.stringify({ password: secret() })).toString('base64') }),
  `q=${encodeURIComponent(JSON.stringify({ password: secret() }))}`,
  `{&quot;password&quot;:&quot;${secret()}&quot;}`,
  JSON.stringify(['x-api-key', secret()]),
  JSON.stringify({ name: 'password', value: secret() }),
  JSON.stringify({ u: `https://ada:${secret()}@shop.example` }).replaceAll('/', '\\/'),
  `tool --token K7fq2Zr9Xv4T${secret()} --fast`,
  `password\u001b[0m: ${secret()}`,
  `DB_PASS=${secret()}`,
]

const dir = mkdtempSync(join(tmpdir(), 'harvest-surfaces-'))
const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' })
const db = new DatabaseSync(':memory:')
beforeAll(async () => {
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      if (String(data) === 'bye') socket.close(1000, `DB_PASS=${secret()}`)
      else socket.send(data, { binary: isBinary })
    })
    for (const text of spelled()) socket.send(text)
    socket.send(Buffer.from(JSON.stringify({ password: secret() })))
  })
  db.exec('create table users (password text, note text, data blob)')
  const insert = db.prepare('insert into users values (?, ?, ?)')
  for (const text of spelled()) insert.run(secret(), text, Buffer.from(JSON.stringify({ password: secret() })))
  if (sockets.address() === null) await once(sockets, 'listening')
})
afterAll(() => {
  sockets.close()
  db.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Says each line again, on stdout and stderr. */
const echo = `for await (const line of require('node:readline').createInterface({ input: process.stdin })) {
  console.log(line); console.error(line); if (line === '"end"') process.exit(0)
}`

async function agent(): Promise<unknown> {
  const socket = new WebSocket(
    `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/?token=K7fq2Zr9Xv4T${secret()}`,
  )
  await once(socket, 'open')
  for (const text of spelled()) socket.send(text)
  socket.send(Buffer.from(JSON.stringify({ password: secret() })))
  socket.send('bye')
  await once(socket, 'close')

  const child = spawn(process.execPath, ['-e', `(async () => {${echo}})()`, '--', '--token', `K7fq2Zr9Xv4T${secret()}`])
  for (const text of spelled()) child.stdin.write(`${JSON.stringify({ type: 'user', text })}\n`)
  child.stdin.write('"end"\n')
  child.stdout.resume()
  child.stderr.resume()
  await once(child, 'close')

  const asked = client(db)
  asked.prepare('select * from users').all()
  asked
    .prepare('insert into users (password, note) values ($password, $note)')
    .run({ $password: secret(), $note: `DB_PASS=${secret()}` })
  asked.exec(`update users set password = '${secret()}'; -- password=${secret()}`)

  const failing = tool('failing', async (_: unknown) => {
    throw Object.assign(new Error(`DB_PASS=${secret()}`), {
      headers: { authorization: `Bearer K7fq2Zr9Xv4T${secret()}` },
      cause: new Error(`https://ada:${secret()}@shop.example`),
    })
  })
  await failing({ password: secret(), all: spelled() }).catch(() => undefined)
  const giving = tool('giving', async (_: unknown) => ({
    map: new Map<string, unknown>([
      ['password', secret()],
      [`DB_PASS=${secret()}`, new Set(spelled())],
    ]),
    bytes: Buffer.from(JSON.stringify({ password: secret() })),
    headers: new Headers({ authorization: `Bearer K7fq2Zr9Xv4T${secret()}` }),
    url: new URL(`https://ada:${secret()}@shop.example`),
    pattern: new RegExp(`password=${secret()}`),
  }))
  await giving({ 'x-api-key': secret(), all: spelled() })
  const streaming = tool('streaming', async function* (_: unknown) {
    yield* spelled()
  })
  for await (const piece of streaming({ all: spelled() })) expect(piece).not.toBe('')
  mark(`paid DB_PASS=${secret()}`, { all: spelled() })
  message('desk', `clerk DB_PASS=${secret()}`, { all: spelled() })
  return { all: spelled(), password: secret() }
}

test('frames, lines of children, rows and parameters, tools, marks and attributes leave no secret on a tape, however it is spelled', async () => {
  const recorder = createRecorder({ dir, onWarning: () => undefined })
  const about = {
    agent: `desk DB_PASS=${secret()}`,
    input: { all: spelled(), password: secret() },
    session: `DB_PASS=${secret()}`,
    attributes: { note: `DB_PASS=${secret()}` },
  }
  await recorder.run(about, agent)
  expect(secrets.length).toBeGreaterThan(200)
  const text = readFileSync(recorder.lastTape!, 'utf8')
  expect(readTape(recorder.lastTape!).close?.incomplete).toBeUndefined()
  const left = secrets.filter((one) => readings(text).some((reading) => reading.includes(one)))
  expect(left).toEqual([])
  // What a search finds is what a recorder would have replaced.
  expect(text.split('\n').flatMap((line) => scan(line))).toEqual([])
})

/** What the encodings say that somebody could undo. */
function readings(text: string): readonly string[] {
  const plain = text.replaceAll(/\\+u00([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  const percent = text.replaceAll(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  const words = [...text.matchAll(/[\w+/-]{16,}={0,2}/g)].map(([word]) =>
    Buffer.from(word, 'base64').toString('latin1'),
  )
  return [text, plain, percent, ...words]
}

test('the version of a package leaves no token on a tape, and is as it was otherwise', async () => {
  const token = `ghp_${'a1B2c3D4'.repeat(4)}e5F6`
  const versions = { openai: '5.0.0', password: '1.2.3', ours: 'git+https://github.com/o/r#v1' }
  const packages = { ...versions, lib: `git+https://x-access-token:${token}@github.com/o/r` }
  const recorder = createRecorder({ dir, packages })
  await recorder.run({ agent: 'pinned' }, async () => Promise.resolve(1))
  const tape = readTape(recorder.lastTape!)
  expect(tape.header.pins?.packages).toMatchObject(versions)
  expect(readFileSync(tape.source, 'utf8')).not.toContain(token.slice(4))
})

test('a request leaves no secret on a tape in its method, nor in the name, code, class and fields of its error', async () => {
  const keys = Array.from({ length: 6 }, (_, at) => `ghp_${`a${at}B3dE5f`.repeat(5)}`)
  const [name = '', code = '', field = '', note = '', type = '', method = ''] = keys
  class Refused extends Error {}
  Object.defineProperty(Refused, 'name', { value: type })
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const failing = async (): Promise<void> => {
    const facts = { name: `E ${name}`, code: `C_${code}`, note, [field]: 'x', password: 'lemon tart' }
    const body = new ReadableStream({ pull: (stream) => stream.error(Object.assign(new Refused('failed'), facts)) })
    await fetch(url, { method: 'POST', duplex: 'half', body } as RequestInit).catch(() => undefined)
    await fetch(url, { method }).then((response) => response.text())
  }
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'fails' }, failing)
  server.close()
  server.closeAllConnections()
  const tape = readTape(recorder.lastTape!)
  const events = tape.events.filter((event) => event.kind === 'exchange')
  expect(events.map((event) => [event.method, event.error?.code])).toEqual([
    ['POST', 'C_redacted-github-token-4'],
    ['redacted-github-token-6', undefined],
  ])
  expect(events[0]?.error?.facts).toEqual({
    note: 'redacted-github-token-1',
    'redacted-github-token-2': 'x',
    password: 'redacted-secret-1',
  })
  const text = readFileSync(recorder.lastTape!, 'utf8')
  expect([...keys, 'lemon tart'].filter((one) => text.includes(one))).toEqual([])
  await installReplay()
  expect((await replayTape(tape, failing)).problems).toEqual([])
})

test('the folder of a child leaves no address on a tape, and a replay compares it as it stands there', async () => {
  vi.spyOn(process, 'cwd').mockReturnValue(dir)
  onTestFinished(() => void vi.restoreAllMocks())
  for (const name of ['ada', 'eve']) mkdirSync(join(dir, `of-${name}@shop.test`))
  const child = (name: string) => async (): Promise<void> => {
    const cwd = join(dir, `of-${name}@shop.test`)
    const started = spawn(process.execPath, ['-e', `(async () => {${echo}})()`], { cwd })
    started.stdin.write(`${JSON.stringify({ type: 'user', text: 'hello' })}\n"end"\n`)
    started.stdout.resume()
    await once(started, 'close')
  }
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'starts' }, child('ada'))
  const tape = readTape(recorder.lastTape!)
  expect(tape.events.find((event) => event.kind === 'spawn')?.cwd).toBe('redacted-1@email.invalid')
  await installReplay()
  const same = await replayTape(tape, child('ada'))
  expect([same.problems, same.drift]).toEqual([[], []])
  // As earlier versions wrote it.
  const before = {
    ...tape,
    events: tape.events.map((event) => (event.kind === 'spawn' ? { ...event, cwd: 'of-ada@shop.test' } : event)),
  }
  expect((await replayTape(before, child('ada'))).drift).toEqual([])
  expect((await replayTape(before, child('eve'))).drift).toMatchObject([{ path: 'cwd' }])
})
