// Over 300 lines: one task: which forks are made, what pays for them, and what is said of each.
import { accessOf } from './access.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { thrownText } from '../match/redact-message.ts'
import { unpaid } from '../live/budget.ts'
import { requireAllowed } from '../live/off-tape.ts'
import { recordedUse, reserveRun } from '../live/reserved-run.ts'
import { isOfCache, isOfService, lostIn, threwAtOnce, withoutCache } from '../live/unreached.ts'
import { keysRight, standInKeys } from '../replay/index.ts'
import { gitState } from '../provenance/index.ts'
import { type Json, readTape, stepsOf } from '../tape/index.ts'
import { asOnBranch } from './branch.ts'
import { type Control, controlData, controlOf } from './control.ts'
import { type ControlData } from '../jobs/job.ts'
import { controlOptionsOf } from './control-options.ts'
import { forkTape } from './fork.ts'
import type { FailedJob, Task, TaskContext } from '../jobs/job.ts'
import {
  forgetFork,
  keepFork,
  type KeptAs,
  type MadeAnew,
  readKeptForks,
  requirePlace,
  wholePairs,
} from './kept-forks.ts'
import { doAgain, keptRunOf, type UncomparedHeaders } from './kept-run.ts'
import { requireNoKeptState } from './kept-state.ts'
import { leftByEnding } from './prefix.ts'
import type { ForkPlan, ForkResult, Tail } from './plan.ts'
import {
  changeOf,
  type FinishedFork,
  type ForkRequest,
  said,
  type SerializedError,
  type TailRequest,
} from './request.ts'
import { inPairs } from './pair-order.ts'
import { timeLimit } from './time-limit.ts'

/** What the task `fork` is asked for. */
export interface ForkTaskOptions {
  /** Makes all of them, also those that were made before. */
  readonly isFresh: boolean
  /** 2: each is followed by its control, and both are made in one session, in an order left to chance, or reused together. */
  readonly together: 1 | 2
  readonly forks: readonly {
    readonly request: ForkRequest
    /** Where it is kept as soon as it is made. */
    readonly keptAs?: KeptAs
  }[]
}

/** What became of the forks. */
export interface ForkTaskAnswer {
  /** The unchanged run they are compared with. */
  readonly control: ControlData
  /** In the order they were asked for: a fork, or why it could not be made. */
  readonly forks: readonly ForkOrFailure[]
  /** Places in the list of those that were made before. */
  readonly reused: readonly number[]
  /** Headers of these that were not compared with those of today; absent: without any, or where none of them asked a live model. */
  readonly notCompared?: UncomparedHeaders
}

/** What is said while forks are made: what is known already when someone ends it. */
export interface ForkTaskProgress {
  readonly anew?: MadeAnew
  /** With the places in the list of forks that were made before. */
  readonly control?: ControlData
  readonly reused?: readonly number[]
  /** Place in the list of the fork beside it. */
  readonly ended?: number
  readonly fork?: ForkOrFailure
  readonly made?: number
  readonly of?: number
}

type ForkOrFailure = FinishedFork | { readonly failed: FailedJob['failed'] }

/**
 * Makes many forks in one process, each with the agent's modules fresh, and keeps each one as it ends. Those that were made
 * before are taken from there: this process knows whether all they read is as it was, and whether the code still does the same.
 */
