import { execSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { lookup as named } from 'node:dns'
import dns from 'node:dns'
import diagnostics from 'node:diagnostics_channel'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import http2 from 'node:http2'
import inspector from 'node:inspector'
import { type AddressInfo, connect, createServer } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EventSource } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { installReplay, type ReplayOptions, replayTape, type ReplayResult } from '../../src/replay/index.ts'
import { readTape, responseBytes, type Tape } from '../../src/tape/index.ts'

// Sentences of docs/boundary.md on what the seam does not see. A function copied before a replay is installed:
const { lookup: copied } = dns
const EarlyDatabase = DatabaseSync
/** A pool of chance filled while a module was loaded, as in `uuid` before 12. */
const pool = crypto.getRandomValues(new Uint8Array(256))
let drawn = 0

const dir = mkdtempSync(join(tmpdir(), 'harvest-not-seen-'))
const heard: string[] = []
const web = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  heard.push(request.url ?? '')
  if (request.url !== '/events') return void response.end('{}')
  response.setHeader('content-type', 'text/event-stream')
  response.end('data: one\n\ndata: two\n\n')
})
const grpc = http2.createServer()
grpc.on('stream', (stream, headers) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  stream.on('error', () => undefined)
  stream.resume()
  stream.write(frame('first'))
  // A long-lived stream says no more, and does not end.
  if (headers[':path'] === '/shop.Orders/Get') stream.end(frame('second'))
})
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port
beforeAll(async () => {
  await installReplay()
  for (const server of [web, grpc]) await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
})
afterEach(() => {
  vi.unstubAllEnvs()
  heard.length = 0
})
afterAll(() => {
  web.closeAllConnections()
  web.close()
  grpc.close()
  rmSync(dir, { recursive: true, force: true })
})

/** A message as gRPC frames it. */
function frame(text: string): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(text.length, 1)
  return Buffer.concat([head, Buffer.from(text)])
}

type Agent = () => Promise<unknown>
let recordings = 0
async function recorded(agent: Agent): Promise<Tape> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'a', id: `run-${++recordings}` }, agent)
  return readTape(recorder.lastTape!)
}
const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? String(error)
const valueOf = ({ outcome }: Pick<ReplayResult, 'outcome'>): unknown => (outcome as { value?: unknown }).value

describe('while recording', () => {
  test('what Node announces nothing of is not seen', async () => {
    const file = join(dir, 'written.txt')
    const tape = await recorded(async () => {
      spawnSync(process.execPath, ['--version'])
      execSync('true')
      const server = createServer().listen(0, '127.0.0.1')
      await once(server, 'listening')
      server.close()
      process.kill(process.pid, 0)
      new inspector.Session().connect()
      writeFileSync(file, 'x')
      new DatabaseSync(':memory:').exec('select 1')
      return readFileSync(file, 'utf8')
    })
    expect(tape.close).toMatchObject({ outcome: { status: 'returned' } })
    expect([tape.close?.unrecorded, tape.close?.incomplete, tape.events.length]).toEqual([undefined, undefined, 0])
  })
})

