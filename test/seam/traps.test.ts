import diagnostics from 'node:diagnostics_channel'
import http, { request as boundEarly } from 'node:http'
import { type AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { Agent, fetch as undiciFetch, getGlobalDispatcher, Pool, ProxyAgent, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createRecorder } from '../../src/record/index.ts'
import { guardLoading, installReplay, replayTape } from '../../src/replay/index.ts'
import { currentRun } from '../../src/seam/index.ts'
import { observed } from '../../src/seam/observe/observer.ts'
import { type ExchangeEvent, readTape, requestBytes, responseBytes, type Tape } from '../../src/tape/index.ts'
import { chat, tapeOf } from '../replay/tapes.ts'

// Traps found when the seam was designed; those no other suite falls into.
let server: http.Server
let base = ''
const early = new OpenAI({ apiKey: 'k', baseURL: 'https://api.openai.com/v1' })
const capturedFetch = globalThis.fetch

beforeAll(async () => {
  server = http.createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const body: Buffer[] = []
    request.on('data', (chunk: Buffer) => body.push(chunk))
    request.on('end', () => response.end(`${request.url} ${Buffer.concat(body).toString()}`))
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await installReplay()
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

async function record(agent: () => unknown): Promise<Tape> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-traps-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'trap' }, agent)
  return readTape(recorder.lastTape ?? '')
}

const exchanges = ({ events }: Tape): readonly ExchangeEvent[] => events.filter((event) => event.kind === 'exchange')
const get = (url: string): Tape => tapeOf([{ method: 'GET', url, answer: 'from the tape' }])
const codes = (result: { readonly problems: readonly { readonly code: string }[] }) =>
  result.problems.map(({ code }) => code)

