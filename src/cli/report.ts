import type { ErrorFacts } from '../errors/index.ts'
import type { ProgramReport } from '../replay/program.ts'

/** What a replay in another process says at its end, as JSON. */
export type ReplayReport = ProgramReport

/** Where a child process reads what to replay and where it writes its report. Names are part of what users may set. */
export const variables = {
  tape: 'VITEST_HARVEST_TAPE',
  report: 'VITEST_HARVEST_REPORT',
  /** Options of the replay as JSON. */
  options: 'VITEST_HARVEST_OPTIONS',
  /** Keys of accepted changes, a list as JSON. */
  accepted: 'VITEST_HARVEST_ACCEPTED',
  /** `file#export` of the agent. */
  agent: 'VITEST_HARVEST_AGENT_MODULE',
} as const

/** `2 email, 1 card` */
export function countsByKind(kinds: readonly string[]): string {
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
}

/** A child's failure before there was anything to report. */
export interface FailedReport {
  readonly failed: { readonly code: string; readonly facts: ErrorFacts }
}

export function isFailed(report: ReplayReport | FailedReport): report is FailedReport {
  return 'failed' in report
}
