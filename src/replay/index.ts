export { type ChangedQuestion, changedQuestions, stepsText, unprovenError } from './changed-questions.ts'
export { standInKeys } from './keys.ts'
export { guardLoading } from './loading.ts'
export { nameMocksBy } from './mocks.ts'
export type { ProgramReport } from './program.ts'
export { inexactParts } from './inexact.ts'
export { installReplay, replayTape } from './replay.ts'
export {
  describeEnding,
  type RunVerdict,
  type VerdictName,
  verdictFrom,
  verdictOf,
  verdicts,
} from './run-verdict.ts'
export { describeTranscoded, type TranscodedStep } from './transcode.ts'
export * from './types.ts'
