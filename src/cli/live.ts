import { type Interval, wilson } from '../stats/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { counted } from '../errors/words.ts'
import type { FinishedJob } from '../jobs/index.ts'
import type { BudgetLimits, Spent } from '../live/index.ts'
import { costText, openText } from '../live/said-spent.ts'
import {
  acceptedPins,
  type CasePins,
  codeState,
  crossVersion,
  pinsOf,
  toRecordedCode,
  versionChanges,
} from '../provenance/index.ts'
import { parseNumeral, parseSpan } from '../report/moments.ts'
import type { CommandSpec, CommandInput } from './command.ts'
import type { JobOutcome } from '../jobs/run.ts'
import { changedDependencies, type CodeSubject } from './other-code.ts'
import { badValue } from './parse.ts'
import type { OptionChanges } from './typed-again.ts'
import type { Tape } from '../tape/index.ts'

export interface LivePlan {
  readonly times: number
  readonly parallel: number
  readonly timeoutMs: number
  readonly limits: BudgetLimits
}

/** Reads the options of live calls. */
export function readLivePlan(given: CommandInput, command: CommandSpec): LivePlan {
  const dollars = readNumber(given, command, 'max-cost', 0)
  const tokens = readNumber(given, command, 'max-tokens', 1)
  const calls = readNumber(given, command, 'max-calls', 1)
  const costUsd = dollars ?? (tokens === undefined && calls === undefined ? 1 : undefined)
  return {
    times: readWhole(given, command, 'runs') ?? 10,
    parallel: readWhole(given, command, 'parallel') ?? 4,
    timeoutMs: readDuration(given, command, 'timeout') ?? runTimeMs,
    limits: {
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(calls === undefined ? {} : { calls }),
    },
  }
}

/** Options that limit what models may use. */
export const limitNames = ['max-cost', 'max-tokens', 'max-calls'] as const

/** Whether models may be paid: someone says so by `--live`, or by a limit. */
export function saysToPay(given: CommandInput): boolean {
  return ['live', ...limitNames].some((name) => given.has(name))
}

/** How to agree to live calls: as they were limited, or by the limit there is. */
export function toConfirm(given: CommandInput, usd: number): readonly string[] {
  if ([...limitNames, 'max-runs'].some((limit) => given.has(limit))) return ['to confirm: --live']
  return [
    `to confirm, with a limit: --live --max-cost ${(usd / 2).toFixed(2)}`,
    `to confirm, with the default limit of $${usd.toFixed(2)}: --live`,
  ]
}

/**
 * The option without which live models are not asked about a tape that does not say its commit: today's code counts as other
 * code than its.
 *
 * @param pins - of its case, where it has one
 */
export function acrossVersions(tape: Tape, pins: CasePins = {}): OptionChanges {
  return acceptedPins({ ...pinsOf(tape), ...pins }).commit === undefined ? { 'cross-version': true } : {}
}

/** The number an option was given, within its range; `undefined` when it was not given. */
export function readNumber(
  given: CommandInput,
  command: CommandSpec,
  name: string,
  least: number,
  most = Number.POSITIVE_INFINITY,
): number | undefined {
  const text = given.value(name)
  if (text === undefined) return undefined
  const number = parseNumeral(text)
  if (number !== undefined && number >= least && number <= most) return number
  const range =
    most === Number.POSITIVE_INFINITY ? `a number of at least ${least}` : `a number from ${least} to ${most}`
  throw badValue(command, name, text, range)
}

/** As {@link readNumber}, from 1 on and without a fraction. */
export function readWhole(given: CommandInput, command: CommandSpec, name: string, most?: number): number | undefined {
  const number = readNumber(given, command, name, 1, most)
  if (number === undefined || Number.isSafeInteger(number)) return number
  throw badValue(command, name, `${number}`, 'a whole number')
}

/** Time limit of one run where none was typed. */
export const runTimeMs = 120_000

/** A longer timer would fire at once. */
const longest = 2_147_483_647

