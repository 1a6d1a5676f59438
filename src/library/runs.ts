import type { BlameTapeOptions } from '../blame/blame.ts'
import type { BlamedRun } from '../blame/run-blame.ts'
import type { IsolatedRun } from '../isolate/index.ts'
import type { Finding } from '../doctor/findings.ts'
import type { ChaosOptions, ChaosReport } from '../faults/chaos-types.ts'
import type { ForkResult } from '../fork/plan.ts'
import type { Forking } from '../fork/library.ts'
import type { ReplayOptions, ReplayResult } from '../match/types.ts'
import type { JudgedReplay } from '../replay/run-verdict.ts'
import { readTape } from '../tape/read.ts'
import type { Tape } from '../tape/types.ts'

/**
 * Runs an agent from a tape: every answer it gets is the recorded one, in recorded order, on a virtual clock. Nothing leaves
 * the process. It installs itself; import the agent inside `agent`, because some clients keep `fetch` when they are loaded.
 *
 * @param tape - a tape, or its path
 * @param agent - called with the recorded input
 * @example
 * const run = await replay('recordings/inbox/run.tape.jsonl', async (input) =>
 *   (await import('./src/refund.ts')).refundAgent(input))
 * run.verdict.verdict // 'same'
 * @throws HarvestError `HARVEST_REPLAY_OPTION`, `HARVEST_TAPE_…`; what the agent does is in the result and never thrown
 */
export async function replay<T>(
  tape: Tape | string,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: ReplayOptions = {},
): Promise<JudgedReplay<T>> {
  const { installReplay, replayTape, standInKeys, verdictOf } = await import('../replay/index.ts')
  const { requireClosed } = await import('../tape/closed.ts')
  const { withStrays } = await import('./strays.ts')
  await installReplay()
  const whole = requireClosed(opened(tape))
  const takeBack = standInKeys(whole)
  try {
    const settings = { ...options, late: true } as ReplayOptions
    const { result, strays } = await withStrays(whole, () => replayTape(whole, agent, settings))
    const run = { ...result, problems: [...result.problems, ...strays] }
    return { ...run, verdict: verdictOf(run) }
  } finally {
    takeBack()
  }
}

/**
 * Replays a run to a step, changes something there, and lets the agent run on.
 *
 * @param tape - a tape, or its path
 * @example
 * const branch = await fork('recordings/inbox/run.tape.jsonl', {
 *   agent: refundAgent,
 *   step: 2,
 *   change: { path: 'result.total', value: 20 },
 * })
 * branch.outcome // what the agent returns when the order cost 20
 * @throws HarvestError `HARVEST_FORK_…`, `HARVEST_TAPE_…`
 */
export async function fork<T>(tape: Tape | string, options: Forking<T>): Promise<ForkResult<T>> {
  const { installReplay } = await import('../replay/index.ts')
  await installReplay()
  return (await import('../fork/library.ts')).fork(tape, options)
}

/** Options of `blame` that ask for the layer instead of the step. */
export interface IsolateTapeOptions extends Omit<BlameTapeOptions, 'isolate' | 'repairs' | 'mutate' | 'onProgress'> {
  /** Find the layer that triggers the failure: code, sampling, data or timing. */
  readonly isolate: true
}

/**
 * Finds the step that decided a failed run: resamples the answers of live models step by step, until one step is certified or
 * a limit is reached. It costs money: `limits` has no default. With `isolate: true` it finds the layer that triggers the
 * failure instead, and returns an `IsolatedRun`.
 *
 * @param tape - a tape, or its path
 * @example
 * const { verdict, spent } = await blame('recordings/inbox/run.tape.jsonl', {
 *   agent: refundAgent,
 *   ok: ['refund(amount: 25)'],
 *   limits: { costUsd: 0.5 },
 * })
 * @throws HarvestError `HARVEST_ORACLE_…` without a usable oracle, `HARVEST_BLAME_PREFLIGHT` when the tape does not replay
 *   byte for byte, `HARVEST_BLAME_LIMITS` without a limit, `HARVEST_CROSS_VERSION` when another model answers
 */
export async function blame(tape: Tape | string, options: BlameTapeOptions): Promise<BlamedRun>
export async function blame(tape: Tape | string, options: IsolateTapeOptions): Promise<IsolatedRun>
export async function blame(
  tape: Tape | string,
  options: BlameTapeOptions | IsolateTapeOptions,
): Promise<BlamedRun | IsolatedRun> {
  const entry = await import('../blame/blame.ts')
  if (options.isolate !== true) return entry.blame(tape, options)
  const { isolate: _, ...rest } = options
  const given = entry.blameInput(tape, rest)
  const { claimOf, isolateRun } = await import('../isolate/index.ts')
  return claimOf(await isolateRun(given.tape, given.options))
}

/**
 * Runs an agent many times with injected faults, offline, and shrinks a failure to the faults it needs.
 *
 * @param tape - a tape, or its path
 * @example
 * const { survived, failure } = await chaos('recordings/golden/refund.tape.jsonl', { agent: refundAgent, runs: 200, seed: 1 })
 * @throws HarvestError `HARVEST_CHAOS_…`
 */
export async function chaos<T>(tape: Tape | string, options: ChaosOptions<T>): Promise<ChaosReport> {
  return (await import('../faults/chaos.ts')).chaos(tape, options)
}

export interface DiagnoseOptions {
  /** Called with the recorded input, about ten times and more. State it keeps outside itself reaches the next run. */
  readonly agent: (input: unknown) => unknown
  /** Replay options of every run. */
  readonly replay?: ReplayOptions
}

/**
 * Finds what makes a run irreproducible, by experiment, and names the line. `doctor` prints the same.
 *
 * @param tape - a tape, or its path
 * @example
 * for (const finding of await diagnose('recordings/inbox/run.tape.jsonl', { agent: refundAgent })) console.log(finding)
 * @returns one finding per line of code; empty when the run is reproducible
 * @throws HarvestError `HARVEST_TAPE_…`
 */
export async function diagnose(tape: Tape | string, options: DiagnoseOptions): Promise<readonly Finding[]> {
  const { agent, replay: replayOptions } = options
  const { installReplay, replayTape, standInKeys } = await import('../replay/index.ts')
  const { requireClosed } = await import('../tape/closed.ts')
  const { examine } = await import('../doctor/examine.ts')
  const { findingsOf } = await import('../doctor/findings.ts')
  const { versionedFiles } = await import('../provenance/index.ts')
  await installReplay()
  const whole = requireClosed(opened(tape))
  const isVersioned = (await versionedFiles(process.cwd())) ?? ((path: string) => path.startsWith(process.cwd()))
  const takeBack = standInKeys(whole)
  try {
    const once = (): Promise<ReplayResult> =>
      replayTape(whole, agent, { hangMs: 1_500, sites: true, ...replayOptions } as ReplayOptions)
    const examination = await examine(once)
    return findingsOf([{ tape: whole.header.id, examination }], isVersioned)
  } finally {
    takeBack()
  }
}

function opened(tape: Tape | string): Tape {
  return typeof tape === 'string' ? readTape(tape) : tape
}
