// Over 300 lines: one real run, from its replay to its report, and what that costs.
import { dirname } from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { type Control, type UncomparedHeaders } from '../fork/index.ts'
import { passedBy } from '../live/budget.ts'
import { type Budget, type BudgetLimits, openBudget, type Spent, type Use } from '../live/index.ts'
import type { Surroundings } from '../jobs/run-reads.ts'
import { isPriced, modelIds } from '../providers/index.ts'
import { pinsOf } from '../provenance/index.ts'
import type { Json, Tape } from '../tape/index.ts'
import type { Expectation } from './expectation.ts'
import { type ForkSourceOptions, forkSourceOf, type RealForks, requireSameEnd } from './fork-source.ts'
import { type ForkLimits, ForkBudget, type Stop } from './fork-budget.ts'
import { gradeRecorded, requireGoodReference, runTools } from './grade-task.ts'
import { noUse } from './graded-use.ts'
import { requireSteadyGrades } from './grading.ts'
import { type Names, requireKnownNames } from './known-names.ts'
import { withDrawn } from './drawn.ts'
import { withCodeAlone } from './code-alone.ts'
import {
  type GoodRun,
  hasAnswerTo,
  hasOtherAnswers,
  hasOtherAnswersToSame,
  hasOtherCalls,
  KnownRuns,
  neverMet,
} from './known-good.ts'
import { isOfSameQuestion } from './other-tape.ts'
import { answeredAlike } from './answered-alike.ts'
import { type OpenedLedger, openLedger, type RanHere } from './fork-cache.ts'
import { majorityOracle, withoutCertificate } from './majority.ts'
import { isByCalls, type OffTapeRisk, offTapeRisk } from './off-tape.ts'
import { createOracle, type Judging, type Oracle, requireFailure, type SelfAgreement } from './oracle.ts'
import { type CostPlan, planCost } from './plan-cost.ts'
import { requireMutants } from './mutations.ts'
import { requireOutside } from './outside.ts'
import { type BlameReport, blameSource } from './report.ts'
import { type BlameProgress, requireSteps, usualEffect } from './settings.ts'
import type { ForksSpent } from './spent.ts'
import type { BlameVerdict } from './verdict.ts'
import type { ForkDraw, Grade, GradingUse, KnownRun, Position } from './types.ts'

/** How a real run is blamed. */
export interface RunBlameOptions
  extends Pick<
    ForkSourceOptions,
    | 'load'
    | 'prices'
    | 'tools'
    | 'reference'
    | 'timeoutMs'
    | 'allow'
    | 'hosts'
    | 'isCrossVersion'
    | 'control'
    | 'timing'
  > {
  /** Key of the agent. */
  readonly agent: string
  readonly judging: Judging
  readonly limits?: ForkLimits
  /** A limit in US dollars that counts where every price is known. */
  readonly costUsdIfPriced?: number
  /** Ask as well which recorded answers are necessary and sufficient, and for a smallest set of repairs. Default false. */
  readonly repairs?: boolean
  /** Ask instead which answers the outcome hangs on, by mutating them. Default false. */
  readonly mutate?: boolean
  /** Forks under way at once. Default 8. */
  readonly parallel?: number
  /** How often a verdict that names something may be false. Default 0.05. */
  readonly delta?: number
  /** The smallest difference of rates that is blamed. Default 0.2. */
  readonly tau?: number
  /** Lets names through that no run knows. Default false. */
  readonly isAnyName?: boolean
  /** What a case says the agent returns: its places are known, too. */
  readonly expected?: Json
  /** The oracle is known to disagree with itself: every run is graded five times, by majority. Default false. */
  readonly isFlakyOracle?: boolean
  /** Runs of the agent that may be good ones: one of them shows that a run can be. Default none. */
  readonly known?: readonly KnownRun[]
  /** File to which every fork is added, and from which those of earlier sessions are counted. Default none. */
  readonly cacheFile?: string
  /** Leaves the forks of earlier sessions alone. */
  readonly isFresh?: boolean
  /** What code runs here. */
  readonly ran?: RanHere
  /** Where forks run, and what they have read there. */
  readonly surroundings?: Surroundings
  readonly onProgress?: (progress: BlameProgress) => void
  /** Hears, before anything is spent, that other decisions of the models leave the tape, and which known run is a good one. */
  readonly onForeseen?: (risk: OffTapeRisk, good?: GoodRun) => void
  /** Hears, before anything is spent, why a function that grades may grade no run of this input `ok`. */
  readonly onUnmet?: (because: readonly string[]) => void
  /**
   * Hears how many forks of earlier sessions do not count, for they ran other code, read other data or end otherwise today; how
   * many because that is unknown; how many because the key of the digests of their headers is not there any more; and how many
   * because other models answered them.
   */
  readonly onSetAside?: (forks: number, unchecked: number, keyless: number, ofOtherModels: number) => void
  /**
   * Hears how many forks of earlier sessions have another grade today, which counts; and how many keep the one they got, for who
   * grades would have to be paid for another one.
   */
  readonly onRegraded?: (regraded: number, gradedThen: number) => void
  /** Hears of forks of earlier sessions that count, which of their headers were not compared with those of today. */
  readonly onNotCompared?: (headers: UncomparedHeaders) => void
  /** Hears of each model call that has ended what was used until then, for grades too. */
  readonly onSpent?: (total: Spent) => void
  /** Hears how many forks of earlier sessions were replayed, to see whether they still count. */
  readonly onRecheck?: (done: number, of: number) => void
  readonly signal?: AbortSignal
}

