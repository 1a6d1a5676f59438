// Over 300 lines: one proof: plan, runs, gate, evidence.
import { accessOf } from '../fork/access.ts'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type Case, defaultProofDays, judgedBy, modelText, parseCase, saysGood, stepsDigest } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { thrownText } from '../match/redact-message.ts'
import { type Allowance, allowanceOf, askBudget, modelOf } from '../fork/ask-budget.ts'
import { asData } from '../fork/fork-task.ts'
import {
  type ForkResult,
  forkTape,
  requireNoKeptState,
  requirePlace,
  runAlone,
  type UnchangedRun,
} from '../fork/index.ts'
import { added, mostOf, noUses, times } from '../live/budget.ts'
import { noPrice, type Use } from '../live/index.ts'
import { isOfCache, isOfService, lostIn, threwAtOnceText, unreachedFacts, withoutCache } from '../live/unreached.ts'
import { type Task, type TaskContext } from '../jobs/index.ts'
import { recordedQuestions } from '../fork/recorded-question.ts'
import { timeLimit } from '../fork/time-limit.ts'
import { asksModel, isPriced } from '../providers/index.ts'
import { codeDigest } from '../provenance/index.ts'
import { changedQuestions, type ChangedQuestion, keysRight, replayTape, verdictOf } from '../replay/index.ts'
import type { Drift, ReplayResult } from '../match/types.ts'
import { type Json, type Step, stepsOf } from '../tape/index.ts'
import type { MatchOptions } from '../trace/index.ts'
import { version } from '../version.ts'
import { chooseJudging } from './choose-oracle.ts'
import { loadOracle, oracleOfCase } from './named-oracle.ts'
import { asUse, spendGrading, besideMargin, useOf } from './graded-use.ts'
import { createOracle, type Judging } from './oracle.ts'
import { type AskTally, defaultProvePlan, proveDecision, type ProveDecision, type ProvePlan } from './prove-gate.ts'
import { type AskArm, type AskEntry, ProveLog } from './prove-log.ts'
import { type AskJudge, gradeAsk } from './prove-judge.ts'

/** What the task `prove` is asked for; its job has the case. */
export interface ProveRequest {
  /** Folder in which what is found out is kept. */
  readonly folder: string
  /** Keys of changes that are unproven: those of others are proven or accepted. */
  readonly keys: readonly string[]
  /** Only says what it may use. */
  readonly isDryRun?: boolean
}

/** The result of a proof of one case. */
export interface ProveAnswer {
  /** `stopped`: someone ended the command before it was decided. */
  readonly decision: Exclude<ProveDecision, 'more' | 'more control'> | 'budget' | 'stopped'
  readonly questions: readonly ChangedQuestion[]
  /** Keys of every change that was asked. */
  readonly together: readonly string[]
  readonly model: string
  readonly judgedBy: string
  /** Digest of the steps at which these changes were asked. */
  readonly steps: string
  readonly asks: AskTally
  readonly control: AskTally
  /** All asks of this proof, those before it was interrupted too. */
  readonly used: Use
  /** The part of it that earlier sessions used; absent: without any. */
  readonly earlier?: Use
  /** What one grade used at most; absent where no model was asked for any. */
  readonly perGrade?: Use
  /** What grades of all asks may use, as far as known. */
  readonly grading?: Use
  /** The first step that was asked again, 1-based. */
  readonly from: number
  /** Why asks were not good, the most frequent first. */
  readonly reasons: readonly string[]
  /** The first ask that was not good, as a branch file. */
  readonly branch?: string
}

/** What is said while a proof is made. */
export interface ProveProgress {
  readonly asks: number
  readonly good: number
  /** What is known of it when someone ends the command. */
  readonly known: ProveAnswer
}

/** What a proof may use, before anything is asked. */
export interface ProveEstimate {
  readonly calls: number
  readonly tokens: number
  readonly costUsd?: number
}

type Decided = ProveAnswer['decision']

/**
 * Asks the model the changed questions of one case until a sequential test says whether the agent does as recorded; beside
 * each ask the recorded question is asked, as the control.
 */
export const proveTask: Task = async (asked, context) => {
  const request = asked as unknown as ProveRequest
  const proof = await openProof(request, context)
  const answer = request.isDryRun === true ? proof.estimate() : await proof.run()
  return JSON.parse(JSON.stringify(answer)) as Json
}

