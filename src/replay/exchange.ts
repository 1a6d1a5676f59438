// Over 300 lines: one request, from what is asked to the last piece of its answer.
import { redactedMethod } from '../privacy/index.ts'
import type { FormedRequest } from '../providers/index.ts'
import { isLeftEarly } from './left-early.ts'
import { steadyBoundary } from '../seam/shape.ts'
import type { ExchangeControl, ExchangeSink, LiveRequest, Pairs } from '../seam/intercept/index.ts'
import { decodeBytes, type ExchangeEvent, isTokenRead, type Moment, type RecordedResponse } from '../tape/index.ts'
import { isHostNoted, isUnnoted } from '../match/asked-url.ts'
import type { GateItem } from '../match/delivery.ts'
import { codingDrift, headerDrift } from '../match/header-drift.ts'
import { answerCut } from './cut.ts'
import type { Foreseen } from './expected.ts'
import { hasKey, otherKeyOfCall } from '../match/idempotency.ts'
import { subprotocolDrift, subprotocolHeader } from '../match/subprotocol.ts'
import { underLiveNumber } from '../match/rpc-answer.ts'
import type { FoundDrift, Match } from '../match/matcher.ts'
import { bodyNotRecorded } from '../playback/problems.ts'
import type { ReplayRun } from './run.ts'
import { errorAgain } from './error-again.ts'
import { fittedTo } from './fitted.ts'
import { serveLive } from './serve-live.ts'
import { serveShared } from './serve-shared.ts'
import type { SharedAnswer, SharedQuestion } from './shared-answers.ts'
import type { ExchangeState } from '../match/step.ts'
import { observe } from './observe-answer.ts'
import { isRecordedLate, nowhere, openRequest } from './open-request.ts'
import { noteTimeOut } from './time-out.ts'
import { inAskedForm, otherForm } from './transcode.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const nothing = Buffer.alloc(0)

/**
 * Answers a request of the agent from the tape, when its moment comes.
 * @throws HarvestError when the tape has no answer
 */
export function serveExchange(
  run: ReplayRun,
  live: LiveRequest,
  sink: ExchangeSink,
  inside: number | undefined,
): ExchangeControl {
  // A run that is over gets no more answers: it stays where it is.
  if (run.over || isUnnoted(run.tape, live)) return nowhere
  run.clients.met(live.headers)
  const foreseen = run.expected.recognised(live)
  if (foreseen !== undefined) return serveForeseen(run, foreseen, live, sink, inside)
  const out = run.wayOut(live, inside)
  if (out !== undefined) return live.open ? nowhere : serveLive(run, live, sink, inside, out)
  const question = run.question(live)
  const open = openRequest(run, question, live)
  if (open === 'none') return nowhere
  const asWritten = open?.answer ?? run.matcher.find(question)
  // The same conversation in another form is the question that was recorded, before any other one at this place.
  const isOther =
    open === undefined && (asWritten.kind === 'none' || (asWritten.kind === 'found' && asWritten.level === 'reworded'))
  const inOtherForm = isOther ? run.matcher.findInOtherForm(question) : undefined
  const isNearer = asWritten.kind === 'none' || inOtherForm?.answer.level !== 'reworded'
  const other = isNearer ? inOtherForm : undefined
  const answer = other?.answer ?? asWritten
  const shared = sharedAnswer(run, { question, headers: live.headers }, answer)
  if (shared !== undefined) return serveShared(run, shared, sink)
  if (answer.kind !== 'found') {
    if (isRecordedLate(run, live)) return nowhere
    run.compareValues(undefined, live.madeAt, () => ({ body: question.bodyText, url: question.url }))
    run.sent(undefined, live)
    throw run.unanswered(question, answer, live.madeAt)
  }
  const { step } = answer
  const lost = step.event.request.unsearched ?? step.event.response?.unsearched
  if (lost !== undefined) throw run.problem(bodyNotRecorded(run.place(live.madeAt), step, lost))
  const whole = other === undefined ? step.event.response : transcoded(run, live, step, other.asked)
  const response = whole && live.via !== 'stdio' ? underLiveNumber(whole, step.bodyText, question.bodyText) : whole
  run.checkOrder(step, live.madeAt)
  if (answer.level === 'exact') run.identical++
  if (live.via === 'stdio') run.progress.answered(step.event.url, step.bodyText, question.bodyText)
  if (live.via === 'websocket' && live.method === 'OPEN') run.connected(live.url, step.event.url)
  const recorded = step.event.request.headers
  const stated = run.sentHeaders(live)
  const { headers: steady } = steadyBoundary(stated, nothing)
  const headers = run.headers.redacted(steady, recorded)
  const otherKey = hasKey(recorded) || hasKey(headers) ? keyDrift(run, step, headers) : []
  const { url } = step.event
  const told = headerDrift(recorded, headers, run.comparison(step, live.via))
  const subprotocol = live.via === 'websocket' ? subprotocolDrift(step.event.response, live.headers) : undefined
  const identity = run.credentials?.check({ headers: recorded, url }, { headers, url: question.url }, live) ?? []
  const drift = [
    ...answer.drift,
    ...(subprotocol ? [subprotocol] : []),
    ...otherKey,
    ...codingDrift(step.event, live, run.comparison(step, live.via)),
    // What is accepted goes with the form.
    ...(other === undefined ? told : told.filter((found) => found.path !== 'accept' || found.class !== 'encoding')),
    ...(subprotocol || !isHostNoted(run.tape) ? identity.filter(({ path }) => path !== subprotocolHeader) : identity),
  ]
  for (const found of drift) run.drifted(step, live.madeAt, found)
  run.noteHidden(run.hidden.ofRequest(live, step.event), step)
  run.noteHidden(run.hidden.ofCutBody(step.event, question.whole), step)
  if (live.open === 'given up') run.abandoned(step)
  if (open?.isMoreThanCompared) run.noteHidden(run.hidden.ofOpenRequest, step)
  const asked = { url: question.url, headers, body: question.bodyText }
  run.compareValues(step, live.madeAt, () => ({ ...asked, headers: Object.fromEntries(headers) }))
  // This replay's own record has the boundary that was sent.
  const sent = steady === stated ? headers : run.headers.redacted(stated, recorded)
  return answerWith(run, step, response, { ...asked, headers: sent }, live, sink, inside)
}

