export { toExcludeStates } from './announcements.ts'
export {
  type ChangedQuestion,
  changedQuestions,
  reportPolicy,
  stepsToAccept,
  unprovenError,
  withQuestions,
} from './changed-questions.ts'
export { keysRight, standInKeys } from '../match/keys.ts'
export { guardLoading } from './loading.ts'
export { nameMocksBy } from '../playback/mocks.ts'
export { withLosses } from '../playback/problems.ts'
export type { ProgramReport } from './program.ts'
export { isAtEveryStep } from './reviewed-steps.ts'
export { inexactParts } from './inexact.ts'
export { installReplay, replayTape } from './replay.ts'
export { comparedFacts } from './same-error.ts'
export {
  describeEnding,
  leftOutThen,
  threwInstead,
  whereThrown,
  describeThrown,
  type GreenEntries,
  type GreenSteps,
  isGreenAt,
  type JudgedReplay,
  type RunVerdict,
  type VerdictName,
  verdictFrom,
  verdictOf,
  verdicts,
} from './run-verdict.ts'
export { stepsText } from './steps-text.ts'
export { describeTranscoded } from './transcode.ts'
export * from '../match/types.ts'
