import type { VirtualTimer } from '../seam/intercept/index.ts'
import { seamState } from '../seam/source.ts'

const { setTimeout: realTimeout, clearTimeout: stopTimeout } = seamState().natives

/** Fires the timers of a run when real time has come as far as they say. */
export class RealTimers {
  readonly #handles = new Map<VirtualTimer, NodeJS.Timeout>()
  readonly #now: () => number
  #over = false

  /** @param now - milliseconds since the run began */
  constructor(now: () => number) {
    this.#now = now
  }

  schedule(timer: VirtualTimer): void {
    if (this.#over) return
    stopTimeout(this.#handles.get(timer))
    const handle = realTimeout(
      () => {
        this.#handles.delete(timer)
        if (!timer.cancelled && !this.#over) timer.fire()
      },
      Math.max(0, timer.due - this.#now()),
    )
    if (!timer.isHolding) handle.unref()
    this.#handles.set(timer, handle)
  }

  /** A timer was cancelled, referenced or unreferenced. */
  held(timer: VirtualTimer): void {
    const handle = this.#handles.get(timer)
    if (timer.cancelled) {
      stopTimeout(handle)
      this.#handles.delete(timer)
    } else if (timer.isHolding) handle?.ref()
    else handle?.unref()
  }

  /** None of them fires any more. */
  stop(): void {
    this.#over = true
    for (const handle of this.#handles.values()) stopTimeout(handle)
    this.#handles.clear()
  }
}