async function openProof(request: ProveRequest, context: TaskContext): Promise<Proof> {
  const { tape, prices, limits } = context
  const kase = caseOf(context)
  const run = await replayOnce(context)
  const [difference] = verdictOf(run).differences
  const isThrown = run.outcome.status === 'threw' && tape.close?.outcome.status !== 'threw'
  if (isThrown && !stepsOf(run).some(asksModel)) throw notStarted(run)
  if ((isThrown || run.problems.length > 0) && difference !== undefined) throw difference
  const changes = run.drift.filter((one) => !isNoQuestion.has(one.class))
  const judged = changes.filter(({ policy }) => policy === 'unproven')
  const questions = changedQuestions(judged).filter(({ key }) => request.keys.includes(key))
  const steps = stepsOf(tape)
  const from = Math.min(...changes.map(({ stepNumber }) => stepNumber))
  if (questions.length === 0 || !Number.isFinite(from)) throw nothingToProve(kase)
  const recorded = steps.slice(from - 1).filter(asksModel)
  const models = run.events.flatMap(modelOf)
  if (limits.costUsd !== undefined) for (const model of models) if (!isPriced(model, prices)) throw noPrice(model)
  const together = [...new Set(judged.map(({ key }) => key))].sort()
  const judging = await judgingOf(kase, context)
  const match = (context.match ?? kase.match ?? {}) as MatchOptions
  const judge = {
    tape,
    case: kase,
    match,
    keep: from - 1,
    events: run.events,
    ...(judging === undefined ? {} : { judging, oracle: createOracle(judging) }),
  }
  const asked = new Map(changedQuestions(judged).map((one) => [one.key, one.steps]))
  const facts = {
    questions,
    together,
    model: modelText(models),
    judgedBy: judgedBy(kase),
    steps: stepsDigest(asked),
    from,
  }
  const elsewhere = judged.find((one) => !isModelStep(one, steps))
  const allowance = allowanceOf(recorded, run.events, prices)
  return new Proof({ context, unchanged: runAlone(run), request, judge, facts, allowance, elsewhere })
}

/** What says which asks are good in the place of outcome and baseline: the function of the case, or else its `ok` and `bad`. */
async function judgingOf(kase: Case, context: TaskContext): Promise<Judging | undefined> {
  const named = oracleOfCase(kase)
  if (named !== undefined) return { by: 'function', ...(await loadOracle(named, context)) }
  return saysGood(kase) ? chooseJudging(context.tape, { case: kase }) : undefined
}

function caseOf({ case: given }: TaskContext): Case {
  if (given === undefined) throw new TypeError('a proof has a case')
  return parseCase(given.text, given.file)
}

async function replayOnce(context: TaskContext): Promise<ReplayResult> {
  using limit = timeLimit(context)
  const agent = await context.load()
  return await replayTape(context.tape, agent, { ...context.replay, signal: limit.signal })
}

/** Whether asking a model says anything about this change. */
function isModelStep({ step }: Drift, steps: readonly Step[]): boolean {
  return steps.some((one) => one.n === step && asksModel(one))
}

/** Drift that changes nothing of what is asked. */
const isNoQuestion: ReadonlySet<string> = new Set(['encoding', 'bookkeeping', 'timers', 'awaits', 'functions'])

interface ProofParts {
  readonly context: TaskContext
  readonly unchanged: UnchangedRun
  readonly request: ProveRequest
  readonly judge: AskJudge
  readonly facts: Pick<ProveAnswer, 'questions' | 'together' | 'model' | 'judgedBy' | 'steps' | 'from'>
  readonly allowance: Allowance
  /** A change of a question that is no model's. */
  readonly elsewhere: Drift | undefined
}

/** One proof, while it is made. */
class Proof {
  readonly #parts: ProofParts
  readonly #plan: ProvePlan
  readonly #maxDays: number
  #asked: readonly AskEntry[] = []
  #used: Use = noUses
  #earlier: Use = noUses

  constructor(parts: ProofParts) {
    const { good, bad, maxDays } = parts.context.prove ?? { ...defaultProvePlan, maxDays: defaultProofDays }
    this.#parts = parts
    this.#plan = { ...defaultProvePlan, good, bad }
    this.#maxDays = maxDays
  }

  /** All asks there may be, of both questions, each with all it may use. */
  estimate(): ProveEstimate {
    const { calls, tokens, costUsd } = this.#parts.allowance
    const asks = 2 * this.#plan.maxAsks
    return { calls: asks * calls, tokens: asks * tokens, ...(costUsd === undefined ? {} : { costUsd: asks * costUsd }) }
  }

