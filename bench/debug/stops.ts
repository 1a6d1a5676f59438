import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { DebugChild, type Launch } from '../../src/debug/code/child.ts'
import { type DebugStep, debugSteps } from '../../src/debug/steps.ts'
import { CodeSession } from '../../src/debug/index.ts'
import { readTape } from '../../src/tape/index.ts'
import type { Recorded, RecordJob } from '../../test/clients/record.child.ts'

/** A recorded agent, its steps, and how its process is started. */
export interface RecordedAgent {
  readonly name: string
  readonly steps: readonly DebugStep[]
  readonly launch: Launch
}

/** What became of one stop. */
export interface StopRow {
  readonly agent: string
  readonly step: number
  /** `file:line function`; absent: no code stood still. */
  readonly at?: string
  /** Why no code stood still. */
  readonly none?: string
  readonly ms: number
  /** Comparison of the replay after it went on to its end. */
  readonly comparison: string
  readonly problems: readonly string[]
}

/** Records agents that use real SDKs against the provider on this machine. */
export async function recordAgents(names: readonly string[]): Promise<readonly RecordedAgent[]> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-stops-'))
  const recorded = await withProvider(async ({ base, h2base, tlsbase, tlsh2base }) => {
    const job: RecordJob = { dir, names, addresses: { base, h2base, tlsbase, tlsh2base } }
    return (await runInChild(
      new URL('../../test/clients/record.child.ts', import.meta.url),
      job,
    )) as readonly Recorded[]
  })
  return recorded.map(({ name, tape = '', failed }) => {
    if (failed !== undefined) throw new Error(`${name}: ${failed}`)
    return { name, steps: debugSteps(readTape(tape)), launch: launcher(tape, name) }
  })
}

const program = fileURLToPath(new URL('../../src/cli/debug-agent.ts', import.meta.url))
const agents = fileURLToPath(new URL('./sdk-agent.ts', import.meta.url))

/** Starts an agent of `fixtures/agents` for the debugger. */
function launcher(tape: string, name: string): Launch {
  return (socket) => {
    const given = JSON.stringify({ tape, spec: `${agents}#agent`, options: {}, socket })
    const child = spawn(process.execPath, ['--no-warnings', program], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, VITEST_HARVEST_DEBUG: given, HARVEST_TEST_AGENT: name },
    })
    const failed = new Promise<never>((_, reject) => {
      child.once('close', (code, signal) => reject(new Error(`${name} ended: ${signal ?? code}`)))
    })
    failed.catch(() => {})
    return { stop: () => void child.kill('SIGKILL'), failed }
  }
}

/** Stops an agent at a step as `code` does, and lets it go on to its end. */
export async function stopOnce({ name, steps, launch }: RecordedAgent, number: number): Promise<StopRow> {
  const session = new CodeSession(steps, launch)
  try {
    const begin = performance.now()
    const stop = await session.enter(number)
    const ms = performance.now() - begin
    if ('why' in stop) return { agent: name, step: number, ms, none: stop.why, comparison: '', problems: stop.problems }
    await session.evaluate('1 + 1')
    const { comparison, problems } = await session.runToEnd()
    const at = `${stop.place.file}:${stop.place.line} ${stop.in}`
    return { agent: name, step: number, ms, at, comparison: JSON.stringify(comparison), problems }
  } finally {
    session.close()
  }
}

/** How a replay ends that nobody looks at. */
export async function undisturbed({ launch }: RecordedAgent): Promise<string> {
  const child = await DebugChild.start(launch)
  try {
    const end = await child.finish()
    return 'done' in end ? JSON.stringify(end.done.comparison) : 'did not end'
  } finally {
    child.close()
  }
}