/** What was found out about a real run. Plain JSON. */
export interface BlamedRun extends BlameReport {
  /** Id of the tape. */
  readonly tape: string
  readonly agent: string
  /** What runs were graded by. */
  readonly gradedBy: string
  readonly recorded: Grade
  /** The unchanged run of today's code; `differs`: where it is not the recorded one. */
  readonly control?: Pick<Control, 'digest' | 'differs'>
  /** With an oracle known to disagree with itself: single grades that were the majority's, of all. */
  readonly selfAgreement?: SelfAgreement
  /** The part of `spent` that earlier sessions made. */
  readonly reused: ForksSpent
  /** Headers of forks of earlier sessions that were not compared with those of today; absent: without any. */
  readonly notCompared?: UncomparedHeaders
  readonly stoppedBy?: Stop
  /** Absent: all limits were kept. */
  readonly limitPassed?: LimitPassed
  /** Where tools, retrievers and services get their answers from. */
  readonly tools: string
  /** What a good answer is, when some were repaired. */
  readonly repairedBy?: string
  /** Positions of answers from outside that were not repaired: the run of `--reference` has no answer to them. */
  readonly unrepaired?: readonly number[]
  /** Models that answered, sorted; before any did, those of the tape. */
  readonly models: readonly string[]
  /** Present where runs that leave the tape are graded all the same: by calls alone. */
  readonly isGradedByCalls?: true
  /** Why forks could not be graded, the most frequent first; rare reasons are counted together. `said`: by a provider of one of them. */
  readonly unclear: readonly Unclear[]
  /** What of the expectations may be mistyped, although it could be met. */
  readonly warnings?: readonly string[]
  /** Where no step decided: what is asked for and no known run has, or who grades none ok. That no fork met it says nothing about the agent. */
  readonly neverSeen?: readonly string[]
  /** Where none is named: runs that may help. */
  readonly knownRuns?: OtherRuns
  /** How free replays of other decisions ended, with tools that answer from the tape. */
  readonly offTape?: OffTapeRisk
}

/**
 * Blames a real run: replays it, grades it, makes forks of it within the limits, and says which step decided.
 *
 * @throws HarvestError `HARVEST_BLAME_PREFLIGHT`, `HARVEST_ORACLE_…`, HARVEST_CROSS_VERSION, and those of
 *   {@link blameSource}; all of them but those of the oracle and the models before anything is spent
 */
