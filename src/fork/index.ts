/** Runs of an agent that part from its tape: asked for by commands, done where the agent's code can be loaded. */
export { type Budget, type BudgetLimits, estimatedUsage, openBudget, type Use } from './budget.ts'
export { hearModelCalls, type HeardCall } from './heard-calls.ts'
export {
  type FailedJob,
  type FinishedJob,
  type FinishedTask,
  type Job,
  type JobList,
  type JobResult,
  type JobVerdict,
  jobModuleName,
  jobsVariable,
  type Spent,
  type Task,
  type TaskContext,
  type TaskName,
  type TaskProgress,
} from './job.ts'
export { type Control, type ControlData, controlData, controlOf, type ControlOptions } from './control.ts'
export type { ControlDifference } from './control-difference.ts'
export { forkTape } from './fork.ts'
export { fork, type Forking, type StepChange } from './library.ts'
export { runLive } from './live.ts'
export { type Patch, type Patched, patchTape } from './patch.ts'
export type { Examination, Found } from './examine.ts'
export type { Change, Fingerprint } from './fingerprint.ts'
export type { Kept } from './kept.ts'
export type {
  Answer,
  AskedModel,
  Branch,
  Change as ForkChange,
  Decision,
  ForkOptions,
  ForkPlan,
  ForkResult,
  Tail,
} from './plan.ts'
export { editAnswer } from './edits.ts'
export type { AnswerEdit } from './edits.ts'
export { readJsonPatch } from './json-patch.ts'
export { controlKey, forkKey, readKeptControl, readKeptFork } from './kept-forks.ts'
export type { ChangeRequest, FinishedFork, ForkRequest, Said, TailRequest } from './request.ts'
export { controlOptionsOf } from './control-options.ts'
export type { ForkTaskAnswer, ForkTaskOptions } from './fork-task.ts'
