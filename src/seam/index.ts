export { tools } from './adapt.ts'
export { currentRun, seamState, type RunContext } from './source.ts'
export { bind, mark, message, retriever, tool, value, type WrapOptions } from './wrap.ts'
