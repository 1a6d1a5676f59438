/** Runs of an agent that part from its tape: asked for by commands, done where the agent's code can be loaded. */
export { hearModelCalls, type HeardCall, lostCall } from './heard-calls.ts'
export { type Control, controlData, controlOf, type ControlOptions } from './control.ts'
export { forkTape } from './fork.ts'
export {
  isOfKeptState,
  requireNoKeptState,
  requireSameOutside,
  runAlone,
  type UnchangedRun,
  unchangedRun,
} from './kept-state.ts'
export { stepBehind } from './branch-recorder.ts'
export { fork, type Forking, type StepChange } from './library.ts'
export { type Patch, type Patched, patchTape } from './patch.ts'
export type {
  ForkAnswer,
  AskedModel,
  Branch,
  PlannedChange as ForkChange,
  Decision,
  ForkOptions,
  ForkPlan,
  ForkResult,
  Tail,
} from './plan.ts'
export { editAnswer } from './edits.ts'
export type { AnswerEdit } from './edits.ts'
export { readJsonPatch } from './json-patch.ts'
export { askedKey, forkKey, type MadeAnew, requirePlace } from './kept-forks.ts'
export {
  type Again,
  allUncompared,
  doAgain,
  isFreeIn,
  type KeptRun,
  keptRunOf,
  type NotAgain,
  type UncomparedHeaders,
  otherwiseText,
  type ReplayedFork,
  type SentAgain,
} from './kept-run.ts'
export type { ChangeRequest, FinishedFork, ForkRequest, SerializedError, TailRequest } from './request.ts'
export { controlOptionsOf } from './control-options.ts'
export type { ForkTaskAnswer, ForkTaskOptions, ForkTaskProgress } from './fork-task.ts'