describe('clients the replay did not see being made', () => {
  const url = 'https://shop.test/status'
  const ways: Readonly<Record<string, () => Promise<string>>> = {
    'fetch captured before': async () => (await capturedFetch(url)).text(),
    'a dispatcher of its own': async () => (await undiciFetch(url, { dispatcher: new Agent() })).text(),
    'a pool made before': async () => (await pool.request({ path: '/status', method: 'GET' })).body.text(),
    'a request bound early': () =>
      new Promise((resolve, reject) => {
        const call = boundEarly('http://shop.test/status', (response) => {
          response.setEncoding('utf8').on('data', resolve)
        })
        call.on('error', reject).end()
      }),
    'headers as a flat list': () =>
      new Promise((resolve, reject) => {
        const call = http.request(
          'http://shop.test/status',
          { headers: ['host', 'shop.test'] as never },
          (response) => {
            response.setEncoding('utf8').on('data', resolve)
          },
        )
        call.on('error', reject).end()
      }),
  }
  const pool = new Pool('https://shop.test')

  test.for(Object.keys(ways))('%s is served', async (name) => {
    const tape = tapeOf([
      {
        method: 'GET',
        url: /early|flat/.test(name) ? url.replace('https', 'http') : url,
        answer: 'from the tape',
      },
    ])
    const result = await replayTape(tape, ways[name]!)
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: 'from the tape' })
  })

  test('an SDK that captured fetch in its constructor is served', async () => {
    const answer = JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content: 'tea' } }] })
    const result = await replayTape(tapeOf([{ body: chat('hi'), answer }]), async () => {
      const { choices } = await early.chat.completions.create({
        model: 'm-1',
        messages: [{ role: 'user', content: 'hi' }],
      })
      return choices[0]?.message.content
    })
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: 'tea' })
  })

  test('a global dispatcher that userland undici put in later is served', async () => {
    const before = getGlobalDispatcher()
    setGlobalDispatcher(new Agent())
    const results = [
      await replayTape(get(url), async () => (await fetch(url)).text()),
      await replayTape(get(url), async () => (await undiciFetch(url)).text()),
    ]
    setGlobalDispatcher(before)
    expect(results.map(codes)).toEqual([[], []])
  })

  test('what the modules of an agent lay over fetch and node:http is asked in its replays, and not in those of the next agent', async () => {
    const [{ fetch }, { get: httpGet }] = [globalThis, http]
    onTestFinished(() => void Object.assign(http, { get: httpGet }))
    onTestFinished(() => void Object.assign(globalThis, { fetch }))
    const heard: string[] = []
    const load = (name: string) => () => {
      const [before, beforeGet] = [globalThis.fetch, http.get]
      globalThis.fetch = async (...args) => {
        heard.push(`${name} fetch`)
        return before(...args)
      }
      http.get = ((...args: Parameters<typeof http.get>) => {
        heard.push(`${name} get`)
        return beforeGet(...args)
      }) as typeof http.get
      return Promise.resolve(async () => [
        await (await globalThis.fetch(url)).text(),
        await new Promise((resolve) =>
          http.get('http://shop.test/status', (answer) => answer.on('data', resolve)),
        ).then(String),
      ])
    }
    const tape = tapeOf([
      { method: 'GET', url, answer: 'one' },
      { method: 'GET', url: 'http://shop.test/status', answer: 'two' },
    ])
    for (const name of ['first', 'second']) {
      const agent = await guardLoading(load(name), [], undefined, true)
      const result = await replayTape(tape, agent)
      expect(codes(result)).toEqual([])
      expect(result.outcome).toMatchObject({ value: ['one', 'two'] })
    }
    expect(heard).toEqual(['first fetch', 'first get', 'second fetch', 'second get'])
  })

  test('what the modules of an agent lay over fetch is asked in all of its replays where they load only once', async () => {
    const { fetch } = globalThis
    onTestFinished(() => void Object.assign(globalThis, { fetch }))
    let asked = 0
    let isLoaded = false
    const load = () => {
      const before = globalThis.fetch
      if (!isLoaded)
        globalThis.fetch = (...args) => {
          asked++
          return before(...args)
        }
      isLoaded = true
      return Promise.resolve(async () => (await globalThis.fetch(url)).text())
    }
    for (let cases = 1; cases <= 2; cases++) {
      const result = await replayTape(get(url), await guardLoading(load))
      expect([codes(result), result.notCompared, asked]).toEqual([[], [], cases])
    }
  })

  test('what lies over fetch or node:http before a replay, and is no mock, is named where it is not asked', async () => {
    const [{ fetch }, { get: httpGet }] = [globalThis, http]
    onTestFinished(() => void Object.assign(http, { get: httpGet }))
    onTestFinished(() => void Object.assign(globalThis, { fetch }))
    const agent = async () => {
      await new Promise((resolve) =>
        http.get('http://shop.test/status', (answer) => answer.resume().on('end', resolve)),
      )
      return [await (await globalThis.fetch(url)).text(), await (await globalThis.fetch(url)).text()]
    }
    const tape = tapeOf([
      { method: 'GET', url: 'http://shop.test/status', answer: 'zero' },
      { method: 'GET', url, answer: 'one' },
      { method: 'GET', url, answer: 'two' },
    ])
    const named = async () => {
      const result = await replayTape(tape, agent)
      expect(codes(result)).toEqual([])
      return result.notCompared.map(({ path, placeholder }) => [path, placeholder])
    }
    expect(await named()).toEqual([])
    globalThis.fetch = vi.fn<typeof fetch>(fetch)
    expect(await named()).toEqual([])
    globalThis.fetch = (...args) => fetch(...args)
    http.get = ((...args: Parameters<typeof http.get>) => httpGet(...args)) as typeof http.get
    expect(await named()).toEqual([
      ['node:http', 'the function that replaced node:http'],
      ['fetch', 'the function that replaced fetch'],
    ])
    expect((await replayTape(tape, agent, { redacted: 'fail' })).drift).toEqual([])
    const [problem] = (await replayTape(tape, () => globalThis.fetch(`${url}/7`))).problems
    expect(problem?.message).toMatch(/not called +what replaced fetch before this replay/)
    // What was there when an agent was loaded is no part of it.
    const loaded = await guardLoading(async () => agent)
    expect((await replayTape(tape, loaded)).notCompared).toEqual([])
  })

  test('a body that is kept back until the server wants it is sent, on a new connection and on a kept one', async () => {
    const agent = new http.Agent({ keepAlive: true })
    const put = (body: string) =>
      new Promise((resolve, reject) => {
        const headers = { expect: '100-continue' }
        const call = http.request('http://shop.test/put', { method: 'PUT', agent, headers }, (response) => {
          let text = ''
          response
            .setEncoding('utf8')
            .on('data', (piece: string) => (text += piece))
            .on('end', () => resolve(text))
        })
        call.on('error', reject).on('continue', () => call.end(body))
      })
    const bodies = ['{"a":1}', '{"a":2}']
    const tape = tapeOf(bodies.map((body) => ({ method: 'PUT', url: 'http://shop.test/put', body, answer: 'kept' })))
    const result = await replayTape(tape, async () => [await put('{"a":1}'), await put('{"a":2}')], {
      hangMs: 2000,
    } as object)
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: ['kept', 'kept'] })
  })

  test('fake timers of Vitest do not stop a replay', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const result = await replayTape(get(url), async () => (await fetch(url)).text())
    expect(codes(result)).toEqual([])
    expect(result.outcome).toMatchObject({ value: 'from the tape' })
  })

  test('fake microtasks and ticks do not stop a replay, and code outside of it goes on getting them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'Date', 'queueMicrotask'] })
    const { nextTick } = process
    const held = new Set<unknown>()
    // In a child process Vitest refuses to fake it; and a fake one for all would hold back Vitest itself.
    const fake = (work: () => void, ...args: []): void => void (held.has(work) || nextTick(work, ...args))
    process.nextTick = Object.assign(fake, { clock: {} })
    onTestFinished(() => void vi.useRealTimers())
    onTestFinished(() => void (process.nextTick = nextTick))
    const done: string[] = []
    const ask = async (): Promise<string> => {
      await new Promise<void>((next) => queueMicrotask(next))
      await new Promise<void>((next) => process.nextTick(next, held.add(next)))
      return (await fetch(url)).text()
    }
    const byFetch = await replayTape(get(url), ask, { hangMs: 500 } as object)
    const byHttp = await replayTape(get('http://shop.test/status'), ways['a request bound early']!, {
      hangMs: 500,
    } as object)
    queueMicrotask(() => done.push('outside'))
    await Promise.resolve()
    expect([...codes(byFetch), ...codes(byHttp), ...done]).toEqual([])
    expect([byFetch.outcome, byHttp.outcome]).toMatchObject([{ value: 'from the tape' }, { value: 'from the tape' }])
    vi.runAllTicks()
    expect(done).toEqual(['outside'])
  })
})

