import { forkTape, type ForkOptions, type ForkResult, stepBehind } from '../fork/index.ts'
import { type Step, stepsOf, type Tape } from '../tape/index.ts'

/** A run of today's code on the recorded answers, as far as it asks what was recorded. */
export interface OfflineRun {
  readonly fork: ForkResult
  /** Steps, from the first one, that it asks for as recorded before it asks for anything else. */
  readonly keep: number
  /** It asks for nothing that the tape cannot answer: this is the whole run, and no model has to be asked. */
  readonly isWhole: boolean
  /** The `n` of the first thing it asks for that is no step of the tape; absent: it asks for no such thing, or for no step. */
  readonly foreignAt?: number
}

type Agent = (input: unknown) => unknown

/** Runs today's code on a tape, where nothing answers a question that was not recorded: free, and the same each time. */
export async function runOffline(tape: Tape, agent: Agent, options: ForkOptions): Promise<OfflineRun> {
  const plan = { keep: 0, kept: 'canonical', chance: 'recorded', tail: { from: 'tape' } } as const
  const fork = await forkTape(tape, agent, plan, options)
  const recorded = new Set<Step>(stepsOf(tape))
  const made = stepsOf(fork.branch.tape)
  const asked = made.map((step) => (recorded.has(step) ? step : stepBehind(step)))
  const foreign = asked.indexOf(undefined)
  const served = new Set(foreign === -1 ? asked : asked.slice(0, foreign))
  const foreignAt = made[foreign]?.n
  return {
    fork,
    keep: leading(tape, served),
    isWhole: foreign === -1 && fork.problems.length === 0,
    ...(foreignAt === undefined ? {} : { foreignAt }),
  }
}

/** What a served call did inside when it was recorded is part of its answer. */
function leading(tape: Tape, served: ReadonlySet<Step | undefined>): number {
  const steps = stepsOf(tape)
  const inside = new Set<number>()
  const first = steps.findIndex((step) => {
    const isThere = served.has(step) || (step.in !== undefined && inside.has(step.in))
    if (isThere && step.kind !== 'exchange') inside.add(step.n)
    return !isThere
  })
  return first === -1 ? steps.length : first
}
