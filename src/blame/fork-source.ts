// Over 300 lines: one source of forks: what it asks, keeps and grades.
import { hash } from 'node:crypto'
import { decidedBy, firstOf, isAskedAlike } from './first-step.ts'
import { passed } from './curve.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { thrownText } from '../match/redact-message.ts'
import { accessOf } from '../fork/access.ts'
import { leftByEnding } from '../fork/prefix.ts'
import {
  type Control,
  controlOf,
  type ControlOptions,
  doAgain,
  type ForkOptions,
  type ForkPlan,
  type ForkResult,
  forkTape,
  type KeptRun,
  keptRunOf,
  requireNoKeptState,
  requireSameOutside,
  type HeardCall,
} from '../fork/index.ts'
import { type Budget, openBudget, unpaid, type Use } from '../live/index.ts'
import { answeredAgainIn, threwAtOnceText, type Unreached, unreachedFacts, unreachedIn } from '../live/unreached.ts'
import { costOf, isPriced, modelIds, type ModelResponse, type PriceTable, readModelCall } from '../providers/index.ts'
import { standInKeys } from '../replay/index.ts'
import { type ExchangeEvent, requestBytes, type Step, stepsOf, type Tape } from '../tape/index.ts'
import { type ReferenceRun, referenceOf } from './reference-run.ts'
import { askedWhile } from './asked-while.ts'
import {
  addedUse,
  asUse,
  dearestGrade,
  gradeHeard,
  gradeWithin,
  knowGrade,
  noUse,
  type PaidGrade,
  spendGrading,
  timesUse,
  useOf,
} from './graded-use.ts'
import { gradeRecorded } from './grade-task.ts'
import { paidRegrades, SteadyGrades } from './grading.ts'
import { createPlanner } from './fork-plans.ts'
import { unansweredIn } from './off-tape.ts'
import type { GradeGiven, Oracle } from './oracle.ts'
import { type KeptToday, Regrading } from './regrading.ts'
import { askedOf, decisionOf, type PlacedPosition, positionsOf, settledWhen } from './positions.ts'
import type { ForkDraw, ForkSource, ForkSpec, Grade, GradingUse } from './types.ts'

type Agent = (input: unknown) => unknown

export interface ForkSourceOptions {
  /** The agent, loaded afresh for every run: what one run leaves in a variable must not reach the next. */
  load(): Promise<Agent>
  readonly oracle: Oracle
  /** The oracle is known to disagree with itself, and grades by majority. Default false. */
  readonly isFlakyOracle?: boolean
  /**
   * Counts what models use, and refuses calls that no budget pays for. It may be opened when the recorded run is graded, and
   * known what its grading used.
   */
  readonly budget: Budget | ((grading: GradingUse) => Budget)
  /** Looked in before the list prices. */
  readonly prices?: PriceTable
  /** `tape` (default): tools and services answer from the tape, by what they are asked. `live`: they run for real. */
  readonly tools?: 'tape' | 'live'
  /** A run of the same agent that went well: its tool answers are what "repaired" means, and answer what this tape cannot. */
  readonly reference?: Tape
  /** Milliseconds one run may take. */
  readonly timeoutMs: number
  /** Escapes to let through, as in the replay options. */
  readonly allow?: readonly string[]
  /** Recorded hosts and those that are the same by now, as in the replay options. */
  readonly hosts?: NonNullable<ForkOptions['hosts']>
  /** Counts forks that other models answer than those of the tape. Default false: such a fork is refused. */
  readonly isCrossVersion?: boolean
  /** Another clock and order of answers, for the layer `timing`: absent, they stay as recorded. */
  timing?(seed: number): Pick<ForkPlan, 'changes' | 'clockOffsetMs'>
  /** Where forks are kept, beside the key of what is kept of their headers. Default: nowhere. */
  readonly folder?: string
  /** How the unchanged run is replayed that forks are compared with. */
  readonly control?: Pick<ControlOptions, 'replay' | 'accepted' | 'caseId' | 'commit'>
}

