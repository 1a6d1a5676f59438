// Over 300 lines: half of it documents the options of one function.
import type { HarvestError } from '../errors/index.ts'
import {
  above0,
  between0And1,
  checkOptions,
  invalidOption,
  isFields,
  isNumber,
  listener,
  oneOf,
  type OptionRule,
  type OptionShape,
  type OptionsOf,
  text,
  truth,
  wholeFrom,
} from '../errors/options.ts'
import type { RedactorOptions } from '../privacy/index.ts'
import type { PriceTable } from '../providers/index.ts'
import type { BudgetEvent } from './usage-counter.ts'
import { type Duration, isDuration } from './retention.ts'

export interface RecorderOptions {
  /**
   * `false`: `run()` calls its function and nothing else happens; nothing is subscribed or patched. Default `true`;
   * `VITEST_HARVEST_RECORD=off` wins over it.
   */
  readonly enabled?: boolean
  /** Folder for the tapes; made when missing. Default `recordings/inbox`. */
  readonly dir?: string
  /** Git commit the agent runs at. Production images have no git: pass it in. */
  readonly commit?: string
  /** Whether the work tree had uncommitted changes. */
  readonly dirty?: boolean
  /** `name → version` of packages worth pinning, such as the SDK's. */
  readonly packages?: Readonly<Record<string, string>>
  /** What counts as a secret, beyond the built-in rules. */
  readonly redact?: RedactorOptions
  /** Fraction of the runs to keep by chance, from 0 to 1; the id of a run decides, see `isSampled`. Default 1: all. */
  readonly sample?: number
  /**
   * When chance decides. `'end'` (default): a run that chance does not keep is held in memory and judged when it is over,
   * so that `keep` and `flag()` can still keep it. `'start'`: it is not listened to at all.
   */
  readonly decide?: 'start' | 'end'
  /** How much may be held in memory of runs that are judged when they are over. */
  readonly hold?: HoldOptions
  /** How much is kept of one body, and of one value. */
  readonly bodies?: BodyOptions
  /** How large one tape may be. */
  readonly tapes?: TapeOptions
  /** Runs to keep regardless of chance. */
  readonly keep?: KeepOptions
  /** What one run may use. Needs the model calls to be read, as `prices`, `keep.outliers` and `keep.tools` do. */
  readonly budget?: BudgetOptions
  /** What models cost, in US dollars per million tokens; looked in before the list prices this package ships. */
  readonly prices?: PriceTable
  /** How long tapes are to be kept: written on their last line. Default: nothing is written. */
  readonly retention?: RetentionOptions
  /** Called once when a tape is closed and kept, with its path. */
  readonly onTape?: (path: string) => void
  /**
   * Called at the first failure of each cause, such as a full disk, and once more when the process ends where there were more
   * of it. Default: stderr.
   */
  readonly onWarning?: (error: HarvestError) => void
  /** Called once per run and limit that is passed. */
  readonly onBudget?: (event: BudgetEvent) => void
}

/** Memory for runs that are not decided yet. */
export interface HoldOptions {
  /** All runs together, in MB of 1,048,576 bytes. Past it, bodies of the oldest runs are let go. Default 64. */
  readonly megabytes?: number
}

/** Cap of one body of a request or an answer, and of the JSON of one value of a call, a message, a mark or a state. */
export interface BodyOptions {
  /** Larger ones keep their first and last half of it, their size and their digest; in MB of 1,048,576 bytes. Default 8. */
  readonly maxMegabytes?: number
}

/** Cap of one tape. */
export interface TapeOptions {
  /** A tape that reaches it takes no more events and is incomplete; in MB of 1,048,576 bytes. Default 256. */
  readonly maxMegabytes?: number
}

/** What makes a run worth keeping. */
export interface KeepOptions {
  /** The run threw, or its recording failed. Default `true`. */
  readonly errors?: boolean
  /** It did something no tape can hold, such as talking to a database on a raw socket. Default as `errors`. */
  readonly unrecorded?: boolean
  /** It took longer, in milliseconds. */
  readonly timeoutMs?: number
  /** It used clearly more (a hundredth) than the running quantile of the agent's earlier runs. */
  readonly outliers?: {
    /** Quantile of the tokens of a run, such as 0.99. */
    readonly tokens?: number
    /** Quantile of its cost; runs whose cost is not known are left out. */
    readonly costUsd?: number
    /** Runs of an agent to see before one can stand out. Default 100. */
    readonly after?: number
  }
  /** Names of tools: it called one that is wrapped, or a model asked for one. */
  readonly tools?: readonly string[]
  /**
   * What happens in it, in the language of rules, such as `refund(amount > 100)`, or a function that is asked when the run is
   * over; or a list of them. A run of which one is true is kept.
   */
  readonly when?: string | WatchFunction | readonly (string | WatchFunction)[]
}

/**
 * Says of a run that is over whether to keep it: true, or the reason as text. Asked in the process of the application:
 * it has to be quick, and is not awaited.
 */
export type WatchFunction = (run: FinishedRun) => boolean | string | undefined

/** A run that is over, for a function of `keep.when`: values as they were, as far as a tape can hold them. */
export interface FinishedRun {
  readonly id: string
  readonly agent: string
  readonly input?: unknown
  /** What it returned. */
  readonly result?: unknown
  /** What it threw. */
  readonly error?: unknown
  readonly durationMs: number
  /** Its tool calls, in the order they were issued. */
  readonly calls: readonly {
    readonly name: string
    readonly args: unknown
    readonly result?: unknown
    /** What the call failed with, as text. */
    readonly error?: string
  }[]
}

