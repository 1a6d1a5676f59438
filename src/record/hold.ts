import { outsideRuns } from '../seam/source.ts'
import { atExit, type RunEndings, finish } from './endings.ts'
import type { HeldRun } from './held-run.ts'
import type { RunCounts } from './stats.ts'

export interface HoldSettings {
  /** Bytes held at most, of all runs together. */
  readonly limit: number
  readonly counts: RunCounts
  /** Writes those that are kept. */
  readonly endings: RunEndings
  /** Whether a run that is cut short by the end of its process is written as far as it came. */
  readonly keepsCutShort: boolean
}

/** The runs of one recorder that are held in memory, the oldest first. */
export class HeldRuns {
  readonly #settings: HoldSettings
  readonly #runs = new Set<HeldRun>()
  /** The end of the process is heard. */
  #isKnown = false
  #isLettingGo = false

  constructor(settings: HoldSettings) {
    this.#settings = settings
  }

  add(run: HeldRun): void {
    if (!this.#isKnown) atExit(this)
    this.#isKnown = true
    this.#runs.add(run)
  }

  remove(run: HeldRun): void {
    this.#runs.delete(run)
  }

  grown(bytes: number): void {
    const { counts, limit } = this.#settings
    counts.heldBytes += bytes
    if (counts.heldBytes > limit && !this.#isLettingGo) this.#letGo()
  }

  /** The run is kept: it is written when the requests under way had their turn, one run at a time. */
  decided(run: HeldRun): void {
    this.#settings.endings.add(run.write())
  }

  /** The process ends: nothing that happens later is heard. */
  exit(): void {
    outsideRuns(() => {
      this.#settings.endings.flush()
      if (this.#settings.keepsCutShort) for (const run of [...this.#runs]) finish(run.write())
    })
  }

  /**
   * Makes room, a tenth more than is needed. What is decided is written. Then the largest finished bodies of the oldest
   * runs go, and at last the oldest runs whole: nothing unredacted is put on a disk instead.
   */
  #letGo(): void {
    const { counts, limit } = this.#settings
    const isEnough = (): boolean => counts.heldBytes <= limit * 0.9
    this.#isLettingGo = true
    try {
      outsideRuns(() => this.#settings.endings.flush())
      for (const run of this.#runs) {
        while (!isEnough() && run.letGoBody() > 0);
        if (isEnough()) return
      }
      for (const run of this.#runs) {
        if (isEnough()) return
        run.letGoAll()
      }
    } finally {
      this.#isLettingGo = false
    }
  }
}
