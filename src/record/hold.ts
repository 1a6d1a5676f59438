import { onceInProcess } from '../seam/patch.ts'
import { outsideRuns, seamState } from '../seam/source.ts'
import type { HeldRun } from './held-run.ts'
import type { RunCounts } from './stats.ts'

export interface HoldSettings {
  /** Bytes held at most, of all runs together. */
  readonly limit: number
  readonly counts: RunCounts
  /** Whether a run that is cut short by the end of its process is written as far as it came. */
  readonly keepsCutShort: boolean
}

/** The runs of one recorder that are held in memory, the oldest first, and those of them that are to be written. */
export class HeldRuns {
  readonly #settings: HoldSettings
  readonly #runs = new Set<HeldRun>()
  readonly #decided: HeldRun[] = []
  /** The end of the process is heard. */
  #isKnown = false
  #isWaiting = false
  #isLettingGo = false

  constructor(settings: HoldSettings) {
    this.#settings = settings
  }

  add(run: HeldRun): void {
    if (!this.#isKnown) holdsOfProcess().add(this)
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
    this.#decided.push(run)
    if (this.#isWaiting) return
    this.#isWaiting = true
    outsideRuns(() => seamState().natives.setImmediate(() => this.#writeOne()))
  }

  /** Writes all that are to be written, now. */
  flush(): void {
    for (let run = this.#decided.shift(); run !== undefined; run = this.#decided.shift()) run.write()
  }

  /** The process ends: nothing that happens later is heard. */
  exit(): void {
    outsideRuns(() => {
      this.flush()
      if (this.#settings.keepsCutShort) for (const run of [...this.#runs]) run.write()
    })
  }

  #writeOne(): void {
    this.#isWaiting = false
    this.#decided.shift()?.write()
    if (this.#decided.length === 0) return
    this.#isWaiting = true
    seamState().natives.setImmediate(() => this.#writeOne())
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
      outsideRuns(() => this.flush())
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

/** Recorders that held something, whichever copy of this package made them. */
function holdsOfProcess(): Set<Pick<HeldRuns, 'exit'>> {
  const { shared } = seamState()
  let holds = shared.get('record.holds') as ReturnType<typeof holdsOfProcess> | undefined
  if (holds === undefined) shared.set('record.holds', (holds = new Set()))
  const all = holds
  onceInProcess('record.holds', () =>
    process.on('exit', () => {
      for (const hold of all) hold.exit()
    }),
  )
  return holds
}