/** Limits of one run. */
export interface BudgetOptions {
  /** Tokens read and written, together. */
  readonly tokens?: Limits
  /** US dollars. */
  readonly costUsd?: Limits
  /** Model calls, repeated ones included. */
  readonly calls?: Limits
}

export interface Limits {
  /** Passing it keeps the run and calls `onBudget`. */
  readonly soft?: number
  /** Passing it aborts the signal of the run as well, and every later call of a wrapped tool throws `HARVEST_BUDGET`. */
  readonly hard?: number
}

/** How long tapes of a class are kept. */
export interface RetentionOptions {
  /** Nothing stood out. Default `'7d'`. */
  readonly clean?: Duration
  /** Flagged, an outlier, a tool of the watch list, over a soft limit, or something no tape can hold. Default `'90d'`. */
  readonly flagged?: Duration
  /** It threw, timed out, passed a hard limit, or its recording failed. Default `'1y'`. */
  readonly incident?: Duration
}

const fields: OptionRule = { expected: 'an object', fits: isFields }
const fraction: OptionRule = {
  expected: 'a number from 0 to 1',
  fits: (value) => isNumber(value) && value >= 0 && value <= 1,
}
const names: OptionRule = {
  expected: 'a list of names',
  fits: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== ''),
}
const isWatch = (value: unknown): boolean => (typeof value === 'string' && value !== '') || typeof value === 'function'
const watch: OptionRule = {
  expected: "a rule such as 'refund(amount > 100)', a function, or a list of them",
  fits: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isWatch) : isWatch(value)),
}
const duration: OptionRule = { expected: "a duration such as '12h', '7d', '4w', '1y', or 'forever'", fits: isDuration }
const versions: OptionRule = {
  expected: 'an object of names and versions',
  fits: (value) => isFields(value) && Object.values(value).every((version) => typeof version === 'string'),
}
const prices: OptionRule = {
  expected: 'an object of models and { input, output, cachedInput?, cacheWrite? }, in dollars per million tokens',
  fits: (value) => isFields(value) && Object.values(value).every(isPrice),
}
/** No tape above 512 MB is read whole. */
const megabytes: OptionRule = {
  expected: 'a number of megabytes above 0, at most 512',
  fits: (value) => isNumber(value) && value > 0 && value <= 512,
}
const heldMegabytes: OptionRule = { ...above0, expected: 'a number of megabytes above 0' }
const limits: OptionShape = { soft: above0, hard: above0 }

const createRecorder: OptionsOf = { owner: 'createRecorder', code: 'HARVEST_RECORDER_OPTION' }

const shape: OptionShape = {
  enabled: truth,
  dir: text,
  commit: text,
  dirty: truth,
  packages: versions,
  redact: fields,
  sample: fraction,
  decide: oneOf(['start', 'end']),
  hold: { megabytes: heldMegabytes },
  bodies: { maxMegabytes: megabytes },
  tapes: { maxMegabytes: megabytes },
  keep: {
    errors: truth,
    unrecorded: truth,
    timeoutMs: above0,
    outliers: { tokens: between0And1, costUsd: between0And1, after: wholeFrom(5) },
    tools: names,
    when: watch,
  },
  budget: { tokens: limits, costUsd: limits, calls: limits },
  prices,
  retention: { clean: duration, flagged: duration, incident: duration },
  onTape: listener,
  onWarning: listener,
  onBudget: listener,
}

/**
 * Refuses options at start-up that cannot be meant: unknown names at any depth, numbers and durations that cannot be,
 * and groups that say nothing.
 *
 * @throws HarvestError `HARVEST_RECORDER_OPTION`
 */
export function checkRecorderOptions(options: RecorderOptions): void {
  checkOptions(createRecorder, options, shape)
  for (const [name, { soft, hard }] of Object.entries(options.budget ?? {}) as [string, Limits][]) {
    if (soft === undefined && hard === undefined)
      throw invalidOption(createRecorder, `budget.${name}`, {}, 'soft, hard, or both')
    if (soft !== undefined && hard !== undefined && soft > hard)
      throw invalidOption(createRecorder, `budget.${name}.soft`, soft, `at most the hard limit, ${hard}`)
  }
  const { outliers } = options.keep ?? {}
  if (outliers !== undefined && outliers.tokens === undefined && outliers.costUsd === undefined)
    throw invalidOption(createRecorder, 'keep.outliers', outliers, 'a quantile for tokens, costUsd, or both')
  if (options.decide === 'start') checkStart(options)
}

/** What is judged at the end cannot be decided at the start. */
function checkStart({ keep, sample }: RecorderOptions): void {
  if (keep !== undefined)
    throw invalidOption(
      createRecorder,
      'keep',
      keep,
      "nothing beside decide: 'start', which looks at no run it did not draw",
    )
  if (sample === undefined)
    throw invalidOption(createRecorder, 'decide', 'start', "a fraction beside it: sample: 0.05, decide: 'start'")
}

function isPrice(value: unknown): boolean {
  if (!isFields(value)) return false
  const { input, output, cachedInput = 0, cacheWrite = 0, ...rest } = value as Readonly<Record<string, unknown>>
  const prices = [input, output, cachedInput, cacheWrite]
  return Object.keys(rest).length === 0 && prices.every((price) => isNumber(price) && price >= 0)
}
