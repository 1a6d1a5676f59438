import type { VirtualTimer } from '../seam/intercept/index.ts'
import type { Moment, Tape } from '../tape/index.ts'

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

/**
 * What the tape knows about the timers of its run. A timer is known by who set it, its delay, and how many such timers
 * the run had set before: a library that sets one more takes nothing from the agent's own.
 */
export class RecordedTimers {
  readonly #recorded = new Map<
    string,
    { readonly set: number; readonly fired: ReadonlyMap<number, readonly Moment[]> }
  >()
  readonly #set = new Map<string, number>()
  readonly #known = new WeakMap<VirtualTimer, Known | 'unknown'>()

  constructor(tape: Tape) {
    for (const [caller, ms, set, fired] of tape.close?.timers ?? [])
      this.#recorded.set(keyOf(caller, ms), { set, fired: new Map(fired) })
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

  #find({ caller, ms }: VirtualTimer): Known | 'unknown' {
    if (caller === undefined) return 'unknown'
    const key = keyOf(caller, ms)
    const before = this.#set.get(key) ?? 0
    this.#set.set(key, before + 1)
    const recorded = this.#recorded.get(key)
    if (recorded === undefined || before >= recorded.set) return 'unknown'
    return { firings: recorded.fired.get(before) ?? [], next: 0 }
  }
}

function keyOf(caller: string, ms: number): string {
  return `${caller} ${ms}`
}
