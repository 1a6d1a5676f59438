import { nextTick, seamState } from '../seam/source.ts'
import type { Draw, DrawsEvent, Moment } from '../tape/index.ts'

/** Numbers what happens in a run. */
export interface Moments {
  /** The next moment. @param after - the piece of the same answer that came before */
  next(after?: Moment): Moment
  /** The number of what comes next, and the time: for what takes no number. */
  soon(): Moment
}

// The clock before anybody patched it: the recorder must not hear itself.
const { uptime } = seamState().natives
/** Settled: what follows it happens when the code that runs now is done, as with `queueMicrotask`, with less made for it. */
const turn = Promise.resolve()
/** Draws kept back at most before they are written as one line. */
const drawBatch = 256

/** The moments of a run that goes on. All moments of one burst (no agent code in between) carry the same time. */
export class LiveMoments implements Moments {
  readonly #startedAt = uptime()
  #n = 0
  #lastAt = -1
  #inBurst = false
  /** Promises alone were resolved since a piece arrived. */
  #inTurn = false
  readonly #endBurst = (): void => {
    this.#inBurst = false
  }
  readonly #endTurn = (): void => {
    this.#inTurn = false
  }

  /**
   * A piece of an answer is of the time of the piece before when nothing but promises came between the two: whoever reads
   * ahead has them all before anybody else goes on, and a replay hands them out in one burst.
   */
  next(after?: Moment): Moment {
    const isFollowing = this.#inTurn && after !== undefined && after[0] === this.#n - 1
    if (after !== undefined && !this.#inTurn) {
      this.#inTurn = true
      nextTick(this.#endTurn)
    }
    if (isFollowing) return [this.#n++, this.#lastAt]
    if (!this.#inBurst) {
      this.#inBurst = true
      void turn.then(this.#endBurst)
      const now = this.#elapsed()
      this.#lastAt = now > this.#lastAt ? now : Math.round((this.#lastAt + 0.001) * 1000) / 1000
    }
    return [this.#n++, this.#lastAt]
  }

  soon(): Moment {
    return [this.#n, Math.max(this.#lastAt, this.#elapsed())]
  }

  /** Milliseconds since the run began, to the microsecond. */
  #elapsed(): number {
    return Math.round((uptime() - this.#startedAt) * 1000) / 1000
  }
}

/** What was read of clock, chance and ids since the line before. */
export class DrawLog {
  readonly #moments: Moments
  #draws: Draw[] | undefined

  constructor(moments: Moments) {
    this.#moments = moments
  }

  /** Whether there are so many now that they should be written. */
  add(draw: Draw): boolean {
    this.#draws ??= []
    return this.#draws.push(draw) >= drawBatch
  }

  take(): DrawsEvent | undefined {
    const draws = this.#draws
    if (draws === undefined) return undefined
    this.#draws = undefined
    const [n, at] = this.#moments.next()
    return { kind: 'draws', n, at, draws }
  }
}
