import { readModelCall, toolResultsIn } from '../providers/index.ts'
import type { ToolCall } from '../providers/types.ts'
import type { Json, Moment, Step } from '../tape/index.ts'
import { isRead } from './independence.ts'
import { TurnCalls } from './turn-calls.ts'
import type { CallState, ExchangeState, StepState } from '../match/step.ts'

type AnyState = ExchangeState | CallState

interface Early {
  readonly early?: AnyState
  readonly skipped: readonly AnyState[]
  readonly beside: readonly AnyState[]
  readonly awaited: readonly AnyState[]
}

/**
 * Watches that what waited for an answer when recorded still waits for it.
 *
 * A step recorded after another was answered may not be made before it. There are four exceptions. Steps that serve
 * different calls of one model turn may change places: the model called those independent, see `TurnCalls`. A named
 * value is a read of the agent's own surroundings and has no place at all. Two requests that only read, or searches, may be
 * under way at the same time or change places: the one that is asked for before the other is answered, now or in the recording,
 * was not asked for with that answer, and each is asked for as recorded. And a step that waited for nothing since a call was
 * made need not wait now for what was answered in between, see `turns` of a step.
 */
export class StepOrder {
  /** By the moment their answer was complete; what comes before `#next` is answered. */
  readonly #steps: readonly AnyState[]
  readonly #all: readonly AnyState[]
  readonly #byN: ReadonlyMap<number, AnyState>
  #turns: readonly ExchangeState[] | undefined
  /** Of each turn that asked for several tools at once, who serves which. */
  readonly #calls = new Map<ExchangeState, TurnCalls | undefined>()
  readonly #passed = new Set<AnyState>()
  #next = 0

  constructor(steps: readonly AnyState[]) {
    this.#steps = steps
      .filter((step) => endOf(step) !== undefined && !isGivenUp(step) && step.event.kind !== 'value')
      .sort((a, b) => endN(a) - endN(b))
    this.#all = steps
    this.#byN = new Map(steps.map((step) => [step.event.n, step]))
  }

  /** What waited for the answer of `step` was made without it: its place in the run is over. */
  passed(step: AnyState): void {
    this.#passed.add(step)
  }

  /** Whether everything that was answered before `step` was made is answered now, and nothing was made that waited for it. */
  isDue(step: AnyState): boolean {
    if (this.#passed.has(step)) return false
    while (this.#steps[this.#next]?.answered) this.#next++
    const first = this.#steps[this.#next]
    if (first === undefined || endN(first) > step.event.n) return true
    const { early, skipped, beside, awaited } = this.look(step)
    return early === undefined && skipped.length + beside.length + awaited.length === 0
  }

  /**
   * What should have been answered before `step` is made: `early`, when it is certain that the order is another one;
   * `skipped`, tool calls that were not made yet: the agent may leave them out, or make them later and so out of order;
   * `beside`, reads under way that may be answered later, as long as all that follows waits for them; `awaited`, reads that
   * may be made later, as long as all that follows waits for them, too.
   *
   * @param since - number of the call since which `step` waited for nothing; absent: that is not known
   */
  look(step: AnyState, since = Number.POSITIVE_INFINITY): Early {
    while (this.#steps[this.#next]?.answered) this.#next++
    const skipped: AnyState[] = []
    const beside: AnyState[] = []
    const awaited: AnyState[] = []
    if (step.event.kind === 'value') return { skipped, beside, awaited }
    for (let i = this.#next; i < this.#steps.length; i++) {
      const earlier = this.#steps[i]
      if (!earlier || endN(earlier) > step.event.n) break
      if (earlier === step || earlier.answered || this.isIndependent(earlier, step)) continue
      if (earlier.event.n >= since && this.#isHeldUp(earlier, since)) continue
      if (this.#mayBeBeside(earlier, step)) (earlier.taken ? beside : awaited).push(earlier)
      else if (this.#mayBeLeftOut(earlier)) skipped.push(earlier)
      else return { early: earlier, skipped, beside, awaited }
    }
    return { skipped, beside, awaited }
  }

  /**
   * Whether a step, or a call since `since` that came before it, waits for its answer now, which was there at once when recorded:
   * what is behind that comes later in a replay. Without such a call, what was made before was made before.
   */
  #isHeldUp(step: AnyState, since: number): boolean {
    return this.#all.some(
      ({ event, taken, answered }) => taken && !answered && event.n >= since && event.n <= step.event.n,
    )
  }

  /** What was said to the same peer before and is not said yet: a connection keeps its messages in order. */
  unsaid(step: AnyState): AnyState | undefined {
    const url = peerOf(step)
    if (url === undefined) return undefined
    return this.#all.find((one) => one.event.n < step.event.n && !one.taken && peerOf(one) === url)
  }

  /** Whether both only read, and neither is inside the other. */
  #mayBeBeside(earlier: AnyState, step: AnyState): boolean {
    // What a search does inside is the search, whether it only reads by itself or not.
    const [one, other] =
      earlier.event.in === step.event.in ? [earlier, step] : [this.#outermost(earlier), this.#outermost(step)]
    return one !== other && !isTurn(one) && !isTurn(other) && onlyReads(one) && onlyReads(other)
  }

  /** A tool call that was not made, or what happened inside of one. */
  #mayBeLeftOut({ event, taken }: AnyState): boolean {
    if (taken) return false
    if (event.kind === 'tool' || event.kind === 'retrieval') return true
    const outer = event.in === undefined ? undefined : this.#byN.get(event.in)
    return outer !== undefined && this.#mayBeLeftOut(outer)
  }

  /** Whether a step, and what stands at the moment `n`, belong to one model turn that asked for several tools at once. */
  isOneOfSeveral(step: AnyState, n: number): boolean {
    return this.#callsOfBoth(step, n) !== undefined
  }

  /** Whether two steps serve different calls of one model turn. */
  isIndependent(a: AnyState, b: AnyState): boolean {
    if (isTurn(b)) return false
    const [outerA, outerB] = [this.#outermost(a), this.#outermost(b)]
    // Inside one tool call the order is that of its code.
    return outerA !== outerB && this.#callsOfBoth(a, b.event.n)?.areIndependent(outerA.event, outerB.event) === true
  }

  #outermost(step: AnyState): AnyState {
    const outer = step.event.in === undefined ? undefined : this.#byN.get(step.event.in)
    return outer === undefined ? step : this.#outermost(outer)
  }

  /** The calls of the turn that a step and the moment `n` belong to, where there are several. */
  #callsOfBoth(step: AnyState, n: number): TurnCalls | undefined {
    if (isTurn(step)) return undefined
    const turn = this.#turnBefore(step.event.n)
    return turn !== undefined && turn === this.#turnBefore(n) ? this.#callsOf(turn) : undefined
  }

  /** The model call answered last before the moment `n`. */
  #turnBefore(n: number): ExchangeState | undefined {
    let last: ExchangeState | undefined
    for (const turn of this.#turnsByEnd()) {
      if (endN(turn) > n) break
      last = turn
    }
    return last
  }

  /** Telling turns takes requests apart, which most replays never need. */
  #turnsByEnd(): readonly ExchangeState[] {
    return (this.#turns ??= this.#all
      .filter((one): one is ExchangeState => isTurn(one))
      .sort((x, y) => endN(x) - endN(y)))
  }

