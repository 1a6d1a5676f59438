// Over 300 lines: the ways a request of a fork is answered share how it is written down.
import type { GateItem } from '../match/delivery.ts'
import { decodeBody, readModelCall } from '../providers/index.ts'
import { noteGiven } from '../live/given.ts'
import { usageOf } from '../live/index.ts'
import { errorAgain } from '../replay/error-again.ts'
import { observe } from '../replay/observe-answer.ts'
import { fitted } from '../replay/fitted.ts'
import { answerCut } from '../replay/cut.ts'
import { isUnnoted } from '../match/asked-url.ts'
import { headerDrift } from '../match/header-drift.ts'
import { underLiveNumber } from '../match/rpc-answer.ts'
import type { MatchRequest } from '../match/matcher.ts'
import type { ExchangeState } from '../match/step.ts'
import { type ExchangeControl, type ExchangeSink, type LiveRequest, requestWith } from '../seam/intercept/index.ts'
import { nowhere } from '../replay/open-request.ts'
import { steadyBoundary } from '../seam/shape.ts'
import {
  type Chunk,
  decodeBytes,
  isEnding,
  encodeBytes,
  type ExchangeEvent,
  headersFlag,
  type Moment,
  type RecordedResponse,
  responseBytes,
} from '../tape/index.ts'
import type { Entry } from './branch-recorder.ts'
import type { Reply } from './answers.ts'
import type { ForkRun } from './fork-run.ts'
import { forward } from '../replay/forward.ts'
import { serveShared } from '../replay/serve-shared.ts'
import { requestOf } from './scripted.ts'
import type { SentHeaders } from './sent-headers.ts'

type Heard = Entry<ExchangeEvent>

/**
 * Answers a request of a fork.
 * @throws HarvestError when it has no answer
 */
export function forkExchange(
  run: ForkRun,
  live: LiveRequest,
  sink: ExchangeSink,
  inside: number | undefined,
): ExchangeControl {
  if (run.over || isUnnoted(run.tape, live)) return nowhere
  run.look()
  const question = run.question(live)
  const shared = run.sharedAnswer(question, live)
  if (shared !== undefined) return serveShared(run, shared, sink)
  const sent: SentHeaders = { headers: live.headers }
  run.sent.push(sent)
  const fields = fieldsOf(run, live, question, inside)
  if (isEnding(live) && run.hasKept() && !(keepsChildren(run) && run.answers.isOnTape(question)))
    return played(run, { from: 'event', event: { ...fields, n: 0, at: 0 } }, { fields, sent }, sink)
  const reply = run.answers.forRequest(question, live)
  switch (reply.from) {
    case 'place':
      if (live.via === 'stdio') run.progress.answered(reply.step.event.url, reply.step.bodyText, question.bodyText)
      return inPlace(run, reply.step, { fields, sent }, question.bodyText, sink)
    case 'event':
      return played(run, reply, { fields, sent }, sink)
    case 'world':
      return asked(run, reply, { fields, sent }, live, sink)
    default:
      return reply satisfies never
  }
}

/** Whether the tape is asked for what a fork says to its children. That it ends one needs no answer. */
function keepsChildren({ plan: { tail } }: ForkRun): boolean {
  return tail.from === 'tape' || (tail.from === 'live' && tail.tools !== 'live')
}

type Fields = Omit<ExchangeEvent, 'n' | 'at'>

/** A request as it is written down, and as it was sent. */
interface Sending {
  readonly fields: Fields
  readonly sent: SentHeaders
}

function began(run: ForkRun, { fields, sent }: Sending, parent?: ExchangeEvent): Heard {
  const heard = run.account.began<ExchangeEvent>(fields, parent)
  sent.n = heard.event.n
  return heard
}

function fieldsOf(
  run: ForkRun,
  live: LiveRequest,
  { url, bodyText }: MatchRequest,
  inside: number | undefined,
): Fields {
  const sent = [...live.headers, ...(live.beside ?? [])]
  return {
    kind: 'exchange',
    ...(inside === undefined ? {} : { in: inside }),
    via: live.via,
    method: live.method,
    url,
    request: requestOf({ headers: steadyBoundary(sent, Buffer.alloc(0)).headers }, bodyText, run),
  }
}