/** Forks of a real run. */
export interface RealForks extends ForkSource {
  readonly positions: readonly PlacedPosition[]
  /** What the recorded run comes to under today's code, or why that is unknown. */
  readonly graded: GradeGiven
  /** The unchanged run, whose beginning forks keep. */
  readonly control: Control
  /** Who grades asks someone for it, who may have to be paid. */
  readonly isPaidToGrade: boolean
  /** Models of the tape, by the names they are asked by and answer with. */
  readonly models: ReadonlySet<string>
  /** What one grade used at most so far. */
  dearestGrade(): Use
  /** Positions of answers from outside to which the run of `reference` has no answer. */
  readonly unrepaired: readonly number[]
  /** What forks asked so far and the tape has no answer to, by `askedOf`. */
  readonly unanswered: ReadonlySet<string>
  /** The run with another decision of a model at a position, and no model asked behind it: free. `undefined`: no such run. */
  tryOther(position: number): Promise<{ readonly result: ForkResult } | undefined>
  drawAgain: NonNullable<ForkSource['drawAgain']>
  /**
   * Refuses an agent whose later runs are other ones for the earlier ones: behind the last fork, before anything is claimed.
   *
   * @param spent - for people: what the forks used
   * @throws HarvestError `HARVEST_CONTROL`
   */
  requireNoKeptState(spent: string): Promise<void>
  /** A fork of an earlier session, replayed and graded as it is today: free. */
  again(run: KeptRun, was: ForkDraw): Promise<KeptToday>
}

/**
 * Forks of a recorded run as draws for blame: positions are its steps in causal order, each fork is a run of the real
 * agent whose models are asked for real behind the kept steps, and the oracle grades the result.
 *
 * Before anything is spent the run is replayed once, whole and from its tape.
 *
 * @throws HarvestError `HARVEST_BLAME_PREFLIGHT` when that replay is not byte for byte the recorded run; `HARVEST_CONTROL` when
 *   it leaves something behind that all runs share; a draw throws HARVEST_CROSS_VERSION when another model answers than those of the tape
 */
