// Over 300 lines: one question, which failure of a model or a service leaves a run without a grade; its rules hold together.
import { askedIn, isUnderWay, readModelCall } from '../providers/index.ts'
import { requestText } from '../providers/exchange.ts'
import { originOf } from '../match/address.ts'
import { lostCallIn } from './lost-calls.ts'
import { isGiven } from './given.ts'
import { givenAgainIn } from './given-again.ts'
import { isEndOfModel, isSilentEnd } from './model-ends.ts'
import { isOfEvents } from '../replay/left-early.ts'
import { at, listAt, textAt } from '../json/canonical.ts'
import {
  type CallEvent,
  type ExchangeEvent,
  type Json,
  responseBytes,
  type Tape,
  type TapeEvent,
} from '../tape/index.ts'

/** A model or a service that gave a run no whole answer. */
export interface Unreached {
  readonly event: ExchangeEvent | CallEvent
  /** Why the run has no grade: without what was said, which is another text each time. */
  readonly because: string
  /** Of the answer; absent: there was none. Below 400: the answer broke off. */
  readonly status?: number
  /** What the other side or the connection said of it, not neutral yet. */
  readonly said?: string
}

interface Failure extends Unreached {
  readonly event: ExchangeEvent
  /** The same for failures that are the same. */
  readonly key: string
  /**
   * An agent that met the same when it was recorded is one that brings it about: it asks what is refused, or gives up what takes
   * long. An outage of a model is one whenever it comes.
   */
  readonly isItsWay: boolean
}

/** Of a provider that cannot answer at all, be the question right or wrong. */
const outages: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 429])
/** Of a service that looks at no question. */
const closed: ReadonlySet<number> = new Set([401, 402, 407, 408, 429])

/**
 * What a run which asks for real got no whole answer from: a model without connection, key, quota, by a refusal, by an outage in
 * the middle of an answer, by silence until the agent gave it up; a service that is down. What an agent does instead says nothing
 * about it as it is. What was asked again, and answered, is got over. So is what failed when it was recorded, too: see
 * {@link Failure.isItsWay}; an outage that the run goes on without, at the place of the recorded one or of a model that
 * answered nothing then; and the one that ended the run, where this one ends so at the same place.
 *
 * @param events - of the run, in any order
 * @param recorded - of the run it is compared with
 * @param isSameEnd - it ends as that one did
 */
export function unreachedIn(
  events: readonly TapeEvent[],
  recorded: readonly TapeEvent[],
  isSameEnd: boolean,
): Unreached | undefined {
  const before = exchangesIn(recorded)
  const then = outcomesOf(before, before)
  // What was asked again, and answered, when it was recorded is no way to go on without it.
  const got = new Set(then.answered.map(questionOf))
  const known = then.failures.filter(({ event }) => !got.has(questionOf(event)))
  const { failures, answered } = outcomesOf(exchangesIn(events), before)
  const hedges = new Set(then.failures.flatMap(({ event }) => hedgesOf(event, then.answered)))
  // What a tape or the plan of a fork answered was not asked for real.
  const ofTape = new Set<TapeEvent>(recorded)
  const alikeOf = ({ key }: Failure): readonly Failure[] => known.filter((one) => one.key === key)
  const all = failures.filter((failed) => {
    const { event, isItsWay } = failed
    if (ofTape.has(event) || isGiven(event) || hedgesOf(event, answered).some((pair) => hedges.has(pair))) return false
    const alike = alikeOf(failed)
    if (isItsWay && alike.length > 0) return false
    const place = placeOf(event, answered)
    // A question has the ids of the answers before it, and resampled answers have others.
    const isSamePlace = alike.some((one) => placeOf(one.event, then.answered) === place)
    if (isSamePlace && (isSameEnd || isLeft(event))) return false
    if (alike.length > 0 && isDoneWithout(event, then.answered, answered, isSamePlace)) return false
    const question = questionOf(event)
    const [heard = 0, due = 0] = [answered, then.answered].map(
      (all) => all.filter((one) => questionOf(one) === question).length,
    )
    // Of several that ask the same, as for a vote, each has to be answered.
    return heard === 0 || heard < due
  })
  // One that was there when it was recorded is rarely what has to be put right.
  const lost = all.findLast((failed) => alikeOf(failed).length === 0) ?? all.at(-1)
  if (lost !== undefined) return lost
  const call = lostCallIn(events, recorded)
  return call && { event: call.event, ...unconnected(noService, call.said) }
}

