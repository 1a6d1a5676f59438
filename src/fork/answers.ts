// Over 300 lines: one decision, who answers, with all that it weighs.
import { neutralLine } from '../errors/index.ts'
import {
  canonicalJson,
  isGenerative,
  type MessagePart,
  type ModelRequest,
  readMessage,
  readModelRequest,
} from '../providers/index.ts'
import { Calls } from '../match/calls.ts'
import { isSameTurn } from '../match/conversation.ts'
import { parseRequest } from '../match/difference.ts'
import { type FoundDrift, type Match, Matcher, type MatchRequest } from '../match/matcher.ts'
import { StepOrder } from '../playback/order.ts'
import { type CallState, type ExchangeState, stepStates } from '../match/step.ts'
import type { MatchLevel } from '../match/types.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import type { SeamCall } from '../seam/source.ts'
import { type CallEvent, type ExchangeEvent, type Json, type Tape } from '../tape/index.ts'
import type { ForkRun } from './fork-run.ts'
import { asEvent } from './scripted.ts'
import { leftTape } from './prefix.ts'
import { calledText } from '../live/off-tape.ts'
import { sameData } from '../live/same-data.ts'

type AnyState = ExchangeState | CallState

/** Who answers one step, and with what. */
export type Reply<S extends AnyState> =
  /** The recorded answer at its recorded place. */
  | { readonly from: 'place'; readonly step: S }
  /** This answer, as soon as it took when it was recorded. `step`: the step of the parent it stands for. */
  | { readonly from: 'event'; readonly event: S['event']; readonly step?: S }
  /** The world. */
  | { readonly from: 'world'; readonly model?: ModelRequest }

/** Times the same question is answered by the same answer again before the run counts as trying for ever. */
const repeatLimit = 200

/** Decides, for one fork, where each answer comes from. */
export class Answers {
  readonly #run: ForkRun
  readonly #kept: AnswerOrigin
  readonly #free: AnswerOrigin
  /** Models answer from the tape, no matter what they are asked, while tools run for real. */
  readonly #holdsModels: boolean
  readonly #freeSteps: readonly AnyState[]
  /** What tools answered on the tape, where models are held to it. */
  readonly #results: readonly string[]
  #exactly: Matcher | undefined
  readonly #reference: AnswerOrigin | undefined
  /** Asked again the same: what is answered then. */
  readonly #again = new Map<string, Again>()
  /** The last recorded answer to each question. */
  readonly #last = new Map<string, ExchangeEvent | CallEvent>()
  readonly #changed = new Set<number>()
  #repeats = 0

  constructor(run: ForkRun) {
    const { tape, plan, kept, steps } = run
    const { tail } = plan
    const free = steps.slice(plan.keep)
    const serve = tail.from === 'tape' ? (tail.serve ?? 'canonical') : 'canonical'
    this.#run = run
    this.#kept = new AnswerOrigin(kept, tape, plan.kept ?? 'exact')
    this.#holdsModels = tail.from === 'live' && tail.models === 'tape'
    this.#free = this.#holdsModels
      ? new AnswerOrigin(free, tape, 'reworded', free.filter(isModel))
      : new AnswerOrigin(free, tape, serve)
    this.#freeSteps = free
    this.#results = this.#holdsModels ? resultsOf(steps) : []
    this.#reference =
      tail.from === 'reference'
        ? new AnswerOrigin(stepStates(tail.tape), tail.tape, tail.serve ?? 'canonical')
        : undefined
  }

