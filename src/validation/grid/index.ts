/** Whether blame is to be trusted: causes are planted where they are known, and what blame says is scored. */
export type { Cell } from './cells.ts'
export { type Comparison, compareWithReport, type Departure } from './check.ts'
export type { QualityGate } from './gates.ts'
export type { MeasuredCell } from './measure.ts'
export {
  type Agreed,
  asReported,
  cellsOfReport,
  type EngineReport,
  engineReport,
  readReport,
  type ValidationReport,
  writeReport,
} from './report.ts'
export { defaultSeed, type EngineResult, validateEngine } from './run.ts'
export { addCounts, type Count, intervalOf, rateOf } from './tally.ts'