/** As {@link unreachedIn} for a run that was asked for real, and an answer that a cache gave again: see {@link givenAgainIn}. */
export function lostIn(
  events: readonly TapeEvent[],
  recorded: readonly TapeEvent[],
  isSameEnd: boolean,
): Unreached | undefined {
  return answeredAgainIn(events, recorded) ?? unreachedIn(events, recorded, isSameEnd)
}

/** An answer that a cache gave again; see {@link givenAgainIn}. */
export function answeredAgainIn(events: readonly TapeEvent[], recorded: readonly TapeEvent[]): Unreached | undefined {
  const again = givenAgainIn(events, recorded)
  if (again === undefined) return undefined
  const { event, id } = again
  return { event, because: fromCache, status: event.response!.status, said: `the answer ${id} was given before` }
}

/** How many answers of models came before a question was asked. */
function placeOf({ n }: ExchangeEvent, answered: readonly ExchangeEvent[]): number {
  return answered.filter((one) => readModelCall(one) !== undefined && one.response!.moment[0] < n).length
}

/**
 * Whether a run goes on, on the answers of others, without a model: where it failed when it was recorded, or anywhere if it never
 * answered then. Elsewhere it did answer, and what another one decides instead says nothing of it.
 */
function isDoneWithout(
  event: ExchangeEvent,
  then: readonly ExchangeEvent[],
  now: readonly ExchangeEvent[],
  isSamePlace: boolean,
): boolean {
  const call = readModelCall(event)
  if (call === undefined) return false
  const { model } = call.request
  const isDown = !then.some((one) => one.url === event.url && readModelCall(one)?.request.model === model)
  return now.some(
    (one) => readModelCall(one) !== undefined && (isDown || (isSamePlace && one.response!.moment[0] > event.n)),
  )
}

/**
 * Which exchanges failed, and which were answered. Those that were given up in the middle of an answer are answered.
 *
 * @param recorded - what its calls say at their end, others have to say as well
 */
function outcomesOf(
  exchanges: readonly ExchangeEvent[],
  recorded: readonly ExchangeEvent[],
): { readonly failures: readonly Failure[]; readonly answered: readonly ExchangeEvent[] } {
  const failures: Failure[] = []
  const answered: ExchangeEvent[] = []
  const served = new Set(
    exchanges.flatMap((one) =>
      (one.response?.status ?? 400) < 400 && readModelCall(one) === undefined ? [originOf(one.url)] : [],
    ),
  )
  for (const event of exchanges) {
    const failed = failureOf(event, recorded, served)
    if (failed !== undefined) failures.push(failed)
    else if (event.response !== undefined) answered.push(event)
  }
  return { failures, answered }
}

/** Whether the agent gave it up, or left it open, before anything of an answer came. */
function isLeft({ response, error, aborted }: ExchangeEvent): boolean {
  return response === undefined && (error === undefined || aborted !== undefined)
}

/** Whether it still waits for an answer: it has not failed, and the agent has not given it up. */
export function isOpen({ response, error, aborted }: ExchangeEvent): boolean {
  return response === undefined && error === undefined && aborted === undefined
}

/** All of these are one kind of failure. */
const leftKey = 'left'

/**
 * The models of which an agent gave one up, or left it open, for the answer of the other to the same question, asked beside it. One
 * that did so when it was recorded takes the first answer; of another it is unknown whether it can do without.
 */
function hedgesOf(event: ExchangeEvent, answered: readonly ExchangeEvent[]): readonly string[] {
  const { n, aborted } = event
  const said = saidIn(event)
  if (!isLeft(event) || said === undefined) return []
  const until = aborted?.[0] ?? Number.POSITIVE_INFINITY
  const isBeside = (one: ExchangeEvent): boolean =>
    one.n < until && one.response!.moment[0] > n && one.response!.moment[0] < until
  const beside = answered.filter((one) => isBeside(one) && saidIn(one) === said)
  return beside.map((one) => [event, one].map(modelAt).sort().join(' '))
}

