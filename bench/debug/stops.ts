import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { spawn } from 'node:child_process'
import { runInChild } from '../../fixtures/child/index.ts'
import { withProvider } from '../../fixtures/provider/index.ts'
import { DebugChild, type Launch } from '../../src/debug/code/child.ts'
import { type DebugStep, debugSteps } from '../../src/debug/steps.ts'
import { CodeSession, type CodeStop, type NoStop } from '../../src/debug/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { randomOf } from '../../src/validation/structural/random.ts'
import { type Truth, wrongWith } from './truth.ts'

/** Agents with SDKs of their own, whose steps are stopped at. */
export const agents = [
  'openai-chat-json',
  'openai-chat-json-wrapped',
  'openai-chat-stream',
  'openai-responses-stream',
  'anthropic-json',
  'anthropic-stream',
  'ai-sdk-openai',
  'ai-sdk-openai-wrapped',
  'openai-agents',
  'langgraph',
] as const

/** A recorded agent, its steps, what its code does in a replay, and how its process is started. */
export interface RecordedAgent {
  readonly name: string
  readonly steps: readonly DebugStep[]
  readonly truth: readonly Truth[]
  readonly launch: Launch
}

/** What became of one stop. */
export interface StopRow {
  readonly agent: string
  readonly step: number
  /** `file:line function`; absent: no code stood still. */
  readonly at?: string
  /** What is wrong with it. */
  readonly wrong?: string
  readonly ms: number
  /** Comparison of the replay after it went on to its end. */
  readonly comparison: string
  readonly problems: readonly string[]
  /** The replay went on to another end than one that nobody stopped. */
  readonly isDisturbed: boolean
}

/** Records agents that use real SDKs against the provider on this machine, and replays each while its code tells what it does. */
export async function recordAgents(names: readonly string[]): Promise<readonly RecordedAgent[]> {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-stops-'))
  // Its tapes are read until the process ends.
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  const recorded = await withProvider(async ({ base, h2base, tlsbase, tlsh2base }) => {
    const all: { readonly name: string; readonly tape: string; readonly env: Readonly<Record<string, string>> }[] = []
    for (const name of names) {
      const input = { base, h2base, tlsbase, tlsh2base, tag: name }
      const env = { HARVEST_TEST_AGENT: name, HARVEST_TEST_INPUT: JSON.stringify(input) }
      const job = { dir, name, input }
      all.push({ name, env, tape: await runInChild<object, string>(child('record'), job, { env }) })
    }
    return all
  })
  const agents: RecordedAgent[] = []
  for (const { name, tape, env } of recorded) {
    const { truth } = await runInChild<object, { truth: readonly Truth[] }>(child('truth'), { tape }, { env })
    agents.push({ name, steps: debugSteps(readTape(tape)), truth, launch: launcher(tape, env) })
  }
  return agents
}

function child(name: string): URL {
  return new URL(`./${name}.child.ts`, import.meta.url)
}

const program = fileURLToPath(new URL('../../src/cli/debug-agent.ts', import.meta.url))
const agentFile = fileURLToPath(new URL('./sdk-agent.ts', import.meta.url))

/** Starts an agent of `fixtures/agents` for the debugger. */
function launcher(tape: string, env: Readonly<Record<string, string>>): Launch {
  return (socket) => {
    const given = JSON.stringify({ tape, spec: `${agentFile}#agent`, options: {}, socket })
    const started = spawn(process.execPath, ['--no-warnings', program], {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...env, VITEST_HARVEST_DEBUG: given },
    })
    const failed = new Promise<never>((_, reject) => {
      started.once('close', (code, signal) => reject(new Error(`${tape} ended: ${signal ?? code}`)))
    })
    failed.catch(() => {})
    return { stop: () => void started.kill('SIGKILL'), failed }
  }
}

/** Pairs of an agent and one of its steps, the same ones in every run. */
export function pairs(
  recorded: readonly RecordedAgent[],
  count: number,
): readonly (readonly [RecordedAgent, number])[] {
  const next = randomOf('stops')
  return Array.from({ length: count }, () => {
    const agent = recorded[Math.floor(next() * recorded.length)] as RecordedAgent
    return [agent, 1 + Math.floor(next() * agent.steps.length)] as const
  })
}