describe('in a replay', () => {
  test('what is read past the seam is read for real', async () => {
    const file = join(dir, 'read.txt')
    const clocks = (): unknown[] => [
      new Intl.DateTimeFormat('en', { timeStyle: 'long', dateStyle: 'long' }).format(),
      process.uptime(),
      process.hrtime.bigint(),
      process.hrtime()[0],
      new DatabaseSync(':memory:').prepare("select unixepoch('subsec') as now").get()?.['now'],
    ]
    const agent: Agent = async () => [process.env['SHOP'], readFileSync(file, 'utf8'), Date.now(), ...clocks()]
    vi.stubEnv('SHOP', 'tea')
    writeFileSync(file, 'before')
    const tape = await recorded(agent)
    vi.stubEnv('SHOP', 'coffee')
    writeFileSync(file, 'after')
    const result = await replayTape(tape, agent)
    expect(codes(result)).toEqual([])
    const before = (tape.close!.outcome as unknown as { value: unknown[] }).value
    const [shop, text, now, local, up, ticks, , sqlite] = valueOf(result) as [string, string, ...(number & string)[]]
    expect([shop, text]).toEqual(['coffee', 'after'])
    // The clock that is recorded is the recorded one; all others went on.
    expect(now).toBe(before[2])
    expect([up! > Number(before[4]), BigInt(ticks!) > BigInt(JSON.stringify(before[5]).replace(/\D/g, ''))]).toEqual([
      true,
      true,
    ])
    expect(Number(sqlite)).toBeGreaterThan(Number(before[7]))
    expect(typeof local).toBe('string')
  })

  test('a pool of chance that was filled at import gives other values, and what is drawn in the run the recorded ones', async () => {
    const agent: Agent = async () => [pool[drawn++], pool[drawn++], pool[drawn++], pool[drawn++], crypto.randomUUID()]
    const tape = await recorded(agent)
    const before = (tape.close!.outcome as unknown as { value: unknown[] }).value
    const after = valueOf(await replayTape(tape, agent)) as unknown[]
    expect(after.slice(0, 4)).not.toEqual(before.slice(0, 4))
    expect(after[4]).toBe(before[4])
  })

  test('a function of Node that was copied before it is not covered, a named import is', async () => {
    const tape = await recorded(async () => undefined)
    expect(codes(await replayTape(tape, () => promisify(copied)('localhost')))).toEqual([])
    expect(codes(await replayTape(tape, () => promisify(named)('localhost')))).toEqual(['HARVEST_ESCAPE'])
  })

  test("a handle of Node's own that its modules do not hand out is not covered", async () => {
    const file = join(dir, 'handle')
    const agent: Agent = async () => {
      const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): { _handle?: object }[] }
      const pipe = handles.call(process).find(({ _handle: own }) => own?.constructor.name === 'Pipe')?._handle
      const Pipe = pipe?.constructor as new (kind: number) => { bind(path: string): number; close(): void }
      const one = new Pipe(1)
      expect(one.bind(file)).toBe(0)
      one.close()
    }
    const { escapes, problems, listed } = await replayTape(await recorded(async () => undefined), agent)
    expect({ escapes, problems, listed }).toEqual({ escapes: [], problems: [], listed: [] })
  })

  test('what is refused makes it red, unless `allow` has it', async () => {
    const tape = await recorded(async () => undefined)
    const agent: Agent = async () => {
      const server = createServer().listen(0)
      await once(server, 'listening')
      server.close()
    }
    expect(codes(await replayTape(tape, agent))).toEqual(['HARVEST_ESCAPE'])
    expect(codes(await replayTape(tape, agent, { allow: ['listen *:0'] } as ReplayOptions))).toEqual([])
  })

  test('a database whose class was bound before the replay is told at its first statement', async () => {
    const file = join(dir, 'early.db')
    const { listed } = await replayTape(await recorded(async () => undefined), () =>
      new EarlyDatabase(file).exec('create table t(a)'),
    )
    expect(listed).toMatchObject([{ kind: 'write', by: 'node:sqlite', target: file }])
  })

  test('what Node calls back from nowhere is refused while a replay is under way, and not after it', async () => {
    const tape = await recorded(async () => undefined)
    const channel = diagnostics.channel('harvest-called-back')
    const publishing = setInterval(() => channel.publish({}), 1)
    const said: string[] = []
    const agent: Agent = () =>
      new Promise<void>((done) => {
        channel.subscribe(() => {
          try {
            execSync('true')
            said.push('ran')
          } catch (error) {
            said.push(codeOf(error))
          }
          done()
        })
      })
    const result = await replayTape(tape, agent)
    clearInterval(publishing)
    expect(codes(result)).toContain('HARVEST_ESCAPE')
    expect(said[0]).toBe('HARVEST_ESCAPE')
    channel.publish({})
    expect(said.at(-1)).toBe('ran')
  })

  test('a listener that an agent gives the process keeps its run, and can be taken away', async () => {
    const tape = await recorded(async () => undefined)
    const said: string[] = []
    const listener = (): void => {
      try {
        execSync('true')
        said.push('ran')
      } catch (error) {
        said.push(codeOf(error))
      }
    }
    const events = process as NodeJS.EventEmitter
    const result = await replayTape(tape, async () => {
      events.on('harvest-on', listener).once('harvest-once', listener).prependListener('harvest-gone', listener)
      events.prependOnceListener('harvest-gone', listener).off('harvest-gone', listener).off('harvest-gone', listener)
    })
    expect(codes(result)).toEqual([])
    for (const name of ['on', 'on', 'once', 'once', 'gone']) events.emit(`harvest-${name}`)
    expect(said).toEqual(['HARVEST_RUN_OVER', 'HARVEST_RUN_OVER', 'HARVEST_RUN_OVER'])
    expect(events.listeners('harvest-on')).toEqual([listener])
    events.off('harvest-on', listener)
    expect(events.listenerCount('harvest-on')).toBe(0)
  })

  test('requests of a run that is over come to nothing', async () => {
    const tape = await recorded(async () => undefined)
    let came = 'nothing'
    await replayTape(tape, async () => {
      setImmediate(() => {
        void fetch(`http://127.0.0.1:${portOf(web)}/late`).then(
          () => (came = 'an answer'),
          () => (came = 'an error'),
        )
      })
    })
    for (let turn = 0; turn < 50; turn++) await new Promise((next) => setImmediate(next))
    expect([came, heard]).toEqual(['nothing', []])
  })

  test('an EventSource is HTTP, and is served', async () => {
    const agent: Agent = async () => {
      const source = new EventSource(`http://127.0.0.1:${portOf(web)}/events`)
      const said: string[] = []
      await new Promise<void>((done) => {
        source.addEventListener('message', ({ data }) => said.push(data as string) === 2 && done())
      })
      source.close()
      return said
    }
    const tape = await recorded(agent)
    heard.length = 0
    const result = await replayTape(tape, agent)
    expect([codes(result), valueOf(result), heard]).toEqual([[], ['one', 'two'], []])
  })

  test('an exchange of gRPC is served when it is one request and one answer, and a stream is on the tape as far as it came', async () => {
    const call = (path: string, isWhole: boolean): Agent => {
      return async () => {
        const session = http2.connect(`http://127.0.0.1:${portOf(grpc)}`)
        const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc' })
        stream.end(frame('order A-17'))
        const pieces: Buffer[] = []
        stream.on('data', (piece: Buffer) => pieces.push(piece))
        await once(stream, isWhole ? 'end' : 'data')
        if (isWhole) session.close()
        else session.destroy()
        return Buffer.concat(pieces).toString('latin1')
      }
    }
    const unary = call('/shop.Orders/Get', true)
    const tape = await recorded(unary)
    const result = await replayTape(tape, unary)
    expect([codes(result), valueOf(result)]).toEqual([[], Buffer.concat([frame('first'), frame('second')]).toString()])
    const cut = await recorded(call('/shop.Orders/Watch', false))
    const [exchange] = cut.events.filter((event) => event.kind === 'exchange')
    expect(responseBytes(exchange!)).toEqual(frame('first'))
  })

  test('HTTP/2 on a socket that its client connected itself is listed, and refused in a replay', async () => {
    // As `@grpc/grpc-js` does.
    const agent: Agent = async () => {
      const socket = connect(portOf(grpc), '127.0.0.1')
      await once(socket, 'connect')
      const session = http2.connect(`http://127.0.0.1:${portOf(grpc)}`, { createConnection: () => socket })
      const stream = session.request({ ':method': 'POST', ':path': '/shop.Orders/Get' }).end(frame('order A-17'))
      for await (const piece of stream) expect(piece).toBeInstanceOf(Buffer)
      session.close()
    }
    const tape = await recorded(agent)
    expect(tape.close?.unrecorded).toEqual([`socket 127.0.0.1:${portOf(grpc)}`])
    const { escapes } = await replayTape(tape, agent)
    expect(escapes).toMatchObject([{ kind: 'socket', target: `127.0.0.1:${portOf(grpc)}`, allowed: false }])
  })
})
