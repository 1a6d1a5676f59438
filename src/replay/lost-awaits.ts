import type { StepState } from '../match/step.ts'
import { isRead } from '../playback/independence.ts'
import { isGivenUp } from '../playback/order.ts'
import type { ExchangeEvent, PushEvent, Tape } from '../tape/index.ts'
import type { GateItem } from '../match/delivery.ts'
import { nextTick } from '../seam/source.ts'

/** A step whose recorded answer came before the recorded run ended, and which the replayed agent did not wait for. */
export interface LostAwait {
  readonly step: StepState
  /** The recorded agent did wait, or was kept by something that the agent is not kept by now. */
  readonly isCertain: boolean
}

/** What a child process said, or its end, that came before the recorded run ended and not before the replayed one did. */
export interface LostFrames {
  /** Of one child. */
  readonly frames: readonly [PushEvent, ...PushEvent[]]
  readonly isCertain: boolean
}

/** What a child says by itself, and how far that has come. */
export interface ChildFrame {
  readonly event: PushEvent
  readonly item: GateItem
}

/** Where the agent stood when it returned. */
export interface Standing {
  /** It was answered, asked for something or a timer of it fired in this turn of the event loop. */
  readonly isTouched: boolean
  /** The timer that fired last, nothing having been answered since. */
  readonly lastFired: { readonly isRecorded: boolean } | undefined
  /** Number of the last request or piece of an answer, of those on the tape. */
  readonly lastN: number
}

/**
 * Notices actions that the agent did not wait for when it returned, or threw as it did when recorded.
 *
 * An agent that returns in the very turn in which it begins an action waited for nothing since. Had the recorded agent done
 * so, the answer would not be on its tape, unless it came in that turn too: what an in-process function answers at once.
 * What it begins after it returned, such as the rest of a conversation, it waits for even less, answered or not.
 *
 * An action begun earlier is left when nothing of its answer has come. A replay answers in the recorded order: an agent that
 * returns in the turn of an earlier answer would have done so when recorded. One that did something in between which no tape
 * sees may have done the same, and longer, when recorded.
 *
 * What a child says, and its end, are answers to nothing in particular. They need the event loop as those of a network do, so that
 * one that is still to come when the agent returns is left in the same way.
 */