/** The recorded answer, piece by piece at its recorded places. */
function inPlace(
  run: ForkRun,
  step: ExchangeState,
  { fields, sent }: Sending,
  bodyText: string,
  sink: ExchangeSink,
): ExchangeControl {
  const { event, items } = step
  const { redact, flags, imported } = run.tape.header
  const comparison = {
    own: redact?.headers ?? [],
    isWhole: flags.includes(headersFlag),
    isForeign: imported !== undefined,
    isModelCall: () => step.model !== undefined,
    method: event.method,
    meaning: (name: string) => run.redactor.meaning(name),
  }
  run.drifted(step, headerDrift(event.request.headers, fields.request.headers, comparison))
  const heard = began(run, { fields, sent }, event)
  noteGiven(heard.event)
  // What was asked is what was recorded; headers and host may be those of this machine.
  if (event.oneWay) heard.event.oneWay = true
  const { response: recorded, error } = event
  const response = recorded && event.via !== 'stdio' ? underLiveNumber(recorded, step.bodyText, bodyText) : recorded
  let next = 1
  const piece = (recorded: Moment, deliver: (moment: Moment) => void): void => {
    const item = items[next++]
    const handOver = (): void => deliver(heard.moment(recorded))
    if (item) item.deliver = handOver
  }
  if (response) {
    const chunks = response.chunks.map(([, , bytes]) => decodeBytes(bytes))
    piece(response.moment, (moment) => {
      heard.event.response = { ...response, moment, chunks: [] }
      if (response.end) delete (heard.event.response as { end?: Moment }).end
      sink.head(
        response.status,
        response.statusText ?? '',
        fitted(response.headers, chunks, response.end !== undefined),
      )
    })
    const deliverChunk = ({ index = 0 }: GateItem): void => {
      const [n, at, bytes] = response.chunks[index]!
      addChunk(heard, [...heard.moment([n, at]), bytes])
      sink.chunk(chunks[index]!)
    }
    for (const item of items) {
      if (item.more === undefined) continue
      item.deliver = deliverChunk
      next++
    }
    if (response.end) {
      piece(response.end, (moment) => {
        ended(run, step, heard, moment)
        sink.end()
      })
    }
  }
  if (error) {
    piece(error.moment, (moment) => {
      step.answered = true
      observe(run, step)
      heard.event.error = { ...error, moment }
      sink.error(step.cut === undefined ? errorAgain(error) : run.problem(answerCut(run.place(), step, step.cut)))
    })
  }
  run.gate.asked(items[0])
  run.gate.ready(items.slice(1))
  if (items.length === 1) step.answered = true
  return {
    abort() {
      if (step.answered || run.over) return
      step.answered = true
      observe(run, step)
      heard.event.aborted = heard.moment(event.aborted)
      run.gate.done(items)
    },
  }
}

function addChunk(heard: Heard, chunk: Chunk): void {
  const { response } = heard.event
  if (response) heard.event.response = { ...response, chunks: [...response.chunks, chunk] }
}

function ended(
  run: ForkRun,
  step: { answered: boolean; readonly event: ExchangeEvent },
  heard: Heard,
  end: Moment,
): void {
  step.answered = true
  observe(run, step)
  run.recordedBudget.answered(step.event)
  if (heard.event.response) heard.event.response = { ...heard.event.response, end }
}

/** An answer that is not at its recorded place: each piece as long after the request as it was when recorded. */
function played(
  run: ForkRun,
  { event, step }: Extract<Reply<ExchangeState>, { from: 'event' }>,
  sending: Sending,
  sink: ExchangeSink,
): ExchangeControl {
  run.depart()
  const isKept = step !== undefined && step.number <= run.plan.keep
  if (step) {
    run.gate.asked(step.items[0])
    run.gate.done(step.items)
    if (isKept) run.answerSent()
  }
  const heard = began(run, sending, step?.event)
  noteGiven(heard.event)
  heard.differs()
  if (event.oneWay) heard.event.oneWay = true
  let isOver = false
  const finish = (): void => {
    if (isOver) return
    isOver = true
    if (step) step.answered = true
    observe(run, { event })
    if (isKept) run.answerArrived()
  }
  const start = run.now
  const bursts = burstsOf(run, event, heard, sink, finish)
  const next = (): void => {
    const burst = bursts.shift()
    if (burst === undefined) {
      // Nothing comes any more: what was recorded had no end either.
      finish()
      return
    }
    run.later(Math.max(0, burst.afterMs - (run.now - start)), () => {
      if (isOver) return
      for (const piece of burst.pieces) piece()
      if (!isOver) next()
    })
  }
  next()
  return {
    abort() {
      if (isOver || run.over) return
      finish()
      heard.event.aborted = heard.moment()
    },
  }
}

interface Burst {
  readonly afterMs: number
  readonly pieces: (() => void)[]
}

/**
 * The pieces of an answer; those that came in one burst, without a turn of the agent between them, stay together. A
 * connection that breaks does so in a turn of its own, as in a replay (`GateItem.isAlone`).
 */
