import type { Interval } from '../blame/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import type { BudgetLimits, Spent } from '../fork/index.ts'
import { acceptedPins, type CasePins, codeState, refuseCrossVersion } from '../provenance/index.ts'
import type { CommandSpec, Given, OptionSpec } from './command.ts'
import type { JobOutcome } from './jobs.ts'
import { usage } from './parse.ts'

/** Options of every command that asks models for real. */
export const liveOptions: readonly OptionSpec[] = [
  { flag: '--live', about: 'Yes, ask the models: this costs money' },
  { flag: '--times <n>', about: 'Live runs (default: 10)' },
  { flag: '--max-cost <dollars>', about: 'Stop before the models have cost more (default: 1.00)' },
  { flag: '--max-tokens <n>', about: 'Stop before they have used more tokens; replaces the default of --max-cost' },
  { flag: '--max-calls <n>', about: 'Stop before there were more model calls; replaces the default of --max-cost' },
  { flag: '--parallel <n>', about: 'How many run at once (default: 4)' },
  { flag: '--timeout <ms>', about: 'Milliseconds one run may take (default: 120000)' },
  { flag: '--cross-version', about: 'Run although the code is not the code that was recorded' },
]

export interface LivePlan {
  readonly times: number
  readonly parallel: number
  readonly timeoutMs: number
  readonly limits: BudgetLimits
}

/** Reads {@link liveOptions}. */
export function readLivePlan(given: Given, command: CommandSpec): LivePlan {
  const dollars = readNumber(given, command, 'max-cost', 0)
  const tokens = readNumber(given, command, 'max-tokens', 1)
  const calls = readNumber(given, command, 'max-calls', 1)
  const costUsd = dollars ?? (tokens === undefined && calls === undefined ? 1 : undefined)
  return {
    times: readWhole(given, command, 'times') ?? 10,
    parallel: readWhole(given, command, 'parallel') ?? 4,
    timeoutMs: readWhole(given, command, 'timeout') ?? 120_000,
    limits: {
      ...(costUsd === undefined ? {} : { costUsd }),
      ...(tokens === undefined ? {} : { tokens }),
      ...(calls === undefined ? {} : { calls }),
    },
  }
}

/** The number an option was given, within its range; `undefined` when it was not given. */
export function readNumber(
  given: Given,
  command: CommandSpec,
  name: string,
  least: number,
  most = Number.POSITIVE_INFINITY,
): number | undefined {
  const text = given.value(name)
  if (text === undefined) return undefined
  const number = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  const range = most === Number.POSITIVE_INFINITY ? `a number from ${least} on` : `a number from ${least} to ${most}`
  throw usage(command, 'HARVEST_CLI_ARGUMENT', `--${name} is ${range}, not ${neutralLine(text, 40)}`)
}

/** As {@link readNumber}, from 1 on and without a fraction. */
export function readWhole(given: Given, command: CommandSpec, name: string): number | undefined {
  // A timer of more milliseconds would fire at once.
  const number = readNumber(given, command, name, 1, name === 'timeout' ? 2_147_483_647 : undefined)
  if (number === undefined || Number.isSafeInteger(number)) return number
  throw usage(command, 'HARVEST_CLI_ARGUMENT', `--${name} is a whole number, not ${number}`)
}

/** Refuses a live run with other code than was accepted last, or else recorded, unless that is asked for. */
export async function refuseOtherCode(recorded: CasePins, given: Given): Promise<void> {
  const pins = acceptedPins(recorded)
  const git = await codeState(process.cwd(), pins.commit)
  const live = { commit: git?.commit, dirty: git?.dirty }
  refuseCrossVersion(pins, live, { crossVersion: given.has('cross-version') })
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

/** What the models have used, in one line. */
export function describeSpent(
  { modelCalls, inputTokens, outputTokens, costUsd, isEstimated }: Spent,
  tools: 'from the tape' | 'for real' = 'from the tape',
): string {
  const cost = costUsd === undefined ? 'cost unknown' : `$${costUsd.toFixed(4)}`
  const about = isEstimated ? ' (estimated: a provider told no tokens)' : ''
  return `${modelCalls} model calls, ${inputTokens} tokens in, ${outputTokens} out, ${cost}${about}; tools ${tools}`
}

/** `46.8 % – 91.1 %` */
export function describeInterval({ low, high }: Interval): string {
  return `${percent(low)} – ${percent(high)}`
}

/** `75.0 %` */
export function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}
