/**
 * The library door: read tapes, replay and fork them, take runs apart and compare them. Loads no Vitest.
 *
 * @module
 */
export { type BranchComparison, compareBranches, type StepDifference } from './blame/index.ts'
export { blame, type BlameTapeOptions } from './blame/blame.ts'
export type { BlamedRun } from './blame/run-blame.ts'
export type { OracleAnswer, OracleFunction, OracleRun, SideEffect } from './blame/oracle.ts'
export type { Grade, Position } from './blame/types.ts'
export { type ErrorFacts, HarvestError } from './errors/index.ts'
export { chaos } from './faults/load.ts'
export type { ChaosAgent, ChaosFailure, ChaosOptions, ChaosReport } from './faults/chaos-types.ts'
export type { Fault, FaultSchedule } from './faults/types.ts'
export {
  type Budget,
  type BudgetLimits,
  fork,
  forkTape,
  type Forking,
  openBudget,
  type StepChange,
} from './fork/index.ts'
export type {
  Answer,
  Branch,
  Decision,
  ForkChange,
  ForkOptions,
  ForkPlan,
  ForkResult,
  Patch,
  Tail,
} from './fork/index.ts'
export { readModelCall, readModelRequest } from './providers/index.ts'
export type { Dialect, ModelCall, ModelRequest, ModelResponse, ToolCall, Usage } from './providers/index.ts'
export * from './replay/index.ts'
export { decodeValue, parseTape, readTape, readTapeHeader, stepsOf, streamTape } from './tape/index.ts'
export * from './tape/types.ts'
export { compareTraces, parseBaseline, renderBaseline, traceOf } from './trace/index.ts'
export * from './trace/types.ts'
export { version } from './version.ts'
