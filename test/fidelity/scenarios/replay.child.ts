// Replays every recorded scenario, the provider gone.
import { reached } from '../../../fixtures/child/reached.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import type { ByteComparison } from '../../../src/match/types.ts'
import { readTape } from '../../../src/tape/index.ts'
import type { RecordedScenario } from './record.child.ts'
import type { ScenarioInput } from './scenario.ts'

export interface ReplayedScenario {
  readonly name: string
  readonly result: unknown
  readonly problems: readonly string[]
  readonly drift: readonly string[]
  readonly comparison: ByteComparison
  readonly reached: Readonly<Record<string, number>>
  readonly durationMs: number
}

answerParent(async (recorded: readonly RecordedScenario[]): Promise<readonly ReplayedScenario[]> => {
  await installReplay()
  const { play, scenarios } = await import('./index.ts')
  const all: ReplayedScenario[] = []
  for (const { name, tape: path } of recorded) {
    const scenario = scenarios[name]!
    const tape = readTape(path)
    for (const type of Object.keys(reached)) delete reached[type]
    const start = performance.now()
    const replay = await replayTape(tape, (input) => play(name, scenario, input as ScenarioInput))
    all.push({
      name,
      result:
        replay.outcome.status === 'returned' ? replay.outcome.value : { replayThrew: String(replay.outcome.error) },
      problems: replay.problems.map(({ message }) => message),
      drift: replay.drift.map(({ class: name, part, words }) => `${name} ${part}: ${words}`),
      comparison: replay.comparison,
      reached: { ...reached },
      durationMs: performance.now() - start,
    })
  }
  return all
})
