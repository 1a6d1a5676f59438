import type { KeptReason } from '../tape/index.ts'

/**
 * What became of the runs of one recorder. Every run that began is in one of five places:
 * `runs = kept + dropped + notSampled + unrecorded + open`. A recorder that is off counts nothing.
 */
export interface RunStats {
  /** Runs that began; one inside another belongs to that. */
  readonly runs: number
  /** Tapes with a last line. */
  readonly kept: number
  /** Judged when they were over, and not kept. */
  readonly dropped: number
  /** Left out before they began, see `decide: 'start'`. */
  readonly notSampled: number
  /** Runs that were to be kept, and whose tape could not be begun or ended. */
  readonly unrecorded: number
  /**
   * Runs in whose recording something failed: those that are `unrecorded`, those whose tape says why it is not whole, and those
   * whose tape should be gone and is not.
   */
  readonly failures: number
  /** Still under way, or to be kept and not written yet. */
  readonly open: number
  /** Bodies, values and tapes of which a part was left out, because they were larger than their cap or than what is held. */
  readonly capped: number
  /** Bytes in memory of runs that are judged when they are over. */
  readonly heldBytes: number
  /** Flags raised in runs that were left out before they began: too late. */
  readonly flagsTooLate: number
  /** A run kept for several reasons counts under each; one of a recorder that keeps all, and that nothing stood out in, under none. */
  readonly because: Readonly<Partial<Record<KeptReason['because'], number>>>
}

/** How a run that was recorded ended. */
export type Fate = 'kept' | 'dropped' | 'unrecorded'

/** Counts the runs of one recorder. */
export class RunCounts {
  #runs = 0
  #notSampled = 0
  readonly #ended: Record<Fate, number> = { kept: 0, dropped: 0, unrecorded: 0 }
  readonly #because = new Map<KeptReason['because'], number>()
  capped = 0
  heldBytes = 0
  flagsTooLate = 0
  failures = 0

  begun(): void {
    this.#runs++
  }

  notSampled(): void {
    this.#notSampled++
  }

  /** Called once for each run that began and was sampled. */
  ended(fate: Fate, kept: readonly KeptReason[] = []): void {
    this.#ended[fate]++
    if (fate !== 'kept') return
    for (const because of new Set(kept.map((reason) => reason.because)))
      this.#because.set(because, (this.#because.get(because) ?? 0) + 1)
  }

  get now(): RunStats {
    const { kept, dropped, unrecorded } = this.#ended
    return {
      runs: this.#runs,
      kept,
      dropped,
      notSampled: this.#notSampled,
      unrecorded,
      failures: this.failures,
      open: this.#runs - kept - dropped - unrecorded - this.#notSampled,
      capped: this.capped,
      heldBytes: this.heldBytes,
      flagsTooLate: this.flagsTooLate,
      because: Object.fromEntries(this.#because),
    }
  }
}