export const forkTask: Task = async (options, context) => {
  const { forks, isFresh, together } = options as unknown as ForkTaskOptions
  const { tape, surroundings, replay } = context
  // What the kept steps reached is not reached again.
  const isReal = ({ keep, tail }: ForkRequest): boolean => keep === 0 && tail.from === 'live' && tail.tools === 'live'
  if (forks.some(({ request }) => isReal(request))) requireAllowed(tape, replay.allow)
  const replaying = await controlOptionsOf(context)
  const control = await controlOf(tape, replaying)
  const read = await readKeptForks(
    forks.map(({ keptAs }) => (isFresh ? undefined : keptAs)),
    surroundings,
    (run, folder) => doAgain(run, { ...replaying, folder, parent: tape }),
  )
  const { notCompared } = read
  const { forks: kept, anew = read.anew } = together === 1 ? read : wholePairs(read)
  // Before anything is spent on them.
  if (anew !== undefined) context.say({ anew: { ...anew } })
  const answers: ForkOrFailure[] = []
  const reused = [...kept.keys()].filter((index) => kept[index] !== undefined)
  for (const index of reused) answers[index] = kept[index] as FinishedFork
  const order = together === 1 ? [...forks.keys()] : inPairs(tape, forks.length)
  const open = order.filter((index) => !(index in answers)).map((index) => [index, forks[index]!] as const)
  const isLive = open.some(([, { request }]) => request.tail.from === 'live')
  const [place] = open.flatMap(([, { keptAs }]) => keptAs?.folder ?? [])
  if (isLive && place !== undefined) requirePlace(tape, place)
  // Before anything is spent: what two unchanged runs do otherwise is no effect of a change.
  if (isLive) await requireNoKeptState(tape, control, replaying)
  const code = await gitState(process.cwd())
  const told = controlData(tape, control)
  // Models that are asked for real want a real key.
  const takeBack = isLive ? () => undefined : standInKeys(tape)
  context.say({ control: told, reused } as unknown as Json)
  const tell = (index: number, one: ForkOrFailure): void =>
    context.say({ ended: index, fork: shownOf(one) } as unknown as Json)
  for (const index of reused) tell(index, kept[index] as FinishedFork)
  const waiting = open.values()
  const work = async (): Promise<void> => {
    for (const [index, one] of waiting) {
      const { keptAs } = one
      const made = await makePaid(one, { control, ...(code === undefined ? {} : { code }) }, context)
      if (keptAs !== undefined && !('failed' in made))
        keepFork(keptAs.folder, keptAs.key, made, surroundings.reads(made.run?.keyVariables))
      answers[index] = made
      tell(index, made)
      context.say({ made: Object.keys(answers).length - reused.length, of: open.length })
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(context.parallel, open.length) }, work))
  } finally {
    takeBack()
  }
  try {
    if (open.length > 0) await requireNoKeptState(tape, control, replaying)
  } catch (error) {
    for (const [, { keptAs }] of open) if (keptAs !== undefined) forgetFork(keptAs.folder, keptAs.key)
    throw error
  }
  // What no service was asked, no header can have changed.
  const isOfLive = reused.some((index) => forks[index]?.request.tail.from === 'live')
  const answer: ForkTaskAnswer = {
    control: told,
    forks: answers.map(shownOf),
    reused,
    ...(isOfLive && notCompared !== undefined ? { notCompared } : {}),
  }
  return answer as unknown as Json
}

/** What is kept for a later session is no part of the answer. */
function shownOf(one: ForkOrFailure): ForkOrFailure {
  if ('failed' in one) return one
  const { run: _, ...fork } = one
  return fork
}

type Asked = ForkTaskOptions['forks'][number]
interface Beside extends Pick<ForkPlan, 'code'> {
  readonly control: Control
}

/** As {@link makeOne}; one that asks models begins where what the recorded run used behind its step is left. */
async function makePaid(one: Asked, beside: Beside, context: TaskContext): Promise<ForkOrFailure> {
  const { tail, keep } = one.request
  if (tail.from !== 'live') return makeOne(one, beside, context)
  const expected = recordedUse(stepsOf(context.tape).slice(keep), context.prices)
  const paid = await reserveRun(context.budget, expected).catch(unpaid)
  if (HarvestError.is(paid)) return { failed: { code: paid.code, facts: paid.facts } }
  try {
    return await makeOne(one, beside, { ...context, budget: paid.budget })
  } finally {
    paid.release()
  }
}

async function makeOne({ request, keptAs }: Asked, beside: Beside, context: TaskContext): Promise<ForkOrFailure> {
  using limit = timeLimit(context)
  try {
    const { keep, changes = [], modes, clockOffsetMs, seed } = request
    const plan = {
      keep,
      changes: changes.map(changeOf),
      tail: await tailOf(request.tail, context),
      seed,
      ...beside,
      ...(modes === undefined ? {} : { modes }),
      ...(clockOffsetMs === undefined ? {} : { clockOffsetMs }),
    }
    const agent = await context.load(request.agent)
    const options = { signal: limit.signal, ...accessOf(context.replay) }
    return asData(await forkTape(context.tape, agent, plan, options), request, keptAs?.folder)
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return { failed: { code: error.code, facts: error.facts } }
  }
}

async function tailOf(tail: TailRequest, context: TaskContext): Promise<Tail> {
  switch (tail.from) {
    case 'tape':
      return tail
    case 'reference': {
      const { file, ...rest } = tail
      return { ...rest, tape: readTape(file) }
    }
    case 'live':
      return { ...tail, budget: context.budget }
    case 'script':
      return { from: 'script', answer: await loadScript(tail, context) }
    default:
      return tail satisfies never
  }
}

type Script = Extract<Tail, { readonly from: 'script' }>['answer']

