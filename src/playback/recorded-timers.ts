import type { VirtualTimer } from '../seam/intercept/index.ts'
import { socketLimits } from '../seam/socket-limits.ts'
import type { Moment, Tape, TapeEvent } from '../tape/index.ts'
import type { StepState } from '../match/step.ts'

/** When a timer fired. */
export interface RecordedFiring {
  /** The event of the tape before which it fired; infinite: not before the run ended. */
  readonly n: number
  /** Virtual ms; infinite likewise. */
  readonly at: number
  /** The recorder heard nothing of such timers: it fires when nothing else can happen. */
  readonly isUnheard?: true
}

type Firings = ReadonlyMap<number, readonly Moment[]>

interface Known {
  readonly firings: readonly Moment[]
  next: number
}

/** Timers of one caller and delay that are more than the tape has. */
interface Other {
  /** The first of them, and where the replay was when it was set. */
  readonly timer: VirtualTimer
  readonly place: StepState | undefined
  /** It is to fire, for the first time or again. */
  isWaiting: boolean
  /** They are no more than were set when recorded, bodies of wrapped functions among them. */
  isMaybeOfBody: boolean
}

const notBeforeTheEnd: RecordedFiring = { n: Number.POSITIVE_INFINITY, at: Number.POSITIVE_INFINITY }
const whenNothingElse: RecordedFiring = { ...notBeforeTheEnd, isUnheard: true }

/** A timer of another length than when it was recorded. */
export interface ChangedTimer {
  /** Who set it: a package, or `app`. */
  readonly caller: string
  /** Milliseconds; absent: none of this length was set. */
  readonly recorded?: number
  /** Likewise. */
  readonly live?: number
  /** How often it was set, where the one or the other is absent; time limits that were given to nothing are `unheeded`. */
  readonly count: { readonly recorded: number; readonly live: number; readonly unheeded: number }
  /** Where the replay was when it was first set; of one that is gone, the last step before it fired. */
  readonly place: StepState | undefined
  /** It is new, and the agent leaves it: what it does after the run is listed by its name. */
  readonly isLeft: boolean
}

/**
 * What the tape knows about the timers of its run. A timer is known by who set it, its delay, and how many such timers
 * the run had set before: a library that sets one more takes nothing from the agent's own.
 */
export class RecordedTimers {
  readonly #recorded = new Map<
    string,
    { readonly set: number; readonly agent: number; readonly heeded: number; readonly fired: Firings }
  >()
  readonly #set = new Map<string, number>()
  /** Timers the tape does not know, by who set them and in the order in which they were set; of each delay the first. */
  readonly #others = new Map<string, Map<number, Other>>()
  readonly #place: () => StepState | undefined
  readonly #known = new WeakMap<VirtualTimer, Known | 'unknown'>()

  /** Time limits that were set and are given to nothing. */
  readonly #unheeded = new Set<VirtualTimer>()

  /** Which time limits were given to nothing when recorded is known. */
  readonly #knowsUnheeded: boolean

  /** The recorder noted timers. */
  readonly #isNoted: boolean

  /** Which timers the agent set outside of wrapped functions is known. */
  readonly #isApart: boolean

  /** The recorded agent did something after it returned. What it did is listed by its name. */
  readonly #isLate: boolean

  readonly #hasReturned: () => boolean

  /**
   * @param place - where the replay is
   * @param hasReturned - the agent has: a package may have set what follows when the recorded run was over
   */
  constructor(
    { close, events }: Tape,
    place: () => StepState | undefined = () => undefined,
    hasReturned: () => boolean = () => false,
  ) {
    this.#place = place
    this.#hasReturned = hasReturned
    const inCalls = new Map(close?.timersInCalls?.map(([caller, ms, before]) => [keyOf(caller, ms), before]))
    const unheeded = new Map(close?.timersUnheeded?.map(([caller, ms, before]) => [keyOf(caller, ms), before]))
    this.#knowsUnheeded = close?.timersUnheeded !== undefined
    this.#isNoted = close?.timers !== undefined
    this.#isLate = (close?.late?.length ?? 0) > 0
    this.#hearsSockets = close?.timers?.some(([caller]) => caller === socketLimits) === true
    this.#isApart = close?.timersInCalls !== undefined || !events.some(isCall)
    for (const [caller, ms, set, fired] of close?.timers ?? []) {
      const key = keyOf(caller, ms)
      const inside = inCalls.get(key) ?? []
      const agent = set - inside.length
      const left = unheeded.get(key)?.filter((before) => !inside.includes(before)) ?? []
      this.#recorded.set(key, { set, agent, heeded: agent - left.length, fired: new Map(fired) })
    }
  }

  /** Recorders before did not hear the time-outs of sockets. */
  readonly #hearsSockets: boolean

