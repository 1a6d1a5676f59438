/**
 * The library: what the commands do, as functions. Loads no Vitest, and each function loads its part when it is called.
 *
 * @module
 */
export { type ErrorCode, type ErrorFacts, HarvestError } from './errors/index.ts'
export {
  checkRecordings,
  diffRuns,
  type ExportedTape,
  exportTape,
  type ExportTapeOptions,
  type ImportedTape,
  importTapes,
  type ImportTapesOptions,
  listTapes,
  loadCase,
  promote,
  type PromoteTapeOptions,
} from './library/recordings.ts'
export { openRecordings, type Recordings } from './library/manage.ts'
export { blame, chaos, diagnose, type DiagnoseOptions, fork, type IsolateTapeOptions, replay } from './library/runs.ts'
export { readTape } from './tape/read.ts'

export type { BranchComparison, BranchDifference } from './blame/index.ts'
export type { BlameTapeOptions } from './blame/blame.ts'
export type { BlamedRun } from './blame/run-blame.ts'
export type { OracleAnswer, OracleFunction, OracleRun, SideEffect } from './blame/oracle.ts'
export type { Grade, Position } from './blame/types.ts'
export type { Case } from './cases/index.ts'
export type { Review, ReviewedCase, ReviewedTape, ReviewOptions, TapeDigest, Weakening } from './review/index.ts'
export type { CheckFinding, CheckOptions, CheckReport } from './check/index.ts'
export type { Finding } from './doctor/findings.ts'
export type { FailureLayer, IsolatedRun, IsolateVerdict } from './isolate/index.ts'
export type { ChaosAgent, ChaosFailure, ChaosOptions, ChaosReport } from './faults/chaos-types.ts'
export type { Fault, FaultSchedule } from './faults/types.ts'
export type {
  ForkAnswer,
  Branch,
  Decision,
  ForkChange,
  Forking,
  ForkOptions,
  ForkPlan,
  ForkResult,
  Patch,
  StepChange,
  Tail,
} from './fork/index.ts'
export type { ImportFacts, ImportFormat } from './importers/index.ts'
export type { Budget, BudgetLimits } from './live/index.ts'
export type * from './match/types.ts'
export type { Dialect, ModelCall, ModelRequest, ModelResponse, ToolCall, Usage } from './providers/index.ts'
export type {
  Demoted,
  Hold,
  ListedTape,
  PinLimits,
  PinReport,
  Pruned,
  PruneOptions,
  TapeFilter,
  TapeGroup,
  TapeGroups,
  TapeList,
  TapeQuery,
  TapeSort,
} from './recordings/index.ts'
export type { ChangedQuestion, JudgedReplay, RunVerdict, VerdictName } from './replay/index.ts'
export type { RunDiff } from './report/diff/compare.ts'
export type * from './tape/types.ts'
export type {
  ArgsMode,
  ArgsRule,
  ExpectedCall,
  ExpectedTrace,
  MatchOptions,
  Trace,
  TraceCall,
  TraceComparison,
  TraceMode,
} from './trace/index.ts'

export {
  compareBranches,
  compareTraces,
  forkTape,
  guardLoading,
  installReplay,
  openBudget,
  parseBaseline,
  readModelCall,
  readModelRequest,
  renderBaseline,
  replayTape,
  standInKeys,
  traceOf,
} from './library/deprecated.ts'
/** @deprecated Import them from `vitest-harvest/tape`. */
export { decodeValue, parseTape, readTapeHeader, stepsOf, streamTape } from './tape/index.ts'
