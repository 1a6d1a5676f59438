import type { VirtualTimer } from '../seam/intercept/index.ts'

/** A timer with the moment at which it is to fire. */
export interface QueuedTimer {
  readonly timer: VirtualTimer
  /** Virtual ms. */
  readonly due: number
  /**
   * The event of the tape before which it fired when recorded; infinite: it did not fire before the run ended. Absent:
   * the tape does not know this timer.
   */
  readonly n: number | undefined
  /** `due` is its place, and says nothing of the time. */
  readonly isUnheard?: boolean
}

interface Entry extends QueuedTimer {
  readonly age: number
}

/** Entries below which nothing is cleared out. */
const fewEntries = 64

/** Timers by due time, then by age: a binary heap that forgets cancelled ones when they come up, or are too many. */
export class TimerQueue {
  #heap: Entry[] = []
  /** A refreshed timer stands there twice; only its last entry counts, also where both are due at once. */
  readonly #last = new WeakMap<VirtualTimer, Entry>()
  #age = 0
  #limit = fewEntries

  /** Entries held, cancelled ones among them. */
  get size(): number {
    return this.#heap.length
  }

  push(timer: VirtualTimer, due = timer.due, n?: number, isUnheard = false): void {
    if (this.#heap.length >= this.#limit) this.#clearOut()
    const entry = { timer, due, n, isUnheard, age: this.#age++ }
    this.#last.set(timer, entry)
    this.#heap.push(entry)
    this.#up(this.#heap.length - 1)
  }

  peek(): QueuedTimer | undefined {
    for (;;) {
      const first = this.#heap[0]
      if (first === undefined || this.#counts(first)) return first
      this.#shift()
    }
  }

  pop(): VirtualTimer | undefined {
    const first = this.peek()
    if (first) this.#shift()
    return first?.timer
  }

  /** Takes all that are left out, in their order. */
  drain(): readonly QueuedTimer[] {
    const all: QueuedTimer[] = []
    for (let first = this.peek(); first; first = this.peek()) {
      all.push(first)
      this.#shift()
    }
    return all
  }

  /** A client limits each call to minutes and cancels that with the answer: such timers never come up, and hold the call. */
  #clearOut(): void {
    // In order, so a heap.
    this.#heap = this.#heap.filter((entry) => this.#counts(entry)).sort((a, b) => a.due - b.due || a.age - b.age)
    this.#limit = Math.max(fewEntries, 2 * this.#heap.length)
  }

  #counts(entry: Entry): boolean {
    return !entry.timer.cancelled && this.#last.get(entry.timer) === entry
  }

  #shift(): void {
    const last = this.#heap.pop()
    if (last === undefined || this.#heap.length === 0) return
    this.#heap[0] = last
    this.#down(0)
  }

  #before(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]]
    if (!x || !y) return false
    return x.due === y.due ? x.age < y.age : x.due < y.due
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#heap[a], this.#heap[b]]
    if (!x || !y) return
    this.#heap[a] = y
    this.#heap[b] = x
  }

  #up(at: number): void {
    const parent = (at - 1) >> 1
    if (at === 0 || !this.#before(at, parent)) return
    this.#swap(at, parent)
    this.#up(parent)
  }

  #down(at: number): void {
    let least = at
    for (const child of [2 * at + 1, 2 * at + 2]) if (this.#before(child, least)) least = child
    if (least === at) return
    this.#swap(at, least)
    this.#down(least)
  }
}
