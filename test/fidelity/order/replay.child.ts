// Replays the recorded runs, the provider gone, and counts those that came out the same.
import { join } from 'node:path'
import type { ArrivalInput } from '../../../fixtures/agents/arrival-order.ts'
import { answerParent } from '../../../fixtures/child/answer.ts'
import { installReplay, replayTape } from '../../../src/replay/index.ts'
import type { ReplayOptions } from '../../../src/match/types.ts'
import { readTape } from '../../../src/tape/index.ts'
import { isBitExact } from '../../clients/bit-exact.ts'
import type { RecordedOrder } from './record.child.ts'

export interface ReplayOrderJob {
  readonly dir: string
  readonly recorded: readonly RecordedOrder[]
  readonly atOnce: number
  /** Turns of the event loop a branch takes after its answer in the replay, at most. Default: as recorded. */
  readonly hops?: number
  /** Whether answers are delivered without their recorded order, to show what the order is worth. Default false. */
  readonly ungated?: boolean
}

export interface ReplayedOrders {
  readonly identical: number
  readonly relaxed: number
  readonly durationMs: number
  /** The first few that were not identical, for people. */
  readonly examples: readonly string[]
}

answerParent(async ({ dir, recorded, atOnce, hops, ungated = false }: ReplayOrderJob): Promise<ReplayedOrders> => {
  await installReplay()
  // Not an option of the public type: nobody but this test may want it.
  const options = { ungated } as ReplayOptions
  const { agent } = await import('../../../fixtures/agents/arrival-order.ts')
  const examples: string[] = []
  let [identical, relaxed, next] = [0, 0, 0]
  const start = performance.now()
  const worker = async () => {
    while (next < recorded.length) {
      const { id, order } = recorded[next++]!
      const tape = readTape(join(dir, `${id}.tape.jsonl`))
      const { outcome, problems, comparison } = await replayTape(
        tape,
        (input) => agent({ ...(input as ArrivalInput), ...(hops === undefined ? {} : { hops }) }),
        options,
      )
      relaxed += comparison.relaxed
      const same =
        outcome.status === 'returned' && outcome.value === order && problems.length === 0 && isBitExact(comparison)
      if (same) identical += 1
      else if (examples.length < 3) {
        const got = outcome.status === 'returned' ? outcome.value : String(outcome.error)
        examples.push(
          `${id}\n  recorded ${order}\n  replayed ${got}\n  ${problems.map(({ message }) => message).join('\n')}`,
        )
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return { identical, relaxed, examples, durationMs: performance.now() - start }
})
