/**
 * The library door: read tapes, replay them, take runs apart and compare them. Loads no Vitest.
 *
 * @module
 */
export { type ErrorFacts, HarvestError } from './errors/index.ts'
export { readModelCall, readModelRequest } from './providers/index.ts'
export type { Dialect, ModelCall, ModelRequest, ModelResponse, ToolCall, Usage } from './providers/index.ts'
export * from './replay/index.ts'
export { decodeValue, parseTape, readTape, readTapeHeader, stepsOf, streamTape } from './tape/index.ts'
export * from './tape/types.ts'
export { compareTraces, parseBaseline, renderBaseline, traceOf } from './trace/index.ts'
export * from './trace/types.ts'
export { version } from './version.ts'
