import type { ErrorCode, ErrorFacts } from '../../errors/index.ts'

/** What the debugger tells the process that replays. */
export interface ChildOrder {
  /** Runs on. `until`: keeps the first answer back that has this place in the order of the tape, or a later one. `stop`: stands still where the agent asks for this step. */
  readonly go?: { readonly until?: number; readonly stop?: number }
  /** Opens a port for an editor. */
  readonly inspect?: number
}

/** What the process that replays tells the debugger. */
export type ChildNews =
  /** The agent is loaded and nothing has run. `root`: the folder of this package there. */
  | { readonly ready: { readonly root: string; readonly pid: number; readonly rss: number } }
  /** An answer is kept back: its place in the order of the tape. */
  | { readonly held: number }
  | { readonly port: string }
  /** The run asked otherwise than on the tape. */
  | { readonly differs: AskedOtherwise }
  | { readonly done: ChildResult }
  | { readonly failed: { readonly code: ErrorCode; readonly facts: ErrorFacts } }

/** What a step asked otherwise, and not by an option that leaves it out. */
export interface AskedOtherwise {
  readonly step: number
  /** For people: `system prompt`, `tool refund`. */
  readonly part: string
}

/** How a replay ended. */
export interface ChildResult {
  /** What differs from the tape, first line each. */
  readonly problems: readonly string[]
  readonly comparison: object
  readonly status: 'returned' | 'threw'
}
