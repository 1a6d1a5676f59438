// Over 300 lines: one run with live models, from its start to its result.
import { RecordedStates } from '../playback/states.ts'
import { HarvestError } from '../errors/index.ts'
import { twiceTheTime } from '../errors/words.ts'
import { redactedMethod, type Redactor, redactorOfTape, requireNoSlowRule } from '../privacy/index.ts'
import { encodeOn, encodeWhole } from '../match/encode.ts'
import { redactorForMessages } from '../match/redact-message.ts'
import { keepsConversation, readModelCall } from '../providers/index.ts'
import { closeIdleConnections, forgetRuns, installInterceptors, never, watchOutside } from '../seam/intercept/index.ts'
import type { ExchangeControl, LiveRequest, Responder } from '../seam/intercept/index.ts'
import { OutsideIo } from '../playback/outside-io.ts'
import { compareOutcome, readOut } from '../replay/replay.ts'
import type { ReplayResult, RunOutcome } from '../match/types.ts'
import { siteIn, userSite } from '../seam/caller.ts'
import { handOut } from '../seam/queries.ts'
import { addressedUrl, argumentsOf, isThenable } from '../seam/shape.ts'
import { seamState } from '../seam/source.ts'
import { type CallEvent, decodeValue, type ExchangeEvent, isEnding, type Tape, type TapeEvent } from '../tape/index.ts'
import { type Budget, usageOf } from './budget.ts'
import { decoderFor } from '../replay/cut.ts'
import { forward } from '../replay/forward.ts'
import { nowhere } from '../replay/open-request.ts'
import { CallSockets } from './lost-calls.ts'
import { blockedLive, offTape, requireAllowed } from './off-tape.ts'
import { RealTimers } from './real-timers.ts'
import { RecordedAnswers } from './recorded-answers.ts'

export interface LiveOptions {
  readonly signal: AbortSignal
  /** Escapes to let through, as in the replay options. */
  readonly allow?: readonly string[]
  /** Counts what the models use, and refuses a call that no budget pays for. */
  readonly budget: Budget
  /** `live`: tools, retrievers and services run for real too. Default `tape`. */
  readonly tools?: 'tape' | 'live'
  /** Functions that stand in for wrapped ones of these names. They run for real. */
  readonly standIns?: Readonly<Record<string, (...args: never[]) => unknown>>
}

const { uptime } = seamState().natives

/**
 * Runs an agent with its models asked for real and everything else answered from a tape: tools, retrievers, MCP servers
 * and other services. The clock and chance are the real ones.
 *
 * What the agent asks of a tool that was not recorded is refused with HARVEST_NOT_RECORDED, in the agent's hands and in the
 * result: the run cannot be judged from there on.
 */
export async function runLive<T>(
  tape: Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: LiveOptions,
): Promise<ReplayResult<T>> {
  if (options.tools === 'live') requireAllowed(tape, options.allow)
  installInterceptors()
  closeIdleConnections()
  const run = new LiveRun(tape, options)
  const gaveUp = Promise.withResolvers<never>()
  const abort = (): void => gaveUp.reject(givenUp(tape, options.signal.reason))
  if (options.signal.aborted) abort()
  else options.signal.addEventListener('abort', abort, { once: true })
  const unwatch = watchOutside(run.root)
  const { input } = tape.header
  const given = input === undefined ? undefined : decodeValue(input)
  const work = async (): Promise<T> => await seamState().runs.run(run.root, async () => readOut(await agent(given)))
  const outcome = await Promise.race([work(), gaveUp.promise]).then(
    (value): RunOutcome<T> => ({ status: 'returned', value }),
    (error: unknown): RunOutcome<T> => ({ status: 'threw', error }),
  )
  unwatch()
  options.signal.removeEventListener('abort', abort)
  if (options.signal.aborted) run.problem(givenUp(tape, options.signal.reason))
  run.finish()
  forgetRuns((other) => other.over)
  requireNoSlowRule(tape)
  return run.result(outcome)
}

