export { tools } from './adapt.ts'
export { currentRun, seamState, type RunContext } from './source.ts'
export { runSignal } from './run-signal.ts'
export { bind, mark, message, retriever, tool, value, type WrapOptions } from './wrap.ts'
