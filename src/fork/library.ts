import { readTape, type Tape } from '../tape/index.ts'
import { forkTape } from './fork.ts'
import type { PlannedChange, Decision, ForkOptions, ForkPlan, ForkResult, Tail } from './plan.ts'
import type { Json, Step } from '../tape/index.ts'

/** How a run is forked from code. */
export interface Forking<T> extends ForkOptions {
  /** Called with the recorded input. Another function than the recorded one is another policy. */
  readonly agent: (input: unknown) => T | PromiseLike<T>
  /** 1-based: the step the fork is about. With `change` it gets another answer; without, it is the first one that is asked again. */
  readonly step?: number
  /** Steps 1 to `keep` are as recorded. Default: up to `step`, or up to the last step with a change; else none. */
  readonly keep?: number
  /** What `step` is answered. */
  readonly change?: StepChange
  /** Any changes, each with its place. */
  readonly changes?: readonly PlannedChange[]
  /** Default: the tape itself, offline. */
  readonly tail?: Tail
  readonly modes?: ForkPlan['modes']
  readonly seed?: string
  readonly clockOffsetMs?: number
}

/** A change of the step a fork is about. */
export type StepChange =
  | { readonly path: string; readonly value: Json }
  | { readonly rewrite: (step: Step) => Step; readonly always?: boolean }
  | { readonly decide: Decision }

/**
 * Replays a run up to a step, changes something there, and lets the agent run on.
 *
 * Install the replay before the agent is loaded: `await installReplay()`.
 *
 * @param tape - a tape, or its file
 * @example
 * const what = await fork('recordings/golden/refund.tape.jsonl', {
 *   agent: refundAgent,
 *   step: 2,
 *   change: { path: 'result.total', value: 20 },
 * })
 * what.outcome // what the agent comes to when the order cost 20
 * @throws HarvestError as `forkTape`; `HARVEST_TAPE_…` when the file cannot be read
 */
export async function fork<T>(tape: Tape | string, forking: Forking<T>): Promise<ForkResult<T>> {
  const { agent, step, change, changes = [], tail = { from: 'tape' }, modes, seed, clockOffsetMs } = forking
  const all =
    change === undefined
      ? changes
      : [{ ...change, ...(step === undefined ? {} : { step }) } as PlannedChange, ...changes]
  const plan: ForkPlan = {
    keep: forking.keep ?? keptBy(step, all),
    changes: all,
    tail,
    ...(modes === undefined ? {} : { modes }),
    ...(seed === undefined ? {} : { seed }),
    ...(clockOffsetMs === undefined ? {} : { clockOffsetMs }),
  }
  return forkTape(typeof tape === 'string' ? readTape(tape) : tape, agent, plan, forking)
}

/** Up to the last step with a change; a step without one is asked again. */
function keptBy(step: number | undefined, changes: readonly PlannedChange[]): number {
  const changed = changes.flatMap((change) => ('step' in change && change.step !== undefined ? [change.step] : []))
  if (step !== undefined && !changed.includes(step)) return step - 1
  return Math.max(0, ...changed)
}
