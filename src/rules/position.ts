import type { Json } from '../json/types.ts'

/**
 * One moment of a run as rules see it. Every step gives two, when it was issued and when it was answered; what a model
 * asked for, a message, a mark and the end of the run give one each. `trace/positions.ts` makes them of a tape.
 */
export interface RunPosition {
  readonly kind: 'call' | 'model' | 'asks' | 'message' | 'mark' | 'end'
  /** Number of the moment on the tape. */
  readonly n: number
  /** Milliseconds since the run began, by the recorded clock. */
  readonly atMs: number
  /** Steps issued so far, this one included. */
  readonly issued: number
  /** 1-based number of the step, as people count; absent between steps. */
  readonly step?: number
  readonly agent?: string
  readonly phase?: 'called' | 'ok' | 'fails'
  /** Of a tool, a mark. */
  readonly name?: string
  /** Arguments of a call, data of a mark. */
  readonly args?: Json
  /** What a call answered, what the run returned. */
  readonly result?: Json
  /** Absent result: the tape does not say what was answered. */
  readonly error?: string
  /** Words of a model's answer, or of a message. */
  readonly text?: string
  readonly from?: string
  readonly to?: string
  /** Time from the question to this answer. */
  readonly tookMs?: number
  /** Tokens and US dollars of all model answers so far. */
  readonly tokens: Amount
  readonly cost: Amount
}

/** What is known of a sum. Not `isWhole`: some parts are unknown, so it is at least this much. */
export interface Amount {
  readonly known: number
  readonly isWhole: boolean
}