function modelAt(event: ExchangeEvent): string {
  return `${event.url} ${readModelCall(event)?.request.model ?? ''}`
}

/** What a model is asked, by any name of a model and with any settings. */
function saidIn(event: ExchangeEvent): string | undefined {
  const asked = askedIn(event)
  return asked && JSON.stringify([asked.instructions, asked.messages])
}

/** Why one call of a model has no whole answer, as far as that is seen without others. */
export function unansweredBecause(call: ExchangeEvent): string | undefined {
  return failureOf(call, [])?.because
}

/** In their order. */
function exchangesIn(events: readonly TapeEvent[]): readonly ExchangeEvent[] {
  return events.filter((one) => one.kind === 'exchange').toSorted((a, b) => a.n - b.n)
}

function callsIn(events: readonly TapeEvent[]): readonly ExchangeEvent[] {
  return exchangesIn(events).filter((one) => readModelCall(one) !== undefined)
}

function failureOf(
  event: ExchangeEvent,
  others: readonly ExchangeEvent[],
  served: ReadonlySet<string> = new Set(),
): Failure | undefined {
  if (readModelCall(event) === undefined) return failureOfService(event, served)
  const { response, error, aborted } = event
  const inside = errorIn(event, others)
  // A fork may not see that the agent gave it up: then it is open at its end.
  if (isLeft(event)) return { event, because: aborted === undefined ? noModel : givenUp, key: leftKey, isItsWay: false }
  if (aborted !== undefined && inside === undefined) return undefined
  if (response === undefined) return failure(event, error ? unconnected(noModel, error.message) : { because: noModel })
  const { status } = response
  if (status >= 400) {
    const said = messageIn(event)
    const lost = { because: `${refused} ${status}`, status, ...(said === undefined ? {} : { said }) }
    if (status >= 500 || outages.has(status)) return failure(event, lost)
    // The same refusal is in the same words, but for numbers and ids.
    const words = said?.replaceAll(/[\w-]*\d[\w-]*/g, '#') ?? ''
    return { event, ...lost, key: `${lost.because} ${words}`, isItsWay: true }
  }
  const cache = cacheIn(event)
  if (cache !== undefined) return failure(event, { because: fromCache, status, said: cache })
  const said = inside ?? error?.message ?? lackOf(event, others)
  return said === undefined ? undefined : failure(event, { because: `${brokeOff}: ${said}`, status, said })
}

/**
 * What a service says of a question is an answer, be it a refusal; that it is down, asked too often, or does not know who asks, is no answer.
 *
 * @param served - the origins of services that answer something: they know who asks
 */
function failureOfService(event: ExchangeEvent, served: ReadonlySet<string>): Failure | undefined {
  const { via, response, error, aborted, oneWay } = event
  if (via === 'stdio' || via === 'websocket' || oneWay === true) return undefined
  if (isLeft(event)) return aborted && failure(event, { because: serviceGivenUp }, true)
  if (response === undefined) return error && failure(event, unconnected(noService, error.message), true)
  const { status } = response
  if (status >= 500 || closed.has(status) || (status === 403 && !served.has(originOf(event.url))))
    return failure(event, { because: `${serviceRefused} ${status}`, status }, true)
  // What comes without end is left when there was enough of it.
  if (aborted !== undefined) return undefined
  return error && failure(event, { because: `${serviceBrokeOff}: ${error.message}`, status, said: error.message }, true)
}

function failure(event: ExchangeEvent, lost: Omit<Unreached, 'event'>, isItsWay = false): Failure {
  // What is asked of a model says what came before, by ids that are others each time.
  const asked = readModelCall(event)?.request.model
  // How a connection failed is said otherwise by each client, and so by each run.
  const because = event.response === undefined ? '' : lost.because
  return { event, ...lost, key: `${because} ${asked ?? ''} ${event.url}`, isItsWay }
}

function unconnected(who: string, said: string): Omit<Unreached, 'event'> {
  return { because: `${who}: ${said}`, said }
}

/**
 * The class of an error in an answer that began well, or the reason for its end where that is not the model's own; a server that knows no
 * word of those has its own.
 */
