// Runs of an agent in a process of its own: node --expose-gc runner.ts HOW PROVIDER FOLDER
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import type { createRecorder, Recorder, RecorderOptions } from '../../src/record/index.ts'
import { supportAgent } from '../record-overhead/agent.ts'

/**
 * `bare` does not load the recorder; `listened` hears the client in handlers that do nothing, `copied` in ones that find
 * the run in its async context and copy its bytes, and nothing else: what any recorder costs; `off` is switched off; `left out` decides at the start; `dropped` decides at the end,
 * `watched` with every heuristic about keeping; `kept` writes every run.
 */
export type How = 'bare' | 'listened' | 'copied' | 'off' | 'left out' | 'dropped' | 'watched' | 'kept'

/** No recorder is loaded. */
type Without = 'bare' | 'listened' | 'copied'

export type Asked =
  | { readonly do: 'runs'; readonly runs: number; readonly concurrent: number }
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
const contexts = new AsyncLocalStorage<Buffer[]>()
const recorder = isWithout(how) ? undefined : await made(options[how])
if (how === 'listened') listen(() => undefined)
if (how === 'copied') listenAndCopy()

function isWithout(one: How): one is Without {
  return one === 'bare' || one === 'listened' || one === 'copied'
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

function listenAndCopy(): void {
  const runOf = new WeakMap<object, Buffer[]>()
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
  if (how === 'copied') return contexts.run([], work)
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
  const isAlone = asked.do === 'runs' && asked.concurrent === 1
  const watch = isAlone ? undefined : setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 5)
  const cpu = process.cpuUsage()
  if (asked.do === 'runs') await runs(asked.runs, asked.concurrent)
  if (asked.do === 'read') await run(() => read(asked.url))
  recorder?.flush()
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(watch)
  peak = Math.max(peak, process.memoryUsage.rss())
  return { cpuMs: (user + system) / 1_000, peak: peak - before, heap, ...(recorder && { stats: recorder.stats }) }
}

process.on('message', (asked: Asked) => void told(asked).then((answer) => process.send?.(answer)))
process.on('disconnect', () => process.exit())
process.send?.('ready')