  isOnTape(question: MatchRequest): boolean {
    return [this.#kept, this.#free].some(({ matcher }) => matcher.find(question).kind === 'found')
  }

  /** @throws HarvestError `HARVEST_FORK_PREFIX`, `HARVEST_NOT_RECORDED` when there is no answer */
  forRequest(question: MatchRequest, live: LiveRequest): Reply<ExchangeState> {
    const run = this.#run
    const key = keyOfQuestion(question)
    const again = this.#askedAgain(key, () => this.isOnTape(question))
    if (again) return again as Reply<ExchangeState>
    if (!run.hasKept()) {
      const found = this.#kept.matcher.find(question)
      if (found.kind === 'found') return this.#keptReply(found.step, key, found.drift)
      if (this.#freeExact.find(question).kind !== 'found')
        throw run.diverged(leftTape.byRequest(run.place(live.madeAt), run.kept, question, this.#kept.matcher))
    }
    const { matcher } = this.#free
    const nearest = matcher.find(question)
    const found = this.#holdsModels ? heldOnly(nearest, question, this.#results) : nearest
    const step = found.kind === 'found' ? found.step : (this.#sameService(question, key) ?? this.#held(question))
    if (found.kind === 'found') {
      run.drifted(found.step, found.drift)
      if (found.level === 'exact') run.askedTheSame()
      else run.depart()
    }
    if (found.kind !== 'found' || found.level !== 'exact') run.differs()
    const asked = { ...question, live }
    return this.#freeReply<ExchangeState>(step, key, {
      what: `${live.method} ${live.url}`,
      model: () => readModelRequest({ method: live.method, url: live.url, body: question.bodyText }),
      reference: (source) => {
        const donated = source.matcher.find(question)
        return donated.kind === 'found' ? donated.step : undefined
      },
      script: (answer, n) => asEvent.exchange(asked, answer, n, run),
      instead: () => this.#instead(question),
      live,
    })
  }

  /** What a model is asked in the place of a recorded question, part by part. */
  #instead(question: MatchRequest): readonly string[] {
    const found = new AnswerOrigin(this.#freeSteps, this.#run.tape, 'reworded').matcher.find(question)
    if (found.kind !== 'found') return []
    const changes = found.drift.map((drift) => this.#run.changeOf(found.step, drift))
    // What differed at the kept steps as well is not why this question is another one.
    const known = new Set(this.#run.drift.map(({ key }) => key))
    return changes
      .filter(({ key }) => !known.has(key))
      .map(({ stepNumber, part, words }) => `step ${stepNumber}, ${neutralLine(part)}: ${neutralLine(words)}`)
  }

  /** @throws HarvestError `HARVEST_FORK_PREFIX`, `HARVEST_NOT_RECORDED` when there is no answer */
  forCall(call: SeamCall, args: Json): Reply<CallState> {
    const run = this.#run
    const key = keyOfCall(call, args)
    const isNext = (): boolean => [this.#kept, this.#free].some(({ calls }) => calls.findSame(call, args) !== undefined)
    const again = this.#askedAgain(key, isNext)
    if (again) return again as Reply<CallState>
    if (!run.hasKept()) {
      const step = this.#kept.calls.findSame(call, args)
      if (step) return this.#keptReply(step, key, [])
      if (!this.#free.calls.findSame(call, args))
        throw run.diverged(leftTape.byCall(run.place(), run.kept, call, args, this.#kept.calls))
    }
    const same = this.#free.calls.findSame(call, args)
    const step = same ?? (this.#last.has(key) ? undefined : this.#reworded(call, args))
    if (same) run.askedTheSame()
    else run.differs()
    if (step && !same) run.depart()
    const isReplaced = Object.hasOwn(run.options.tools ?? {}, call.name)
    return this.#freeReply<CallState>(step, key, {
      what: calledText({ name: call.name, args }),
      model: () => undefined,
      reference: ({ calls }) =>
        calls.findSame(call, args) ?? calls.findLike(call, (recorded) => sameData(recorded, args)),
      script: (answer, n) => asEvent.call(call, args, answer, n, run),
      isReal: isReplaced || call.replay === 'run',
    })
  }

  /** The open request to a service with the same data: a model words a free text again each time. */
  #sameService(question: MatchRequest, key: string): ExchangeState | undefined {
    const { tail } = this.#run.plan
    if (tail.from !== 'live' || tail.tools === 'live' || this.#last.has(key)) return undefined
    const asked = parseRequest(question.bodyText, question.url)
    if (asked === undefined || readModelRequest({ ...question, body: question.bodyText }) !== undefined)
      return undefined
    const like = this.#freeSteps.filter(
      (step): step is ExchangeState => step.event.kind === 'exchange' && !step.taken && isLike(step as ExchangeState),
    )
    function isLike({ event, bodyText }: ExchangeState): boolean {
      if (event.method !== question.method || event.url !== question.url) return false
      const recorded = parseRequest(bodyText, event.url)
      return recorded !== undefined && sameData(recorded, asked ?? null)
    }
    // Two that are alike and not the same: which of them is meant is unknown.
    const [first] = like
    return like.every((step) => step.bodyText === first?.bodyText) ? first : undefined
  }

  /** The step to be held at whose place in its conversation this question is asked, with as many messages of the same speakers. */
  #held(question: MatchRequest): ExchangeState | undefined {
    const { modes = {} } = this.#run.plan
    const isHeld = (step: AnyState): boolean => modes[step.number] === 'held' || (this.#holdsModels && isModel(step))
    if (!this.#freeSteps.some(isHeld)) return undefined
    const asked = readModelRequest({ method: question.method, url: question.url, body: question.bodyText })
    if (asked === undefined) return undefined
    // Other calls with as many messages may be meant as well: then nothing says which one it is.
    const alike = this.#freeSteps.filter(
      (step): step is ExchangeState =>
        step.event.kind === 'exchange' && isSameTurn((step as ExchangeState).model, asked),
    )
    const nearest = new Matcher(alike, 'reworded', this.#run.tape.header, () => true).find(question)
    const found = this.#holdsModels ? heldOnly(nearest, question, this.#results) : nearest
    return found.kind === 'found' && isHeld(found.step) ? found.step : undefined
  }

  /** The free steps by their bytes alone: only asked for steps that are under way together with kept ones. */
  get #freeExact(): Matcher {
    this.#exactly ??= new AnswerOrigin(this.#freeSteps, this.#run.tape, 'exact').matcher
    return this.#exactly
  }

  #reworded(call: SeamCall, args: Json): CallState | undefined {
    const { tail } = this.#run.plan
    return tail.from === 'live' || (tail.from === 'tape' && tail.serve === 'reworded')
      ? this.#free.calls.findLike(call, (recorded) => sameData(recorded, args))
      : undefined
  }

  /** @param isNext - whether the tape has a further step that asks the same: a failure is retried, anything else is not */
  #askedAgain(key: string, isNext: () => boolean): Reply<AnyState> | undefined {
    const again = this.#again.get(key)
    const event = again?.next[0]
    if (!again || !event) return undefined
    if (!again.stays && !again.isRetry && isNext()) {
      this.#again.delete(key)
      return undefined
    }
    if (!again.stays || again.next.length > 1) {
      again.next.shift()
      again.isRetry = isFailure(event)
    }
    this.#run.differs()
    return { from: 'event', event } as Reply<AnyState>
  }

  #keptReply<S extends AnyState>(step: S, key: string, drift: readonly FoundDrift[]): Reply<S> {
    const run = this.#run
    run.askedTheSame()
    run.drifted(step, drift)
    run.take(step)
    return this.#changedReply(step, key) ?? this.#place(step, key)
  }

  #place<S extends AnyState>(step: S, key: string): Reply<S> {
    this.#last.set(key, step.event)
    return { from: 'place', step }
  }

  /** The answer of a step that is to have another one. */
  #changedReply<S extends AnyState>(step: S, key: string): Reply<S> | undefined {
    const change = this.#run.plan.answers.get(step.number)
    if (change === undefined || this.#changed.has(step.number)) return undefined
    this.#changed.add(step.number)
    const { attempts, always } = change
    // Asked again once all of it is used, a step answers as recorded, unless it stays changed.
    const lastly = always || change.event === step.event ? [] : [step.event]
    const [event = change.event, ...next] = [...attempts, change.event, ...lastly]
    if (always && next.length === 0) next.push(event)
    this.#again.set(key, { next, stays: always, isRetry: isFailure(event) })
    this.#last.set(key, step.event)
    return { from: 'event', event, step }
  }

  #freeReply<S extends AnyState>(step: S | undefined, key: string, ask: Ask<S>): Reply<S> {
    const run = this.#run
    const { tail, modes } = run.plan
    if (step) {
      run.take(step)
      const changed = this.#changedReply(step, key)
      if (changed) return changed
      const mode = modes?.[step.number]
      if (mode === 'replayed' || mode === 'held') return this.#recorded(step, key)
      if (mode === 'live') return this.#world(ask)
    }
    if (ask.isReal) return this.#world(ask)
    switch (tail.from) {
      case 'tape':
        return step ? this.#recorded(step, key) : this.#lastAgain(key, ask)
      case 'reference': {
        const donated = this.#reference && ask.reference(this.#reference)
        if (!donated) return this.#lastAgain(key, ask)
        donated.taken = true
        run.differs()
        this.#last.set(key, donated.event)
        return { from: 'event', event: donated.event }
      }
      case 'script': {
        run.differs()
        const event = ask.script(tail.answer, run.account.made + 1)
        if (event === undefined) throw run.offTape(ask.what, ask.live?.madeAt, [], ask.live === undefined)
        return { from: 'event', event }
      }
      case 'live': {
        const isOfModel = isGenerative(ask.model()?.dialect)
        if (isOfModel ? (tail.models ?? 'live') === 'live' : tail.tools === 'live') return this.#world(ask)
        if (step) return this.#recorded(step, key)
        const isNew = tail.tools === 'unrecorded' && !isOfModel && !this.#last.has(key)
        return isNew ? this.#world(ask) : this.#lastAgain(key, ask)
      }
      default:
        return tail satisfies never
    }
  }

  #world<S extends AnyState>(ask: Ask<S>): Reply<S> {
    this.#run.differs()
    const model = ask.model()
    return { from: 'world', ...(model === undefined ? {} : { model }) }
  }

  #recorded<S extends AnyState>(step: S, key: string): Reply<S> {
    const isBound = this.#run.plan.tail.from === 'tape' && !this.#run.departed
    if (isBound) return this.#place(step, key)
    this.#last.set(key, step.event)
    return { from: 'event', event: step.event, step }
  }

