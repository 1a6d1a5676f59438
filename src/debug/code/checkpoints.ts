import { readFileSync } from 'node:fs'
import type { WayToStep } from '../way.ts'
import type { DebugChild } from './child.ts'

/** A replay that is kept back before the answer that leads to a step. */
interface Checkpoint {
  readonly step: number
  /** Place of the answer in the order of the tape. */
  readonly place: number
  readonly child: DebugChild
}

/** What checkpoints need of the session. */
export interface CheckpointSource {
  readonly start: () => Promise<DebugChild>
  readonly wayTo: (step: number) => WayToStep | undefined
}

/**
 * Steps before the one someone looks at: what they look at next is near, and far back one checkpoint for each power is
 * enough.
 */
const distances = [1, 0, 10, 100, 1_000]
/** An answer within a tenth of a second seems to come at once: no process is kept for a replay that takes no longer. */
const worthMs = 100
const mostProcesses = 6
/** Share of the memory that is free for all of them. */
const shareOfMemory = 0.25

/**
 * Replays that stand still at steps of a long run, so that a stop does not pay for all the steps before. How many, and at which
 * steps, is decided by what a replay to there took and by what its process holds in memory.
 */
export class Checkpoints {
  readonly #source: CheckpointSource
  readonly #parked: Checkpoint[] = []
  readonly #maxBytes: number | undefined
  #msPerStep = 0
  #bytesEach = 0
  #filling: Promise<void> | undefined
  #isClosed = false

  /** @param maxMb - memory for all processes together; absent: a quarter of what is free */
  constructor(source: CheckpointSource, maxMb?: number) {
    this.#source = source
    this.#maxBytes = maxMb === undefined ? undefined : maxMb * 2 ** 20
  }

  /** Steps a replay stands at, ascending. */
  get steps(): readonly number[] {
    return this.#parked.map(({ step }) => step).sort((a, b) => a - b)
  }

  /** A replay to a step took so long. */
  took(ms: number, step: number): void {
    this.#msPerStep = ms / Math.max(1, step)
  }

  /** The nearest replay before a step, which is used up by this. */
  take(step: number): Checkpoint | undefined {
    const place = this.#source.wayTo(step)?.park ?? -1
    const best = this.#parked
      .filter((one) => one.step <= step && one.place <= place)
      .reduce<Checkpoint | undefined>((a, b) => (a === undefined || b.place > a.place ? b : a), undefined)
    if (best !== undefined) this.#parked.splice(this.#parked.indexOf(best), 1)
    return best
  }

  /** Brings replays to the steps around this one, one after the other, while nothing waits for them. */
  fillAround(step: number): Promise<void> {
    return (this.#filling ??= this.#fill(step).finally(() => (this.#filling = undefined)))
  }

  close(): void {
    this.#isClosed = true
    for (const { child } of this.#parked.splice(0)) child.close()
  }

  async #fill(around: number): Promise<void> {
    const wanted = distances
      .map((distance) => around - distance)
      .filter((step) => step >= 1 && step * this.#msPerStep >= worthMs)
    for (const step of wanted.slice(0, this.#most())) {
      const place = this.#source.wayTo(step)?.park
      if (place === undefined || this.#parked.some((one) => one.step === step)) continue
      const child = await this.#source.start()
      const came = await child.park(place)
      if (this.#isClosed || !('held' in came)) {
        child.close()
        return
      }
      this.#bytesEach = bytesOf(child)
      this.#makeRoom(around, wanted)
      this.#parked.push({ step, place, child })
    }
  }

  /** Those that are wanted no more go first, the farthest first. */
  #makeRoom(around: number, wanted: readonly number[]): void {
    while (this.#parked.length >= Math.max(1, this.#most())) {
      const rest = this.#parked.filter(({ step }) => !wanted.includes(step))
      const [first] = (rest.length > 0 ? rest : this.#parked).toSorted(
        (a, b) => Math.abs(b.step - around) - Math.abs(a.step - around),
      )
      if (first === undefined) return
      this.#parked.splice(this.#parked.indexOf(first), 1)
      first.child.close()
    }
  }

  /** How many processes may be kept. Before the first is measured: one. */
  #most(): number {
    if (this.#bytesEach === 0) return this.#maxBytes === 0 ? 0 : 2
    const held = this.#parked.length * this.#bytesEach
    const free = this.#maxBytes ?? (process.availableMemory() + held) * shareOfMemory
    return Math.min(mostProcesses, Math.floor(free / this.#bytesEach))
  }
}

/** Bytes a process holds: its share of what it shares, where the system tells; else what it said when it was loaded. */
export function bytesOf({ pid, rss }: Pick<DebugChild, 'pid' | 'rss'>): number {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return kilobytes === undefined ? rss : Number(kilobytes) * 1024
  } catch {
    // Only Linux tells it.
    return rss
  }
}
