import type { ReplayOptions } from '../match/types.ts'

/** What one `harvest()` in a Vitest config was given, as far as commands ask for it. */
export interface ReadPlugin {
  readonly programs: Readonly<Record<string, readonly string[]>>
  readonly replay: Pick<ReplayOptions, 'drift' | 'redacted' | 'escapes' | 'allow' | 'hosts' | 'serve'>
  /** Absent: accepted questions stay accepted. */
  readonly acceptedMaxDays?: number
  /** Absolute folder. */
  readonly recordings: string
}
