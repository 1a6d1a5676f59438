// Runs of an agent in a process of its own: node --expose-gc runner.ts HOW PROVIDER FOLDER
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import type { createRecorder, Recorder, RecorderOptions } from '../../src/record/index.ts'
import { draw, sfc32 } from '../../src/prng.ts'
import { supportAgent } from '../record-overhead/agent.ts'

/**
 * `bare` does not load the recorder; `listened` hears the client in handlers that do nothing, `copied` in ones that find
 * the run in its async context and copy its bytes, and nothing else: what any recorder costs; `least` holds what may have to
 * be written and nothing of how: what any recorder costs that judges a run when it is over; `off` is switched off; `left out` decides at the start; `dropped` decides at the end,
 * `watched` with every heuristic about keeping; `kept` writes every run.
 */
export type How = 'bare' | 'listened' | 'copied' | 'least' | 'off' | 'left out' | 'dropped' | 'watched' | 'kept'

/** No recorder is loaded. */
type Without = 'bare' | 'listened' | 'copied' | 'least'

export type Asked =
  | { readonly do: 'runs'; readonly runs: number; readonly concurrent: number }
  | { readonly do: 'pairs'; readonly pairs: number; readonly runs: number }
  | { readonly do: 'read'; readonly url: string }
  | { readonly do: 'settle' }

export interface Told {
  /** Processor time of this deed. */
  readonly cpuMs: number
  /** Highest resident memory while it was done, beyond that before it, in bytes. */
  readonly peak: number
  /** Heap and buffers after collections, in bytes. */
  readonly heap: number
  readonly stats?: Recorder['stats']
  /** Of pairs: the processor time of runs with the recorder, as a multiple of that of runs without. */
  readonly ratios?: readonly number[]
}

const [how = 'bare', provider = '', dir = ''] = process.argv.slice(2) as [How, string, string]
const options: Readonly<Record<Exclude<How, Without>, RecorderOptions>> = {
  off: { enabled: false },
  'left out': { sample: 0, decide: 'start' },
  dropped: { sample: 0 },
  watched: {
    sample: 0,
    keep: { errors: true, timeoutMs: 30_000, outliers: { tokens: 0.99, costUsd: 0.99 }, tools: ['escalate'] },
    prices: { 'invented-1': { input: 1, output: 2 } },
  },
  kept: {},
}
const contexts = new AsyncLocalStorage<unknown[]>()
const recorder = isWithout(how) ? undefined : await made(options[how])
if (how === 'listened') listen(() => undefined)
if (how === 'copied') listenAndCopy()
if (how === 'least') listenAndHold()

function isWithout(one: How): one is Without {
  return one === 'bare' || one === 'listened' || one === 'copied' || one === 'least'
}

/** On the channels on which fetch says what it does. */
function listen(hear: (message: Heard) => void): void {
  const parts = ['create', 'bodyChunkSent', 'bodySent', 'headers', 'bodyChunkReceived', 'trailers', 'error']
  for (const part of parts) subscribe(`undici:request:${part}`, (message) => hear(message as Heard))
}

interface Heard {
  readonly request: object
  readonly chunk?: Uint8Array
}

interface Request {
  readonly method: string
  readonly origin: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: AsyncGenerator<Uint8Array, unknown, undefined>
}

/** What came of one request, with its times, as it came. */
interface Held {
  readonly method: string
  readonly url: string
  readonly headers: readonly string[]
  readonly begunAt: number
  readonly sent: Buffer[]
  readonly got: { readonly at: number; readonly bytes: Buffer }[]
  head?: { readonly at: number; readonly status: number; readonly headers: readonly Buffer[] }
  endedAt?: number
}

/**
 * What has to be there of a run that may be kept: where its requests went and with which headers, what was said before it was
 * sent, what was answered and when, and which reads of the clock were its own.
 */
function listenAndHold(): void {
  const under = new WeakMap<object, Held>()
  const { now } = performance
  const time = (): number => now.call(performance)
  subscribe('undici:request:create', (message) => {
    const { request } = message as { readonly request: Request }
    const run = contexts.getStore()
    if (run === undefined) return
    const { method, origin, path, headers } = request
    const held: Held = {
      method,
      url: `${origin}${path}`,
      headers: headers.slice(),
      begunAt: time(),
      sent: [],
      got: [],
    }
    run.push(held)
    under.set(request, held)
    hearAhead(request.body, held.sent)
  })
  subscribe('undici:request:headers', (message) => {
    const { request, response } = message as {
      readonly request: object
      readonly response: { readonly statusCode: number; readonly headers: readonly Buffer[] }
    }
    const held = under.get(request)
    if (held) held.head = { at: time(), status: response.statusCode, headers: response.headers.slice() }
  })
  subscribe('undici:request:bodyChunkReceived', (message) => {
    const { request, chunk } = message as Required<Heard>
    under.get(request)?.got.push({ at: time(), bytes: Buffer.from(chunk) })
  })
  subscribe('undici:request:trailers', (message) => {
    const { request } = message as Heard
    const held = under.get(request)
    if (held) held.endedAt = time()
    under.delete(request)
  })
  const RealDate = Date
  const realNow = RealDate.now.bind(RealDate)
  const read = (): number => {
    const at = realNow()
    contexts.getStore()?.push(at)
    return at
  }
  globalThis.Date = new Proxy(RealDate, {
    get: (target, key) => (key === 'now' ? read : (Reflect.get(target, key) as unknown)),
  })
}

