import { createHash } from 'node:crypto'

/** Ids of the spans of one tape: the same each time it is exported, and as good as unique among tapes. */
export interface SpanIds {
  /** 32 hex digits. */
  readonly trace: string
  /** The span of the whole run. */
  readonly root: string
  /** 16 hex digits, of the event with this number. */
  of(n: number): string
}

export function spanIds(tapeId: string): SpanIds {
  return {
    trace: digest(`trace ${tapeId}`, 32),
    root: digest(`run ${tapeId}`, 16),
    of: (n) => digest(`event ${n} ${tapeId}`, 16),
  }
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length)
}