  #callsOf(turn: ExchangeState): TurnCalls | undefined {
    if (!this.#calls.has(turn)) {
      const asked = readModelCall(turn.event)?.response?.toolCalls ?? []
      // What the provider ran itself says nothing of what the agent runs.
      const calls = asked.filter(({ builtIn }) => !builtIn)
      this.#calls.set(
        turn,
        calls.length > 1 ? new TurnCalls(calls, this.#stepsOf(turn), this.#resultsOf(turn, calls)) : undefined,
      )
    }
    return this.#calls.get(turn)
  }

  /** What the next turn has as the result of each call. */
  #resultsOf(turn: ExchangeState, calls: readonly ToolCall[]): readonly (Json | undefined)[] {
    const turns = this.#turnsByEnd()
    const next = turns[turns.indexOf(turn) + 1]
    const request = next && readModelCall(next.event)?.request
    const told = request === undefined ? [] : toolResultsIn(request)
    return calls.map(({ id }) => (id === undefined ? undefined : told.find((result) => result.id === id)?.result))
  }

  /** What the agent did between a turn and the next, what that did inside left out. */
  #stepsOf(turn: ExchangeState): readonly Step[] {
    const turns = this.#turnsByEnd()
    const next = turns[turns.indexOf(turn) + 1]
    const [from, to] = [endN(turn), next === undefined ? Number.POSITIVE_INFINITY : endN(next)]
    const isOwn = (one: AnyState): boolean =>
      one.event.kind !== 'value' &&
      one.event.in === undefined &&
      !isTurn(one) &&
      one.event.n >= from &&
      one.event.n < to
    return this.#all.filter(isOwn).map(({ event }) => event)
  }
}

/** Whoever asks for an embedding changes nothing either. */
function onlyReads(step: AnyState): boolean {
  return isRead(step.event) || (step as Partial<ExchangeState>).model?.dialect === 'openai-embeddings'
}

/** Whether something may be done by a step: it is neither a read nor a question to a model. */
export function isAction(step: AnyState): boolean {
  return step.event.kind !== 'value' && !isTurn(step) && !onlyReads(step)
}

/** A model was asked, or a poll brought more of its answer. */
function isTurn(step: AnyState): boolean {
  const { model } = step as Partial<ExchangeState>
  if (model !== undefined) return model.dialect !== 'openai-embeddings'
  const { event } = step
  return event.kind === 'exchange' && event.method === 'GET' && readModelCall(event)?.isPoll === true
}

/** The address of the peer a message goes to, of a WebSocket or of a child that says lines. */
function peerOf({ event }: StepState): string | undefined {
  return event.kind === 'exchange' && saying.has(event.method) ? event.url : undefined
}

const saying: ReadonlySet<string> = new Set(['SEND', 'SEND_BINARY', 'CLOSE', 'END', 'KILL'])

/** Whoever asked stopped listening: nothing waits for its end. */
export function isGivenUp(step: StepState): boolean {
  return isAborted(step) || (step.event.kind !== 'exchange' && step.event.stopped === true)
}

export function isAborted({ event }: StepState): boolean {
  return event.kind === 'exchange' && event.aborted !== undefined
}

export function endOf({ event }: StepState): Moment | undefined {
  return event.kind === 'exchange' ? (event.response?.end ?? event.error?.moment) : event.settled
}

function endN(step: StepState): number {
  return endOf(step)?.[0] ?? Number.POSITIVE_INFINITY
}
