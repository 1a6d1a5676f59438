import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runInChild } from '../../fixtures/child/index.ts'
import { type SeenRequest, withProvider } from '../../fixtures/provider/index.ts'
import { type ExchangeEvent, readTape, requestBytes, responseBytes, type Tape } from '../../src/tape/index.ts'
import type { RecordedMany, RecordManyJob } from './concurrent/record.child.ts'
import type { ReplayManyJob } from './concurrent/replay.child.ts'

/** Enough at once to be mixed up; `npm run test:explore` records 200. */
const runs = Number(process.env['HARVEST_RUNS_AT_ONCE'] ?? 30)

/** Requests one run makes: model calls and the tools' own, or MCP messages (handshake included when it is the run's). */
const agents = {
  'openai-chat-json': 4,
  'anthropic-json': 4,
  'ai-sdk-openai': 4,
  'openai-agents': 4,
  langgraph: 4,
  mastra: 4,
  'mcp-http': 6,
  'mcp-stdio-shared': 3,
} as const

test.for(Object.entries(agents))(
  `${runs} runs of %s at once give ${runs} whole tapes, each with its own requests and nobody else's`,
  { tags: 'thorough' },
  async ([name, perRun]) => {
    const dir = await mkdtemp(join(tmpdir(), 'harvest-concurrent-'))
    try {
      const { recorded, seen } = await record(dir, name)
      expect(recorded.failed).toEqual([])
      const tapes = Array.from({ length: runs }, (_, index) => readTape(join(dir, `run-${index}.tape.jsonl`)))
      for (const tape of tapes) {
        expect(tape.close, tape.source).toBeDefined()
        expect(tape.close?.incomplete, tape.source).toBeUndefined()
        const exchanges = exchangesOf(tape)
        expect(
          exchanges.map(({ url }) => url),
          tape.source,
        ).toHaveLength(perRun)
        // Whatever names a run names this one: requests, answers, tool arguments.
        for (const event of exchanges) {
          const text = `${event.url} ${asText(requestBytes(event))} ${asText(responseBytes(event))}`
          expect(
            tagsIn(text).filter((tag) => tag !== tape.header.id),
            `${tape.source} event ${event.n}`,
          ).toEqual([])
        }
      }
      // The provider's own log: the same requests, each on exactly one tape.
      const onTapes = tapes.flatMap((tape) => exchangesOf(tape).map(describe))
      expect(onTapes.sort()).toEqual(seen.sort())
      expect(recorded.stats.failures).toBe(0)
      // And they are tapes one can replay, many at once in one process.
      // A client connected outside any run has its handshake on no tape: an application connects it anew per process.
      if (name !== 'mcp-stdio-shared') expect(await replayAtOnce(dir, name, recorded.results)).toEqual([])
    } finally {
      await rm(dir, { recursive: true, force: true })
    }
  },
)

function record(dir: string, name: string) {
  return withProvider(async (provider) => {
    const { base, h2base, tlsbase, tlsh2base } = provider
    const slow = { base: `${base}/~many~rlat20`, h2base, tlsbase, tlsh2base }
    const stdioLog = join(dir, 'stdio.log')
    const job: RecordManyJob = { dir, name, runs, addresses: slow }
    const script = new URL('./concurrent/record.child.ts', import.meta.url)
    const recorded: RecordedMany = await runInChild(script, job, {
      env: { MCP_STDIO_LOG: stdioLog },
    })
    const lines = (await readFile(stdioLog, 'utf8').catch(() => ''))
      .split('\n')
      .filter((line) => line.includes('[tag:'))
    const seen = name === 'mcp-stdio-shared' ? lines : (await provider.requests()).map(describeSeen)
    return { recorded, seen }
  })
}

/** Forty of the tapes at once, the provider gone; returns what was not as recorded. */
function replayAtOnce(dir: string, name: string, results: RecordedMany['results']): Promise<readonly string[]> {
  const some = Object.fromEntries(Object.entries(results).slice(0, 40))
  const job: ReplayManyJob = { dir, name, results: some }
  return runInChild(new URL('./concurrent/replay.child.ts', import.meta.url), job)
}

function exchangesOf(tape: Tape): readonly ExchangeEvent[] {
  return tape.events.filter((event) => event.kind === 'exchange')
}

function describe(event: ExchangeEvent): string {
  const body = asText(requestBytes(event))
  if (event.via === 'stdio') return body.trimEnd()
  const { pathname, search } = new URL(event.url)
  return `${event.method} ${pathname}${search} ${body}`
}

function describeSeen({ method, url, body }: SeenRequest): string {
  return `${method} ${url} ${body.toString('utf8')}`
}

function asText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}

function tagsIn(text: string): readonly string[] {
  const plain = text.includes('%5B') ? decodeURIComponent(text.replaceAll(/%(?![0-9A-F]{2})/gi, '%25')) : text
  return [...plain.matchAll(/\[tag:([^\]]+)\]/g)].map(([, tag = '']) => tag)
}
