// Replays a tape, keeps each burst of answers back for longer than the agent may hang, and says what came of it.
import { refundAgent } from '../../fixtures/debug/refund-agent.ts'
import { installReplay, replayTape } from '../../src/replay/index.ts'
import type { ReplayOptions } from '../../src/match/types.ts'
import { readTape } from '../../src/tape/index.ts'

await installReplay()
const wait = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))
let held = 0
const before = (burst: readonly object[]): Promise<void> | undefined => {
  if (burst.length === 0) return undefined
  held++
  return wait(300)
}
const options = { hangMs: 200, before } as ReplayOptions
const tape = readTape(process.argv[2] ?? '')
const { problems, comparison } = await replayTape(tape, (input) => refundAgent(input as never), options)
const { relaxed, identical, outcomeEqual } = comparison
process.stdout.write(
  JSON.stringify({ held, problems: problems.map(({ message }) => message), relaxed, identical, outcomeEqual }),
)
