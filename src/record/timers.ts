import type { TimerListener } from '../seam/source.ts'
import type { Moment, TapeClose } from '../tape/index.ts'

/** Firings, or kinds of timers, above which a run keeps none: an agent that polls for days must not fill the memory. */
const limit = 10_000

interface Kind {
  readonly caller: string
  readonly ms: number
  set: number
  readonly fired: Map<number, Moment[]>
  /** Those set in calls of wrapped functions. */
  readonly inCalls: number[]
  /** Time limits that nothing heeds so far; absent: there is no time limit. */
  unheeded?: Set<number>
}

/** What the last line of a tape has of them. */
export type NotedTimers = Pick<TapeClose, 'timers' | 'timersInCalls' | 'timersUnheeded'>

/** Notes which timers of a run fired, and when. */
export class TimerLog {
  readonly #now: () => Moment
  /** Made for the first timer; `undefined`: nothing is noted any more. */
  #kinds: Map<string, Kind> | null | undefined = null
  #stops: Set<() => void> | undefined
  #firings = 0

  /** @param now - the number of what comes next in the run, and the time */
  constructor(now: () => Moment) {
    this.#now = now
  }

  /** A timer is set. `undefined` when nothing is noted any more. */
  set(caller: string, ms: number, isInCall = false): TimerListener | undefined {
    if (this.#kinds === undefined) return undefined
    const kinds = (this.#kinds ??= new Map<string, Kind>())
    const stops = (this.#stops ??= new Set())
    const key = `${caller} ${ms}`
    let kind = kinds.get(key)
    if (kind === undefined) {
      if (kinds.size >= limit) return this.#giveUp()
      kinds.set(key, (kind = { caller, ms, set: 0, fired: new Map(), inCalls: [] }))
    }
    const { fired } = kind
    const noted = kind
    const before = kind.set++
    if (isInCall) kind.inCalls.push(before)
    let stop: (() => void) | undefined
    return {
      fired: () => {
        if (stop) stops.delete(stop)
        if (this.#kinds === undefined) return
        if (++this.#firings > limit) return this.#giveUp()
        const moments = fired.get(before)
        if (moments) moments.push(this.#now())
        else fired.set(before, [this.#now()])
      },
      onOver: (work) => void stops.add((stop = work)),
      isHeeded(is) {
        noted.unheeded ??= new Set()
        if (is) noted.unheeded.delete(before)
        else noted.unheeded.add(before)
      },
    }
  }

  /** The run is over: what fires now belongs to no run. What there is for the tape. */
  close(): NotedTimers {
    if (this.#kinds === undefined) return {}
    const kinds = [...(this.#kinds?.values() ?? [])]
    this.#giveUp()
    // That none was set tells a time limit from one that is new.
    if (kinds.length === 0) return { timers: [] }
    const inCalls = kinds.filter((kind) => kind.inCalls.length > 0)
    const limits = kinds.filter(({ unheeded }) => unheeded !== undefined)
    return {
      timers: kinds.map(({ caller, ms, set, fired }) => [caller, ms, set, [...fired]]),
      timersInCalls: inCalls.map((kind) => [kind.caller, kind.ms, kind.inCalls]),
      ...(limits.length > 0 && {
        timersUnheeded: limits.flatMap(({ caller, ms, unheeded }) =>
          unheeded?.size ? [[caller, ms, [...unheeded]] as const] : [],
        ),
      }),
    }
  }

  /** Half of what fired would look like all of it. */
  #giveUp(): undefined {
    this.#kinds = undefined
    for (const stop of this.#stops ?? []) stop()
    this.#stops = undefined
  }
}
