import type { VirtualTimer } from '../seam/intercept/index.ts'

/** Timers by due time, then by age: a binary heap that forgets cancelled ones when they come up. */
export class TimerQueue {
  #heap: { readonly timer: VirtualTimer; readonly due: number; readonly age: number }[] = []
  #age = 0

  push(timer: VirtualTimer): void {
    this.#heap.push({ timer, due: timer.due, age: this.#age++ })
    this.#up(this.#heap.length - 1)
  }

  peek(): VirtualTimer | undefined {
    for (;;) {
      const first = this.#heap[0]
      // A refreshed timer stands twice; only the entry with its present due time counts.
      if (first === undefined || (!first.timer.cancelled && first.timer.due === first.due)) return first?.timer
      this.#shift()
    }
  }

  pop(): VirtualTimer | undefined {
    const first = this.peek()
    if (first) this.#shift()
    return first
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
