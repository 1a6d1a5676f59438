import { dirname } from 'node:path'
import { accessOf } from '../fork/access.ts'
import { parseCase } from '../cases/index.ts'
import { controlOptionsOf, requirePlace } from '../fork/index.ts'
import { type Task, type TaskContext } from '../jobs/index.ts'
import { requireAllowed } from '../live/off-tape.ts'
import { type Json, readTape } from '../tape/index.ts'
import { requireClosed } from '../tape/closed.ts'
import type { ForkLimits } from './fork-budget.ts'
import { lockLedger } from './ledger-lock.ts'
import { chooseJudging } from './choose-oracle.ts'
import { loadOracle, type NamedOracle } from './named-oracle.ts'
import type { Judging } from './oracle.ts'
import { positionsOf } from './positions.ts'
import { estimateBlame, requireAgent, runBlame, type RunBlameOptions } from './run-blame.ts'
import type { BlameProgress } from './settings.ts'
import type { Position } from './types.ts'

/** What the command asks of the process of the agent. Files are absolute paths. */
export interface BlameRequest
  extends Pick<
    RunBlameOptions,
    | 'agent'
    | 'repairs'
    | 'costUsdIfPriced'
    | 'delta'
    | 'isAnyName'
    | 'isCrossVersion'
    | 'isFlakyOracle'
    | 'isFresh'
    | 'known'
    | 'cacheFile'
    | 'mutate'
    | 'ran'
    | 'tau'
    | 'tools'
  > {
  readonly limits: ForkLimits
  readonly ok: readonly string[]
  readonly bad: readonly string[]
  /** A function that grades. */
  readonly oracle?: NamedOracle
  readonly reference?: string
  /** Only says what it is expected to cost. */
  readonly isDryRun?: boolean
}

/** Blames a run, in the process that can load its agent; answers with a `BlamedRun`, or with a `BlameEstimate`. */
export const blameTask: Task = async (asked, context) => {
  const request = asked as unknown as BlameRequest
  using _lock = placeOf(request, context)
  const options = await blameOptionsOf(request, context)
  const answer =
    request.isDryRun === true ? await estimateBlame(context.tape, options) : await runBlame(context.tape, options)
  return JSON.parse(JSON.stringify(answer)) as Json
}

/**
 * The place of the forks of a session, before anything is spent: it can be written, and is locked for it. A dry run keeps nothing.
 *
 * @throws HarvestError `HARVEST_RECORDINGS_WRITE`, `HARVEST_BLAME_RUNNING`
 */
export function placeOf({ isDryRun, cacheFile }: BlameRequest, { tape }: TaskContext): Disposable | undefined {
  if (isDryRun === true || cacheFile === undefined) return undefined
  requirePlace(tape, dirname(cacheFile))
  return lockLedger(cacheFile)
}

/**
 * What a request means in the process that can load the agent.
 *
 * @throws HarvestError `HARVEST_BLAME_PROGRAM`, `HARVEST_ORACLE_…`
 */
export async function blameOptionsOf(request: BlameRequest, context: TaskContext): Promise<RunBlameOptions> {
  const { tape, prices, parallel, signal, timeoutMs, replay } = context
  requireAgent(tape)
  if (request.tools === 'live') requireAllowed(tape, replay.allow)
  const { reference, isDryRun: _, oracle: _oracle, ok: _ok, bad: _bad, ...settings } = request
  return {
    ...settings,
    load: () => context.load(),
    judging: await judgingOf(request, context),
    prices,
    parallel,
    signal,
    timeoutMs,
    control: await controlOptionsOf(context),
    surroundings: context.surroundings,
    ...accessOf(replay),
    ...(reference === undefined ? {} : { reference: requireClosed(readTape(reference)) }),
    ...expectedOf(context),
    onProgress: (progress) => context.say(told(progress, positionsOf(tape))),
    onSetAside: (setAside, unchecked, keyless, ofOtherModels) =>
      context.say({ setAside, unchecked, keyless, ofOtherModels }),
    onRegraded: (regraded, gradedThen) => context.say({ regraded, gradedThen }),
    onNotCompared: (notCompared) => context.say({ notCompared: { ...notCompared } }),
    onRecheck: (done, of) => context.say({ rechecked: done, of }),
    // Its budget is its own, for it is opened once it is known what a grade uses.
    onSpent: (total) => context.saySpent(total),
    onUnmet: (unmet) => context.say({ unmet: [...unmet] }),
    onForeseen: ({ tried, steps }, good) =>
      context.say({ foreseen: { tried, steps }, ...(good === undefined ? {} : { good: { ...good } }) }),
  }
}

/** How far it is, in steps as people number them. */
function told({ phase, forks, reused, costUsd, range }: BlameProgress, positions: readonly Position[]): Json {
  const [first] = positions[range?.from ?? -1]?.steps ?? []
  const last = positions[range?.to ?? -1]?.steps.at(-1)
  const steps = first === last ? `step ${first}` : `steps ${first} to ${last}`
  return {
    phase,
    forks,
    reused,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(first === undefined || last === undefined ? {} : { steps }),
  }
}

function expectedOf({ case: kase }: TaskContext): Pick<RunBlameOptions, 'expected'> {
  const outcome = kase === undefined ? undefined : parseCase(kase.text, kase.file).outcome
  return outcome === undefined ? {} : { expected: outcome }
}

async function judgingOf({ ok, bad, oracle }: BlameRequest, context: TaskContext): Promise<Judging> {
  const { tape, case: kase } = context
  const judge = oracle === undefined ? undefined : await loadOracle(oracle, context)
  return chooseJudging(tape, {
    ok,
    bad,
    ...(judge === undefined ? {} : { judge }),
    ...(kase === undefined ? {} : { case: parseCase(kase.text, kase.file) }),
  })
}
