import { forkTape, type Tail } from '../../src/fork/index.ts'
import { openBudget } from '../../src/live/index.ts'
import type { FamilyName } from '../../src/faults/families.ts'
import { ledgerAgent, type LedgerInput, luckOfRun } from '../../src/validation/harness/agent.ts'
import { openStage, plantRun } from '../../src/validation/harness/stage.ts'
import { recorded } from '../../src/validation/harness/world.ts'
import { replayTape } from '../../src/replay/index.ts'
import { responseBytes, stepsOf, type Tape } from '../../src/tape/index.ts'
import { figure, inTurn, ratios, timed } from '../kit/measure.ts'

/** What one fork from the middle of a run takes of the processor, for one plain replay of the same tape. */
export interface Overhead {
  readonly steps: number
  /** Round by round: the tail answered by a script, offline. */
  readonly scripted: readonly number[]
  /** The tail answered by a model on loopback, through the real SDK. The model's work is in it. */
  readonly live: readonly number[]
  readonly replayMs: string
}

const family: FamilyName = 'F7.passing_run'

/** Measures runs of about so many steps. */
export async function overheadOf(steps: number, rounds: number): Promise<Overhead> {
  const stage = await openStage()
  try {
    const { tape, world } = await plantRun(stage, family, 1, steps)
    const agent = ledgerAgent(stage.sdk, world)
    const run = (input: unknown): Promise<unknown> => agent(input as LedgerInput)
    const count = stepsOf(tape).length
    const keep = Math.floor(count / 2)
    const fork = async (tail: Tail): Promise<void> => {
      const { outcome, prefix } = await forkTape(tape, run, { keep, tail })
      if (outcome.status !== 'returned' || !prefix.isExact) throw new Error('the fork is not the run')
    }
    const budget = openBudget({})
    const each = 10
    const often = async (work: () => Promise<void>): Promise<number> => {
      const { cpuMs } = await timed(async () => {
        for (let i = 0; i < each; i++) await luckOfRun.run(recorded, work)
      })
      return cpuMs / each
    }
    const figures = await inTurn(
      {
        replay: () =>
          often(async () => {
            const { comparison } = await replayTape(tape, run)
            if (!comparison.outcomeEqual) throw new Error('the replay is not the run')
          }),
        scripted: () => often(() => fork({ from: 'script', answer: scriptOf(tape, keep) })),
        live: () => often(() => fork({ from: 'live', tools: 'live', budget })),
      },
      rounds,
    )
    return {
      steps: count,
      scripted: ratios(figures, 'scripted', 'replay'),
      live: ratios(figures, 'live', 'replay'),
      replayMs: figure(figures.get('replay') ?? [], 1),
    }
  } finally {
    await stage.close()
  }
}

/** Says the recorded answers in their order. */
function scriptOf(tape: Tape, keep: number): Extract<Tail, { readonly from: 'script' }>['answer'] {
  let next = keep
  return () => {
    const step = stepsOf(tape)[next++]
    if (step === undefined) return undefined
    if (step.kind === 'exchange') return { body: responseBytes(step).toString('utf8') }
    return { result: step.result ?? null }
  }
}
