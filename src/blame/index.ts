/** Which step of a run decided how it ended, and how sure that is: every interval says how it was made. */
export { blameFailedRun, type FailedRunBlame } from './failed-run.ts'
export { withCodeAlone } from './code-alone.ts'
export { blameEarlier, type NecessaryEarlier } from './earlier.ts'
export { type BlameReport, blameSource, type ReportOptions, type StepReport } from './report.ts'
export { type CostPlan, type ExpectedUse, planCost } from './plan-cost.ts'
export { type BlameOptions, type BlameProgress, usualEffect } from './settings.ts'
export type { CodeAlone, Commitment, Confirmed, Member, NeverRecoverable, Undecided, BlameVerdict } from './verdict.ts'
export type { Tally, Undecidable } from './curve.ts'
export { blameMutations } from './mutations.ts'
export type {
  MutatedPosition,
  MutationBlame,
  MutationOptions,
  MutationVerdict,
  Responsible,
} from './mutation-verdict.ts'
export {
  type Arm,
  type Forks,
  type ForkLimits,
  ForkBudget,
  mostForks,
  type ForkBudgetOptions,
  type ForkCache,
  type ForkCacheEntry,
  type Stop,
  stopTexts,
} from './fork-budget.ts'
export type { ForksSpent } from './spent.ts'
export { blameRepairs, type RepairBlame, type RepairOptions } from './repairs.ts'
export { isGraded } from './types.ts'
export type { ForkDraw, ForkSource, ForkSpec, Grade, GradingUse, Position, RunLayer } from './types.ts'
export {
  type LimitPassed,
  limitPassed,
  openForks,
  type OtherRuns,
  requireNoKeptState,
  type RunBlameOptions,
} from './run-blame.ts'
export { decisionOf } from './positions.ts'
export { blameOptionsOf, placeOf, type BlameRequest } from './task.ts'
export { type BranchComparison, compareBranches, type BranchDifference } from './compare.ts'
