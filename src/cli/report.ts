import type { HarvestError } from '../errors/index.ts'
import type { Drift, Escape, Receipt, ReplayResult } from '../replay/index.ts'
import type { Outcome } from '../tape/index.ts'

/** What a replay in another process says at its end, as JSON. */
export interface ReplayReport {
  readonly problems: readonly ReportedProblem[]
  readonly drift: readonly Drift[]
  readonly escapes: readonly Escape[]
  /** `n` of recorded steps the agent never asked for. */
  readonly unused: readonly number[]
  readonly ranForReal: readonly string[]
  readonly receipt: Receipt
  /** How the run ended; a program's end is seen from outside. */
  readonly outcome?: Outcome
}

export interface ReportedProblem {
  readonly code: string
  readonly message: string
}

/** The part of a result that can leave the process. */
export function reportOf(result: ReplayResult): Omit<ReplayReport, 'outcome'> {
  const { problems, drift, escapes, unused, ranForReal, receipt } = result
  return {
    problems: problems.map(({ code, message }) => ({ code, message })),
    drift,
    escapes,
    unused: unused.map(({ n }) => n),
    ranForReal,
    receipt,
  }
}

/** Where a child process reads what to replay and where it writes its report. Names are part of what users may set. */
export const variables = {
  tape: 'VITEST_HARVEST_TAPE',
  report: 'VITEST_HARVEST_REPORT',
  /** {@link ReplayOptions} as JSON. */
  options: 'VITEST_HARVEST_OPTIONS',
  /** `file#export` of the agent. */
  agent: 'VITEST_HARVEST_AGENT',
} as const

/** A child's failure before there was anything to report. */
export interface FailedReport {
  readonly failed: { readonly code: string; readonly facts: HarvestError['facts'] }
}

export function isFailed(report: ReplayReport | FailedReport): report is FailedReport {
  return 'failed' in report
}
