import type { Undecidable } from './curve.ts'
import type { Stop } from './fork-budget.ts'
import type { Interval } from '../stats/wilson.ts'

/** What blame says of a failed run. */
export type BlameVerdict = Confirmed | NeverRecoverable | Undecided | Undecidable | Unsure

/** At least one position is named. */
export interface Confirmed {
  readonly kind: 'confirmed'
  /** In causal order. The run was lost for good at the last one; after the others it had recovered, or could have. */
  readonly commitments: readonly Commitment[]
  /**
   * With a deterministic tail: positions behind the last commitment that no fork looked at. If the run recovered there and
   * failed once more, it was lost later. 0: looked at all of them. Absent with a noisy tail.
   */
  readonly unseen?: number
  /** Behind the last commitment forks still end well often enough, but no later position could be named. */
  readonly isStillRecoverable?: true
}

/** One position that decided: resampled, runs end well more often than with it kept. */
export interface Commitment {
  /** From 0, in causal order. */
  readonly position: number
  /**
   * `certified`: by fresh pairs of forks, at an error of at most `alpha`. `exact`: the tail is deterministic, so one fork
   * of each kind says it, and there is no interval. `draws`: the rates differ, but {@link codeAlone} shows that by what the
   * code draws itself from this position on; its answer is not named, and nothing is certified of it.
   */
  readonly how: 'certified' | 'exact' | 'draws'
  /** Forks with the position resampled: how many ended well. The fresh ones alone. */
  readonly resampled: { readonly ok: number; readonly forks: number }
  /** Forks with the position kept. 0 forks: it is the last one, so keeping it is the recorded run. */
  readonly kept: { readonly ok: number; readonly forks: number }
  /** The rate of the former less that of the latter. */
  readonly difference: number
  /** The e-value of the pairs ({@link pairEvidence}) for a difference of more than half of the minimum effect; absent when exact, or of draws. */
  readonly evidence?: number
  /** How often a claim like this may be false; its share of delta. Absent when exact, or of draws. */
  readonly alpha?: number
  /** Forks that were under way already when the claim was shown, and were not needed for it. */
  readonly surplus?: number
  /**
   * Where the position was asked the same, its decision or answer was the recorded one in every fork: it decided nothing. Left
   * are the words beside a decision, and what the agent's own code drew or read (random numbers, ids, the clock, its own state):
   * behind the answer of a model, or before the question to a tool. Absent: another answer was seen, or it is unknown.
   */
  readonly isDrawn?: true
  /** Free runs with every answer as recorded. Where one ends well, what the code draws decided, and this answer is not named. */
  readonly codeAlone?: CodeAlone
  /** The steps of a block, each resampled alone; absent for a single step, and when the source cannot. */
  readonly members?: readonly Member[]
}

/**
 * How runs ended that have every answer of the tape, and resample what the agent's own code draws from a position on: random
 * numbers, ids, the clock. `unknown`: they asked there for something else, or could not be graded, so draws are not ruled out.
 */
export interface CodeAlone {
  readonly ok: number
  readonly bad: number
  readonly unknown: number
}

/** One step of a block, resampled while the others of the block answer as recorded. */
export interface Member {
  /** 1-based, as on the tape. */
  readonly step: number
  readonly resampled: { readonly ok: number; readonly forks: number }
  readonly kept: { readonly ok: number; readonly forks: number }
  /** This step alone decided. False: not shown. */
  readonly isConfirmed: boolean
  readonly evidence?: number
}

/** Resampled from its very beginning the run still fails: no step of it, but the prompt, the tools or the environment. */
export interface NeverRecoverable {
  readonly kind: 'never'
  /**
   * `doubted`: no run is graded ok, and none is known that would be. Either what the agent is made of decides, or who grades
   * calls every run bad.
   */
  readonly how: 'certified' | 'exact' | 'doubted'
  /** Forks that resample everything, and were graded. */
  readonly ok: number
  readonly forks: number
  /** Beside them, forks that could not be graded. Default none. */
  readonly lost?: number
  /** The rate at which they end well, by {@link confidenceSequence}, with what could not be graded counted as if it did; absent when exact. */
  readonly rate?: Interval
  /** How often the claim may be false. Absent when exact, or doubted: then nothing is claimed. */
  readonly alpha?: number
  /** With a deterministic tail: positions that no fork looked at, where the run might have recovered. */
  readonly unseen?: number
}

/** The oracle disagrees with itself too often for anything to be certified. */
export interface Unsure {
  readonly kind: 'unsure'
  /** What would have been named; none: that no position decided. */
  readonly positions: readonly number[]
}

/** No position is named. */
export interface Undecided {
  /**
   * `diffuse`: forks were enough, but no position stands the test: what the run can still become declines over many steps.
   * `unresolved`: a limit ended it.
   */
  readonly kind: 'diffuse' | 'unresolved'
  /** Between these positions lies the deciding one with a probability of 0.9, if there is one. */
  readonly range: { readonly from: number; readonly to: number }
  /** How likely it is that no position decided. */
  readonly never: number
  /**
   * The likeliest position, not certified, of those that no test refuted; absent when none is likelier. `isDrawn`, `codeAlone`: as of a
   * {@link Commitment}.
   */
  readonly likeliest?: {
    readonly position: number
    readonly chance: number
    readonly isDrawn?: true
    readonly codeAlone?: CodeAlone
  }
  /** The position at which the forks differ, where a test showed that it takes less than the minimum effect; absent: none did. */
  readonly smaller?: number
  /** About as many forks are likely still needed; absent when more forks would not help. */
  readonly forksNeeded?: number
  /** `smallEffect`: no limit was named, and the effect looks so small that a certificate is far away. */
  readonly stoppedBy?: Stop | 'smallEffect'
}
