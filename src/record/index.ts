/**
 * The production entry point: records unmodified agents. Loads no Vitest, no git, no YAML.
 *
 * @module
 */
export {
  bind,
  client,
  type ClientOptions,
  mark,
  message,
  retriever,
  runSignal,
  state,
  type Thinning,
  tool,
  tools,
  value,
  type WrapOptions,
} from '../seam/index.ts'
export type { BudgetEvent } from './usage-counter.ts'
export type { RunHandle } from './run-stats.ts'
export type {
  BodyOptions,
  BudgetOptions,
  FinishedRun,
  HoldOptions,
  KeepOptions,
  Limits,
  RecorderOptions,
  RetentionOptions,
  TapeOptions,
  WatchFunction,
} from './options.ts'
export { createRecorder, type Recorder, type RunOptions } from './recorder.ts'
export type { Duration } from './retention.ts'
export { isSampled } from './sample.ts'
export type { RunStats } from './stats.ts'
