/** What makes a run irreproducible, found by experiment. */
export type { Examination, Found } from './examine.ts'
export type { FingerprintDifference, Fingerprint } from './fingerprint.ts'
export type { Kept } from './kept.ts'
