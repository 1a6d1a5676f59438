import type { Judged } from './verdict-of.ts'

/** What a replay of one variant came to. */
export interface Replayed {
  readonly case: Judged
  /** The same replay in a test written by hand. */
  readonly hand: Judged
  /** Of the changed questions. */
  readonly keys: readonly string[]
  readonly ms: number
}