function errorIn(event: ExchangeEvent, others: readonly ExchangeEvent[]): string | undefined {
  if (event.response === undefined || event.response.status >= 400) return undefined
  const { error, finish } = readModelCall(event)?.response ?? {}
  if (error !== undefined || finish === undefined || isEndOfModel(finish) || isUnderWay({ finish })) return error
  const known = othersOf(event, others).flatMap((one) => finishOf(one) ?? [])
  const isOwn = known.includes(finish) && !known.some((one) => isEndOfModel(one))
  return isOwn ? undefined : `it ended with ${finish}`
}

/** What a whole answer lacks that recorded ones of its dialect have. */
function lackOf(event: ExchangeEvent, others: readonly ExchangeEvent[]): string | undefined {
  if (hasNoEnd(event, others)) return 'it has no end'
  if (event.response?.end === undefined) return undefined
  const known = othersOf(event, others)
  // A filter that takes all of an answer away leaves nothing of the model either.
  const finish = finishOf(event)
  const isDone = finish !== undefined && !isUnderWay({ finish }) && !isSilentEnd(finish)
  if (isDone && !saysSomething(event) && known.some(saysSomething) && known.every(saysSomething))
    return 'it says nothing'
  const streamed = known.filter(isStreamAsked)
  if (!isStreamAsked(event) || isOfEvents(event.response) || streamed.length === 0) return undefined
  return streamed.every((one) => isOfEvents(one.response!)) ? 'it is no stream' : undefined
}

function isStreamAsked(event: ExchangeEvent): boolean {
  return readModelCall(event)?.request.params['stream'] === true
}

/** A filter that took an answer away left its own word for the model's. */
function saysSomething(event: ExchangeEvent): boolean {
  const { text = '', toolCalls = [], refusal, finish } = readModelCall(event)?.response ?? {}
  return (
    text.trim() !== '' || toolCalls.length > 0 || (refusal !== undefined && (refusal !== finish || isSilentEnd(finish)))
  )
}

/**
 * Whether a whole answer lacks the reason for its end that each recorded one of its dialect has, and the last word of a stream as
 * well; or says nothing besides, as a page of a gateway. A server that stands in for a provider may leave the reason out.
 */
function hasNoEnd(event: ExchangeEvent, others: readonly ExchangeEvent[]): boolean {
  const { response } = readModelCall(event) ?? {}
  if (event.response?.end === undefined || (response?.finish ?? response?.error) !== undefined) return false
  if (saysSomething(event) && (isOfEvents(event.response) ? isLastWordThere(event) : !isEndOpen(event))) return false
  const answered = othersOf(event, others)
  return answered.length > 0 && answered.every((one) => finishOf(one) !== undefined)
}

function isLastWordThere(event: ExchangeEvent): boolean {
  return responseBytes(event).toString('utf8').trimEnd().endsWith('[DONE]')
}

/** Whether a whole answer says in so many words that it has not ended: `"finish_reason": null`. */
function isEndOpen(event: ExchangeEvent): boolean {
  const body = parsedBody(event)
  const ends = [body, ...listAt(body, 'choices')].flatMap((one) => [at(one, 'finish_reason'), at(one, 'stop_reason')])
  return ends.includes(null)
}

/**
 * The header by which a gateway says that it gave an answer again: `x-cache: MISS, HIT`, `cache-status: edge; hit` (RFC 9211),
 * `x-litellm-cache-hit: True`, `age: 60` (RFC 9111). Asked many times, such a model answered once.
 */
function cacheIn({ response }: ExchangeEvent): string | undefined {
  const hit = response?.headers.find(
    ([name, value]) =>
      isHit(name.toLowerCase(), value) ||
      (/cached?(?:[-_]hit)?$/i.test(name) && /^(?:true|1|yes)$/i.test(value)) ||
      (/^age$/i.test(name) && Number(value) > 0),
  )
  return hit?.join(': ')
}

/** What `cache-control` says is about later, and `fwd=stale` that the origin was asked. */
function isHit(name: string, value: string): boolean {
  if (name === 'cache-control') return false
  if (name === 'cache-status') return /;\s*hit\s*(?:[;,]|$)/i.test(value)
  return /cache/.test(name) && /(?<![a-z])(?:hit|stale|revalidated|updating)(?![a-z])/i.test(value)
}

