import { HarvestError } from '../errors/index.ts'
import type { PriceTable } from '../providers/index.ts'
import { readTape, type Tape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import type { ForkLimits } from './fork-budget.ts'
import { chooseJudging } from './choose-oracle.ts'
import type { OracleFunction } from './oracle.ts'
import { type BlamedRun, requireAgent, runBlame, type RunBlameOptions } from './run-blame.ts'
import type { BlameProgress } from './settings.ts'

/** How a run is blamed from code. */
export interface BlameTapeOptions {
  /** The agent. It is called once per fork: what it keeps in variables outside itself, one fork leaves to the next. */
  readonly agent: (input: unknown) => unknown
  /** Grades a run by what it returned and which tools it called. */
  readonly oracle?: OracleFunction
  /** What a good run does: `refunded=25`, `answer~25 EUR`, `refund(amount: 25)`. */
  readonly ok?: readonly string[]
  /** What a bad run does, written alike. */
  readonly bad?: readonly string[]
  /** What forks may use. Nothing has a default: models are asked for real. `forks: 400` is usual. */
  readonly limits: ForkLimits & ({ readonly costUsd: number } | { readonly forks: number })
  /** Looked in before the list prices. */
  readonly prices?: PriceTable
  /** `live`: tools and services run for real in every fork, with all they do. Default `tape`. */
  readonly tools?: 'tape' | 'live'
  /** A good run of the agent: its tools answer what this tape cannot. */
  readonly reference?: string | Tape
  /** Ask as well which recorded answers are necessary and sufficient, and for a smallest set of repairs. Default false. */
  readonly repairs?: boolean
  /** Ask instead which answers the outcome hangs on, by mutating them; the run may be a good one. Default false. */
  readonly mutate?: boolean
  /** `true` asks which layer triggers the failure instead: see `IsolateTapeOptions`. Default false. */
  readonly isolate?: false
  /** One minus how often a verdict that names a step may be wrong, 0.5 to below 1. Default 0.95. */
  readonly confidence?: number
  /** The smallest difference of rates that is blamed, 0 to 1. Default 0.2. */
  readonly minEffect?: number
  /** Forks under way at once. Default 8. */
  readonly parallel?: number
  /** Milliseconds one run may take. Default 120,000. */
  readonly timeoutMs?: number
  /** Escapes to let through, as in the replay options. Default none. */
  readonly allow?: readonly string[]
  /** File to which forks are added, and from which those of earlier sessions are counted. Default none. */
  readonly cacheFile?: string
  /**
   * Counts forks that other models answer, and forks of earlier sessions whose code is unknown; those of other code are left
   * out. Default false: they are refused.
   */
  readonly crossVersion?: boolean
  /** Lets `ok` and `bad` name what is in neither the run, nor the offered tools, nor the reference run. Default false. */
  readonly anyName?: boolean
  /** The oracle is known to disagree with itself: every run is graded five times, by majority. Default false. */
  readonly flakyOracle?: boolean
  readonly onProgress?: (progress: BlameProgress) => void
  readonly signal?: AbortSignal
}

/**
 * Finds the step that decided how a bad run ended: replays it, then runs the agent again from step after step on, with live
 * models, until fresh pairs of runs certify one step, or the limits are reached.
 *
 * **Gotchas.** Live models cost money: `limits` has no default. The agent is called many times in this process;
 * `npx vitest-harvest blame` loads it afresh for every fork.
 *
 * @param tape - a tape, or its file
 * @throws HarvestError `HARVEST_ORACLE_…` without a usable oracle, or when the run is not bad, HARVEST_BLAME_PREFLIGHT
 *   when it does not replay byte for byte, HARVEST_BLAME_LIMITS without a limit, HARVEST_CROSS_VERSION when another model
 *   answers
 */
export async function blame(tape: string | Tape, options: BlameTapeOptions): Promise<BlamedRun> {
  const given = blameInput(tape, options)
  return runBlame(given.tape, given.options)
}

/** What a run and the options of {@link blame} mean for a question about its forks. */
export function blameInput(
  tape: string | Tape,
  options: BlameTapeOptions,
): { readonly tape: Tape; readonly options: RunBlameOptions } {
  const {
    agent,
    oracle,
    ok,
    bad,
    limits,
    timeoutMs = 120_000,
    anyName,
    crossVersion,
    reference,
    flakyOracle,
    confidence,
    minEffect,
    isolate: _,
    ...rest
  } = options
  if (limits.costUsd === undefined && limits.forks === undefined) throw noLimits()
  const opened = open(tape)
  requireAgent(opened)
  const judging = chooseJudging(opened, {
    ...(oracle === undefined ? {} : { judge: { name: oracle.name || 'a function', judge: oracle } }),
    ...(ok === undefined ? {} : { ok }),
    ...(bad === undefined ? {} : { bad }),
  })
  const run: RunBlameOptions = {
    ...rest,
    agent: opened.header.agent,
    load: async () => agent,
    judging,
    limits,
    timeoutMs,
    ...(reference === undefined ? {} : { reference: open(reference) }),
    ...(crossVersion === undefined ? {} : { isCrossVersion: crossVersion }),
    ...(anyName === undefined ? {} : { isAnyName: anyName }),
    ...(flakyOracle === undefined ? {} : { isFlakyOracle: flakyOracle }),
    ...(confidence === undefined ? {} : { delta: Number((1 - confidence).toFixed(12)) }),
    ...(minEffect === undefined ? {} : { tau: minEffect }),
  }
  return { tape: opened, options: run }
}

function open(tape: string | Tape): Tape {
  return requireClosed(typeof tape === 'string' ? readTape(tape) : tape)
}

function noLimits(): HarvestError {
  return new HarvestError('HARVEST_BLAME_LIMITS', {
    what: 'Blame calls live models and needs a limit',
    fix: ['set one: limits: { costUsd: 2.5 }', 'or without known prices: limits: { forks: 100 }'],
  })
}
