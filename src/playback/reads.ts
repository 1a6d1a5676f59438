import { draw, sfc32 } from '../prng.ts'
import type { VirtualWorld } from '../seam/source.ts'
import type { DrawKind, Json, Tape } from '../tape/index.ts'

/** Reads of the clock within one turn of the event loop after which the agent counts as spinning. */
const spinLimit = 100_000

const clocks = ['now', 'perf'] as const

/** How many times as long as when recorded an answer takes at least and at most whose wait is drawn once more. */
const [fastest, slowest] = [0.5, 2]
/** So many ms more, at most, such an answer takes, and a timer. */
const jitterMs = 8

/** How a clock that is drawn once more goes on: `real` time is its own chance. */
export interface DrawnWaits {
  readonly by: 'chance' | 'real'
  /** Whether a timer is what was waited for just now: none fires too soon. */
  readonly isTimer: () => boolean
}

/**
 * Serves recorded clock, random and id reads, each from the queue of its kind and calling package. When a queue has
 * run out, the virtual world answers: the clock of the gate, and a generator seeded by the tape.
 */
export class Draws {
  readonly #queues = new Map<string, { readonly values: Json[]; next: number }>()
  /** Kinds and callers of reads that found their queue empty. */
  readonly #missing = new Set<string>()
  readonly #world: VirtualWorld
  readonly #onSpin: () => never
  readonly #onDraw: ((kind: DrawKind, caller: string, value: unknown) => void) | undefined
  #uint32: () => number
  #isAnew = false
  #aheadMs = 0
  readonly #now: () => number
  /** When the virtual world was looked at last, and how long it was waited for before. */
  #seenMs = 0
  #waitedMs = 0
  /** How much later it is than the tape says, by waits that were drawn once more. */
  #laterMs = 0
  #more: ((waitedMs: number) => number) | undefined
  /** Of the time since the process began, below a millisecond. */
  #phaseMs = 0
  #inTurn = 0
  #extraMs = 0
  #lastNow = 0
  #lastPerf = 0
  served = 0
  missed = 0