export async function forkSourceOf(tape: Tape, options: ForkSourceOptions): Promise<RealForks> {
  const { oracle, tools = 'tape', prices = {} } = options
  const { load, timeoutMs } = options
  const replaying = { ...options.control, load, timeoutMs }
  const control = await controlOf(tape, replaying)
  const opened = (calls: readonly HeardCall[]): Budget => {
    const made = typeof options.budget === 'function' ? options.budget(useOf(calls, prices)) : options.budget
    spendGrading(made, calls)
    return made
  }
  const first = await preflight(tape, control, options, opened).catch((error: unknown) => {
    requireSameOutside(tape, control, replaying)
    throw error
  })
  const { graded, isPaidToGrade, calls } = first
  const ofOne = useOf(calls, prices)
  const budget = opened(calls)
  requireSameOutside(tape, control, replaying)
  knowGrade(oracle.about, asUse(ofOne), budget)
  let used = ofOne
  let left = isPaidToGrade ? paidRegrades : Number.POSITIVE_INFINITY
  const regrade = async (): Promise<Grade | undefined> => {
    if (left === 0) return undefined
    left--
    const again = await preflight(tape, control, options, (lost) => spendGrading(budget, lost))
    spendGrading(budget, again.calls)
    used = addedUse(used, useOf(again.calls, prices))
    return again.graded.grade
  }
  const isRegraded = oracle.mayVary && options.isFlakyOracle !== true
  const positions = positionsOf(tape, tools)
  const steps = stepsOf(tape)
  const reference = options.reference === undefined ? undefined : referenceOf(tape, options.reference)
  const regrading = new Regrading({
    tape: reference?.tape ?? tape,
    oracle,
    budget,
    isPaidToGrade,
    isFlakyOracle: options.isFlakyOracle === true,
  })
  const { timing } = options
  const keys = new LentKeys(tape)
  const planner = createPlanner(tape, {
    positions,
    tools,
    reference,
    budget,
    ...(timing === undefined ? {} : { timing }),
  })
  const costs = steps.map((step) => costOfStep(step, prices))
  const known = new Set([...modelIds(tape.events), ...answeredBy(steps)])
  const asksFor = [...steps.map((step) => decisionOf(step)?.request.model), ...calls.map(({ model }) => model)]
  const unpriced = asksFor.find((model) => model !== undefined && !isPriced(model, prices))
  const repairs = reference === undefined ? (tools === 'live' ? 'a fresh call' : undefined) : reference.about

  const steady = new SteadyGrades({
    recorded: graded.grade,
    ...(options.isFlakyOracle === true && { isGradedByMajority: true as const }),
  })
  const unanswered = new Set<string>()
  const noteUnanswered = (ran: Ran): Ran => {
    if (ran.result.problems.some(({ code }) => code === 'HARVEST_NOT_RECORDED'))
      for (const step of unansweredIn(ran.result.branch.tape, tape)) unanswered.add(askedOf(step))
    return ran
  }
  const asked =
    reference === undefined ? control : withDonated(control, reference.tape.events.slice(tape.events.length))

  return {
    positions,
    graded,
    control,
    isPaidToGrade,
    models: known,
    unanswered,
    dearestGrade: () => dearestGrade(oracle.about, budget),
    recorded: graded.grade,
    ...(unpriced === undefined ? {} : { unpriced }),
    ...(options.isFlakyOracle === true ? { isGradedByMajority: true as const } : {}),
    ...(isRegraded ? { regrade } : {}),
    ...(oracle.mayVary
      ? { gradedRecorded: () => ({ used, toCome: isRegraded && isPaidToGrade ? timesUse(ofOne, left) : noUse }) }
      : {}),
    async tryOther(position) {
      if (planner.mutantsAt(position).length === 0) return undefined
      const unpaid = createPlanner(tape, { positions, tools, reference, budget: openBudget({ calls: 0 }) })
      const plan = {
        ...unpaid.planOf({ keep: position + 1, mutated: { position, mutant: 0 }, seed: 0 }),
        control: asked,
      }
      const takeBack = standInKeys(tape)
      const run = runOnce(reference?.tape ?? tape, plan, new AbortController().signal, options)
      return run.then(noteUnanswered).finally(takeBack)
    },
    async drawAgain(position, seed, signal = new AbortController().signal) {
      const { keep } = planner.planOf({ keep: position, seed: 0 })
      const plan: ForkPlan = { keep, tail: { from: 'tape', serve: 'reworded' }, seed, control }
      const takeBack = keys.lend()
      const { result, isTimedOut } = await runOnce(tape, plan, signal, options).finally(takeBack)
      // Who would have to be paid for a grade is not asked: the same run has the same one.
      if (isPaidToGrade) return result.isInert ? 'bad' : 'unknown'
      const { grade } = (await gradeHeard(oracle, { ...result, isTimedOut })).given
      steady.add(`draws ${position}`, { ...result, grade })
      const isOk = passed(unheldOf(result) === undefined ? grade : 'undefined')
      if (isOk === true) return 'ok'
      return isOk === undefined || !isAskedAlike(result, positions[position], stepsOf(control.tape)) ? 'unknown' : 'bad'
    },
    requireNoKeptState: (spent) => requireNoKeptState(tape, control, replaying, spent),
    async again(run, was) {
      const again = await doAgain(run, {
        ...replaying,
        folder: options.folder ?? '',
        parent: tape,
      })
      if (again === undefined || !('replayed' in again)) return again
      const { replayed, ...sent } = again
      return { ...(await regrading.of(run, replayed, was)), ...sent }
    },
    mutants: (position) => planner.mutantsAt(position).length,
    ...(repairs === undefined ? {} : { repairs }),
    ...(reference === undefined ? {} : { suspects: suspectsOf(positions, reference) }),
    unrepaired: reference === undefined ? [] : lackedBy(positions, reference),
    ...(drawsBehind(tape) ? { drawsLast: true as const } : {}),
    splits: true,
    expect({ keep, pinned = [], layers }: ForkSpec) {
      const free = positions
        .filter((_, position) => position >= keep && !pinned.includes(position) && layers?.includes('model') !== false)
        .flatMap(({ all }) => all)
        .filter((number) => decisionOfStep(steps[number - 1]) !== undefined)
      const sum = free.reduce<number | undefined>((total, number) => {
        const cost = costs[number - 1]
        return total === undefined || cost === undefined ? undefined : total + cost
      }, 0)
      const grading = dearestGrade(oracle.about, budget)
      const isPriced = sum !== undefined && grading.costUsd !== undefined
      return {
        modelCalls: free.length + grading.calls,
        ...(isPriced ? { costUsd: sum + grading.costUsd, gradingUsd: grading.costUsd } : {}),
      }
    },
    async draw(spec, signal) {
      const takeBack = spec.layers?.includes('model') === false ? keys.lend() : undefined
      const plan = { ...planner.planOf(spec), control: asked }
      const run = runOnce(reference?.tape ?? tape, plan, signal, options).then(noteUnanswered)
      const { result, isTimedOut } = await run.finally(takeBack)
      const models = answeredBy(stepsOf(result).slice(result.prefix.steps))
      const other = models.find((model) => !known.has(model))
      if (other !== undefined && options.isCrossVersion !== true) throw otherModel(tape, other, [...known])
      const isChanged = spec.mutated !== undefined || spec.repaired !== undefined
      const again = answeredAgainIn(result.events, result.tape.events)
      const lost =
        (again && ungradedFor(again)) ??
        unheldOf(result) ??
        lostAnswer(result) ??
        (isChanged ? undefined : lostAtOnce(result, steps.length))
      const ended = { ...result, isTimedOut }
      const paid =
        lost !== undefined
          ? { given: lost, calls: [] }
          : oracle.mayVary
            ? await gradeWithin(oracle.about, () => oracle.grade(ended), { budget, prices }).catch(notPaid)
            : { given: await oracle.grade(ended), calls: [] }
      const isPlain = !isChanged && spec.only === undefined && spec.layers === undefined && spec.pinned === undefined
      const position = isPlain ? positions[spec.keep] : undefined
      return {
        ...drawOf(result, models, paid, options),
        ...(position === undefined
          ? {}
          : { first: firstOf(result, position, steps), decided: hash('sha256', decidedBy(result)).slice(0, 16) }),
      }
    },
  }
}

