import type { VirtualTimer } from '../seam/intercept/index.ts'
import type { Moment, Tape, TapeEvent } from '../tape/index.ts'
import type { StepState } from '../match/step.ts'

/** When a timer fired. */
export interface RecordedFiring {
  /** The event of the tape before which it fired; infinite: not before the run ended. */
  readonly n: number
  /** Virtual ms; infinite likewise. */
  readonly at: number
}

interface Known {
  readonly firings: readonly Moment[]
  next: number
}

const notBeforeTheEnd: RecordedFiring = { n: Number.POSITIVE_INFINITY, at: Number.POSITIVE_INFINITY }

/** A timer of another length than when it was recorded. */
export interface ChangedTimer {
  /** Who set it: a package, or `app`. */
  readonly caller: string
  /** Milliseconds. */
  readonly recorded: number
  /** Absent: it was not set, or not as often, see `count`. */
  readonly live?: number
  /** How often it was set. */
  readonly count?: { readonly recorded: number; readonly live: number }
  /** Where the replay was when it was first set; of one that is gone, the last step before it fired. */
  readonly place: StepState | undefined
}

/**
 * What the tape knows about the timers of its run. A timer is known by who set it, its delay, and how many such timers
 * the run had set before: a library that sets one more takes nothing from the agent's own.
 */
export class RecordedTimers {
  readonly #recorded = new Map<
    string,
    { readonly set: number; readonly agent: number; readonly fired: ReadonlyMap<number, readonly Moment[]> }
  >()
  readonly #set = new Map<string, number>()
  /** Timers the tape does not know, by who set them and in the order in which they were set; of each delay the first. */
  readonly #others = new Map<string, Map<number, StepState | undefined>>()
  readonly #place: () => StepState | undefined
  readonly #known = new WeakMap<VirtualTimer, Known | 'unknown'>()

  /** Which timers the agent set outside of wrapped functions is known. */
  readonly #isApart: boolean

  /** The recorded agent did something after it returned. What it did is listed by its name. */
  readonly #isLate: boolean

  /** @param place - where the replay is */
  constructor({ close, events }: Tape, place: () => StepState | undefined = () => undefined) {
    this.#place = place
    const inCalls = new Map(close?.timersInCalls?.map(([caller, ms, before]) => [keyOf(caller, ms), before.length]))
    this.#isLate = (close?.late?.length ?? 0) > 0
    this.#isApart = close?.timersInCalls !== undefined || !events.some(isCall)
    for (const [caller, ms, set, fired] of close?.timers ?? []) {
      const key = keyOf(caller, ms)
      this.#recorded.set(key, { set, agent: set - (inCalls.get(key) ?? 0), fired: new Map(fired) })
    }
  }

  /** When the timer, which was set or goes on, fires next; `undefined` when the tape does not know it. */
  next(timer: VirtualTimer): RecordedFiring | undefined {
    let known = this.#known.get(timer)
    if (known === undefined) this.#known.set(timer, (known = this.#find(timer)))
    if (known === 'unknown') return undefined
    const firing = known.firings[known.next]
    return firing === undefined ? notBeforeTheEnd : { n: firing[0], at: firing[1] }
  }

  /** It fired: an interval goes on to its next firing. */
  fired(timer: VirtualTimer): void {
    const known = this.#known.get(timer)
    if (known !== undefined && known !== 'unknown') known.next++
  }

  /**
   * Timers that were set with another delay. Of one caller the delays that are missing are matched with those that came, in
   * their order. One that only came is no change of a delay. One that is only missing is listed where the agent's own code
   * set it: packages set theirs as they need them.
   *
   * @param steps - of the tape
   */
  changed(steps: readonly StepState[]): readonly ChangedTimer[] {
    const missing = [...this.#recorded].filter(([key, { agent }]) => (this.#set.get(key) ?? 0) < agent)
    const byCaller = Map.groupBy(missing, ([key]) => callerIn(key))
    return [...byCaller].flatMap(([caller, mine]) => {
      const others = [...(this.#others.get(caller) ?? [])]
      return mine.flatMap(([key, { agent, fired }], at): readonly ChangedTimer[] => {
        const recorded = Number(key.slice(caller.length + 1))
        const other = others[at]
        if (other !== undefined) return [{ caller, recorded, live: other[0], place: other[1] }]
        if (caller !== 'app' || !this.#isApart) return []
        const live = this.#set.get(key) ?? 0
        const before = [...fired].find(([index]) => index >= live)?.[1][0]?.[0] ?? Number.POSITIVE_INFINITY
        if (before === Number.POSITIVE_INFINITY && this.#isLate) return []
        const place = steps.findLast(({ event }) => event.n < before) ?? steps[0]
        return [{ caller, recorded, count: { recorded: agent, live }, place }]
      })
    })
  }

  #find({ caller, ms }: VirtualTimer): Known | 'unknown' {
    if (caller === undefined) return 'unknown'
    const key = keyOf(caller, ms)
    const before = this.#set.get(key) ?? 0
    this.#set.set(key, before + 1)
    const recorded = this.#recorded.get(key)
    if (recorded === undefined || before >= recorded.set) {
      const others = this.#others.get(caller) ?? new Map<number, StepState | undefined>()
      this.#others.set(caller, others)
      if (!others.has(ms)) others.set(ms, this.#place())
      return 'unknown'
    }
    return { firings: recorded.fired.get(before) ?? [], next: 0 }
  }
}

function isCall({ kind }: TapeEvent): boolean {
  return kind === 'tool' || kind === 'retrieval' || kind === 'value'
}

/** No name of a package has a blank in it. */
function callerIn(key: string): string {
  return key.slice(0, key.lastIndexOf(' '))
}

function keyOf(caller: string, ms: number): string {
  return `${caller} ${ms}`
}