  async run(): Promise<ProveAnswer> {
    const { context, elsewhere } = this.#parts
    if (elsewhere !== undefined) return this.#answer('offline', [`${elsewhere.part} is no question to a model`])
    const file = await this.#file()
    if (file !== undefined) requirePlace(context.tape, dirname(file))
    const log = new ProveLog(file, Date.now() - this.#maxDays * 86_400_000, context.surroundings)
    this.#asked = log.entries
    this.#used = this.#earlier = log.used
    context.budget.carry(log.used)
    await this.#requireNoKeptState()
    const decision = await this.#askUntilDecided(log)
    try {
      await this.#requireNoKeptState()
    } catch (error) {
      // What was found out does not count: the next proof begins again.
      log.decided('kept state', new Date().toISOString())
      throw error
    }
    if (decision !== 'budget') log.decided(decision, new Date().toISOString())
    const answer = this.#answer(decision)
    // Proofs of other cases may go on.
    this.#tell(answer)
    return answer
  }

  #tell(known: ProveAnswer): void {
    const progress: ProveProgress = { asks: this.#count('changed'), good: this.#tally('changed').good, known }
    this.#parts.context.say(JSON.parse(JSON.stringify(progress)) as Json)
  }

  /** An answer is no proof where an earlier run may have changed it. */
  async #requireNoKeptState(): Promise<void> {
    const { context, unchanged } = this.#parts
    await requireNoKeptState(context.tape, unchanged, { ...context, load: () => context.load() })
  }

  async #askUntilDecided(log: ProveLog): Promise<Decided> {
    for (;;) {
      const decision = proveDecision(this.#tally('changed'), this.#tally('recorded'), this.#plan)
      if (decision !== 'more' && decision !== 'more control') return decision
      const [asks, controls] = [this.#count('changed'), this.#count('recorded')]
      const arms: AskArm[] = decision === 'more' ? ['changed'] : []
      // The recorded question is asked as often.
      if (decision === 'more control' || controls <= asks) arms.push('recorded')
      const made = await this.#askAll(arms, log)
      this.#tell(this.#answer('stopped'))
      if (made.includes(false)) return 'budget'
    }
  }

  async #askAll(arms: readonly AskArm[], log: ProveLog): Promise<readonly boolean[]> {
    // The first grade that asks a model shows what others use.
    const isKnown = this.#parts.judge.oracle?.mayVary !== true || this.#dearest().calls > 0
    if (isKnown && this.#parts.context.parallel > 1) return Promise.all(arms.map((arm) => this.#ask(arm, log)))
    const made: boolean[] = []
    for (const arm of arms) made.push(await this.#ask(arm, log))
    return made
  }

  /** @returns false when the budget does not allow it */
  async #ask(arm: AskArm, log: ProveLog): Promise<boolean> {
    const { context, judge, allowance } = this.#parts
    const ofGrade = (): Use => times(gradeMargin, this.#dearest())
    const toCome = (): Use => added(allowance, ofGrade())
    const besideOthers = (): Use => added(allowance, times(besideMargin, this.#dearest()))
    const release = await context.budget.reserve(besideOthers, { alone: toCome, unasked: ofGrade })
    if (release === undefined) return false
    const id = `${arm} ${Date.now()} ${process.pid} ${++asksMade}`
    log.began(id, toCome())
    const budget = askBudget(context.budget, allowance, context.prices)
    const settle = (): Use => {
      const { modelCalls, inputTokens, outputTokens, costUsd } = budget.total
      const use = {
        calls: modelCalls,
        tokens: inputTokens + outputTokens,
        ...(costUsd === undefined ? {} : { costUsd }),
      }
      this.#used = added(this.#used, use)
      return use
    }
    try {
      using limit = timeLimit(context)
      const agent = await context.load()
      const request = { seed: id, tail: { from: 'live', tools: 'tape' } } as const
      const asking = arm === 'recorded' ? { asking: recordedQuestions(context.tape, judge.keep) } : {}
      const plan = {
        keep: judge.keep,
        kept: 'canonical',
        chance: 'recorded',
        tail: { ...request.tail, budget, ...asking },
        seed: id,
      } as const
      const fork = await forkTape(context.tape, agent, plan, { signal: limit.signal, ...accessOf(context.replay) })
      const made = asData(fork, request)
      const {
        grade,
        because,
        calls = [],
      } = await gradeAsk(made, fork, judge, (asked) => {
        spendGrading(budget, asked)
        log.lost(id, settle())
      })
      spendGrading(budget, calls)
      const used = settle()
      const unpriced = calls.find(({ model }) => !isPriced(model, context.prices))
      if (context.limits.costUsd !== undefined && unpriced !== undefined) {
        log.lost(id, used)
        throw noPrice(unpriced.model)
      }
      if (grade === 'lost') {
        log.lost(id, used)
        if (fork.problems.some(({ code }) => code === 'HARVEST_BUDGET_USED')) return false
        throw unreached(fork)
      }
      const isFirst = arm === 'changed' && grade !== 'good' && !this.#asked.some(({ branch }) => branch !== undefined)
      const entry: AskEntry = {
        arm,
        grade,
        at: new Date().toISOString(),
        used,
        ...(judge.oracle === undefined ? {} : { grading: asUse(useOf(calls, context.prices)) }),
        ...(because === undefined ? {} : { because }),
        ...(isFirst ? { branch: made.branch } : {}),
      }
      log.ended(id, entry)
      this.#asked = [...this.#asked, entry]
      return true
    } finally {
      release()
    }
  }

  /** What one grade used at most so far. */
  #dearest(): Use {
    return this.#gradings().reduce(mostOf, noUses)
  }

  /** What grades used so far. */
  #gradings(): readonly Use[] {
    return this.#asked.flatMap(({ grading }) => grading ?? [])
  }

  #count(arm: AskArm): number {
    return this.#asked.filter((entry) => entry.arm === arm).length
  }

  #tally(arm: AskArm): AskTally {
    const of = (grade: AskEntry['grade']): number =>
      this.#asked.filter((entry) => entry.arm === arm && entry.grade === grade).length
    return { good: of('good'), bad: of('bad'), ungraded: of('ungraded') }
  }

