import { asksModel } from '../providers/index.ts'
import { type ExchangeEvent, type Step, stepsOf, type Tape, type TapeEvent } from '../tape/index.ts'
import type { OfflineRun } from './changed-from.ts'
import type { Oracle } from './oracle.ts'
import { renumbered } from './reference-run.ts'

/**
 * Whether luck has no part in what a fix makes of its run, so that runs asked as recorded need not be made: behind the last step
 * that is replayed the recorded run asks no model, or its calls up to there are bad already; or today's code alone makes the
 * right call in the place of a recorded one.
 */
export function isDecidedByCode(
  tape: Tape,
  { keep, fork, foreignAt }: OfflineRun,
  oracle: Pick<Required<Oracle>, 'gradeCalls' | 'isGoodByCalls'>,
): boolean {
  const asked = stepsOf(tape).slice(keep).find(asksModel)
  if (asked === undefined) return true
  const was = oracle.gradeCalls({ tape, events: tape.events, leftAt: asked.n - 1 })
  if (was !== undefined) return was === 'bad'
  return foreignAt !== undefined && oracle.isGoodByCalls({ tape, events: fork.events, leftAt: foreignAt })
}

/**
 * What a run asked as recorded did, as a run without the fix: up to the first model it asks behind the kept steps it made the
 * recorded calls, and not those of today's code.
 *
 * @param keep - steps that are kept
 * @returns the same events where today's code calls nothing otherwise there
 */
export function withRecordedCalls(
  events: readonly TapeEvent[],
  tape: Pick<Tape, 'events'>,
  keep: number,
): readonly TapeEvent[] {
  const [now, then] = [callsBeforeModel({ events }, keep), callsBeforeModel(tape, keep)]
  if (now === undefined || then === undefined || now.calls.length + then.calls.length === 0) return events
  const [at, was] = [now.asked.n, then.asked.n]
  // Between what is kept and the question there is room for fractions alone.
  const inPlace = (n: number): number => (n < was ? at - (was - n) / (was + 1) : at + n - was)
  const others = new Set<TapeEvent>(now.calls)
  return [...events.filter((event) => !others.has(event)), ...then.calls.map((step) => renumbered(step, inPlace))].sort(
    (a, b) => a.n - b.n,
  )
}

interface CallsBeforeModel {
  readonly asked: ExchangeEvent
  /** With what they did inside. */
  readonly calls: readonly Step[]
}

function callsBeforeModel(run: Pick<Tape, 'events'>, keep: number): CallsBeforeModel | undefined {
  const free = stepsOf(run).slice(keep)
  const first = free.findIndex((step) => asksModel(step) && step.in === undefined)
  const asked = free[first]
  return asked?.kind === 'exchange' ? { asked, calls: free.slice(0, first) } : undefined
}
