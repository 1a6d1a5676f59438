import { canonicalJson, isGenerative, type ModelRequest, readModelRequest } from '../providers/index.ts'
import type { Redactor } from '../privacy/index.ts'
import { Calls } from '../match/calls.ts'
import { answer } from '../replay/answer.ts'
import { errorAgain } from '../replay/error-again.ts'
import { fitted } from '../replay/fitted.ts'
import { servedPieces } from '../playback/pieces.ts'
import { Matcher } from '../match/matcher.ts'
import { sameCommand, spawnsOf, type Start } from '../replay/commands.ts'
import { type SharedAnswers, sharedAnswersOf } from '../replay/shared-answers.ts'
import { type CallState, type ExchangeState, questionOf, stepStates } from '../match/step.ts'
import { requestCuts } from '../match/cut-request.ts'
import type { ExchangeControl, ExchangeSink, LiveRequest } from '../seam/intercept/index.ts'
import { never } from '../seam/intercept/index.ts'
import { type SeamCall, seamState } from '../seam/source.ts'
import {
  type CallEvent,
  decodeBytes,
  type ExchangeEvent,
  type Json,
  type SpawnEvent,
  type Tape,
  type WholeBody,
} from '../tape/index.ts'
import { sameData } from './same-data.ts'

const { setImmediate: realImmediate } = seamState().natives

/**
 * What a tape answers to a live run: tools, retrievers, values and services, by what is asked and not by when. A question
 * asked again once all its recorded answers are used gets the last of them again.
 */
export class RecordedAnswers {
  readonly count: number
  readonly #calls: Calls
  readonly #matcher: Matcher
  readonly #cuts: readonly WholeBody[]
  readonly #lastCall = new Map<string, CallState>()
  readonly #lastExchange = new Map<string, ExchangeState>()
  readonly #children: readonly SpawnEvent[]
  /** What the recording process had already. */
  readonly #shared: SharedAnswers
  readonly #given = new Set<number>()

  constructor(tape: Tape) {
    const steps = stepStates(tape)
    this.#cuts = requestCuts(tape)
    this.#shared = sharedAnswersOf(tape)
    const isTool = (step: ExchangeState | CallState): boolean =>
      step.event.kind !== 'exchange' || !isGenerative((step as ExchangeState).model?.dialect)
    const served = steps.filter(isTool)
    const exchanges = served.filter((step): step is ExchangeState => step.event.kind === 'exchange')
    this.count = served.length
    this.#calls = new Calls(served)
    this.#matcher = new Matcher(exchanges, 'canonical', tape.header, () => true)
    this.#children = spawnsOf(tape)
  }

  /** The recorded steps whose answers were given, as `n` of the tape. */
  get given(): readonly number[] {
    return [...this.#given]
  }

  /** The model a request asks, when it asks one. */
  dialectOf(live: LiveRequest): ModelRequest | undefined {
    return readModelRequest({ method: live.method, url: live.url, body: live.body.toString('utf8') })
  }

  child(live: Start): SpawnEvent | undefined {
    return this.#children.find((recorded) => sameCommand(recorded, live))
  }

  /** The recorded answer of a service; models that write text are never answered from the tape. */
  forRequest(live: LiveRequest, redactor: Redactor): ExchangeEvent | undefined {
    if (isGenerative(this.dialectOf(live)?.dialect)) return undefined
    const question = questionOf(live, redactor, { cuts: this.#cuts })
    const key = JSON.stringify([question.method, question.url, question.bodyText])
    const found = this.#matcher.find(question)
    const step = found.kind === 'found' ? found.step : this.#lastExchange.get(key)
    if (step === undefined) return this.#shared.findForRun({ question, headers: live.headers, isForWorld: true })?.event
    this.#lastExchange.set(key, step)
    return this.#give(step)
  }

  forCall(call: SeamCall, args: Json): CallEvent | undefined {
    const key = JSON.stringify([call.kind, call.name, call.kind === 'value' ? '' : canonicalJson(args)])
    const step =
      this.#calls.findSame(call, args) ??
      this.#lastCall.get(key) ??
      this.#calls.findLike(call, (recorded) => sameData(recorded, args))
    if (step === undefined) return undefined
    this.#lastCall.set(key, step)
    return this.#give(step)
  }

  #give<E extends CallEvent | ExchangeEvent>(step: { taken: boolean; readonly event: E }): E {
    step.taken = true
    this.#given.add(step.event.n)
    return step.event
  }

  /** What the recorded call gives its caller: a value, a promise, an iterable, or its error. */
  valueOf(event: CallEvent, decode: Decode): unknown {
    if (event.yields !== undefined) return iterate(event, decode)
    if (event.sync !== true && event.settled === undefined) return never()
    if (event.sync === true) return answer(event, decode)
    return new Promise((resolve, reject) => {
      realImmediate(() => {
        try {
          resolve(answer(event, decode))
        } catch (error) {
          reject(error as Error)
        }
      })
    })
  }

  /** Hands a recorded answer out piece by piece, each in a turn of its own. */
  deliver({ response, error }: ExchangeEvent, sink: ExchangeSink): ExchangeControl {
    let isAborted = false
    const pieces: (() => void)[] = []
    if (response !== undefined) {
      const chunks = response.chunks.map(([, , bytes]) => decodeBytes(bytes))
      const headers = fitted(response.headers, chunks, response.end !== undefined)
      pieces.push(() => sink.head(response.status, response.statusText ?? '', headers))
      for (const chunk of chunks) pieces.push(() => sink.chunk(chunk))
      if (response.end !== undefined) pieces.push(() => sink.end())
    }
    if (error !== undefined) pieces.push(() => sink.error(errorAgain(error)))
    const next = (): void => {
      const piece = isAborted ? undefined : pieces.shift()
      if (piece === undefined) return
      piece()
      realImmediate(next)
    }
    realImmediate(next)
    return {
      abort() {
        isAborted = true
      },
    }
  }
}

type Decode = Parameters<typeof answer>[1]

function iterate(event: CallEvent, decode: Decode): AsyncGenerator<unknown> {
  const there = Promise.resolve()
  const pieces = (event.yields ?? []).map(([, , value]) => ({ value, opened: there }))
  return servedPieces({ event, pieces, ended: there, decode })
}
