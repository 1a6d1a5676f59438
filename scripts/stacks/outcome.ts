/** What became of one row. Saved; the page is made of nothing else. */
export interface StackOutcome {
  readonly stack: string
  /** Each package that the row names, with the version that was installed. */
  readonly packages: Readonly<Record<string, string>>
  readonly agent: string
  /** Steps on the tape. */
  readonly steps: number
  /** What the tape lists as not recorded. */
  readonly unrecorded: readonly string[]
  readonly promotes: boolean
  readonly replays: boolean
  /** Requests that reached the canary in promotion, replay and the broken replay. */
  readonly canary: number
  /** Code that the broken agent was red with. */
  readonly red?: string
  /** Code of the refusal, where the recording makes no case. */
  readonly refused?: string
  /** Requests that reached the canary once the refused add-on was allowed by name. */
  readonly leaks?: number
  /** What to write for it, beside the recorder. */
  readonly write?: string
}
