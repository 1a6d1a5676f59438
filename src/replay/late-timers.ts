import { type QueuedTimer, TimerQueue } from '../playback/timer-queue.ts'
import { real, type VirtualTimer } from '../seam/intercept/index.ts'
import { lastTurns, lastWork, turn } from './last-turns.ts'
import type { ReplayRun } from './run.ts'

/** Virtual ms after the end of the run; timers that are due later are not fired. */
const lateMs = 60_000
const lateTimers = 100
/** Turns of the event loop in which what was begun last still gets to what it does. */
export const lateTurns = 4

/** A timer that was not fired. */
export interface LeftTimer {
  /** Who set it: a package, or `app`. */
  readonly caller: string | undefined
  /** Its delay in ms. */
  readonly ms: number
}

/**
 * The time of an agent after it returned, by the clock of the replay: timers that it left fire in their order, and those
 * that they set, up to a bound. What is behind the bound is known by name.
 */
export class LateTimers {
  readonly #queue = new TimerQueue()
  readonly #onTape = new Set<string>()
  #isOpen = false
  #left: readonly LeftTimer[] = []
  #isCutOff = false

  /** Whether timers and immediates of the agent still fire, though it returned. */
  get isOpen(): boolean {
    return this.#isOpen
  }

  schedule(timer: VirtualTimer): void {
    if (this.#isOpen) this.#queue.push(timer)
  }

  /** Timers that the recorded agent did not leave, and which were not fired; one of each kind. */
  get left(): readonly LeftTimer[] {
    return this.#left
  }

  /** Work of the agent was still under way. */
  get isCutOff(): boolean {
    return this.#isCutOff
  }

  /** Each in a turn of its own: what it throws is caught by no code of the agent, as it would be live. */
  async fire(run: ReplayRun): Promise<void> {
    const { gate } = run
    this.#isOpen = true
    this.#take(gate.takeTimers())
    const [lastDue, until] = [gate.now + lateMs, lastWork()]
    let fired = 0
    for (;;) {
      this.#isCutOff = await lastTurns(run, lateTurns, undefined, until)
      const next = this.#queue.peek()
      if (this.#isCutOff || next === undefined || next.due > lastDue || fired++ === lateTimers) break
      this.#queue.pop()
      gate.now = Math.max(gate.now, next.due)
      real.setImmediate(() => next.timer.fire())
      await turn()
    }
    this.#isOpen = false
    const left = new Map(this.#queue.drain().map(({ timer: { caller, ms } }) => [`${caller} ${ms}`, { caller, ms }]))
    this.#left = [...left].flatMap(([key, timer]) => (this.#onTape.has(key) ? [] : [timer]))
  }

  #take(timers: readonly QueuedTimer[]): void {
    for (const { timer, n } of timers) {
      this.#queue.push(timer)
      if (n !== undefined) this.#onTape.add(`${timer.caller} ${timer.ms}`)
    }
  }
}