  /** A question asked again once its recorded answers are used gets the last of them again. */
  #lastAgain<S extends AnyState>(key: string, ask: Ask<S>): Reply<S> {
    const last = this.#last.get(key)
    if (last === undefined || ++this.#repeats > repeatLimit)
      throw this.#run.offTape(ask.what, ask.live?.madeAt, ask.instead?.(), ask.live === undefined)
    this.#run.depart()
    return { from: 'event', event: last as S['event'] }
  }
}

/** What a question with a changed answer is answered the next time. */
interface Again {
  /** One after the other. */
  readonly next: (ExchangeEvent | CallEvent)[]
  /** The last of them is given for ever. */
  readonly stays: boolean
  /** The answer given last was a failure: who asks the same then, asks again. */
  isRetry: boolean
}

function isFailure(event: ExchangeEvent | CallEvent): boolean {
  if (event.kind !== 'exchange') return event.error !== undefined
  return event.error !== undefined || (event.response?.status ?? 0) >= 400 || event.response?.end === undefined
}

/** One question, put to each of those who may answer. */
interface Ask<S extends AnyState> {
  /** For people. */
  readonly what: string
  model(): ModelRequest | undefined
  reference(source: AnswerOrigin): S | undefined
  script(answer: Extract<ForkRun['plan']['tail'], { from: 'script' }>['answer'], n: number): S['event'] | undefined
  /** How it differs from the recorded question that comes nearest. */
  instead?(): readonly string[]
  readonly isReal?: boolean
  readonly live?: LiveRequest
}