async function loadScript(tail: Extract<TailRequest, { readonly from: 'script' }>, context: TaskContext) {
  const exports = await context.importModule(tail.file)
  const answer: unknown = Reflect.get(exports, tail.export)
  if (typeof answer === 'function') return (...asked: Parameters<Script>) => Reflect.apply(answer, undefined, asked)
  const functions = Object.keys(exports).filter((name) => typeof Reflect.get(exports, name) === 'function')
  throw new HarvestError('HARVEST_FORK_SCRIPT', {
    what: `The script of the tail exports no function '${tail.export}'`,
    where: { file: tail.file, functions: functions.join(', ') || 'none' },
    fix: ['export one: export const answer = (asked, n) => ({ result: … })'],
  })
}

/**
 * A fork as data, with what says that its models were not reached.
 *
 * @param folder - where it is kept; absent: nowhere
 */
export function asData(
  run: ForkResult,
  { seed, tail, agent, changes = [] }: Pick<ForkRequest, 'agent' | 'changes' | 'seed' | 'tail'>,
  folder?: string,
): FinishedFork {
  const { outcome, redactedOutcome, prefix, leftAt, spent, isInert, fingerprint, branch } = run
  const keyless = beforeAsking(run, tail)
  const left = prefix.divergence
  const { steps, isExact } = prefix
  // Of another agent nothing is found out by looking at that of the tape.
  const ofAgent =
    left === undefined || agent === undefined
      ? left
      : new HarvestError(left.code, { ...left.facts, fix: toOtherAgent(run, agent, changes.length === 0) })
  const kept = folder === undefined ? undefined : keptRunOf(run, folder)
  const own = run.problems.map((problem) => (problem === left && ofAgent !== undefined ? ofAgent : problem))
  const problems = keyless === undefined ? [...own, ...unreached(run, tail)] : [keyless]
  const divergence = keyless === undefined ? ofAgent : undefined
  const saidOf = (problem: HarvestError): SerializedError => {
    const { code, message } = said(problem)
    return { code, message: String(asOnBranch(branch.tape, message)) }
  }
  return {
    seed,
    outcome: { status: outcome.status, value: redactedOutcome },
    prefix: { steps, isExact, ...(divergence === undefined ? {} : { divergence: saidOf(divergence) }) },
    problems: problems.map(saidOf),
    ...(leftAt === undefined ? {} : { leftAt }),
    spent,
    isInert,
    fingerprint,
    branch: branch.text,
    ...(kept === undefined ? {} : { run: kept }),
    madeAt: new Date().toISOString(),
  }
}

/** What to do about an agent that goes on for another one, and does something else before it. */
function toOtherAgent({ prefix, tape }: ForkResult, agent: string, isUnchanged: boolean): readonly string[] {
  return [
    `to see what this agent does differently: npx vitest-harvest replay ${shellWord(tape.header.id)} --agent ${shellWord(agent)}`,
    ...(isUnchanged ? [`to let it go on where it differs: --step ${prefix.steps + 1}`] : []),
  ]
}

/** An agent that throws before it asks anything, not even what is kept, found another world: no key, no file. */
function beforeAsking(
  { events, outcome, prefix, problems, tape }: ForkResult,
  tail: TailRequest,
): HarvestError | undefined {
  if (tail.from !== 'live' || outcome.status === 'returned' || stepsOf({ events }).length > 0) return undefined
  // It was refused its first question.
  if (problems.some(({ code }) => code === 'HARVEST_BUDGET_USED' || code === 'HARVEST_BUDGET_PRICE')) return undefined
  // It did ask, and something else than was recorded: that it got no answer is why it threw.
  if (prefix.divergence !== undefined && !leftByEnding(prefix.divergence)) return undefined
  const { error } = outcome
  return new HarvestError('HARVEST_FORK_MODEL_UNREACHABLE', {
    what: `${threwAtOnce}, so this fork is ungraded`,
    where: { error: neutralLine(thrownText(error, tape), 200) },
    fix: ['once its key and environment are right: the same command'],
  })
}

function unreached({ events, tape, comparison }: ForkResult, tail: TailRequest): readonly HarvestError[] {
  if (tail.from !== 'live') return []
  const lost = lostIn(events, tape.events, comparison.outcomeEqual === true)
  // As it was recorded is its own way to end.
  if (lost === undefined || tape.events.includes(lost.event)) return []
  const { event, because, status, said: text } = lost
  const isService = isOfService(because)
  return [
    new HarvestError('HARVEST_FORK_MODEL_UNREACHABLE', {
      what: `${isService ? 'A service' : 'A model call'} failed, so this fork is ungraded`,
      where: {
        [isService ? 'service' : 'model']: neutralLine('url' in event ? event.url : event.name, 120),
        answer: neutralLine([...(status === undefined ? [] : [`status ${status}`]), text].join(': ') || 'none', 200),
      },
      fix: [`${isService ? 'once it answers' : isOfCache(because) ? withoutCache : keysRight(tape)}: the same command`],
    }),
  ]
}
