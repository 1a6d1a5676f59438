// The service, in a process of its own: node --expose-gc --import production.ts service.ts HOW PROVIDER [FOLDER]
// Each request runs the agent once, recorded as docs/production.md says, or not.
import { randomUUID } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { GCProfiler, getHeapStatistics } from 'node:v8'
import { supportAgent } from './agent.ts'
import { Lines } from './lines.ts'
import { dir, how, provider, recorder } from './production.ts'

/** What the service tells of itself. */
export interface Figures {
  /** Processor time so far, user and system. */
  readonly cpuMs: number
  /** Bytes allocated on the heap since it was asked before. */
  readonly allocated: number
  readonly kept: number
  readonly dropped: number
  readonly failures: number
  /** After a collection; only where it was asked for. */
  readonly settled?: {
    readonly heap: number
    readonly rss: number
    readonly handles: number
    readonly listeners: number
  }
}

type Run = (text: string, base: string) => Promise<{ readonly answer: string }>

const hearing = how === 'armed' ? undefined : recorder
const run: Run =
  how === 'lines'
    ? written
    : hearing === undefined
      ? (text, base) => supportAgent(base, text)
      : (text, base) => hearing.run({ agent: 'support', input: { text } }, () => supportAgent(base, text))

async function written(text: string, base: string): Promise<{ readonly answer: string }> {
  const lines = new Lines(dir, randomUUID())
  const answered = await supportAgent(base, text, lines.say)
  lines.close()
  return answered
}

async function answer(text: string, path: string, response: ServerResponse): Promise<void> {
  const body = JSON.stringify(await run(text, provider + path))
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

const server = createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (piece: string) => {
    text += piece
  })
  request.on('end', () => {
    answer((JSON.parse(text) as { text: string }).text, request.url === '/' ? '' : (request.url ?? ''), response).catch(
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
})
server.keepAliveTimeout = 600_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }))

let collections = new GCProfiler()
collections.start()
let usedBefore = getHeapStatistics().used_heap_size

/** What stood on the heap before each collection and was not left by the one before. */
function allocatedSince(): number {
  const used = getHeapStatistics().used_heap_size
  const { statistics } = collections.stop()
  collections = new GCProfiler()
  collections.start()
  let bytes = 0
  let left = usedBefore
  for (const { beforeGC, afterGC } of statistics) {
    bytes += Math.max(0, beforeGC.heapStatistics.usedHeapSize - left)
    left = afterGC.heapStatistics.usedHeapSize
  }
  usedBefore = used
  return bytes + Math.max(0, used - left)
}

process.on('message', (asked: 'figures' | 'settled') => {
  const { user, system } = process.cpuUsage()
  const { kept = 0, dropped = 0, failures = 0 } = recorder?.stats ?? {}
  const figures = { cpuMs: (user + system) / 1_000, allocated: allocatedSince(), kept, dropped, failures }
  if (asked === 'figures') process.send?.(figures satisfies Figures)
  else void settled().then((now) => process.send?.({ ...figures, settled: now } satisfies Figures))
})
process.on('disconnect', () => process.exit())

/** Buffers go a few collections after the objects that held them. */
async function settled(): Promise<NonNullable<Figures['settled']>> {
  let heap = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 8; turn++) {
    ;(globalThis as { gc?: () => void }).gc?.()
    await new Promise((next) => setTimeout(next, 25))
    const { heapUsed, external } = process.memoryUsage()
    heap = Math.min(heap, heapUsed + external)
  }
  const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0)
  const handles = process.getActiveResourcesInfo().length
  return { heap, rss: process.memoryUsage.rss(), handles, listeners }
}