/** A run whose grade the budget does not pay for. */
function notPaid(error: unknown): PaidGrade {
  const { code, facts } = unpaid(error)
  return { given: { grade: 'ungraded', because: `${facts.what} (${code})` }, calls: [] }
}

/** Keys for runs that ask no model, as long as one of them is under way: offline no key is needed. */
class LentKeys {
  readonly #tape: Tape
  #users = 0
  #takeBack: (() => void) | undefined

  constructor(tape: Tape) {
    this.#tape = tape
  }

  lend(): () => void {
    if (this.#users++ === 0) this.#takeBack = standInKeys(this.#tape)
    return () => {
      if (--this.#users === 0) this.#takeBack?.()
    }
  }
}

/** What a reference run alone knows an answer to stands behind the steps of the control, too. */
function withDonated({ tape, leftOut }: Control, events: Tape['events']): NonNullable<ForkPlan['control']> {
  return { leftOut, tape: { ...tape, events: [...tape.events, ...events] } }
}

/** Whether the agent read a clock, a random number or an id once its last answer had come. */
function drawsBehind(tape: Tape): boolean {
  const last = Math.max(0, ...stepsOf(tape).map((step) => settledWhen(step)))
  return tape.events.some(({ kind, n }) => kind === 'draws' && n > last)
}

/** Answers that are the same in both runs cannot be what makes one of them fail. */
function suspectsOf(positions: readonly PlacedPosition[], reference: ReferenceRun): readonly number[] {
  return positions.flatMap(({ all, isExogenous }, position) =>
    isExogenous && all.some((step) => reference.differsAt(step)) ? [position] : [],
  )
}

/** Positions whose answers from outside stay as recorded, in part at least, for the reference run has none. */
function lackedBy(positions: readonly PlacedPosition[], reference: ReferenceRun): readonly number[] {
  return positions.flatMap(({ all, isExogenous }, position) =>
    isExogenous && all.some((step) => reference.lacksAt(step)) ? [position] : [],
  )
}

function decisionOfStep(step: Step | undefined) {
  return step === undefined ? undefined : decisionOf(step)
}

/**
 * US dollars; 0 for what no model does. Tokens that the provider left out are estimated from the size of what was said, on
 * the high side.
 */
function costOfStep(step: Step, prices: PriceTable): number | undefined {
  const decision = decisionOf(step)
  if (decision === undefined) return 0
  const { request, response } = decision
  const { usage } = response ?? {}
  const isTold = usage?.inputTokens !== undefined || usage?.outputTokens !== undefined
  return costOf(isTold ? usage : estimate(step as ExchangeEvent, response), request.model, prices)
}

/** As the budget of live runs does it. */
function estimate(step: ExchangeEvent, response: ModelResponse | undefined) {
  const answered = (response?.text.length ?? 0) + JSON.stringify(response?.toolCalls ?? []).length
  return { inputTokens: Math.ceil(requestBytes(step).length / 3), outputTokens: Math.ceil(answered / 3) }
}

interface Ran {
  readonly result: ForkResult
  readonly isTimedOut: boolean
}

async function runOnce(tape: Tape, plan: ForkPlan, signal: AbortSignal, options: ForkSourceOptions): Promise<Ran> {
  const { load, timeoutMs } = options
  const time = new AbortController()
  const timer = setTimeout(() => time.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  try {
    const agent = await load()
    const result = await forkTape(tape, agent, plan, {
      signal: AbortSignal.any([signal, time.signal]),
      ...accessOf(options),
    })
    signal.throwIfAborted()
    return { result, isTimedOut: time.signal.aborted }
  } finally {
    clearTimeout(timer)
  }
}

function drawOf(
  result: ForkResult,
  models: readonly string[],
  { given: { grade, because, said }, calls }: PaidGrade,
  { folder, prices = {} }: Pick<ForkSourceOptions, 'folder' | 'prices'>,
): ForkDraw {
  const { spent, fingerprint, isInert } = result
  const grading = useOf(calls, prices)
  const hasCost = spent.costUsd !== undefined && grading.costUsd !== undefined
  const run = folder === undefined ? undefined : keptRunOf(result, folder)
  return {
    grade,
    modelCalls: spent.modelCalls + grading.modelCalls,
    tokens: spent.inputTokens + spent.outputTokens + grading.tokens,
    ...(hasCost ? { costUsd: spent.costUsd + grading.costUsd } : {}),
    ...(calls.length === 0 ? {} : { grading }),
    fingerprint,
    models: [...new Set(models)].sort(),
    ...(isInert ? { isInert } : {}),
    ...(because === undefined ? {} : { because }),
    ...(said === undefined ? {} : { said }),
    ...(run === undefined ? {} : { run }),
  }
}

/** What was to be as recorded never came up: of such a run nothing can be said. */
function unheldOf({ unheld: [step] }: ForkResult): GradeGiven | undefined {
  if (step === undefined) return undefined
  return { grade: 'undefined', because: `It never came to step ${step}, which was to be as recorded` }
}

/** An agent that answers without a model or a service that gave it no answer is no worse for that. */
function lostAnswer({ events, outcome, problems, comparison, tape }: ForkResult): GradeGiven | undefined {
  // One that threw is looked at by the oracle, and so is what a budget or a time-out ended.
  if (outcome.status === 'threw' || problems.length > 0) return undefined
  const lost = unreachedIn(events, tape.events, comparison.outcomeEqual === true)
  return lost && ungradedFor(lost)
}

function ungradedFor(lost: Unreached): GradeGiven {
  return { grade: 'ungraded', ...unreachedFacts(lost) }
}

/**
 * With its kept answers as recorded an agent asks next what it asked then. One that threw instead, before it asked
 * anything, found another world: no key, no file.
 */
function lostAtOnce({ outcome, events, prefix, problems, tape }: ForkResult, recorded: number): GradeGiven | undefined {
  if (outcome.status === 'returned') return undefined
  const asked = stepsOf({ events }).length
  const isAtOnce = asked <= prefix.steps && prefix.steps < recorded && problems.length === 0
  // With no key it does not even get to its first kept step.
  const isBefore = asked === 0 && problems.every((error) => error.code === 'HARVEST_FORK_PREFIX' && leftByEnding(error))
  if (!isAtOnce && !isBefore) return undefined
  const { error } = outcome
  return { grade: 'ungraded', because: threwAtOnceText(thrownText(error, tape)) }
}

function answeredBy(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step) => (step.kind === 'exchange' ? (readModelCall(step)?.response?.model ?? []) : []))
}

interface Preflight extends Pick<PaidGrade, 'calls'> {
  readonly graded: GradeGiven
  readonly isPaidToGrade: boolean
}

/** The whole run from its tape: what the forks share with it has to be right before one of them is paid for. */
async function preflight(
  tape: Tape,
  control: Control,
  options: ForkSourceOptions,
  onLost: (calls: readonly HeardCall[]) => void,
): Promise<Preflight> {
  const plan: ForkPlan = { keep: stepsOf(tape).length, tail: { from: 'tape', serve: 'exact' }, control }
  // Offline no key is needed; models that are asked for real want a real one.
  const takeBack = standInKeys(tape)
  const { result, isTimedOut } = await runOnce(tape, plan, new AbortController().signal, options).finally(takeBack)
  const { prefix, problems, comparison } = result
  if (!prefix.isExact || problems.length > 0 || comparison.outcomeEqual === false) throw notReproducible(tape, result)
  const { came, hasAsked } = await askedWhile(() => gradeHeard(options.oracle, { ...result, isTimedOut }, onLost))
  return { graded: came.given, calls: came.calls, isPaidToGrade: hasAsked || came.calls.length > 0 }
}

/**
 * Refuses a run that fails as recorded and not when it is replayed: the replay's grade says nothing of the recorded run.
 *
 * @param ofReplay - the grade of the unchanged run of today's code
 * @throws HarvestError `HARVEST_BLAME_PREFLIGHT`
 */
export async function requireSameEnd(
  tape: Tape,
  { control, graded, isPaidToGrade }: Pick<RealForks, 'control' | 'graded' | 'isPaidToGrade'>,
  oracle: Oracle,
): Promise<void> {
  if (control.branch === undefined || isFailed(graded.grade)) return
  // Who is paid for a grade is not asked twice: a run that ends as recorded was graded already.
  const { outcomeEqual } = control.replayed.comparison
  if (isPaidToGrade && outcomeEqual !== false) return
  const was = isPaidToGrade ? undefined : await gradeRecorded(oracle, tape)
  // Of an end that was not seen nothing says that it was another one.
  if (was === graded.grade || (outcomeEqual === null && was === 'ungraded')) return
  throw notReproducible(
    tape,
    { problems: [], prefix: {} },
    `It asks the same, and ends otherwise: the replay is graded ${graded.grade}.`,
  )
}

function isFailed(grade: Grade): boolean {
  return grade === 'bad' || grade === 'crash' || grade === 'timeout'
}

function notReproducible(
  tape: Tape,
  {
    prefix,
    problems,
  }: { readonly prefix: Pick<ForkResult['prefix'], 'divergence'>; readonly problems: ForkResult['problems'] },
  otherwise = 'It asks the same, and ends otherwise.',
): HarvestError {
  const found = prefix.divergence ?? problems[0]
  return new HarvestError(
    'HARVEST_BLAME_PREFLIGHT',
    {
      what: 'The recorded run does not replay byte for byte, so forks of it prove nothing',
      where: {
        tape: tape.header.id,
        ...(found?.facts.where?.['at'] === undefined ? {} : { at: found.facts.where['at'] }),
      },
      detail:
        found === undefined
          ? otherwise
          : [found.facts.what, found.facts.detail].filter((text) => text !== undefined).join('\n'),
      fix: [
        `to find the line that makes the run irreproducible: npx vitest-harvest doctor ${shellWord(tape.header.id)}`,
        `to see the difference: npx vitest-harvest show ${shellWord(tape.header.id)} --replay`,
      ],
    },
    { cause: found },
  )
}

function otherModel(tape: Tape, model: string, known: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_CROSS_VERSION', {
    what: 'The live model differs from the recorded one',
    where: { tape: tape.header.id, recorded: known.join(', '), now: model },
    why: 'A changed outcome could be caused by the new model instead of the resampled step.',
    fix: ['to count them anyway: --cross-version'],
  })
}
