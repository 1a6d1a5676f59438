// Replays recorded runs, the provider gone, as often as asked for, and says in how many ways they came out.
import { createHash } from 'node:crypto'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import { seamState } from '../../../src/seam/source.ts'
import { readTape, type Tape } from '../../../src/tape/index.ts'
import type { RecordedScenario } from '../scenarios/record.child.ts'
import { type Place, play, type ScenarioInput } from '../scenarios/scenario.ts'
import type { RecordedTime } from './record.child.ts'

export interface ReplayTimesJob {
  readonly recorded: readonly (RecordedTime | RecordedScenario)[]
  readonly times: number
  /** As of a recorder that does not note timers. */
  readonly withoutTimers?: boolean
  /** Holds this process up again and again, for times drawn from this seed: as a machine does that has other work. */
  readonly holdUps?: number
}

export interface ReplayedTime {
  readonly name: string
  /** Every different result with its problems, as JSON, with how often it came. */
  readonly results: Readonly<Record<string, number>>
  /** How many different runs there were: their events with number and time, and what was counted. */
  readonly distinct: number
}

answerParent(async (job: ReplayTimesJob): Promise<readonly ReplayedTime[]> => {
  const { recorded, times, withoutTimers, holdUps } = job
  await installReplay()
  const { timeAgents } = await import('./agents.ts')
  const { scenarios } = await import('../scenarios/index.ts')
  const { paused, placeOf } = await import('./pause.ts')
  const all: ReplayedTime[] = []
  const goOn = holdUps === undefined ? () => undefined : holdUp(holdUps)
  for (const { name, tape: path } of recorded) {
    const agent = timeAgents[name]
    const run = agent ? (place: Place) => agent.run(place, agent.change ?? {}) : scenarios[name]!.run
    const read = readTape(path)
    const { pause } = agent ?? {}
    const withPause = pause ? paused(read, placeOf(read, pause.before, pause.step), pause.ms) : read
    const tape = withoutTimers ? untimed(withPause) : withPause
    const results: Record<string, number> = {}
    const runs = new Set<string>()
    for (let i = 0; i < times; i++) {
      const replay = await replayTape(tape, (input) => play(name, { run }, input as ScenarioInput))
      const { outcome, problems, events, comparison } = replay
      const came = outcome.status === 'returned' ? outcome.value : { replayThrew: String(outcome.error) }
      const result = JSON.stringify([came, problems.map(({ message }) => message)])
      results[result] = (results[result] ?? 0) + 1
      runs.add(
        createHash('sha256')
          .update(JSON.stringify([events, comparison]))
          .digest('hex'),
      )
    }
    all.push({ name, results, distinct: runs.size })
  }
  goOn()
  return all
})

function untimed(tape: Tape): Tape {
  if (!tape.close) return tape
  const { timers: _, ...close } = tape.close
  return { ...tape, close }
}

/** Blocks the process for up to 30 ms, every few ms of real time. */
function holdUp(seed: number): () => void {
  const { uptime, setTimeout: later } = seamState().natives
  let [state, isOver] = [seed, false]
  const chance = (): number => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const stall = (): void => {
    for (const end = uptime() + 30 * chance() ** 2; uptime() < end; );
    if (!isOver) later(stall, 8 * chance())
  }
  stall()
  return () => {
    isOver = true
  }
}
