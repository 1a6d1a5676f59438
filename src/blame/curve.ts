import { isHopeless, isMostlyLost, isTooLittle } from './lost-forks.ts'
import type { ForkDraw, Grade } from './types.ts'

/** How forks of one kind ended. */
export interface Tally {
  readonly ok: number
  /** Ended badly, crashed or ran out of time. */
  readonly failed: number
  /** Left their tape before they were free to: nothing can be said of them. */
  readonly undefined: number
  /** It is unknown how they ended. */
  readonly ungraded: number
  /** Different texts of what happened behind the kept steps: the number of forks that are really different runs. */
  readonly distinct: number
  /** Different decisions of models in those that were graded; absent: unknown. */
  readonly decisions?: number
  /** What became of the first resampled position in those that were graded; absent: unknown. */
  readonly first?: { readonly answer: number; readonly question: number; readonly same: number }
}

/** Whether a fork ended well; `undefined` when it tells nothing and leaves the denominator. */
export function passed(grade: Grade): boolean | undefined {
  switch (grade) {
    case 'ok':
      return true
    case 'bad':
    case 'crash':
    case 'timeout':
      return false
    case 'undefined':
    case 'ungraded':
      return undefined
  }
}

/** Counts forks. */
export class Counter implements Tally {
  ok = 0
  failed = 0
  undefined = 0
  ungraded = 0
  readonly #fingerprints = new Set<string>()
  readonly #decided = new Set<string>()
  readonly #first = { answer: 0, question: 0, same: 0 }
  #isUnknown = false

  /** @returns whether the fork ended well; `undefined` when it tells nothing */
  add({ grade, fingerprint, first, decided }: ForkDraw): boolean | undefined {
    const isOk = passed(grade)
    if (grade === 'undefined' || grade === 'ungraded') this[grade]++
    else {
      if (isOk === true) this.ok++
      else this.failed++
      this.#fingerprints.add(fingerprint)
      if (first === undefined || decided === undefined) this.#isUnknown = true
      else {
        this.#first[first]++
        this.#decided.add(decided)
      }
    }
    return isOk
  }

  get graded(): number {
    return this.ok + this.failed
  }

  /** Forks without a grade. */
  get lost(): number {
    return this.undefined + this.ungraded
  }

  get distinct(): number {
    return this.#fingerprints.size
  }

  get tally(): Tally {
    const { ok, failed, ungraded, distinct } = this
    const isKnown = !this.#isUnknown && this.graded > 0
    return {
      ok,
      failed,
      undefined: this.undefined,
      ungraded,
      distinct,
      ...(isKnown ? { decisions: this.#decided.size, first: { ...this.#first } } : {}),
    }
  }
}

/**
 * The recoverability curve: for every number of kept positions, the result of the forks that resampled the rest.
 *
 * Keeping all of them is the recorded run, so the curve ends with its outcome, exactly.
 */
export class Curve {
  readonly arms: readonly Counter[]

  constructor(positions: number) {
    this.arms = Array.from({ length: positions }, () => new Counter())
  }

  /** @returns whether the fork ended well; `undefined` when it tells nothing */
  add(keep: number, draw: ForkDraw): boolean | undefined {
    return this.at(keep).add(draw)
  }

  at(keep: number): Counter {
    const arm = this.arms[keep]
    if (arm === undefined) throw new RangeError(`Curve: no fork keeps ${keep} of ${this.arms.length} positions`)
    return arm
  }

  /** The forks that tell nothing, when there are so many that it is no use to go on. */
  get undecidable(): Undecidable | undefined {
    const lost = this.#lost
    return isHopeless(lost.undefined + lost.ungraded, lost.forks) ? lost : undefined
  }

  /** The forks that tell nothing, when they are more than a fifth of at least ten: then nothing is decided. */
  get undecided(): Undecidable | undefined {
    const lost = this.#lost
    return isTooLittle(lost.undefined + lost.ungraded, lost.forks) ? lost : undefined
  }

  /** The same of the few forks that a limit allowed, where more would hardly be decided. */
  get undecidedByLimit(): Undecidable | undefined {
    const lost = this.#lost
    return isMostlyLost(lost.undefined + lost.ungraded, lost.forks) ? lost : undefined
  }

  get #lost(): Undecidable {
    let all = 0
    let lost = 0
    let ungraded = 0
    for (const arm of this.arms) {
      all += arm.graded + arm.lost
      lost += arm.undefined
      ungraded += arm.ungraded
    }
    const positions = this.arms.flatMap((arm, keep) => (arm.lost > 0 ? [keep] : []))
    return { kind: 'undecidable', forks: all, undefined: lost, ungraded, positions }
  }
}

/** More than a fifth of the forks tell nothing, so no verdict is given. */
export interface Undecidable {
  readonly kind: 'undecidable'
  readonly forks: number
  /** Forks that left their tape before they were free to. */
  readonly undefined: number
  /** Forks that cannot be graded. */
  readonly ungraded: number
  /** The numbers of kept positions at which that happened. */
  readonly positions: readonly number[]
}
