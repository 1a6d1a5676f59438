import type { StepState } from '../match/step.ts'
import { isAction, type StepOrder } from '../playback/order.ts'
import type { Tape } from '../tape/index.ts'

type AnyState = Parameters<StepOrder['isIndependent']>[0]

/** An action that came on one answer when recorded, and comes on another now. */
export interface MovedWait {
  readonly action: AnyState
  readonly recorded: StepState
  readonly live: StepState
}

/**
 * Notices actions of which it does not show that they still wait for an answer.
 *
 * Between two answers an agent is left to become quiet: what it asks for next comes on the answer before, which was asked for on
 * another, and so on. For all of these it waited. Where they lack the answer that an action came on when recorded, two agents
 * look the same: one that waits for both, and one for which that answer was merely there first.
 */
export class MovedWaits {
  readonly found: MovedWait[] = []
  readonly #tape: Tape
  readonly #steps: readonly AnyState[]
  readonly #order: StepOrder
  /** By the number of a step: of those whose answers it came on; absent where it came on something else. */
  readonly #cameOn = new Map<number, readonly number[]>()
  #arrived: readonly Arrival[] | undefined

  constructor(tape: Tape, steps: readonly AnyState[], order: StepOrder) {
    this.#tape = tape
    this.#steps = steps
    this.#order = order
  }

  /**
   * @param heard - steps of which the agent got answers last; absent: something else happened since
   * @param isMoved - answers came out of their recorded order
   */
  begun(action: AnyState, heard: readonly number[] | undefined, isMoved: boolean): void {
    if (heard === undefined) return
    this.#cameOn.set(action.event.n, heard)
    // In their recorded order answers tell no more than when recorded.
    if (!isMoved || action.event.in !== undefined || !isAction(action)) return
    const live = this.#steps.find(({ event }) => event.n === heard.at(-1))
    if (live === undefined) return
    const recorded = this.#recordedOn(action)
    if (recorded === undefined || this.#order.isIndependent(recorded, action)) return
    if (!this.#waitedFor(action.event.n, recorded.event.n)) this.found.push({ action, recorded, live })
  }

  /** Whether the step with this number came on the answer of that one, or on what came on it; or that is not known. */
  #waitedFor(n: number, wanted: number): boolean {
    const seen = new Set([n])
    // Grows while it is gone through.
    for (const one of seen) {
      const on = this.#cameOn.get(one)
      if (on === undefined || on.includes(wanted)) return true
      for (const earlier of on) seen.add(earlier)
    }
    return false
  }

  /** The step whose answer came last before this one was made in the recording, if nothing else came with it or since. */
  #recordedOn({ event }: StepState): AnyState | undefined {
    const arrived = (this.#arrived ??= arrivals(this.#tape, this.#steps))
    const at = arrived.findLastIndex(({ n }) => n < event.n)
    const [last, before] = [arrived[at], arrived[at - 1]]
    const isAlone = before === undefined || before.at !== last?.at || before.of === last.of
    return isAlone ? last?.of : undefined
  }
}

/** A piece of an answer to a step, a timer or what a peer said by itself. */
interface Arrival {
  readonly n: number
  readonly at: number
  readonly of?: AnyState
}

function arrivals({ events, close }: Tape, steps: readonly AnyState[]): readonly Arrival[] {
  const answers = steps.flatMap((of): readonly Arrival[] =>
    of.event.in !== undefined || of.event.kind === 'value'
      ? []
      : of.items.slice(1).map(({ n, at, more = 0 }) => ({ n: n + more, at, of })),
  )
  const timers = (close?.timers ?? []).flatMap(([, , , fired]) => fired.flatMap(([, places]) => places))
  const others = [...timers.map(([n, at]) => ({ n: n - 0.5, at })), ...events.filter(({ kind }) => kind === 'push')]
  return [...answers, ...others.map(({ n, at }) => ({ n, at }))].sort((a, b) => a.n - b.n)
}
