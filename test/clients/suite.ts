import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { clientAgents } from '../../fixtures/agents/index.ts'
import { runInChild } from '../../fixtures/child/index.ts'
import { type SeenRequest, withProvider } from '../../fixtures/provider/index.ts'
import { confinedFlags } from '../../src/seam/intercept/confine.ts'
import { type ExchangeEvent, readTape, requestBytes } from '../../src/tape/index.ts'
import { isBitExact } from './bit-exact.ts'
import type { Recorded, RecordJob } from './record.child.ts'
import type { Replayed, ReplayJob } from './replay.child.ts'

/** What became of one client. */
export interface ClientRow {
  readonly name: string
  readonly requests: number
  readonly replayMs: number
  /** Everything that was not as it should be; empty when it held. */
  readonly failures: readonly string[]
}

/**
 * Records every client in one process while the provider lives, closes the provider, replays every tape in another
 * process and once more in one that Node's permission model confines, and compares: results, request bytes against the provider's own log, receipts, and what reached the system.
 */
export async function runClients(names: readonly string[] = clientAgents): Promise<readonly ClientRow[]> {
  const dir = await mkdtemp(join(tmpdir(), 'harvest-clients-'))
  const stdioLog = join(dir, 'stdio.log')
  try {
    const { recorded, seen } = await record(dir, names, stdioLog)
    const tapes = recorded.flatMap(({ name, tape }) => (tape === undefined ? [] : [{ name, tape }]))
    const job: ReplayJob = { tapes }
    const script = new URL('./replay.child.ts', import.meta.url)
    const replayed: readonly Replayed[] = await runInChild(script, job)
    // Expected calls of fetch are answered above undici; here all of them go through it.
    const env = { VITEST_HARVEST_FETCH: 'undici' }
    const confined: readonly Replayed[] = await runInChild(script, job, { env, flags: confinedFlags('strict') })
    const lines = (await readFile(stdioLog, 'utf8').catch(() => '')).split('\n').filter(Boolean)
    const rows = recorded.map(async (recording): Promise<ClientRow> => {
      const { name } = recording
      const replay = replayed.find((one) => one.name === name)
      const shut = confined.find((one) => one.name === name)
      if (!recording.tape || !replay || !shut)
        return { name, requests: 0, replayMs: 0, failures: [recording.failed ?? 'no tape'] }
      // That the input of a child was ended has no bytes, and no line in the log of the server.
      const onTape = readTape(recording.tape).events.filter(
        (event) => event.kind === 'exchange' && event.method !== 'END',
      ) as readonly ExchangeEvent[]
      const seenOfIt = name === 'mcp-stdio' ? lines : seen.filter(({ token }) => token === name).map(describeSeen)
      return {
        name,
        requests: onTape.length,
        replayMs: replay.durationMs,
        failures: [
          ...compareRequests(onTape.map(describeRecorded), seenOfIt),
          ...compareRuns(recording, replay),
          ...compareRuns(recording, shut).map((failure) => `confined: ${failure}`),
        ],
      }
    })
    return await Promise.all(rows)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
}

function record(dir: string, names: readonly string[], stdioLog: string) {
  return withProvider(async (provider) => {
    const { base, h2base, tlsbase, tlsh2base } = provider
    const job: RecordJob = { dir, names, addresses: { base, h2base, tlsbase, tlsh2base } }
    const script = new URL('./record.child.ts', import.meta.url)
    const recorded: readonly Recorded[] = await runInChild(script, job, { env: { MCP_STDIO_LOG: stdioLog } })
    return { recorded, seen: await provider.requests() }
  })
}

/** A request as one line: method, path and bytes. */
function describeSeen({ method, url, body }: SeenRequest): string {
  return `${method} ${url} ${body.toString('base64')}`
}

function describeRecorded(event: ExchangeEvent): string {
  const body = requestBytes(event)
  if (event.via === 'stdio') return Buffer.from(body).toString('utf8').trimEnd()
  const { pathname, search } = new URL(event.url)
  return `${event.method} ${pathname}${search} ${Buffer.from(body).toString('base64')}`
}

/** Parallel requests may reach the provider in another order than they were made: compared as bags. */
function compareRequests(onTape: readonly string[], seen: readonly string[]): readonly string[] {
  if (isDeepStrictEqual([...onTape].sort(), [...seen].sort())) return seen.length > 0 ? [] : ['nothing was requested']
  return [
    ...seen.filter((one) => !onTape.includes(one)).map((one) => `the provider saw, the tape lacks: ${readable(one)}`),
    ...onTape.filter((one) => !seen.includes(one)).map((one) => `on the tape, never seen: ${readable(one)}`),
    `${onTape.length} exchange(s) on the tape, ${seen.length} request(s) seen`,
  ]
}

function readable(line: string): string {
  const [method, url, body = ''] = line.split(' ')
  return line.startsWith('{') ? line : `${method} ${url} ${Buffer.from(body, 'base64').toString('utf8')}`
}

function compareRuns(recorded: Recorded, replayed: Replayed): readonly string[] {
  const { comparison } = replayed
  const failures = [...replayed.problems, ...replayed.drift.map((line) => `drift: ${line}`)]
  if (!isDeepStrictEqual(replayed.result, recorded.result)) {
    failures.push(`result: ${JSON.stringify(recorded.result)} became ${JSON.stringify(replayed.result)}`)
  }
  if (replayed.escapes > 0) failures.push(`${replayed.escapes} escape(s)`)
  if (Object.keys(replayed.reached).length > 0) failures.push(`reached the system: ${JSON.stringify(replayed.reached)}`)
  if (!comparison?.outcomeEqual) failures.push('the receipt says the outcome differs')
  if (!comparison || !isBitExact(comparison)) failures.push(`receipt: ${JSON.stringify(comparison)}`)
  return failures
}

/** The rows as a table for people. */
export function printRows(rows: readonly ClientRow[]): string {
  const held = rows.filter(({ failures }) => failures.length === 0)
  const lines = rows.map(({ name, requests, replayMs, failures }) => {
    const verdict = failures[0] === undefined ? 'ok' : `FAILED  ${failures[0].split('\n')[0]?.slice(0, 200)}`
    return `${name.padEnd(28)}${String(requests).padStart(3)} requests ${replayMs.toFixed(1).padStart(8)} ms  ${verdict}`
  })
  return [
    ...lines,
    `${held.length} of ${rows.length} clients replayed bit for bit on Node ${process.versions.node}`,
  ].join('\n')
}