  /** The file of this proof: another one when anything of it is other. Without git the code may be another. */
  async #file(): Promise<string | undefined> {
    const { context, request, judge, facts } = this.#parts
    const code = await codeDigest(process.cwd())
    if (code === undefined) return undefined
    const { together, model, judgedBy: by, from, steps } = facts
    const identity = [context.tape.digest, judge.case.agent, code, version, together, model, by, from, steps]
    const name = createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 24)
    return join(request.folder, `proof-${name}.jsonl`)
  }

  #answer(decision: Decided, reasons = this.#reasons()): ProveAnswer {
    const branch = this.#asked.find((entry) => entry.branch !== undefined)?.branch
    const perGrade = this.#dearest()
    return {
      decision,
      ...this.#parts.facts,
      asks: this.#tally('changed'),
      control: this.#tally('recorded'),
      used: this.#used,
      ...(this.#earlier.calls === 0 ? {} : { earlier: this.#earlier }),
      ...(perGrade.calls === 0 ? {} : { perGrade, grading: times(2 * this.#plan.maxAsks + marginGrades, perGrade) }),
      reasons,
      ...(branch === undefined ? {} : { branch }),
    }
  }

  #reasons(): readonly string[] {
    const said = this.#asked.flatMap(({ arm, because }) =>
      arm === 'changed' && because !== undefined ? [neutralLine(because.split('\n', 1)[0] ?? '', 200)] : [],
    )
    return [...Map.groupBy(said, (text) => text)].sort((a, b) => b[1].length - a[1].length).map(([text]) => text)
  }
}

/** Asks of one process, to tell two of the same moment apart. */
let asksMade = 0

/** By how much a grade may exceed the dearest one before it: as an ask its recorded steps. */
const gradeMargin = 3

/** Two asks are under way at once, and for the grade of each so much more is reserved. */
const marginGrades = 2 * (gradeMargin - 1)

function notStarted({ outcome, tape }: ReplayResult): HarvestError {
  const error = outcome.status === 'threw' ? outcome.error : undefined
  return new HarvestError(
    'HARVEST_PROVE_AGENT',
    {
      what: 'The agent threw before it called its model',
      where: {
        tape: tape.header.id,
        error: neutralLine(thrownText(error, tape), 200),
      },
      why: 'A proof calls the live model, so the agent needs the key of that model.',
      fix: ['set the key of the model: export OPENAI_API_KEY=…', 'then: the same command'],
    },
    { cause: error },
  )
}

function nothingToProve({ id }: Case): HarvestError {
  return new HarvestError('HARVEST_PROVE_NOTHING', {
    what: 'The case has no changed question to prove',
    where: { case: id },
    fix: ['to see what changed: npx vitest-harvest accept --list'],
  })
}

function unreached({ events, outcome, comparison, tape }: ForkResult): HarvestError {
  const lost = lostIn(events, tape.events, comparison.outcomeEqual === true)
  const error = outcome.status === 'threw' ? thrownText(outcome.error, tape) : ''
  const { because, said } = lost === undefined ? { because: threwAtOnceText(error) } : unreachedFacts(lost)
  return new HarvestError('HARVEST_PROVE_UNREACHED', {
    what: `${isOfService(because) ? 'A service' : 'A model call'} failed, so the proof stopped`,
    where: { because: neutralLine([because, ...(said === undefined ? [] : [said])].join(': '), 200) },
    fix: [`${isOfCache(because) ? withoutCache : keysRight(tape)}, to go on where it stopped: the same command`],
  })
}