function burstsOf(run: ForkRun, event: ExchangeEvent, heard: Heard, sink: ExchangeSink, finish: () => void): Burst[] {
  const bursts: Burst[] = []
  const add = (at: number, piece: () => void, isAlone = false): void => {
    const afterMs = Math.max(0, at - event.at)
    const last = bursts.at(-1)
    if (last?.afterMs === afterMs && !isAlone) last.pieces.push(piece)
    else bursts.push({ afterMs, pieces: [piece] })
  }
  const { response, error } = event
  if (response) {
    const { headers, chunks: noted } = cleaned(run, response, event)
    const chunks = response.chunks.map(([, , bytes]) => decodeBytes(bytes))
    add(response.moment[1], () => {
      const { end: _end, ...rest } = response
      heard.event.response = { ...rest, headers, moment: heard.moment(), chunks: [] }
      sink.head(
        response.status,
        response.statusText ?? '',
        fitted(response.headers, chunks, response.end !== undefined),
      )
    })
    for (const [i, [, at]] of response.chunks.entries()) {
      add(at, () => {
        const bytes = noted[i]
        if (bytes !== undefined) addChunk(heard, [...heard.moment(), bytes])
        sink.chunk(chunks[i] ?? Buffer.alloc(0))
      })
    }
    if (response.end) {
      add(response.end[1], () => {
        if (heard.event.response) heard.event.response = { ...heard.event.response, end: heard.moment() }
        finish()
        sink.end()
      })
    }
  }
  if (error) {
    add(
      error.moment[1],
      () => {
        heard.event.error = { ...error, moment: heard.moment() }
        finish()
        sink.error(errorAgain(error))
      },
      true,
    )
  }
  return bursts
}

/** An answer as it may be written down: someone made it up or changed it, so it was not redacted. */
function cleaned(run: ForkRun, { headers, chunks }: RecordedResponse, event: ExchangeEvent) {
  const encoding = headers.find(([name]) => name === 'content-encoding')?.[1]
  if (encoding === undefined) {
    const clean = run.redactor.chunks(chunks.map(([, , bytes]) => decodeBytes(bytes)))
    return { headers: run.redactor.headers(headers), chunks: clean.map((bytes) => encodeBytes(bytes)) }
  }
  const whole = Buffer.from(decodeBody(responseBytes(event), encoding))
  return {
    headers: run.redactor.headers(headers.filter(([name]) => name !== 'content-encoding' && name !== 'content-length')),
    chunks: [encodeBytes(Buffer.concat(run.redactor.chunks([whole])))],
  }
}

/** Sends the request to where it is meant for. */
function asked(
  run: ForkRun,
  { model }: Extract<Reply<ExchangeState>, { from: 'world' }>,
  sending: Sending,
  live: LiveRequest,
  sink: ExchangeSink,
): ExchangeControl {
  const { tail } = run.plan
  if (tail.from !== 'live') throw run.offTape(`${live.method} ${live.url}`, live.madeAt)
  const instead = model && tail.asking ? tail.asking({ url: live.url, body: live.body.toString('utf8') }) : undefined
  if (model && tail.asking && instead === undefined) throw run.offTape(`${live.method} ${live.url}`, live.madeAt)
  const outgoing = requestWith(live, {
    url: redirected(instead?.url ?? live.url, tail.baseUrl),
    ...(instead === undefined ? {} : { body: Buffer.from(instead.body) }),
  })
  const refused = model && run.budget?.refusal(model.model, outgoing.body.length)
  if (refused !== undefined) throw run.problem(refused)
  run.depart()
  run.goReal()
  const heard = began(run, sending)
  let isOver = false
  const finish = (): void => {
    isOver = true
    run.paid(control)
  }
  const sent = forward(outgoing, sink, {
    moment: () => heard.moment(),
    ended(response, error) {
      if (model) pay(run, { ...heard.event, response }, model.model, outgoing.body.length)
      if (run.over) return
      const { headers, chunks } = cleaned(run, response, { ...heard.event, response })
      heard.event.response = { ...response, headers, chunks: placed(response.chunks, chunks) }
      if (error !== undefined) heard.event.error = { ...error, message: run.redactor.text(error.message) }
      observe(run, heard)
      finish()
    },
    failed(error) {
      if (isOver || run.over) return
      heard.event.error = { ...error, message: run.redactor.text(error.message) }
      finish()
    },
  })
  const control: ExchangeControl = {
    abort() {
      if (isOver) return
      finish()
      // What is under way when the run is over was not given up; what a model is asked is for an answer.
      if (model !== undefined || !run.isEnding) heard.event.aborted = heard.moment()
      sent.abort()
      // Given up before anything came: what was asked is paid for all the same.
      if (model && heard.event.response === undefined) pay(run, heard.event, model.model, outgoing.body.length)
    },
  }
  if (!isOver) run.pays(control, model !== undefined)
  return control
}

function pay(run: ForkRun, whole: ExchangeEvent, model: string, asked: number): void {
  const said = readModelCall(whole)?.response
  const answered = (said?.text.length ?? 0) + JSON.stringify(said?.toolCalls ?? []).length
  run.budget?.spent(model, usageOf(whole), { asked, answered })
}

/** Clean pieces at the moments of the raw ones; a body that was unpacked is one piece. */
function placed(raw: readonly Chunk[], clean: readonly Chunk[2][]): readonly Chunk[] {
  return clean.flatMap((bytes, i) => {
    const at = raw[i]
    return at === undefined ? [] : [[at[0], at[1], bytes] as const]
  })
}

/** The same path at another server. */
function redirected(url: string, baseUrl: string | undefined): string {
  if (baseUrl === undefined) return url
  const { pathname, search } = new URL(url)
  return new URL(pathname + search, baseUrl).href
}
