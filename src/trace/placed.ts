import type { ExchangeEvent } from '../tape/types.ts'
import type { TraceCall } from './types.ts'

/** A call with the span it took in the run's one order of moments. */
export interface PlacedCall {
  readonly call: TraceCall
  readonly issued: number
  /** `Infinity`: it never got an answer. */
  readonly settled: number
  /** `n` of the model exchange that asked for it; a number of its own below 0 when none did. */
  readonly group: number
  /** What the model named the call by. */
  readonly id?: string
}

/** A call that really ran: a wrapped function, or a message to an MCP server. */
export interface ExecutedCall extends Omit<PlacedCall, 'group' | 'id'> {
  /** `n` of the mark of the model answer that asked for it, where an imported trace says so. */
  readonly askedBy?: number
  readonly mcp: boolean
}

/**
 * When an exchange was over for the agent: with the last bytes that arrived. Agents act on those; the end of the
 * body is often only seen later.
 */
export function settledAt({ response, error, aborted }: ExchangeEvent): number {
  const lastChunk = response?.chunks.at(-1)
  return lastChunk?.[0] ?? response?.end?.[0] ?? error?.moment[0] ?? aborted?.[0] ?? Infinity
}