  /** When the timer, which was set or goes on, fires next; `undefined` when the tape does not know it. */
  next(timer: VirtualTimer): RecordedFiring | undefined {
    if (timer.caller === socketLimits && !this.#hearsSockets) return whenNothingElse
    let known = this.#known.get(timer)
    if (known === undefined) this.#known.set(timer, (known = this.#find(timer)))
    this.#waits(timer, true)
    if (known === 'unknown') return undefined
    const firing = known.firings[known.next]
    return firing === undefined ? notBeforeTheEnd : { n: firing[0], at: firing[1] }
  }

  /** It fired: an interval goes on to its next firing. */
  fired(timer: VirtualTimer): void {
    const known = this.#known.get(timer)
    if (known !== undefined && known !== 'unknown') known.next++
    this.#waits(timer, false)
  }

  /**
   * Timers that were set with another delay. Of one caller the delays that are missing are matched with those that came, in
   * their order. What is left over is gone, or new.
   *
   * @param steps - of the tape
   * @param hasBodies - bodies of wrapped functions ran
   */
  changed(steps: readonly StepState[], hasBodies: boolean): readonly ChangedTimer[] {
    const missing = [...this.#recorded].filter(([key, { heeded }]) => !isNone(key) && this.#heeded(key) < heeded)
    const byCaller = Map.groupBy(missing, ([key]) => callerIn(key))
    return [...new Set([...byCaller.keys(), ...this.#others.keys()])].flatMap((caller): readonly ChangedTimer[] => {
      const mine = byCaller.get(caller) ?? []
      const others = [...(this.#others.get(caller) ?? [])].filter(
        ([, { isMaybeOfBody }]) => !(isMaybeOfBody && hasBodies),
      )
      const news = others.slice(mine.length).map(([ms, { timer, place, isWaiting }]) => {
        const isLeft = isWaiting && !timer.cancelled && timer.isHolding
        return { caller, live: ms, count: this.#countOf(caller, ms), place, isLeft }
      })
      const gone = mine.flatMap(([key, { fired }], at): readonly ChangedTimer[] => {
        const recorded = Number(key.slice(caller.length + 1))
        const count = this.#countOf(caller, recorded)
        const other = others[at]
        if (other !== undefined)
          return [{ caller, recorded, live: other[0], count, place: other[1].place, isLeft: false }]
        if (!this.#isApart) return []
        const before = [...fired].find(([index]) => index >= count.live)?.[1][0]?.[0] ?? Number.POSITIVE_INFINITY
        if (before === Number.POSITIVE_INFINITY && this.#isLate) return []
        const place = steps.findLast(({ event }) => event.n < before) ?? steps[0]
        return [{ caller, recorded, count, place, isLeft: false }]
      })
      return [...gone, ...news]
    })
  }

  #countOf(caller: string, ms: number): ChangedTimer['count'] {
    const key = keyOf(caller, ms)
    const live = this.#heeded(key)
    return { recorded: this.#recorded.get(key)?.heeded ?? 0, live, unheeded: (this.#set.get(key) ?? 0) - live }
  }

  /** How many of such timers were set, without those that are known to limit nothing. */
  #heeded(key: string): number {
    const set = this.#set.get(key) ?? 0
    if (!this.#knowsUnheeded) return set
    return set - [...this.#unheeded].filter(({ caller = '', ms }) => keyOf(caller, ms) === key).length
  }

  #waits(timer: VirtualTimer, isWaiting: boolean): void {
    const other = this.#others.get(timer.caller ?? '')?.get(timer.ms)
    if (other?.timer === timer) other.isWaiting = isWaiting
  }

  #addOther(timer: VirtualTimer, caller: string, isMaybeOfBody: boolean): void {
    const { ms } = timer
    const others = this.#others.get(caller) ?? new Map<number, Other>()
    this.#others.set(caller, others)
    const other = others.get(ms)
    if (other === undefined) others.set(ms, { timer, place: this.#place(), isWaiting: true, isMaybeOfBody })
    else other.isMaybeOfBody &&= isMaybeOfBody
  }

  #find(timer: VirtualTimer): Known | 'unknown' {
    const { caller, ms } = timer
    if (caller === undefined) return 'unknown'
    const key = keyOf(caller, ms)
    const before = this.#set.get(key) ?? 0
    this.#set.set(key, before + 1)
    const { limit } = timer
    if (limit !== undefined) {
      this.#unheeded.add(timer)
      limit.unheeded = this.#unheeded
    }
    const recorded = this.#recorded.get(key)
    const isMore = recorded === undefined || before >= recorded.set
    // Those of Node itself a recorder does not note.
    const isEarly = caller === 'app' || !this.#hasReturned()
    if (this.#isNoted && isEarly && caller !== 'node' && !isNone(key) && (isMore || before >= recorded.agent))
      this.#addOther(timer, caller, !isMore)
    if (isMore) return 'unknown'
    return { firings: recorded.fired.get(before) ?? [], next: 0 }
  }
}

/** No time-out is no timer. */
function isNone(key: string): boolean {
  return key === keyOf(socketLimits, 0)
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