/** Recorded steps, found by what they ask. */
class AnswerOrigin {
  readonly matcher: Matcher
  readonly calls: Calls

  /** @param waiting - the steps whose places a reworded question keeps. Default: all */
  constructor(steps: readonly AnyState[], tape: Tape, serve: MatchLevel, waiting = steps) {
    const order = serve === 'reworded' ? new StepOrder(waiting) : undefined
    const exchanges = steps.filter((step): step is ExchangeState => step.event.kind === 'exchange')
    this.matcher = new Matcher(exchanges, serve, tape.header, (step) => order?.isDue(step) ?? true)
    this.calls = new Calls(steps)
  }
}

/**
 * A decision is held where tools answered otherwise, and is no answer to another question.
 *
 * @param results - what tools answered on the tape
 */
function heldOnly(match: Match, { method, url, bodyText }: MatchRequest, results: readonly string[]): Match {
  if (match.kind !== 'found' || match.level === 'exact' || match.level === 'canonical') return match
  const { asked } = match.step
  const now = readModelRequest({ method, url, body: bodyText })
  const isHeld = asked !== undefined && now !== undefined && isAskedBy(asked, now, results)
  return isHeld ? match : { kind: 'none', nearest: match.step, exhausted: false }
}

/** Whether two questions are the same but for what tools answered: as results, or as texts made of them. */
function isAskedBy(recorded: ModelRequest, now: ModelRequest, results: readonly string[]): boolean {
  const [told, toldNow] = [partsOf(recorded), partsOf(now)]
  return (
    told.length === toldNow.length &&
    told.every(([role, part], at) => {
      const [roleNow, partNow] = toldNow[at] ?? []
      return role === roleNow && partNow !== undefined && isSamePart(part, partNow, results)
    })
  )
}