  /** @param onDraw - hears every read that a tape would hold */
  constructor(
    tape: Tape,
    now: () => number,
    onSpin: () => never,
    onDraw?: (kind: DrawKind, caller: string, value: unknown) => void,
  ) {
    this.#onDraw = onDraw
    this.#now = now
    for (const event of tape.events) {
      if (event.kind !== 'draws') continue
      for (const [kind, caller, value] of event.draws) {
        const key = `${kind} ${caller}`
        const queue = this.#queues.get(key)
        if (queue) queue.values.push(value)
        else this.#queues.set(key, { values: [value], next: 0 })
      }
    }
    const epoch = Date.parse(tape.header.startedAt)
    const uptime = firstUptime(tape)
    this.#uint32 = generator(tape.header.id)
    this.#onSpin = onSpin
    this.#world = {
      // Never behind what was already served: code that measures must not see time run backwards.
      epochMs: () => Math.max(this.#lastNow, epoch + Math.floor(now() + this.#extraMs + this.#aheadMs + this.#laterMs)),
      uptimeMs: () => Math.max(this.#lastPerf, uptime + now() + this.#extraMs + this.#phaseMs + this.#laterMs),
      uint32: () => this.#uint32(),
    }
  }

  /**
   * From here on the tape answers nothing: the virtual world does, with chance seeded by `seed` and its calendar
   * `aheadMs` ahead. What its clock says below a millisecond is chance, too.
   *
   * @param waits - how long things take is drawn as well, from the wait that is just over: half to twice as long as recorded,
   * and up to 8 ms more. Absent: as recorded
   */
  startAnew(seed: string, aheadMs: number, waits?: DrawnWaits): void {
    if (this.#isAnew) return
    this.#isAnew = true
    this.#uint32 = generator(seed)
    this.#phaseMs = generator(`${seed} clock`)() / 2 ** 32
    this.#aheadMs = aheadMs
    // Ahead of the tape means ahead of what it would say now, and backwards where that is asked for.
    if (aheadMs !== 0) this.#lastNow = Number.NEGATIVE_INFINITY
    if (waits === undefined) return
    const chance = generator(`${seed} waits`)
    const drawn = (): number => chance() / 2 ** 32
    const more = (waitedMs: number): number => {
      const times = waits.isTimer() ? 1 : fastest + (slowest - fastest) * drawn()
      return waitedMs * (times - 1) + jitterMs * drawn()
    }
    this.#pass()
    this.#laterMs = more(this.#waitedMs)
    if (waits.by === 'chance') this.#more = more
  }

  /** Time passed in the virtual world. */
  #pass(): void {
    const now = this.#now()
    const waited = now - this.#seenMs
    if (waited <= 0) return
    this.#seenMs = now
    this.#waitedMs = waited
    if (this.#more !== undefined) this.#laterMs += this.#more(waited)
  }

  /** From here on the calendar is `aheadMs` ahead of what is recorded; the rest stays as recorded. */
  shiftClock(aheadMs: number): void {
    if (aheadMs === this.#aheadMs) return
    this.#aheadMs = aheadMs
    this.#lastNow = Number.NEGATIVE_INFINITY
  }

  draw<T>(kind: DrawKind, caller: string, virtual: (world: VirtualWorld) => T): T {
    this.#pass()
    if (kind === 'now' || kind === 'perf') this.#tick()
    const value = this.#drawn(kind, caller, virtual)
    if (kind === 'now') this.#lastNow = Math.max(this.#lastNow, value as number)
    if (kind === 'perf') this.#lastPerf = Math.max(this.#lastPerf, value as number)
    if (caller !== 'node') this.#onDraw?.(kind, caller, value)
    return value
  }

  /** Whether a package read the clock as often as when recorded, and so got the recorded times, each at its place. */
  isClockAsRecorded(caller: string): boolean {
    return clocks.every((kind) => {
      const key = `${kind} ${caller}`
      const queue = this.#queues.get(key)
      return !this.#missing.has(key) && (queue === undefined || queue.next === queue.values.length)
    })
  }

  /** A read by a run nothing waits for: real, but a loop of reads must not go on for ever. */
  readAfterEnd(): void {
    if (++this.#inTurn > spinLimit) {
      this.#inTurn = 0
      this.#onSpin()
    }
  }

  /** The event loop turned: the agent is not spinning. */
  turned(): void {
    this.#inTurn = 0
    this.#pass()
  }

  #drawn<T>(kind: DrawKind, caller: string, virtual: (world: VirtualWorld) => T): T {
    // Reads by Node itself were not recorded.
    if (caller === 'node') return virtual(this.#world)
    const queue = this.#isAnew ? undefined : this.#queues.get(`${kind} ${caller}`)
    const recorded = queue?.values[queue.next]
    if (!queue || recorded === undefined) {
      this.missed++
      this.#missing.add(`${kind} ${caller}`)
      return virtual(this.#world)
    }
    if (kind !== 'bytes') {
      queue.next++
      this.served++
      return (kind === 'now' ? (recorded as number) + this.#aheadMs : recorded) as T
    }
    const bytes = Buffer.from(recorded as string, 'base64')
    const wanted = virtual(this.#world) as Buffer
    if (bytes.length !== wanted.length) {
      this.missed++
      return wanted as T
    }
    queue.next++
    this.served++
    return bytes as T
  }

  /** A loop that waits for the clock gets one that moves, and is stopped if that does not end it. */
  #tick(): void {
    this.#inTurn++
    if (this.#inTurn > 1_000) this.#extraMs += 1
    if (this.#inTurn > spinLimit) this.#onSpin()
  }
}

function firstUptime(tape: Tape): number {
  for (const event of tape.events) {
    if (event.kind !== 'draws') continue
    const first = event.draws.find(([kind]) => kind === 'perf')
    if (first) return first[2] as number
  }
  return 1_000
}

/** Random bits seeded by text. */
function generator(seed: string): () => number {
  const state = sfc32()
  for (const char of seed) {
    state.a ^= char.codePointAt(0) ?? 0
    draw(state)
  }
  for (let i = 0; i < 12; i++) draw(state)
  return () => draw(state)
}