/** Agents that are stopped at the same time: their processes are most of the work. */
const sideBySide = 2

/** Stops at each pair, one in ten of an agent with moves on and back. */
export async function stopAll(
  recorded: readonly RecordedAgent[],
  asked: ReturnType<typeof pairs>,
  progress: (line: string) => void,
): Promise<readonly StopRow[]> {
  const rows: StopRow[] = []
  const waiting = [...recorded]
  const work = async (): Promise<void> => {
    for (let agent = waiting.shift(); agent !== undefined; agent = waiting.shift()) {
      const own = asked.flatMap(([one, step]) => (one === agent ? [step] : []))
      const plain = await undisturbed(agent)
      const session = new CodeSession(agent.steps, agent.launch)
      try {
        for (const [index, step] of own.entries()) {
          progress(`${rows.length} of ${asked.length} stops, ${agent.name} at ${step}`)
          const row = await stopOnce(agent, session, step, index % 10 === 0)
          rows.push({ ...row, isDisturbed: row.comparison !== plain || row.problems.length > 0 })
        }
      } finally {
        session.close()
      }
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
  return rows
}

/** Stops an agent at a step as `code` does, looks at it, with `isWalked` also moves on and back, and lets it go on to its end. */
async function stopOnce(
  { name, steps, truth }: RecordedAgent,
  session: CodeSession,
  number: number,
  isWalked: boolean,
): Promise<Omit<StopRow, 'isDisturbed'>> {
  const row = { agent: name, step: number }
  const begin = performance.now()
  const stop = await session.enter(number)
  const ms = performance.now() - begin
  if ('why' in stop) return { ...row, ms, wrong: stop.why, comparison: '', problems: stop.problems }
  const read = async (local: string): Promise<string | undefined> => {
    const came = await session.evaluate(`JSON.stringify(${local})`)
    return 'value' in came && typeof came.value === 'string' ? came.value : undefined
  }
  const wrong = (await wrongWith(stop, steps, truth, read)) ?? (isWalked ? await walk(session, stop) : undefined)
  const at = `${stop.place.file}:${stop.place.line} ${stop.in}`
  const done = { ...row, ms, at, ...(wrong === undefined ? {} : { wrong }) }
  if (!session.isStanding) return { ...done, comparison: 'ended', problems: [] }
  const { comparison, problems } = await session.runToEnd()
  return { ...done, comparison: JSON.stringify(comparison), problems }
}

/** Two statements on, back to the first, and on once more: they have to be the same ones, with the same variables. */
async function walk(session: CodeSession, stop: CodeStop): Promise<string | undefined> {
  const seen: (CodeStop | NoStop)[] = [stop]
  for (let on = 0; on < 2; on++) {
    const moved = await session.move('next')
    // Behind the last statement the run ends: there is nothing to go back from.
    if ('why' in moved) return (await session.enter(stop.step), undefined)
    seen.push(moved)
  }
  const [first, second, third] = seen
  const back = [await session.back(), await session.back()]
  const again = await session.move('next')
  for (const [before, now] of [
    [second, back[0]],
    [first, back[1]],
    [second, again],
  ] as const)
    if (text(before) !== text(now)) return `back: ${text(now).slice(0, 200)} is not ${text(before).slice(0, 200)}`
  return third === undefined ? 'no move' : undefined
}

function text(stop: CodeStop | NoStop | undefined): string {
  return JSON.stringify(stop === undefined || 'why' in stop ? stop : [stop.place, stop.in, stop.locals, stop.moves])
}

/** How a replay ends that nobody looks at. */
async function undisturbed({ launch }: RecordedAgent): Promise<string> {
  const child = await DebugChild.start(launch)
  try {
    const end = await child.finish()
    return 'done' in end ? JSON.stringify(end.done.comparison) : 'did not end'
  } finally {
    child.close()
  }
}
