/** Intervals, tests and sequences of the statistics behind every claim: numbers in, numbers out. */
export { type Interval, wilson } from './wilson.ts'
export { clopperPearson, jeffreys } from './clopper-pearson.ts'
export { type Counted, newcombe } from './newcombe.ts'
export { confidenceSequence } from './confidence-sequence.ts'
export { pairEvidence } from './pair-evidence.ts'
export { lnChoose } from './beta-function.ts'
export { sprt, type SprtPlan } from './sprt.ts'
export { alphaOfLook, fisherExact, holm } from './fisher.ts'
