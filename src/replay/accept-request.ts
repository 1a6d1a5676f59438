import { HarvestError, shellWord } from '../errors/index.ts'
import type { ChangedQuestion } from './changed-questions.ts'
import { acceptedAtText } from './steps-text.ts'
import type { VerdictName } from './run-verdict.ts'

/** Which changed questions a run accepts. */
export interface AcceptRequest {
  /** Keys of changes; absent: every change. */
  readonly keys?: readonly string[]
  /** Whether changes of data are accepted without their keys: the cases were named, or someone said so. */
  readonly withData: boolean
}

/** Set by `npx vitest-harvest accept`. */
export const acceptVariable = 'VITEST_HARVEST_ACCEPT'

/** @throws HarvestError `HARVEST_UPDATE_MODE` for a text that `npx vitest-harvest accept` does not write */
export function parseAcceptRequest(text: string): AcceptRequest {
  const value = parsed(text)
  const { keys, withData } = (typeof value === 'object' && value !== null ? value : {}) as Partial<AcceptRequest>
  const isKeys = keys === undefined || (Array.isArray(keys) && keys.every((key) => typeof key === 'string'))
  if (typeof withData === 'boolean' && isKeys) return { withData, ...(keys !== undefined && { keys }) }
  throw new HarvestError('HARVEST_UPDATE_MODE', {
    what: `Invalid value of ${acceptVariable}`,
    where: { value: text.slice(0, 120) },
    fix: ['npx vitest-harvest accept refund-100x --reason "…"'],
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One change, and everybody who asks it. */
export interface AskedChange {
  readonly question: ChangedQuestion & { readonly reason?: string; readonly by?: string; readonly at?: string }
  /** Cases, `golden/refund-100x`, and hand-written tests. */
  readonly names: readonly string[]
}

/** Of a change that was accepted, and not for all that asks it now: `; accepted at step 4 only`. */
export function acceptedBefore({ question: { acceptedAt }, names }: AskedChange): string {
  if (acceptedAt === undefined) return ''
  return names.length === 1 ? `; accepted ${acceptedAtText(acceptedAt)}` : '; accepted at other steps only'
}

/** Names the file in which a run of `npx vitest-harvest accept` says what it met. */
export const acceptReportVariable = 'VITEST_HARVEST_ACCEPT_REPORT'

/** What a run met and wrote, for `npx vitest-harvest accept`. */
export interface AcceptReport {
  /** The worst of all that ran. */
  readonly verdict: VerdictName
  readonly unproven: readonly AskedChange[]
  readonly accepted: readonly AskedChange[]
  /** Changes that the options exclude from the verdict. */
  readonly notJudged: readonly AskedChange[]
  /** Cases that are different: no acceptance reaches them. */
  readonly different: readonly string[]
  /** Files that were written, relative to Vitest's root. */
  readonly written: readonly string[]
  /** Why nothing was accepted, where no one was there to review it. */
  readonly refused?: string
  /** Why no one is here to decide anything: CI, or a coding agent. */
  readonly unattended?: string
}

/** As a run writes it: for the command to see that what it named ran. */
export interface WrittenAcceptReport extends AcceptReport {
  /** Absolute paths of the cases that ran. */
  readonly ran: readonly string[]
}

/** The command that accepts these changes, for a person to state the reason. */
export function acceptChanges(keys: readonly string[]): string {
  return `npx vitest-harvest accept ${keys.map((key) => `--change ${shellWord(key)}`).join(' ')} --reason "…"`
}