describe('a recording', () => {
  test('an answer belongs to the run that asked, not to the one that opened the connection', async () => {
    const agent = new Agent({ connections: 1, pipelining: 1 })
    const ask = (name: string) => async () => (await undiciFetch(`${base}/${name}`, { dispatcher: agent })).text()
    const tapes = []
    for (const name of ['R1', 'R2', 'R3', 'R4']) tapes.push(await record(ask(name)))
    await agent.close()
    const all = tapes.map((tape) =>
      exchanges(tape).map((event) => [new URL(event.url).pathname, String(responseBytes(event)).trim()]),
    )
    expect(all).toEqual(['R1', 'R2', 'R3', 'R4'].map((name) => [[`/${name}`, `/${name}`]]))
  })

  test('what it keeps does not change when the memory it came from does', async () => {
    const body = Buffer.from('the body as it was sent')
    const tape = await record(async () => {
      const response = await fetch(`${base}/echo`, { method: 'POST', body })
      body.fill(0)
      await response.text()
    })
    expect(requestBytes(exchanges(tape)[0]!).toString()).toBe('the body as it was sent')
  })

  test('another subscriber that throws, or messages nobody expects, do not harm it', async () => {
    const failures = observed.failures
    const channel = diagnostics.channel('undici:request:create')
    const tape = await record(async () => {
      channel.publish({
        request: Object.defineProperty({}, 'method', {
          get: () => {
            throw new Error('no')
          },
        }),
      })
      diagnostics.channel('http.client.response.finish').publish({})
      await (await fetch(`${base}/still`)).text()
    })
    expect(exchanges(tape)).toHaveLength(1)
    expect(observed.failures).toBe(failures + 1)
    observed.failures = failures
  })

  test('through a proxy, the address is the one asked for, and the tunnel is no exchange', async () => {
    const proxy = http.createServer((request, response) => response.end(`via proxy ${request.url}`))
    proxy.on('connect', (_request, socket) => socket.end('HTTP/1.1 502 no\r\n\r\n'))
    await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready))
    const dispatcher = new ProxyAgent({
      uri: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
      proxyTunnel: false,
    })
    const tunnel = new ProxyAgent(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
    const tape = await record(async () => {
      await (await undiciFetch('http://shop.test/status?x=1', { dispatcher })).text()
      await undiciFetch('https://shop.test/secret', { dispatcher: tunnel }).catch(() => undefined)
    })
    await Promise.all([dispatcher.close(), tunnel.close()])
    proxy.close()
    expect(
      exchanges(tape)
        .map(({ method, url }) => `${method} ${url}`)
        .filter((line) => line.startsWith('CONNECT')),
    ).toEqual([])
    expect(exchanges(tape)[0]?.url).toBe('http://shop.test/status?x=1')
  })

  test('no listener is added to a request or its answer', async () => {
    await record(async () => {
      const bare = await listeners(false)
      expect(await listeners(true)).toEqual(bare)
    })
    async function listeners(inside: boolean): Promise<unknown> {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const make = () => {
        const call = http.get(`${base}/x`, (response) => {
          const counts = [
            call.listenerCount('response'),
            response.listenerCount('data'),
            response.listenerCount('end'),
            response.readableFlowing,
          ]
          response.resume().on('end', () => resolve(counts))
        })
      }
      if (inside) make()
      else (await import('../../src/seam/source.ts')).outsideRuns(make)
      return promise
    }
  })
})

test('a divergence an SDK swallows and tries again is listed once, with the line', async () => {
  const result = await replayTape(tapeOf([{ body: chat('hi') }]), async () => {
    const messages = ['hi', 'are you there?'].map((content) => ({ role: 'user' as const, content }))
    const ask = early.chat.completions.create({ model: 'm-1', messages })
    return ask.catch(() => 'swallowed')
  })
  expect(codes(result)).toEqual(['HARVEST_DIVERGENCE'])
  expect(result.problems[0]?.message).toContain('test/seam/traps.test.ts:')
  expect(result.outcome).toMatchObject({ value: 'swallowed' })
})

test('what an exporter sends from outside any run is on no tape', async () => {
  const tape = await record(async () => {
    const { outsideRuns } = await import('../../src/seam/source.ts')
    expect(currentRun()).toBeDefined()
    await outsideRuns(async () => (await fetch(`${base}/traces`)).text())
  })
  expect(exchanges(tape)).toEqual([])
})
