/** The debugger: a cursor over the steps of a tape, and the agent's own code at one of them. */
export type { Launch } from './code/child.ts'
export { type CodeMove, CodeSession, type CodeStop, type NoStop, type ReplayMode, replayModes } from './code/session.ts'
export { codeLines, localLines, noStopLines, sourceLines } from './code/text.ts'
export { type ContextDifference, type ContextPart, type ContextWindow } from './context.ts'
export { type InspectedStep, type InspectPart, inspectParts, rawStep } from './inspect.ts'
export type { ValuePlace } from './locate.ts'
export { inspectLines } from './inspect-text.ts'
export { type Breakpoint, DebugSession, type StepComparison } from './session.ts'
export { callText, type DebugStep, wordsOf } from './steps.ts'
export {
  differenceLines,
  endText,
  hitsText,
  locateLines,
  openingLines,
  stepLine,
  stepLines,
  stripLines,
  timelineLines,
} from './text.ts'
export { type WayToStep, wayTo } from './way.ts'