function partsOf({ instructions, messages }: ModelRequest): readonly (readonly [role: string, MessagePart])[] {
  return [
    ...instructions.map((text) => ['system', { kind: 'text', text: textOf(text) }] as const),
    ...messages.flatMap((message) => {
      const { role, parts } = readMessage(message)
      return parts.map((part) => [role, part] as const)
    }),
  ]
}

function isSamePart(one: MessagePart, other: MessagePart, results: readonly string[]): boolean {
  if (one.kind === 'tool_call_response' && other.kind === 'tool_call_response') return one.id === other.id
  if (JSON.stringify(one) === JSON.stringify(other)) return true
  if (one.kind !== 'text' || other.kind !== 'text') return false
  const [told, toldNow] = [one.text, other.text]
  // What another call answered on the tape stands here now: it is the order that is another one.
  const isMixed = results.some((text) => toldNow.includes(text) && !told.includes(text))
  return !isMixed && results.some((text) => told.includes(text))
}

/** What tools and retrievers answered, as texts. */
function resultsOf(steps: readonly AnyState[]): readonly string[] {
  return steps.flatMap(({ event }) => {
    const text = event.kind === 'tool' || event.kind === 'retrieval' ? textOf(event.result ?? '') : ''
    return text === '' ? [] : [text]
  })
}

function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Where tools run for real, only what models were asked keeps its place. */
function isModel(step: AnyState): boolean {
  return 'model' in step && step.model !== undefined && isGenerative(step.model.dialect)
}

function keyOfQuestion({ method, url, bodyText }: MatchRequest): string {
  return JSON.stringify([method, url, bodyText])
}

function keyOfCall({ kind, name }: SeamCall, args: Json): string {
  return JSON.stringify([kind, name, kind === 'value' ? '' : canonicalJson(args)])
}