export async function runBlame(tape: Tape, options: RunBlameOptions): Promise<BlamedRun> {
  const { delta = 0.05, tau = usualEffect, repairs = false, mutate = false } = options
  const seen = new Seen()
  const { source, oracle, forkCache, limits, warnings, offTape, neverSeen, knownRuns } = await openForks(tape, options)
  for (const { draw } of forkCache?.entries ?? []) seen.add(draw)
  const heard = seen.listening(source)
  const forkBudget = new ForkBudget(heard, {
    limits,
    ...(options.parallel === undefined ? {} : { parallel: options.parallel }),
    ...(forkCache === undefined ? {} : { forkCache }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  })
  const { commit } = options.ran ?? {}
  const claimed = await blameSource(heard, {
    forkBudget,
    delta,
    tau,
    curve: !mutate,
    repairs: repairs,
    mutations: mutate,
    perturbation: mutate
      ? 'one value of a recorded answer is another one of its type'
      : 'all steps after a replayed prefix are resampled',
    ...(commit === undefined ? {} : { commit }),
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  })
  await requireNoKeptState({ source, forkCache }, forkBudget)
  const passed = limitPassed({ source, limits, forkBudget })
  const found = await withCodeAlone(claimed, (position, seed) => source.drawAgain(position, seed, options.signal))
  const { agreement } = oracle
  // A run of this very question was good, resampled or with repaired answers: then it is known that one can be.
  const hasGood = (found.repairs?.clean.ok ?? 0) > 0 || found.steps.some(({ resampled }) => (resampled?.ok ?? 0) > 0)
  const unseen = found.verdict?.kind === 'never' && !hasGood ? await neverSeen() : []
  const said =
    found.verdict === undefined
      ? {}
      : { verdict: unseen.length > 0 ? doubted(found.verdict) : withDrawn(found.verdict, found.steps) }
  const others = options.reference === undefined ? await knownRuns() : {}
  return {
    ...(agreement === undefined ? { ...found, ...said } : withoutCertificate({ ...found, ...said }, agreement)),
    ...(found.verdict?.kind === 'undecidable'
      ? { verdict: { ...found.verdict, ...seen.lost, forks: seen.forks } }
      : {}),
    ...(agreement === undefined ? {} : { selfAgreement: { ...agreement } }),
    tape: tape.header.id,
    agent: options.agent,
    gradedBy: oracle.about,
    ...(isByCalls(options.judging) ? { isGradedByCalls: true as const } : {}),
    recorded: source.recorded,
    control: pinOf(source.control),
    reused: forkBudget.spent.reused,
    ...(forkCache?.notCompared === undefined ? {} : { notCompared: forkCache.notCompared }),
    ...(forkBudget.stopped === undefined ? {} : { stoppedBy: forkBudget.stopped }),
    ...passed,
    tools: toolsOf(options),
    ...(repairs && source.repairs !== undefined ? { repairedBy: source.repairs } : {}),
    ...(repairs && source.unrepaired.length > 0 ? { unrepaired: source.unrepaired } : {}),
    models: seen.models.size > 0 ? [...seen.models].sort() : (pinsOf(tape).models ?? []),
    unclear: seen.unclear(),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(unseen.length === 0 ? {} : { neverSeen: unseen }),
    ...(Object.keys(others).length === 0 ? {} : { knownRuns: others }),
    ...(offTape === undefined ? {} : { offTape }),
  }
}

/** A limit that was passed all the same. */
export interface LimitPassed {
  readonly by: BudgetLimits
  /** What one grade used at most. */
  readonly grade: Use
}

/** Behind the last fork: by how much a limit in dollars was passed; empty: it was kept. */
export function limitPassed({
  source,
  limits: { costUsd: limit },
  forkBudget: { spent },
}: Pick<OpenedForks, 'limits' | 'source'> & { readonly forkBudget: Pick<ForkBudget, 'spent'> }): {
  readonly limitPassed?: LimitPassed
} {
  const { modelCalls, tokens, costUsd } = spent.now
  const used = { calls: modelCalls, tokens, ...(costUsd === undefined ? {} : { costUsd }) }
  const by = limit === undefined ? undefined : passedBy({ costUsd: limit }, used)
  return by === undefined ? {} : { limitPassed: { by, grade: source.dearestGrade() } }
}

/** Forks of a failed run, with who grades them and the limits they are made in. */
export interface OpenedForks {
  readonly source: RealForks
  readonly oracle: Oracle & { readonly agreement?: SelfAgreement }
  readonly forkCache: OpenedLedger | undefined
  readonly limits: ForkLimits
  readonly warnings: readonly string[]
  readonly offTape: OffTapeRisk | undefined
  /** What is asked for and no known run has. */
  neverSeen(): Promise<readonly string[]>
  knownRuns(): Promise<OtherRuns>
}

/** Known runs of the agent that may help, by name. */
export interface OtherRuns {
  /** It passes. */
  readonly passing?: string
  /** It is graded `ok`, and made calls that this one did not make. Of another input: it has an answer to a call that left the tape. */
  readonly calls?: string
  /** It is graded `ok`, and has other answers to what this one asked. Of another input: to the very same calls. */
  readonly answers?: string
  /** Which of `calls` and `answers` had another input. */
  readonly ofOtherInput?: readonly string[]
}

/**
 * Replays and grades a run, and opens its forks: what is the same whether forks are made or only counted.
 *
 * @throws HarvestError as {@link runBlame}
 */
export async function openForks(tape: Tape, options: RunBlameOptions): Promise<OpenedForks> {
  const {
    judging,
    cacheFile: file,
    ran = {},
    surroundings,
    isFresh,
    isCrossVersion,
    reference,
    tools = 'tape',
    agent,
    isAnyName,
  } = options
  const warnings = isAnyName === true ? [] : requireKnownNames(expectationsOf(judging), namesOf(tape, options))
  const plain = createOracle(judging)
  const oracle: OpenedForks['oracle'] = options.isFlakyOracle === true ? majorityOracle(plain) : plain
  if (reference !== undefined && !plain.mayVary) await requireGoodReference(plain, reference, options.repairs)
  const { prices = {} } = options
  // The budget of forks plans with what forks are expected to use; one that runs away is stopped in its middle.
  const budget = (grading: GradingUse): Budget => {
    const { costUsd } = limitsOf(tape, options, grading)
    return openBudget(costUsd === undefined ? {} : { costUsd }, prices, options.onSpent)
  }
  const folder = file === undefined ? {} : { folder: dirname(file) }
  const source = await forkSourceOf(tape, { ...options, ...folder, oracle, budget })
  const limits = limitsOf(tape, options, source.gradedRecorded?.().used)
  if (options.mutate !== true) {
    // An oracle that says `ok` now and `bad` at the next look has nothing to say about this run.
    if (source.recorded === 'ok' && !source.isPaidToGrade) await requireSteadyGrades(source)
    await requireSameEnd(tape, source, plain)
    requireFailure(source.graded, oracle, tape)
  }
  if (options.repairs === true && source.repairs === undefined) throw noRepairs(tape)
  // Who asks someone for a grade is asked about this run alone.
  if (reference !== undefined && plain.mayVary && !source.isPaidToGrade)
    await requireGoodReference(oracle, reference, options.repairs)
  const question = {
    tape: tape.digest,
    agent,
    oracle: oracle.about,
    tools,
    ...(reference === undefined ? {} : { reference: reference.digest }),
  }
  const { onRecheck } = options
  const forkCache =
    file === undefined
      ? undefined
      : await openLedger(file, {
          question,
          ran: { ...ran, ...(source.control.branch === undefined ? {} : { control: source.control.digest }) },
          rechecking: {
            again: (run, was) => source.again(run, was),
            ...(onRecheck === undefined ? {} : { onRecheck }),
          },
          ...(surroundings === undefined ? {} : { surroundings }),
          ...(isFresh === undefined ? {} : { isFresh }),
          ...(isCrossVersion === true ? { isCrossVersion } : { models: source.models }),
        })
  const { setAside = 0, unchecked = 0, keyless = 0, ofOtherModels = 0, regraded = 0, gradedThen = 0 } = forkCache ?? {}
  if (setAside + unchecked + keyless + ofOtherModels > 0)
    options.onSetAside?.(setAside, unchecked, keyless, ofOtherModels)
  if (regraded + gradedThen > 0) options.onRegraded?.(regraded, gradedThen)
  if (forkCache?.notCompared !== undefined) options.onNotCompared?.(forkCache.notCompared)
  // A good run whose calls are those of the tape has answers to no other ones, and one of another input hardly to those of this one.
  const isBare = reference === undefined || !hasOtherCalls(reference, tape) || !isOfSameQuestion(reference, tape)
  const offTape =
    tools === 'tape' && isBare
      ? await offTapeRisk(source.positions, { tape, judging, mutates: options.mutate === true }, (at) =>
          source.tryOther(at),
        )
      : undefined
  // Grading may cost money: then only the runs that are asked about are graded.
  const known = new KnownRuns(source.isPaidToGrade ? [] : (options.known ?? []), tape, plain)
  const goodCalls = (): Promise<GoodRun | undefined> =>
    known.good(
      (one) => hasOtherCalls(one, tape),
      (one) => hasAnswerTo(one, source.unanswered),
    )
  if (offTape !== undefined && offTape.steps.length > 0) options.onForeseen?.(offTape, await goodCalls())
  const neverSeen = async (): Promise<readonly string[]> => {
    const isGood = reference !== undefined && (source.isPaidToGrade || (await gradeRecorded(plain, reference)) === 'ok')
    const isSame = (isGood && isOfSameQuestion(reference, tape)) || (await known.good(() => true)) !== undefined
    const isOther =
      isGood ||
      (await known.good(
        () => true,
        () => true,
      )) !== undefined
    const contrary = isSame ? undefined : await known.bad((one) => isOfSameQuestion(one, tape))
    return neverMet(judging, namesOf(tape, options), {
      isGood: isSame ? 'same question' : isOther ? 'another question' : undefined,
      hasKnown: known.first !== undefined,
      ...(contrary === undefined ? {} : { contradictedBy: contrary.name }),
    })
  }
  // Conditions can be looked at without the agent: who asks does it.
  const unmet = judging.by === 'function' && options.mutate !== true ? await neverSeen() : []
  if (unmet.length > 0) options.onUnmet?.(unmet)
  return {
    source: answeredAlike(source, forkCache),
    oracle,
    forkCache,
    limits,
    warnings,
    offTape,
    async knownRuns() {
      const passing = known.first
      const calls = await goodCalls()
      const answers = await known.good(
        (one) => hasOtherAnswers(one, tape),
        (one) => hasOtherAnswersToSame(one, tape),
      )
      const others = [calls, answers].flatMap((one) => (one?.isOfOtherInput === true ? [one.name] : []))
      return {
        ...(passing === undefined ? {} : { passing: passing.name }),
        ...(calls === undefined ? {} : { calls: calls.name }),
        ...(answers === undefined ? {} : { answers: answers.name }),
        ...(others.length === 0 ? {} : { ofOtherInput: [...new Set(others)] }),
      }
    },
    neverSeen,
  }
}

/**
 * Behind the last fork: whether later runs of the agent are what they were without the earlier ones.
 *
 * @throws HarvestError `HARVEST_CONTROL`; the forks then do not count any more, in no later session either
 */
export async function requireNoKeptState(
  { source, forkCache }: Pick<OpenedForks, 'forkCache' | 'source'>,
  { spent, spentText }: ForkBudget,
): Promise<void> {
  if (spent.now.forks === 0) return
  try {
    await source.requireNoKeptState(spentText)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_CONTROL')) forkCache?.restart()
    throw error
  }
}

/** That each run is graded bad stays; what that says of the agent is not known. */
function doubted(verdict: BlameVerdict): BlameVerdict {
  if (verdict.kind !== 'never') return verdict
  const { alpha: _claimed, ...rest } = verdict
  return { ...rest, how: 'doubted' }
}

function expectationsOf(judging: Judging): readonly Expectation[] {
  return judging.by === 'expectations' ? [...judging.ok, ...judging.bad] : []
}

function namesOf(tape: Tape, { reference, expected }: RunBlameOptions): Names {
  const tapes = reference === undefined ? [tape] : [tape, reference]
  return { tapes, ...(expected === undefined ? {} : { outcome: expected }) }
}

function pinOf({ digest, differs }: Control): NonNullable<BlamedRun['control']> {
  return { digest, ...(differs === undefined ? {} : { differs }) }
}

function limitsOf(
  tape: Tape,
  { limits = {}, costUsdIfPriced, prices = {} }: RunBlameOptions,
  grading: GradingUse = noUse,
): ForkLimits {
  if (limits.costUsd !== undefined || costUsdIfPriced === undefined) return limits
  const hasCost = modelIds(tape.events).every((model) => isPriced(model, prices)) && grading.costUsd !== undefined
  return hasCost ? { ...limits, costUsd: costUsdIfPriced } : limits
}

function toolsOf({ tools = 'tape', reference }: RunBlameOptions): string {
  if (tools === 'live') return 'called for real'
  return reference === undefined ? 'answered from the tape' : `answered from the tape, and from ${reference.header.id}`
}

export interface Unclear {
  readonly because: string
  readonly forks: number
  readonly said?: string
}

/** How many of the most frequent reasons are listed; the others are counted together. */
const mostReasons = 5

/** What forks said beside their grade. */
class Seen {
  readonly models = new Set<string>()
  readonly #reasons = new Map<string, Unclear>()

  /** Forks without a grade, those that were under way when it was decided too. */
  readonly lost = { undefined: 0, ungraded: 0 }
  /** All of them, also those of earlier sessions that were not needed. */
  forks = 0

  add({ models = [], grade, because, said }: ForkDraw): void {
    this.forks++
    for (const model of models) this.models.add(model)
    if (grade === 'undefined' || grade === 'ungraded') this.lost[grade]++
    if (because === undefined) return
    const { forks, ...one } = this.#reasons.get(because) ?? {
      because,
      forks: 0,
      ...(said === undefined ? {} : { said }),
    }
    this.#reasons.set(because, { ...one, forks: forks + 1 })
  }

  listening(source: RealForks): RealForks {
    return {
      ...source,
      draw: async (spec, signal) => {
        const draw = await source.draw(spec, signal)
        this.add(draw)
        return draw
      },
    }
  }

  unclear(): BlamedRun['unclear'] {
    const all = [...this.#reasons.values()].sort((a, b) => b.forks - a.forks)
    const others = all.slice(mostReasons).reduce((sum, { forks }) => sum + forks, 0)
    return [...all.slice(0, mostReasons), ...(others === 0 ? [] : [{ because: 'other reasons', forks: others }])]
  }
}

/** What blaming a run is expected to use. */
export interface BlameEstimate extends CostPlan {
  readonly tape: string
  readonly gradedBy: string
  readonly recorded: Grade
  /** Where today's code, unchanged, already differs from the recording: that run is graded then. */
  readonly differs?: NonNullable<Control['differs']>
  readonly positions: readonly Position[]
  /** Forks of earlier sessions that need not be made again. */
  readonly reused: number
  /** What grading the recorded run used; absent: nothing was spent. */
  readonly grading?: GradingUse
  /** How free replays of other decisions ended, with tools that answer from the tape. */
  readonly offTape?: OffTapeRisk
}

/** Replays and grades the run and says what its blame is expected to cost. Nothing is spent but by an oracle that asks a model. */
export async function estimateBlame(tape: Tape, options: RunBlameOptions): Promise<BlameEstimate> {
  const { source, oracle, forkCache, limits, offTape } = await openForks(tape, options)
  if (!source.isPaidToGrade) await requireSteadyGrades(source)
  const { repairs = false, mutate = false, parallel } = options
  requireSteps(source)
  if (mutate) requireMutants(source)
  if (repairs) requireOutside(source)
  const grading = source.gradedRecorded?.().used
  const { differs } = source.control
  const asked = { limits, curve: !mutate, repairs: repairs, mutations: mutate }
  return {
    ...planCost(source, parallel === undefined ? asked : { ...asked, parallel }),
    tape: tape.header.id,
    gradedBy: oracle.about,
    recorded: source.recorded,
    ...(differs === undefined ? {} : { differs }),
    positions: source.positions.map(({ steps, label, isExogenous }) => ({ steps, label, isExogenous })),
    reused: forkCache?.entries.length ?? 0,
    ...(grading === undefined || grading.modelCalls === 0 ? {} : { grading }),
    ...(offTape === undefined ? {} : { offTape }),
  }
}

function noRepairs(tape: Tape): HarvestError {
  return new HarvestError('HARVEST_BLAME_NO_REPAIRS', {
    what: '--repairs needs good answers',
    where: { tape: tape.header.id },
    why: 'Repairs replace recorded answers with good ones to find which are necessary or sufficient.',
    fix: ["name a good run: --reference '<tape|case>'", runTools],
  })
}

/** @throws HarvestError `HARVEST_BLAME_PROGRAM` for a tape that no agent function made */
export function requireAgent(tape: Tape): void {
  if (tape.header.command === undefined) return
  throw new HarvestError('HARVEST_BLAME_PROGRAM', {
    what: 'This tape was made by a whole program, and forks need an agent function',
    where: { tape: tape.header.id },
    fix: ['record the agent itself: recorder.run({ agent: "refund", input }, () => refundAgent(input))'],
  })
}
