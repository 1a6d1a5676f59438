import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { request as undiciRequest } from 'undici'
import { createRecorder, type RecorderOptions, tool } from '../../src/record/index.ts'
import { replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../../src/match/types.ts'
import { readTape, requestBytes, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let isRecording = false
let piece = Promise.withResolvers<void>()
/** Until the server has the first piece of a body, however busy the machine is. A replay has no server, nor real time. */
const arrived = (): Promise<void> | undefined => (isRecording ? piece.promise : undefined)

const server = createServer((request, response) => {
  request.once('data', () => piece.resolve()).on('end', () => response.end('{}'))
})
const http2Server = createHttp2Server()
http2Server.on('stream', (stream) => {
  stream.once('data', () => piece.resolve()).on('end', () => (stream.respond({ ':status': 200 }), stream.end('{}')))
})
http2Server.on('stream', (stream) => stream.on('error', () => undefined))
let base = ''
let base2 = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  await once(http2Server.listen(0, '127.0.0.1'), 'listening')
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  base2 = `http://127.0.0.1:${(http2Server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  http2Server.close()
})

const look = tool('look', async ({ id }: { id: string }) => ({ id, total: 25 }))

const ignored = (): void => undefined
const form = (text: string): FormData => {
  const data = new FormData()
  data.append('text', text)
  return data
}
/** Pieces that come at once, of a stream that has no end. */
const endless = (text: string): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(text)) })

type Send = (text: string) => unknown

const post = (init: (text: string) => RequestInit): Send => {
  return (text) => void fetch(`${base}/webhook`, { method: 'POST', ...init(text) }).catch(ignored)
}

const whole: Readonly<Record<string, Send>> = {
  'fetch, text': post((body) => ({ body })),
  'fetch, form': post((text) => ({ body: form(text) })),
  'fetch, parameters': post((text) => ({ body: new URLSearchParams({ text }) })),
  'fetch, blob': post((text) => ({ body: new Blob([text]) })),
  'fetch, 3 MB': post((text) => ({ body: new Blob([text.repeat(300_000)]) })),
  'fetch, Request': (body) => void fetch(new Request(`${base}/webhook`, { method: 'POST', body })).catch(ignored),
  'fetch, a turn later': (body) =>
    void (async () => {
      await Promise.resolve()
      await fetch(`${base}/webhook`, { method: 'POST', body })
    })().catch(ignored),
  'undici, text': (body) => void undiciRequest(`${base}/webhook`, { method: 'POST', body }).catch(ignored),
  'node:http': (text) => void httpRequest(`${base}/webhook`, { method: 'POST' }).on('error', ignored).end(text),
  'node:http2': (text) => {
    const session = connect(base2).on('error', ignored)
    session.unref()
    session.request({ ':path': '/webhook', ':method': 'POST' }).on('error', ignored).end(text)
  },
}

const begun: Readonly<Record<string, Send>> = {
  fetch: (text) =>
    void fetch(`${base}/upload`, { method: 'POST', body: endless(text), duplex: 'half' } as RequestInit).catch(ignored),
  undici: (text) =>
    void undiciRequest(`${base}/upload`, { method: 'POST', body: endless(text) as never }).catch(ignored),
  'node:http': (text) => {
    const request = httpRequest(`${base}/upload`, { method: 'POST' }).on('error', ignored)
    request.write(text)
    request.flushHeaders()
  },
  'node:http2': (text) => {
    const session = connect(base2).on('error', ignored)
    session.unref()
    session.request({ ':path': '/upload', ':method': 'POST' }).on('error', ignored).write(text)
  },
}

const givenUp: Readonly<Record<string, (text: string) => Promise<void>>> = {
  fetch: async (text) => {
    const abort = new AbortController()
    const { signal } = abort
    const init = { method: 'POST', body: endless(text), duplex: 'half', signal }
    const answer = fetch(`${base}/upload`, init as RequestInit).catch(ignored)
    await arrived()
    await sleep(50)
    abort.abort()
    await answer
  },
  'node:http': async (text) => {
    const request = httpRequest(`${base}/upload`, { method: 'POST' }).on('error', ignored)
    request.write(text)
    await arrived()
    await sleep(50)
    request.destroy()
    await sleep(10)
  },
}

const last =
  (send?: () => unknown): (() => Promise<unknown>) =>
  async () => {
    await look({ id: 'A-17' })
    send?.()
    return { done: true }
  }

const early =
  (send?: () => unknown): (() => Promise<unknown>) =>
  async () => {
    const sent = send?.()
    if (send !== undefined) await arrived()
    await sleep(50)
    await look({ id: 'A-17' })
    await sent
    return { done: true }
  }

async function record(run: () => Promise<unknown>, options: Partial<RecorderOptions> = {}): Promise<Tape> {
  const dir = temporaryFolder('unended')
  const recorder = createRecorder({ dir, ...options })
  piece = Promise.withResolvers()
  isRecording = true
  await recorder.run({ agent: 'desk', id: 'run' }, run)
  isRecording = false
  await new Promise((resolve) => setTimeout(resolve, 30))
  recorder.flush()
  return readTape(join(dir, 'run.tape.jsonl'))
}

const replay = (tape: Tape, run: () => Promise<unknown>): Promise<ReplayResult> =>
  replayTape(tape, run, { late: true, hangMs: 2000 } as ReplayOptions)

const codes = ({ problems }: ReplayResult): readonly string[] => problems.map(({ code }) => code)
const sent = (tape: Tape): readonly unknown[] =>
  tape.events.flatMap((event) =>
    event.kind === 'exchange' ? [[requestBytes(event).toString().slice(0, 300), event.request.open ?? false]] : [],
  )

describe('a request that is made just before the agent returns', () => {
  test.for(Object.entries(whole))('%s: is red where the recording has none, with its line', async ([, send]) => {
    const result = await replay(
      await record(last()),
      last(() => send('hello')),
    )
    expect(codes(result)).toEqual([expect.stringMatching(/^HARVEST_(DIVERGENCE|RUN_OVER)$/)])
    expect(result.problems[0]?.message).toContain('unended.test.ts:')
  })

  test.for(Object.entries(whole))('%s: is recorded with all of its body, and compared', async ([name, send]) => {
    const tape = await record(last(() => send('hello')))
    expect([name, sent(tape)]).toEqual([name, [[expect.stringContaining('hello'), false]]])
    const results = await Promise.all(
      [last(() => send('hello')), last(() => send('other')), last()].map((run) => replay(tape, run)),
    )
    expect(results.map((one) => codes(one).length > 0)).toEqual([false, true, true])
  })
})

describe('a request that begins and does not end', () => {
  const places = { 'before a step': early, 'at the end': last }
  const cases = Object.entries(places).flatMap(([place, at]) =>
    Object.entries(begun).map(([name, send]) => [place, name, at, send] as const),
  )

  test.for(cases)('%s, %s: is red where the recording has none', async ([, , at, send]) => {
    const result = await replay(
      await record(at()),
      at(() => send('half')),
    )
    expect(codes(result)).toEqual([expect.stringMatching(/^HARVEST_(DIVERGENCE|RUN_OVER)$/)])
    expect(result.problems[0]?.message).toContain('unended.test.ts:')
  })

  test.for(cases)('%s, %s: is the recorded one that did not end', async ([place, name, at, send]) => {
    const tape = await record(at(() => send('half')))
    if (place === 'before a step') expect([name, sent(tape)]).toEqual([name, [['half', true]]])
    const results = await Promise.all([at(() => send('half')), at()].map((run) => replay(tape, run)))
    expect(results.map((one) => codes(one).join())).toEqual(['', expect.stringMatching(/^(HARVEST_UNUSED)?$/)])
    if (place === 'before a step')
      expect(
        codes(
          await replay(
            tape,
            at(() => send('whole')),
          ),
        ),
      ).toEqual(expect.arrayContaining(['HARVEST_DIVERGENCE']))
  })

  test.for(Object.entries(givenUp))('and is given up, %s: is red where the recording has none', async ([, send]) => {
    const tape = await record(early(() => send('half')))
    expect(sent(tape)).toEqual([['half', true]])
    expect(
      codes(
        await replay(
          tape,
          early(() => send('half')),
        ),
      ),
    ).toEqual([])
    expect(
      codes(
        await replay(
          await record(early()),
          early(() => send('half')),
        ),
      ),
    ).toEqual(['HARVEST_DIVERGENCE'])
  })
})
