import type { Case } from '../cases/index.ts'
import { type ErrorCode, type ErrorFacts, neutralLine } from '../errors/index.ts'
import { withoutSteps } from '../errors/steps.ts'
import { describeTranscoded, type Drift, driftClasses, unprovenError } from '../replay/index.ts'
import type { ProgramReport } from '../replay/program.ts'
import type { Tape } from '../tape/index.ts'

/** What a replay in another process says at its end, as JSON. */
export type ReplayChildReport = ProgramReport

/** Where a child process reads what to replay and where it writes its report. Names are part of what users may set. */
export const variables = {
  tape: 'VITEST_HARVEST_TAPE',
  report: 'VITEST_HARVEST_REPORT',
  /** Options of the replay as JSON. */
  options: 'VITEST_HARVEST_OPTIONS',
  /** Accepted changes, {@link GreenEntries} as JSON. */
  accepted: 'VITEST_HARVEST_ACCEPTED',
  /** `file#export` of the agent. */
  agent: 'VITEST_HARVEST_AGENT_MODULE',
} as const

/** The verdict of a replay as every command says it: `refund-100x: same; 3 of 3 steps served`. */
export function verdictLine(
  id: string,
  { verdict }: Pick<ReplayChildReport, 'verdict'>,
  facts: readonly string[],
): string {
  return [`${neutralLine(id)}: ${verdict.verdict}`, ...facts].join('; ')
}

interface Judged {
  readonly verdict: ReplayChildReport['verdict']
  readonly named: string | undefined
  readonly agents?: readonly string[]
}

/**
 * Why a replay is not the same as its tape, one message each.
 *
 * With another agent than the one whose run it is, what differs is hardly a change of code: then its next step is that agent, where
 * there is one of its name. That of an import may be another's.
 *
 * @param kase - the case that the tape belongs to
 * @param named - the agent that was named
 * @param agents - names of all agents of the project
 */
export function messagesOf(
  tape: Pick<Tape, 'header' | 'close'>,
  kase: Pick<Case, 'id' | 'expect' | 'agent'> | undefined,
  { verdict, named, agents }: Judged,
): readonly string[] {
  const messages = verdictMessages(tape, kase, verdict)
  const own = kase?.agent ?? tape.header.agent
  if (messages.length === 0 || named === undefined || named === own || agents?.includes(own) !== true) return messages
  return [
    ...messages.map(withoutSteps),
    `→ to replay ${neutralLine(own, 60)}, whose run it is: the same command, without --agent`,
  ]
}

/** Why a replay is not the same as its tape, one message each. */
export function verdictMessages(
  tape: Pick<Tape, 'header' | 'close'>,
  kase: Pick<Case, 'id' | 'expect'> | undefined,
  { differences, unproven }: ReplayChildReport['verdict'],
): readonly string[] {
  if (differences.length > 0) return differences.map(({ message }) => message)
  if (unproven.length === 0) return []
  const owner = kase === undefined ? { bare: tape } : { caseId: kase.id, isKnownBad: kase.expect === 'fail' }
  return [unprovenError(unproven, { tape: neutralLine(tape.header.id), ...owner }).message]
}

/** What a green verdict rests on, and what it says nothing about, one line each. */
export function remarkLines(id: string, report: ReplayChildReport): readonly string[] {
  const { accepted, notJudged } = report.verdict
  return [
    ...accepted.map(({ part, key }) => neutralLine(`accepted: ${part} (${key})`, 300)),
    ...notJudged.map(({ part, words }) => neutralLine(`not judged: ${part} changed: ${words}`, 300)),
    ...report.transcoded.map(describeTranscoded),
    ...report.listed.map(listedLine),
    ...notComparedLines(id, report.notCompared),
  ]
}

/** `let through: fs.writeFileSync /srv/out.json (src/agent.ts:3:5)` */
function listedLine({ by, target, site }: ReplayChildReport['listed'][number]): string {
  return neutralLine(`let through: ${by} ${target}${site === undefined ? '' : ` (${site})`}`, 300)
}

/** `2 email, 1 card` */
export function countsByKind(kinds: readonly string[]): string {
  return [...Map.groupBy(kinds, (kind) => kind)].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
}

/** Which redacted values a replay could not compare, one line each. */
function notComparedLines(tape: string, notCompared: ReplayChildReport['notCompared']): readonly string[] {
  return notCompared.map(({ kind, stepNumber, path, why }) =>
    neutralLine(
      `not compared: ${tape}, ${stepNumber === undefined ? '' : `step ${stepNumber}, `}${path} (${kind}): ${why}`,
      300,
    ),
  )
}

/** A child's failure before there was anything to report. */
export interface FailedReport {
  readonly failed: { readonly code: ErrorCode; readonly facts: ErrorFacts }
}

export function isFailed(report: ReplayChildReport | FailedReport): report is FailedReport {
  return 'failed' in report
}

/** `3 messages, 1 params`. */
export function driftLine(drift: readonly Drift[]): string {
  return driftClasses
    .map((name) => [name, drift.filter((one) => one.class === name).length] as const)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')
}