function hearAhead(body: Request['body'], sent: Buffer[]): void {
  const { next } = body
  const first = next.call(body).then((piece) => {
    if (piece.done !== true) sent.push(Buffer.from(piece.value))
    return piece
  })
  let isAsked = false
  body.next = () => {
    if (isAsked) return next.call(body)
    isAsked = true
    return first
  }
}

function listenAndCopy(): void {
  const runOf = new WeakMap<object, unknown[]>()
  listen(({ request, chunk }) => {
    if (chunk !== undefined) return void runOf.get(request)?.push(Buffer.from(chunk))
    const run = contexts.getStore()
    if (run !== undefined && !runOf.has(request)) runOf.set(request, run)
  })
}

async function made(given: RecorderOptions): Promise<Recorder> {
  const door = (await import(resolve(import.meta.dirname, '../../dist/record/index.js'))) as {
    createRecorder: typeof createRecorder
  }
  return door.createRecorder({ dir, ...given })
}

function run<T>(work: () => Promise<T>): Promise<T> {
  if (how === 'copied' || how === 'least') return contexts.run([], work)
  return recorder === undefined ? work() : recorder.run({ agent: 'support', input: { text: 'Hello.' } }, work)
}

async function runs(count: number, concurrent: number): Promise<void> {
  let begun = 0
  const lane = async (): Promise<void> => {
    while (begun < count) {
      begun++
      await run(() => supportAgent(provider, 'Please refund my order 4711.'))
    }
  }
  await Promise.all(Array.from({ length: concurrent }, lane))
}

/** So many runs with the recorder and so many without, beside each other, in an order of chance. */
async function pairs(count: number, each: number): Promise<readonly number[]> {
  const chance = sfc32()
  const found: number[] = []
  const agent = (): Promise<unknown> => supportAgent(provider, 'Please refund my order 4711.')
  const cpuOf = async (one: () => Promise<unknown>): Promise<number> => {
    const cpu = process.cpuUsage()
    for (let n = 0; n < each; n++) await one()
    const { user, system } = process.cpuUsage(cpu)
    return user + system
  }
  for (let pair = -100; pair < count; pair++) {
    const isFirst = draw(chance) % 2 === 0
    const before = isFirst ? await cpuOf(() => run(agent)) : 0
    const without = await cpuOf(agent)
    const recorded = isFirst ? before : await cpuOf(() => run(agent))
    // The first pairs warm up.
    if (pair >= 0) found.push(recorded / without)
  }
  return found
}

async function read(url: string): Promise<void> {
  const { body } = await fetch(url)
  for await (const chunk of body!) if (chunk.length === 0) throw new Error('an empty piece')
}

function collect(): void {
  ;(globalThis as { gc?: () => void }).gc?.()
}

async function settledHeap(): Promise<number> {
  let heap = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 8; turn++) {
    collect()
    await new Promise((next) => setTimeout(next, 25))
    const { heapUsed, external } = process.memoryUsage()
    heap = Math.min(heap, heapUsed + external)
  }
  return heap
}

async function told(asked: Asked): Promise<Told> {
  const heap = asked.do === 'settle' ? await settledHeap() : 0
  const before = process.memoryUsage.rss()
  let peak = before
  // Looking costs something too: not where the processor is measured.
  const isAlone = asked.do === 'pairs' || (asked.do === 'runs' && asked.concurrent === 1)
  const watch = isAlone ? undefined : setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
  const cpu = process.cpuUsage()
  if (asked.do === 'runs') await runs(asked.runs, asked.concurrent)
  const ratios = asked.do === 'pairs' ? await pairs(asked.pairs, asked.runs) : undefined
  if (asked.do === 'read') await run(() => read(asked.url))
  recorder?.flush()
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(watch)
  peak = Math.max(peak, process.memoryUsage.rss())
  return {
    cpuMs: (user + system) / 1_000,
    peak: peak - before,
    heap,
    ...(ratios && { ratios }),
    ...(recorder && { stats: recorder.stats }),
  }
}

process.on('message', (asked: Asked) => void told(asked).then((answer) => process.send?.(answer)))
process.on('disconnect', () => process.exit())
process.send?.('ready')
