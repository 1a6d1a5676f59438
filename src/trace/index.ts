export { baselinePath, parseBaseline, renderBaseline } from './baseline.ts'
export { parseCall, renderCall } from './call-text.ts'
export { compareReplay } from './compare-run.ts'
export { compareTraces, type TraceComparison } from './compare.ts'
export type { TraceDifference } from './differences.ts'
export { layered } from './layers.ts'
export { mergeBaseline } from './merge.ts'
export {
  asValue,
  exactIn,
  exactly,
  holdsWildcard,
  isWhole,
  matchOutcome,
  onlyIn,
  type OutcomeMatch,
  presentOutcome,
  withExact,
  withOnly,
} from './outcome.ts'
export { createMatcher } from './matcher.ts'
export type { PlacedCall } from './placed.ts'
export { positionsOf } from './positions.ts'
export { placedCalls, traceOf, traceOfRun } from './trace-of.ts'
export {
  type ArgsMode,
  type ArgsRule,
  argsModes,
  type ExpectedCall,
  type ExpectedTrace,
  type MatchOptions,
  type Trace,
  type TraceCall,
  type TraceMode,
  traceModes,
} from './types.ts'