/** A duration in milliseconds: `90s`, `5m`, `1h`; a bare number is milliseconds. `undefined` when it was not given. */
export function readDuration(given: CommandInput, command: CommandSpec, name: string): number | undefined {
  const text = given.value(name)
  if (text === undefined) return undefined
  const ms = parseDuration(text)
  if (ms !== undefined) return ms
  throw badValue(command, name, text, 'a duration such as 90s or 5m')
}

/** As {@link readDuration}; `undefined` for what is no duration. */
export function parseDuration(text: string): number | undefined {
  const ms = /^\d+$/.test(text) ? Number(text) : text.endsWith('ms') ? parseNumeral(text.slice(0, -2)) : parseSpan(text)
  return ms !== undefined && ms >= 1 && ms <= longest ? Math.round(ms) : undefined
}

/**
 * Refuses a live run with other code than was accepted last, or else recorded, unless that is asked for. Code is other code
 * when a file changed that the run depends on.
 */
export async function refuseOtherCode(recorded: CasePins, given: CommandInput, subject: CodeSubject): Promise<void> {
  if (given.has('cross-version')) return
  const pins = acceptedPins(recorded)
  const git = await codeState(process.cwd(), pins.commit)
  const changes = versionChanges(pins, { commit: git?.commit, dirty: git?.dirty })
  if (changes.length === 0) return
  const files = await changedDependencies(recorded, { ...subject, isTyped: given.value('agent') !== undefined })
  if (files?.length === 0) return
  throw crossVersion(pins, {
    changes,
    files,
    caseId: subject.caseId,
    toRecordedCode:
      pins.dirty === true
        ? undefined
        : await toRecordedCode(process.cwd(), pins.commit, given.value('dir') ?? 'recordings'),
  })
}

/** What the models of all these runs have used. */
export function spentBy(ended: readonly JobOutcome[]): Spent {
  const totals = ended.flatMap((run) => (HarvestError.is(run) || run.spentSoFar === undefined ? [] : [run.spentSoFar]))
  const none = { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 }
  return totals.reduce<Spent>(
    (most, total) => (total.modelCalls >= most.modelCalls && total.inputTokens >= most.inputTokens ? total : most),
    none,
  )
}

/** `A model answered with status 401: Incorrect API key provided` */
export function saidText({ because, said }: NonNullable<FinishedJob['unreached']>): string {
  return said === undefined ? because : `${because}: ${neutralLine(said, 200)}`
}

/** What the models have used, in one line. */
export function describeSpent(
  { modelCalls, inputTokens, outputTokens, costUsd, isEstimated, open }: Spent,
  tools: 'from the tape' | 'for real' | 'from --tools' = 'from the tape',
): string {
  const about = isEstimated ? ' (estimated: a provider sent no token usage)' : ''
  return `${counted(modelCalls, 'model call')}, ${inputTokens} tokens in, ${outputTokens} out, ${costText(costUsd)}${about}${openText(open)}; tools ${tools}`
}

/** `46.8 % – 91.1 %` */
export function describeInterval({ low, high }: Interval): string {
  return `${percent(low)} – ${percent(high)}`
}

/**
 * `3 of 3 (95 %: 43.8 % – 100.0 %)`: how many of so many runs, with the Wilson interval of their rate.
 *
 * @param lost - as {@link withLost} takes them. Default 0
 */
export function describeRate(hits: number, runs: number, lost = 0): string {
  return `${hits} of ${runs}${runs === 0 ? '' : ` (95 %: ${describeInterval(withLost(hits, runs, lost))})`}`
}

/**
 * The Wilson interval of a rate beside which runs were lost, which rarely end as the others do: from the lower end, were none of
 * them hits, to the upper end, were all.
 *
 * @param runs - without those that were lost
 */
export function withLost(hits: number, runs: number, lost: number): Interval {
  return { low: wilson(hits, runs + lost).low, high: wilson(hits + lost, runs + lost).high }
}

/** `75.0 %` */
export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}