function keyDrift(run: ReplayRun, step: ExchangeState, headers: Pairs): readonly FoundDrift[] {
  const recorded = step.event.request.headers
  const { isWhole = false } = run.comparison(step, step.event.via)
  return step.model ? otherKeyOfCall(recorded, headers, isWhole) : run.idempotency.check(recorded, headers, isWhole)
}

/** Answers what was recognised when it was made: what matching and the comparison of headers would find is known. */
function serveForeseen(
  run: ReplayRun,
  foreseen: Foreseen,
  live: LiveRequest,
  sink: ExchangeSink,
  inside: number | undefined,
): ExchangeControl {
  const { step } = foreseen
  const { request, response, url } = step.event
  run.redactor.observeLater(() => {
    run.redactor.observe(url)
    run.redactor.observeBody(step.bodyText)
  })
  run.matcher.answered(url)
  run.checkDue(step)
  run.identical++
  const headers = run.headers.redacted(live.headers, request.headers)
  for (const found of run.expected.drift(foreseen, live, headers)) run.drifted(step, live.madeAt, found)
  const asked = { url, headers, body: step.bodyText }
  run.compareValues(step, live.madeAt, () => ({ ...asked, headers: Object.fromEntries(headers) }))
  return answerWith(run, step, response, asked, live, sink, inside)
}

/** A request for this replay's own record. */
interface Asked {
  readonly url: string
  readonly headers: Pairs
  readonly body: string
}

function answerWith(
  run: ReplayRun,
  step: ExchangeState,
  response: RecordedResponse | undefined,
  asked: Asked,
  live: LiveRequest,
  sink: ExchangeSink,
  inside: number | undefined,
): ExchangeControl {
  run.sent(step, live)
  const heard = hear(run, step, live, asked, inside)
  const delivered = wire(run, step, response, sink, heard)
  run.take(step)
  run.asks(step, live.madeAt, sink)
  if (step.items.length === 1) step.answered = true
  return {
    reading: (how) => run.reads.heard(step, how, () => delivered() < (response?.chunks.length ?? 0)),
    abort() {
      run.abandoned(step)
      if (step.answered) return
      noteTimeOut(run, step, live.madeAt)
      const { response: recorded, aborted } = step.event
      if (recorded && aborted === undefined && isLeftEarly(recorded, delivered()))
        run.gaveUp(step, delivered(), recorded.chunks.length)
      step.answered = true
      observe(run, step)
      heard.aborted = [run.nextN(), run.gate.now]
      run.gate.done(step.items)
    },
  }
}

/**
 * What the recording process had already when the run began. Of what the tape has an answer to, that is a first token alone:
 * the process had one, and the run renewed it in its course.
 */