/** Whole answers of the same dialect. */
function othersOf(event: ExchangeEvent, others: readonly ExchangeEvent[]): readonly ExchangeEvent[] {
  const dialect = readModelCall(event)?.request.dialect
  return others.filter(
    (one) =>
      readModelCall(one)?.request.dialect === dialect && one.response?.end !== undefined && one.response.status < 400,
  )
}

function finishOf(event: ExchangeEvent): string | undefined {
  return readModelCall(event)?.response?.finish
}

function questionOf(event: ExchangeEvent): string {
  return JSON.stringify(askedIn(event) ?? [event.method, event.url, requestText(event)])
}

/**
 * Why a run has no grade that a model kept waiting until its time was up: one that never answers says nothing of the agent. An
 * agent that asked more than the recorded run may ask for ever, and its last question is open whenever its time is up. What a
 * client asks again while it has no answer is one question.
 */
export function keptWaiting({
  tape,
  events,
  waitsForModel,
}: {
  readonly tape: Pick<Tape, 'events'>
  readonly events: readonly TapeEvent[]
  readonly waitsForModel?: true
}): UnreachedFacts | undefined {
  const calls = callsIn(events)
  const call = calls.at(-1)
  const last = call && !isGiven(call) ? failureOf(call, callsIn(tape.events)) : undefined
  if ((waitsForModel !== true && last === undefined) || questionsIn(events) > questionsIn(tape.events)) return undefined
  // One that was refused waits to be asked again.
  return last?.status === undefined ? { because: unansweredText } : unreachedFacts(last)
}

function questionsIn(events: readonly TapeEvent[]): number {
  const calls = callsIn(events)
  const answered = new Set(outcomesOf(calls, []).answered)
  return answered.size + new Set(calls.filter((one) => !answered.has(one)).map(questionOf)).size
}

const noModel = 'A model could not be reached'
const refused = 'A model answered with status'
const brokeOff = 'A model broke off its answer'
const fromCache = 'A model answered from a cache'
const noService = 'A service could not be reached'
const serviceRefused = 'A service answered with status'
const serviceBrokeOff = 'A service broke off its answer'
const serviceGivenUp = 'A service had not answered when the agent gave it up'
const givenUp = 'A model had not answered when the agent gave it up'
/** Why a run has no grade whose time was up while it waited for a model. */
export const unansweredText = 'A model had not answered when the time of the run was up'

/** Why a run has no grade, with what the provider said beside it. */
export type UnreachedFacts = Pick<Unreached, 'because' | 'said'>

export function unreachedFacts({ because, said }: Unreached): UnreachedFacts {
  return said === undefined || because.endsWith(said) ? { because } : { because, said }
}

/** Why a run has no grade whose agent found another world: no key, no file. */
export function threwAtOnceText(error: string): string {
  return `${threwAtOnce}: ${error}`
}

/** What such a run comes to, in each command that meets one. */
export const threwAtOnce = 'The agent threw before it asked anything'

/** Whether a run has no grade because a model could not be asked, or the agent did not even get to it. */
export function isUnreached(because: string): boolean {
  const texts = [noModel, refused, brokeOff, givenUp, fromCache, askedNone, threwAtOnce, unansweredText]
  return texts.some((text) => because.startsWith(text)) || isOfService(because)
}

/** Whether an answer that was given again is why. */
export function isOfCache(because: string): boolean {
  return because.startsWith(fromCache) || because === askedNone
}

/** An agent that keeps answers of a model, or needs none by now: what it does says nothing of a live model. */
export const askedNone = 'The run asked no model, and the recorded run did'

/** What to see to where that is why. */
export const withoutCache = 'with no cache of model answers'

/** Whether a service is why a run has no grade. */
export function isOfService(because: string): boolean {
  return [noService, serviceRefused, serviceBrokeOff, serviceGivenUp].some((text) => because.startsWith(text))
}

/** `{"error":{"message":"…"}}` and its kin; other bodies are pages of a proxy. */
function messageIn(event: ExchangeEvent): string | undefined {
  const body = parsedBody(event)
  const error = at(body, 'error') ?? body
  return typeof error === 'string' ? error : textAt(error, 'message')
}

/** Null: it is no JSON. */
function parsedBody(event: ExchangeEvent): Json {
  try {
    return JSON.parse(responseBytes(event).toString('utf8')) as Json
  } catch {
    return null
  }
}
