import type { ForkSource } from '../../blame/index.ts'
import type { Interval } from '../../stats/index.ts'

/** What an engine says about one tape: as much of its report as is scored. Places count from 0. */
export interface EngineDiagnosis {
  /**
   * `confirmed`: these places decided it. `never`: nothing the run could have done. `unresolved`: it cannot say, or not
   * one place alone. `undecidable`: too many forks could not be judged. `nothing`: there is nothing to find.
   */
  readonly said: 'confirmed' | 'never' | 'unresolved' | 'undecidable' | 'nothing'
  /** Places it certifies. */
  readonly named: readonly number[]
  /** Places from the most to the least suspect; certified ones first. Need not be complete. */
  readonly ranking: readonly number[]
  readonly columns?: FoundColumns
  /** Earlier places that were necessary too, each with the later ones that were held as recorded; in causal order. */
  readonly earlier?: readonly { readonly position: number; readonly held: readonly number[] }[]
  /** Intervals that claim to hold while someone looks after every fork: for the chance of a kept prefix to end well. */
  readonly intervals: readonly (Interval & { readonly keep: number })[]
  /** Forks for the verdict, without those for the columns. */
  readonly forks: number
  readonly columnForks: number
  readonly modelCalls: number
  /** Forks that could not be judged. */
  readonly undefinedForks: number
}

/** Nothing was asked and nothing found. */
export const nothing: EngineDiagnosis = {
  said: 'nothing',
  named: [],
  ranking: [],
  intervals: [],
  forks: 0,
  columnForks: 0,
  modelCalls: 0,
  undefinedForks: 0,
}

export interface FoundColumns {
  readonly necessary: readonly number[]
  readonly sufficient: readonly number[]
  /** Absent: nothing that can be repaired lets the run end well. */
  readonly repairSet?: readonly number[]
}

/** What an engine is asked for. */
export interface DiagnosisRequest {
  readonly asks: 'run' | 'mutations'
  readonly hasColumns: boolean
  /** Which earlier places were necessary too. */
  readonly asksEarlier: boolean
  /** Look at every place behind the one found. */
  readonly sweeps: boolean
  /** A script answers what is resampled, the same each time, and that is known. */
  readonly isScripted: boolean
}

/** Blames one tape. The one that is validated is the product's; tests put broken ones in its place. */
export type Engine = (source: ForkSource, asked: DiagnosisRequest) => Promise<EngineDiagnosis>