function sharedAnswer(run: ReplayRun, asked: SharedQuestion, answer: Match): SharedAnswer | undefined {
  if (answer.kind === 'none') return run.sharedAnswers.findForRun(asked)
  if (answer.kind !== 'found' || !isTokenRead(asked.question.method, asked.question.bodyText)) return undefined
  return run.order.look(answer.step).early === undefined ? undefined : run.sharedAnswers.find(asked)
}

/** The recorded answer in the form it is asked for. */
function transcoded(
  run: ReplayRun,
  { madeAt }: LiveRequest,
  step: ExchangeState,
  asked: FormedRequest,
): RecordedResponse | undefined {
  const strictly = 'A strict replay serves recorded bytes alone, and this form of the answer was not recorded.'
  const found = run.isStrict ? { missing: strictly } : inAskedForm(step, asked)
  if ('missing' in found) throw run.problem(otherForm(run.place(madeAt), step, asked.form, found.missing))
  if (found.isTranscoded) {
    const from = asked.form === 'stream' ? 'whole' : 'stream'
    run.transcoded.push({ step: step.event.n, stepNumber: step.number, from, to: asked.form })
  }
  return found.response
}

/** This replay's own record of the exchange, in the shape of a tape. */
function hear(
  run: ReplayRun,
  step: ExchangeState,
  live: LiveRequest,
  { url, headers, body }: Asked,
  inside: number | undefined,
): Mutable<ExchangeEvent> {
  const { via, oneWay, prints, site: recordedAt } = step.event
  const heard: Mutable<ExchangeEvent> = {
    kind: 'exchange',
    n: run.nextN(),
    at: run.gate.now,
    via,
    method: redactedMethod(live.method, run.redactor),
    url,
    request: body === '' ? { headers } : { headers, body },
  }
  if (oneWay !== undefined) heard.oneWay = oneWay
  if (prints !== undefined) heard.prints = prints
  if (inside !== undefined) heard.in = inside
  const { site = recordedAt } = run.siteOf(live.madeAt)
  if (site !== undefined) heard.site = site
  run.events.push(heard)
  return heard
}

/**
 * Ties each recorded piece to the client that waits for it.
 *
 * @returns how many pieces of the body it got so far
 */
function wire(
  run: ReplayRun,
  step: ExchangeState,
  response: RecordedResponse | undefined,
  sink: ExchangeSink,
  heard: Mutable<ExchangeEvent>,
): () => number {
  const { error } = step.event
  let next = 1
  let delivered = 0
  const piece = (deliver: (moment: Moment) => void): void => {
    const item = step.items[next++]
    const handOver = (): void => deliver([run.nextN(), run.gate.now])
    if (item) item.deliver = handOver
  }
  if (response) {
    // Numbered as this replay delivers them: a trace compares them with the requests of this replay.
    const placed = response.chunks.slice()
    let answer: Mutable<RecordedResponse> | undefined
    piece((moment) => {
      answer = { moment, status: response.status, headers: response.headers, chunks: placed }
      heard.response = answer
      sink.head(response.status, response.statusText ?? '', fittedTo(response))
    })
    const deliverPiece = (index: number): void => {
      const [n, at, bytes] = response.chunks[index]!
      delivered = index + 1
      const [liveN, now] = [run.nextN(), run.gate.now]
      if (liveN !== n || now !== at) placed[index] = [liveN, now, bytes]
      // An answer in its other form is complete at the last recorded moment, and nothing comes before.
      if (bytes === '' && response !== step.event.response) return
      if (typeof bytes === 'string' && sink.text !== undefined) sink.text(bytes)
      else sink.chunk(decodeBytes(bytes))
    }
    const deliverChunk = (item: GateItem): void => {
      deliverPiece(item.index!)
      if (sink.text === undefined) return
      // It delivers text in a later microtask: no client can abort between two pieces.
      while (item.more) {
        item.more--
        run.gate.deliveries++
        deliverPiece(++item.index!)
      }
    }
    for (const item of step.items) {
      if (item.more === undefined) continue
      item.deliver = deliverChunk
      next++
    }
    if (response.end) {
      piece((moment) => {
        step.answered = true
        observe(run, step)
        if (answer) answer.end = moment
        run.budget.answered(step.event)
        sink.end()
      })
    }
  }
  if (error) {
    piece((moment) => {
      step.answered = true
      observe(run, step)
      heard.error = { ...error, moment }
      sink.error(step.cut === undefined ? errorAgain(error) : run.problem(answerCut(run.place(), step, step.cut)))
    })
  }
  return () => delivered
}