export class LostAwaits {
  readonly #tape: Tape
  /** Begun in this turn of the event loop. */
  readonly #fresh = new Set<StepState>()
  /** Begun before it returned. */
  readonly #begun: StepState[] = []
  readonly #left: {
    readonly step: StepState
    readonly earlier?: { readonly isKept: boolean; readonly after: number }
  }[] = []
  readonly #children: readonly ChildFrame[]
  /** Still to come when it returned. */
  #silent: readonly ChildFrame[] = []
  #standing: { readonly isKept: boolean; readonly after: number } | undefined
  /** Number of the first step begun after it returned. */
  #lateN = Number.POSITIVE_INFINITY
  /** Or threw, where the recorded agent threw as well. */
  hasReturned = false
  /** It ended so. */
  hasThrown = false

  /** @param children - all that children said by themselves, in order */
  constructor(tape: Tape, children: readonly ChildFrame[]) {
    this.#tape = tape
    this.#children = children
  }

  begun(step: StepState): void {
    if (this.hasReturned) {
      this.#lateN = Math.min(this.#lateN, step.event.n)
      this.#left.push({ step })
      return
    }
    this.#begun.push(step)
    this.#fresh.add(step)
    nextTick(() => this.#fresh.delete(step))
  }

  /** The agent threw. One that returned when recorded is another run, and that is what is said of it. */
  threw(standing: Standing): void {
    this.hasThrown = this.#tape.close?.outcome.status === 'threw'
    if (this.hasThrown) this.returned(standing)
  }

  /** The agent returned its value; whoever gets it may still read from it, so that an unread answer is not one of these. */
  returned({ isTouched, lastFired, lastN }: Standing): void {
    this.hasReturned = true
    // Of timers that the tape does not know the order is a guess.
    const isKept = !isTouched || lastFired?.isRecorded === false
    this.#standing = { isKept, after: lastN }
    this.#silent = this.#children.filter(({ item }) => item.state !== 'done')
    for (const step of this.#begun) {
      if (step.answered) continue
      if (this.#fresh.has(step)) this.#left.push({ step })
      else if (isUnheard(step)) this.#left.push({ step, earlier: { isKept, after: lastN } })
    }
  }

  /** Once the run is over. How an import ended is unknown. */
  get found(): readonly LostAwait[] {
    if (this.#tape.header.imported !== undefined) return []
    return this.#left.flatMap(({ step, earlier }) => {
      const end = isGivenUp(step) ? undefined : endOf(step)
      if (end === undefined) return []
      if (earlier === undefined) return [{ step, isCertain: this.#neededLoop(step, end) }]
      if (this.#isAfterReturn(end)) return []
      const isKept = earlier.isKept || isReadAlone(step) || this.#wasUnpacked(earlier.after)
      if (this.#neededLoop(step, end, earlier.after)) return [{ step, isCertain: !isKept }]
      // What it took, such as a file, no tape says; neither what kept the agent.
      return earlier.isKept && !this.#neededLoop(step, end) ? [{ step, isCertain: false }] : []
    })
  }

  /** By child, once the run is over. What cannot come, as the end of a child that was not ended, is not lost but a consequence. */
  get foundFrames(): readonly LostFrames[] {
    const { isKept, after } = this.#standing ?? { isKept: true, after: 0 }
    if (this.#tape.header.imported !== undefined) return []
    const left = this.#silent.filter(({ event, item }) => item.state !== 'waiting' && !this.#isAfterReturn(event.n))
    return [...Map.groupBy(left, ({ event }) => event.url).values()].flatMap((of) => {
      const [first, ...more] = of.map(({ event }) => event)
      if (first === undefined) return []
      return [{ frames: [first, ...more], isCertain: first.n > this.#lateN || !(isKept || this.#wasUnpacked(after)) }]
    })
  }

  /**
   * A recorder waits for bodies of requests that are under way when the agent returns, and notes answers meanwhile. What is said to
   * a peer has none.
   */
  #isAfterReturn(end: number): boolean {
    const isOpen = ({ response, error, aborted, method, via }: ExchangeEvent): boolean =>
      !response && !error && !aborted && method !== 'GET' && method !== 'HEAD' && via !== 'stdio' && via !== 'websocket'
    return this.#tape.events.some((event) => event.kind === 'exchange' && event.n < end && isOpen(event))
  }

  /** A client may unpack an answer in a thread, and others come meanwhile. */
  #wasUnpacked(n: number): boolean {
    return this.#tape.events.some(
      (event) =>
        event.kind === 'exchange' &&
        event.response?.headers.some(([name]) => name === 'content-encoding') === true &&
        event.response.moment[0] <= n &&
        n <= (event.response.end?.[0] ?? n),
    )
  }

  /**
   * An answer over the network needs the event loop; a function does when an answer came or a timer fired while it ran, and
   * after that moment: several may have waited for one thing.
   */
  #neededLoop({ event }: StepState, end: number, after = event.n): boolean {
    if (event.kind === 'exchange') return true
    const answers = this.#tape.events.flatMap((other) => (other.kind === 'exchange' ? [other.response?.moment[0]] : []))
    const timers = (this.#tape.close?.timers ?? []).flatMap(([, , , fired]) => fired.flatMap(([, places]) => places))
    return [...answers, ...timers.map(([n]) => n)].some(
      (n) => n !== undefined && n > Math.max(event.n, after) && n <= end,
    )
  }
}

/** Of several requests that read, an agent may take the answer that comes first. */
function isReadAlone({ event }: StepState): boolean {
  return event.kind === 'exchange' && isRead(event)
}

/** The number of the moment at which a recorded step was answered for good. */
function endOf({ event }: StepState): number | undefined {
  if (event.kind === 'exchange') return event.response?.end?.[0] ?? event.error?.moment[0]
  return event.settled?.[0]
}

/** Nothing of its answer was delivered, and an action's it is: a named value is a read, and pieces have readers of their own. */
function isUnheard({ event, items }: StepState): boolean {
  if (event.kind !== 'exchange' && (event.kind === 'value' || event.yields !== undefined)) return false
  const [, first] = items
  return first !== undefined && first.state !== 'done'
}
