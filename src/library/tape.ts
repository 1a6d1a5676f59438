/**
 * Tapes and traces for people who write viewers and checks: synchronous and pure. Runs no agent.
 *
 * @module
 */
export type { Dialect, ModelCall, ModelRequest, ModelResponse, ToolCall, Usage } from '../providers/index.ts'
export { readModelCall, readModelRequest } from '../providers/index.ts'
export { decodeValue, parseTape, readTape, readTapeHeader, stepsOf, streamTape } from '../tape/index.ts'
export * from '../tape/types.ts'
export {
  type ArgsMode,
  type ArgsRule,
  compareTraces,
  type ExpectedCall,
  type ExpectedTrace,
  type MatchOptions,
  parseBaseline,
  renderBaseline,
  type Trace,
  type TraceCall,
  type TraceComparison,
  type TraceMode,
  traceOf,
} from '../trace/index.ts'