class LiveRun {
  readonly root: Responder
  readonly tape: Tape
  readonly #options: LiveOptions
  readonly recorded: RecordedAnswers
  readonly states: RecordedStates
  readonly #redactor: Redactor
  readonly #redactMessage: (text: string) => string
  readonly #problems: HarvestError[] = []
  readonly outside: OutsideIo
  readonly events: TapeEvent[] = []
  readonly #ranForReal = new Set<string>()
  readonly timers = new RealTimers(() => uptime() - this.startedAt)
  readonly #underWay = new Map<ExchangeControl, { readonly isModel: boolean }>()
  #waitsForModel = false
  readonly startedAt = uptime()
  #served = 0
  #n = 0
  #leftAt: number | undefined
  over = false

  constructor(tape: Tape, options: LiveOptions) {
    this.tape = tape
    this.#options = options
    this.recorded = new RecordedAnswers(tape)
    this.states = new RecordedStates(tape)
    this.#redactor = redactorOfTape(tape, { keys: 'unnumbered' })
    this.#redactMessage = redactorForMessages(tape)
    this.outside = new OutsideIo(this.#redactMessage, options.allow)
    this.root = responderOf(this, undefined)
  }

  problem(error: HarvestError): HarvestError {
    if (!this.#problems.some(({ message }) => message === error.message)) this.#problems.push(error)
    return error
  }

  finish(): void {
    this.over = true
    this.timers.stop()
    this.#waitsForModel = [...this.#underWay.values()].some(({ isModel }) => isModel)
    // A run that is over pays for no more tokens.
    for (const control of this.#underWay.keys()) control.abort()
  }

  result<T>(outcome: RunOutcome<T>): ReplayResult<T> {
    const recorded = this.recorded.count
    const { close } = this.tape
    const end = outcome.status === 'returned' ? outcome.value : outcome.error
    const ended = encodeWhole(this.tape, end, this.#redactor)
    return {
      tape: this.tape,
      outcome,
      problems: this.#problems,
      drift: [],
      escapes: this.outside.escapes,
      listed: this.outside.listed,
      // A live run need not ask for what another one asked for.
      unused: [],
      transcoded: [],
      ranForReal: [...this.#ranForReal],
      notCompared: [],
      ...(this.#leftAt === undefined ? {} : { leftAt: this.#leftAt }),
      ...(this.#waitsForModel ? { waitsForModel: true } : {}),
      answeredFrom: this.recorded.given,
      events: this.events,
      redactedOutcome: ended,
      comparison: {
        recorded,
        served: this.#served,
        covered: 0,
        identical: 0,
        deliveries: 0,
        relaxed: 0,
        timersFired: 0,
        drawsServed: 0,
        drawsMissed: 0,
        outcomeEqual: compareOutcome(() => ended, close?.outcome, outcome),
      },
    }
  }

  moment(): readonly [n: number, at: number] {
    return [this.#n++, Math.round((uptime() - this.startedAt) * 1000) / 1000]
  }

  exchange(
    live: Parameters<Responder['exchange']>[0],
    sink: Parameters<Responder['exchange']>[1],
    where: { readonly in?: number },
  ): ReturnType<Responder['exchange']> {
    if (this.over) return nowhere
    const [n, at] = this.moment()
    const heard: ExchangeEvent = {
      kind: 'exchange',
      n,
      at,
      ...where,
      via: live.via,
      method: redactedMethod(live.method, this.#redactor),
      url: this.#redactor.url(addressedUrl(live.url, live.headers)),
      request: {
        headers: this.#redactor.requestHeaders(live.headers),
        ...(live.body.length === 0 ? {} : { body: Buffer.concat(this.#redactor.chunks([live.body])).toString('utf8') }),
      },
    }
    const place = this.events.push(heard) - 1
    const answer = this.#isReal ? undefined : this.recorded.forRequest(live, this.#redactor)
    if (answer !== undefined) {
      this.#served++
      this.events[place] = {
        ...heard,
        ...(answer.response && { response: answer.response }),
        ...(answer.error && { error: answer.error }),
      }
      return this.recorded.deliver(answer, sink)
    }
    // A child that is not there needs no other answer to it.
    if (isEnding(live)) return nowhere
    const dialect = this.recorded.dialectOf(live)
    const isOffTape = !this.#isReal && (dialect === undefined || keepsConversation(dialect.dialect))
    // A session in both directions cannot be handed on as one request.
    if (isOffTape || live.via === 'websocket') throw this.offTape(`${live.method} ${live.url}`, live.madeAt)
    if (dialect === undefined) return this.#forward(live, sink, place)
    const { budget } = this.#options
    // What is refused is the run's problem, and the agent's error as well.
    const refused = budget.refusal(dialect.model)
    if (refused !== undefined) throw this.problem(refused)
    return this.#forward(live, sink, place, (whole) => {
      const said = readModelCall(whole)?.response
      const answered = (said?.text.length ?? 0) + JSON.stringify(said?.toolCalls ?? []).length
      budget.spent(dialect.model, usageOf(whole), { asked: live.body.length, answered })
    })
  }

  /**
   * Sends a request to where it is meant for, and keeps the answer.
   *
   * @param pay - counts the answer of a model; absent for a service: it costs nothing that a budget counts
   */
  #forward(
    live: LiveRequest,
    sink: Parameters<Responder['exchange']>[1],
    place: number,
    pay?: (whole: ExchangeEvent) => void,
  ): ExchangeControl {
    const note = (more: Partial<ExchangeEvent>): ExchangeEvent => {
      const whole = { ...(this.events[place] as ExchangeEvent), ...more }
      this.events[place] = whole
      return whole
    }
    const sent = forward(live, sink, {
      moment: () => this.moment(),
      ended: (response, error) => {
        const whole = note({ response, ...(error && { error }) })
        pay?.(whole)
        this.#underWay.delete(control)
      },
      failed: (error) => {
        // That the agent gave it up is why.
        if (this.#underWay.delete(control)) note({ error })
      },
    })
    const control: ExchangeControl = {
      abort: () => {
        // What is under way when the run is over was not given up; what a model is asked is for an answer.
        if (this.#underWay.delete(control) && (pay !== undefined || !this.over)) note({ aborted: this.moment() })
        sent.abort()
      },
    }
    this.#underWay.set(control, { isModel: pay !== undefined })
    return control
  }

  /** Nothing is answered from the tape. */
  get #isReal(): boolean {
    return this.#options.tools === 'live'
  }

  call(call: Parameters<Responder['call']>[0], fn: () => unknown, where: { readonly in?: number }): unknown {
    if (this.over) return never()
    const [n, at] = this.moment()
    const args = encodeOn(this.tape, call.args[0], this.#redactor, { isArgs: true })
    const site = userSite()
    const heard: CallEvent = { kind: call.kind, n, at, ...where, ...(site ? { site } : {}), name: call.name, args }
    const place = this.events.push(heard) - 1
    const settle = (rest: Partial<CallEvent>): CallEvent => {
      const whole = { ...heard, ...rest, settled: this.moment() }
      this.events[place] = whole
      return whole
    }
    const standIn = this.#options.standIns?.[call.name]
    if (standIn !== undefined) return this.#runForReal(call.name, n, () => standIn(...(call.args as never[])), settle)
    if (call.replay === 'run' || this.#isReal) return this.#runForReal(call.name, n, fn, settle)
    const answer = this.recorded.forCall(call, args)
    if (answer === undefined) throw this.offTape(`${call.name}(${JSON.stringify(args)})`, undefined)
    this.#served++
    settle({
      ...(answer.result === undefined ? {} : { result: answer.result }),
      ...(answer.error === undefined ? {} : { error: answer.error }),
      ...(answer.yields === undefined ? {} : { yields: answer.yields }),
    })
    const run = { place: () => ({ tape: this.tape, site }), problem: (error: HarvestError) => this.problem(error) }
    return this.recorded.valueOf(answer, decoderFor(run, answer))
  }

  #runForReal(name: string, n: number, fn: () => unknown, settle: (rest: Partial<CallEvent>) => CallEvent): unknown {
    this.#ranForReal.add(name)
    const view = responderOf(this, n)
    const sockets = new CallSockets(view)
    const answer = seamState().runs.run(view, fn)
    if (!isThenable(answer)) {
      settle({ sync: true, result: this.encode(answer) })
      return answer
    }
    const hear = (settled: PromiseLike<unknown>): PromiseLike<unknown> =>
      settled.then(
        (value: unknown) => {
          sockets.endedAs(settle({ result: this.encode(value) }))
          return value
        },
        (error: unknown) => {
          settle({ error: this.encode(error) })
          throw error
        },
      )
    return handOut(answer, { view, hear })
  }

  encode(value: unknown) {
    return encodeOn(this.tape, value, this.#redactor)
  }

  offTape(what: string, madeAt: Error | undefined): HarvestError {
    this.#leftAt ??= this.#n - 1
    return this.problem(offTape(this.tape, what, madeAt ? siteIn(madeAt) : userSite()))
  }

  escape(kind: string, target: string, madeAt: Error | undefined): Error | undefined {
    const site = madeAt ? siteIn(madeAt) : userSite()
    const refused = this.outside.reach(kind, target, site)
    if (refused === undefined) return undefined
    this.#leftAt ??= this.#n - 1
    return this.problem(blockedLive(this.tape, { kind, target: refused, site }, this.#isReal))
  }
}

/** The run as the agent sees it from inside the tool call `inside` (or from none). */
function responderOf(run: LiveRun, inside: number | undefined): Responder {
  const where = inside === undefined ? {} : { in: inside }
  return {
    id: run.tape.header.id,
    scope: run,
    mode: 'replay',
    identity: run,
    pending: 0,
    get over() {
      return run.over
    },
    get now() {
      return uptime() - run.startedAt
    },
    draw: (_kind, _caller, real) => real(),
    call: (call, fn) => run.call({ ...call, args: [argumentsOf(call.args)] }, fn, where),
    mark: (_name, data) => data,
    state: (name, value) => {
      const [n, at] = run.moment()
      const { call, isKept } = run.states.called(name, inside)
      if (isKept) run.events.push({ kind: 'state', n, at, ...where, name, call, data: run.encode(value) })
    },
    message: ({ from, to, body }) => {
      const [n, at] = run.moment()
      run.events.push({ kind: 'message', n, at, ...where, from, to, body: run.encode(body) })
    },
    exchange: (live, sink) => run.exchange(live, sink, where),
    spawn: (command, { cwd }) => {
      const recorded = run.recorded.child({ command, cwd })
      if (recorded === undefined) throw run.offTape(`the child process ${command.join(' ')}`, undefined)
      return recorded.error === undefined ? 'rpc' : { error: recorded.error }
    },
    listen: () => undefined,
    escape: (kind, target, madeAt) => run.escape(kind, target, madeAt),
    list: (one) => run.outside.list(one),
    schedule: (timer) => run.timers.schedule(timer),
    held: (timer) => run.timers.held(timer),
  }
}

function givenUp(tape: Tape, reason: unknown): HarvestError {
  return new HarvestError('HARVEST_RUN_ABORTED', {
    what: 'The run timed out before the agent answered',
    where: { tape: tape.header.id, reason: reason instanceof Error ? reason.message : String(reason) },
    fix: [`to give it more time: ${twiceTheTime(reason)}`],
  })
}
