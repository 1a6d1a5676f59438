/** What others notice of a variant, live. */
export interface Seen {
  /** Run by run: a regression was run on the recorded input only. */
  readonly runs: readonly string[]
  /** How it ended on the recorded input. */
  readonly ending: string
}
