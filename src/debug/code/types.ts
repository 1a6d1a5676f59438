/** What the inspector tells, as far as we read it. Lines and columns count from 0. */

export interface Location {
  readonly scriptId: string
  readonly lineNumber: number
  readonly columnNumber: number
}

export interface RemoteValue {
  readonly type: string
  readonly subtype?: string
  readonly className?: string
  readonly value?: unknown
  readonly unserializableValue?: string
  readonly description?: string
  readonly objectId?: string
}

export interface PausedFrame {
  readonly callFrameId: string
  readonly functionName: string
  readonly location: Location
  /** Where its function begins. */
  readonly functionLocation: Location
  readonly scopeChain: readonly { readonly type: string; readonly object: RemoteValue }[]
}

interface AsyncStack {
  readonly callFrames: readonly (Location & { readonly functionName: string })[]
  readonly parent?: AsyncStack
}

export interface Paused {
  readonly callFrames: readonly PausedFrame[]
  readonly asyncStackTrace?: AsyncStack
  readonly hitBreakpoints?: readonly string[]
  readonly reason: string
}

export interface Script {
  readonly scriptId: string
  readonly url: string
  readonly sourceMapURL?: string
}

/** A place in the code of the agent, as V8 has it. */
export interface UserFrame extends Location {
  readonly functionName: string
  readonly url: string
}
