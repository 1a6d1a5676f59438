// Replays every tape once, in this one process, the provider gone. Counts what reaches the operating system.
import { reached } from '../../fixtures/child/reached.ts'
import { answerParent } from '../../fixtures/child/answer.ts'
import { loadAgent, type AgentInput } from '../../fixtures/agents/index.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import { confine } from '../../src/seam/intercept/index.ts'
import type { ByteComparison } from '../../src/match/types.ts'
import { readTape } from '../../src/tape/index.ts'

export interface ReplayJob {
  readonly tapes: readonly { readonly name: string; readonly tape: string }[]
}

export interface Replayed {
  readonly name: string
  readonly result?: unknown
  readonly problems: readonly string[]
  readonly drift: readonly string[]
  readonly escapes: number
  readonly comparison?: ByteComparison
  /** Operating-system handles made during this replay. */
  readonly reached: Readonly<Record<string, number>>
  readonly durationMs: number
}

// An error nobody caught belongs to the client being replayed; it must not take the others with it.
const strays: string[] = []
process.on('uncaughtException', (error) => strays.push(`nobody caught: ${error.stack}`))
// A framework in here ends the process when it sees an unhandled rejection.
process.exit = ((code) => strays.push(`something ended the process with ${code}`)) as typeof process.exit

answerParent(async ({ tapes }: ReplayJob): Promise<readonly Replayed[]> => {
  await installReplay()
  // What its flags say: Node refuses, and here it is told.
  if (process.execArgv.includes('--permission') && !confine('strict')) throw new Error('Node does not confine it')
  const all: Replayed[] = []
  for (const { name, tape } of tapes) all.push(await replay(name, tape))
  return all
})

async function replay(name: string, path: string): Promise<Replayed> {
  const tape = readTape(path)
  const agent = await loadAgent(name, tape.header.input as unknown as AgentInput)
  for (const type of Object.keys(reached)) delete reached[type]
  strays.length = 0
  const start = performance.now()
  // With the usual patience: on a busy machine an SDK may compute for seconds between two requests.
  const { outcome, problems, drift, escapes, comparison } = await replayTape(tape, (input) =>
    agent(input as AgentInput),
  )
  return {
    name,
    ...(outcome.status === 'returned' ? { result: outcome.value } : {}),
    problems: [
      ...problems.map(({ message }) => message),
      ...strays,
      ...(outcome.status === 'threw' ? [String((outcome.error as Error).stack)] : []),
    ],
    drift: drift.map(({ class: kind, path: at, recorded, live }) => `${kind} ${at}: ${recorded} → ${live}`),
    escapes: escapes.length,
    comparison,
    reached: { ...reached },
    durationMs: performance.now() - start,
  }
}
