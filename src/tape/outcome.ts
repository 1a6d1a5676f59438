import type { Outcome, TapeHeader } from './types.ts'

/** An outcome as it stands on the closing line. */
export type WrittenOutcome = Exclude<Outcome, { readonly status: 'unknown' }> & { readonly unknown?: true }

/**
 * The outcome of a closing line as readers see it: `unknown` where the import did not see how the run ended.
 *
 * The line spells it `{"status":"returned","unknown":true}`: versions that know no unknown outcome read it as a run that
 * returned nothing, as they read every import. Their own imports say it in the header alone, under `missing`.
 */
export function readOutcome(written: WrittenOutcome, { imported }: Pick<TapeHeader, 'imported'>): Outcome {
  if (written.unknown === true) return { status: 'unknown' }
  const isEmpty = written.status === 'returned' && written.value === undefined
  return isEmpty && imported?.missing.includes('outcome') === true ? { status: 'unknown' } : written
}

/** The outcome as it is written. See {@link readOutcome} */
export function writeOutcome(outcome: Outcome): WrittenOutcome {
  return outcome.status === 'unknown' ? { status: 'returned', unknown: true } : outcome
}

/** What every report says where the outcome of an import would be compared. */
export const outcomeNotCompared = 'not compared (the import did not see it)'
