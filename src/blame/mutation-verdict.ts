import type { Undecidable } from './curve.ts'
import type { BlameOptions } from './settings.ts'
import type { Interval } from '../stats/wilson.ts'

export interface MutationOptions extends BlameOptions {
  /**
   * `adaptive` (the default): look where flips are likeliest, then certify the three foremost with fresh pairs. A number:
   * that many pairs at every position, fixed beforehand; what is responsible is then said by Fisher's exact test,
   * corrected by Holm.
   */
  readonly plan?: 'adaptive' | { readonly pairs: number }
  /** Positions certified at most, with the adaptive plan; delta is divided among them. Default 3. */
  readonly top?: number
}

/** What mutations of single answers do to a run. */
export interface MutationBlame {
  readonly verdict: MutationVerdict
  readonly isDeterministic: boolean
  /** For every position that has mutants. */
  readonly positions: readonly MutatedPosition[]
}

export type MutationVerdict =
  /** These positions are responsible: mutated, the run flips more often than with the recorded answer. Foremost first. */
  | { readonly kind: 'responsible'; readonly positions: readonly Responsible[] }
  /** Mutated, no position flips the run as often as what is blamed: each of the run was tried until that was clear. */
  | { readonly kind: 'none' }
  /** No position stands the test, and not all of them are clear either; of those of `untried` no value can be changed. */
  | { readonly kind: 'unshown'; readonly untried?: readonly number[] }
  /** A limit ended it before all was looked at. */
  | { readonly kind: 'unresolved' }
  | Undecidable

export interface Responsible {
  readonly position: number
  /** `certified`: fresh pairs, sign e-value; `fisher`: a plan fixed beforehand; `exact`: deterministic tail. */
  readonly how: 'certified' | 'fisher' | 'exact'
  readonly mutated: { readonly flips: number; readonly forks: number }
  readonly control: { readonly flips: number; readonly forks: number }
  readonly difference: number
  /** Distinct mutants among these forks: the claim is about them. */
  readonly mutants: number
  readonly evidence?: number
  /** Corrected for all positions. */
  readonly pValue?: number
  readonly alpha?: number
}

/** The result of the mutants of one position. */
export interface MutatedPosition {
  readonly position: number
  /** Distinct mutants there are. */
  readonly mutants: number
  /** Distinct mutants that were tried. */
  readonly tried: number
  /** Tried mutants after which the agent asked nothing else than recorded: their effect is exactly none. */
  readonly inert: number
  readonly forks: number
  /** The mean flip-rate of the distinct mutants; inert forks are no flips. Absent when none was tried. */
  readonly rate?: number
  /** Wilson, for display: each mutant counts once. Absent with a deterministic tail, and when all mutants are inert. */
  readonly display?: Interval
  /** Clopper-Pearson, all positions together; as `display`. */
  readonly simultaneous?: Interval
  readonly undefinedRate: number
}
