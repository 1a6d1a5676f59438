import type { Caller } from './source.ts'

/**
 * The frames of all code that led to `caller`, the innermost first.
 *
 * @returns none while another stack is being formatted: Node gives a text then, and whoever formats it asks
 */
export function callSites(caller: Caller, limit: number): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.prepareStackTrace = takeFrames
  Error.stackTraceLimit = limit
  const holder: { stack?: unknown } = {}
  Error.captureStackTrace(holder, caller)
  const frames = holder.stack
  Error.prepareStackTrace = prepareStackTrace
  Error.stackTraceLimit = stackTraceLimit
  return Array.isArray(frames) ? (frames as readonly NodeJS.CallSite[]) : []
}

function takeFrames(_error: unknown, frames: NodeJS.CallSite[]): NodeJS.CallSite[] {
  return frames
}
