import { isMap } from '../json/canonical.ts'
import { readMcpCall } from '../providers/index.ts'
import { type ExchangeControl, type ExchangeSink, type LiveRequest, requestWith } from '../seam/intercept/index.ts'
import { decodeBytes, type ExchangeEvent, type Json, type RecordedResponse, responseBytes } from '../tape/index.ts'
import { type RequestDifference, firstDifference, parse } from '../match/difference.ts'
import { forward } from './forward.ts'
import type { ReplayRun } from './run.ts'
import type { ExchangeState } from '../match/step.ts'

/**
 * Sends a request where the options of the replay say, and compares the answer of an MCP server to a tool call with the
 * recorded one. The answer of any other service reaches the code that asked, whose result is compared.
 *
 * @param url - where it goes
 */
export function serveLive(
  run: ReplayRun,
  live: LiveRequest,
  sink: ExchangeSink,
  inside: number | undefined,
  url: string,
): ExchangeControl {
  const question = run.question(live)
  const found = run.matcher.find(question)
  const step = found.kind === 'found' ? found.step : undefined
  if (step !== undefined) standIn(run, step)
  if (inside !== undefined) run.wentOut(inside)
  const issued = { n: run.nextN(), at: run.gate.now }
  const heard: ExchangeEvent = {
    kind: 'exchange',
    ...issued,
    ...(inside === undefined ? {} : { in: inside }),
    via: live.via,
    method: question.method,
    url: question.url,
    request: { headers: [], ...(question.bodyText === '' ? {} : { body: question.bodyText }) },
  }
  const place = run.events.push(heard) - 1
  // A stream that stays open for what a server may say would hold the run for ever.
  const isHolding = live.method !== 'GET' || run.tools.serverOf(live.url) === undefined
  let isOver = false
  const over = (): void => {
    if (isOver) return
    isOver = true
    // It does not go on, however it ended.
    if (step !== undefined) run.abandoned(step)
    if (isHolding) run.gate.release()
  }
  if (isHolding) run.gate.hold()
  const call = step?.event.response && readMcpCall(heard)
  const kept = call && step ? new Kept(sink) : undefined
  const control = forward(requestWith(live, { url }), kept ?? sink, {
    moment: () => [run.nextN(), run.gate.now],
    ended(response) {
      const whole = { ...heard, response }
      run.events[place] = whole
      if (kept && call && step) {
        const difference = differenceOf(run, step.event, whole)
        if (difference) run.drifted(step, live.madeAt, { class: 'results', part: call.name, ...difference })
        // The client goes on with the recorded answer, so that the rest is judged by itself.
        kept.handOn(difference ? step.event.response : undefined)
      }
      over()
    },
    failed: over,
  })
  return {
    abort() {
      control.abort()
      over()
    },
  }
}

/** The recorded step counts as made and answered: its recording has nothing to deliver. */
function standIn(run: ReplayRun, step: ExchangeState): void {
  run.begin(step)
  run.gate.done(step.items)
  step.answered = true
}

function differenceOf(run: ReplayRun, recorded: ExchangeEvent, heard: ExchangeEvent): RequestDifference | undefined {
  const live = answerIn(heard)
  return firstDifference(answerIn(recorded), live && run.redactor.json(live))
}

/** Keeps an answer back until it is known whether the client is to have it. */
class Kept implements ExchangeSink {
  readonly #sink: ExchangeSink
  readonly #pieces: (() => void)[] = []
  #isOpen = false

  constructor(sink: ExchangeSink) {
    this.#sink = sink
  }

  head(...head: Parameters<ExchangeSink['head']>): void {
    this.#later(() => this.#sink.head(...head))
  }

  chunk(bytes: Buffer): void {
    this.#later(() => this.#sink.chunk(bytes))
  }

  end(): void {
    this.#later(() => this.#sink.end())
  }

  error(error: Error): void {
    this.#later(() => this.#sink.error(error))
  }

  /** @param other - what the client gets in its place */
  handOn(other: RecordedResponse | undefined): void {
    if (other === undefined) {
      this.#isOpen = true
      for (const piece of this.#pieces.splice(0)) piece()
      return
    }
    this.#sink.head(other.status, other.statusText ?? '', other.headers)
    for (const [, , bytes] of other.chunks) this.#sink.chunk(decodeBytes(bytes))
    this.#sink.end()
  }

  #later(piece: () => void): void {
    if (this.#isOpen) piece()
    else this.#pieces.push(piece)
  }
}

/** Result or error of the JSON-RPC answer, whole or as the one message of a stream. Ids are counters of clients. */
function answerIn(event: ExchangeEvent): Json | undefined {
  const text = responseBytes(event).toString('utf8')
  const messages = text.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : []))
  for (const one of messages.length === 0 ? [text] : messages) {
    const message = parse(one)
    if (!isMap(message)) continue
    if (message['result'] !== undefined) return { result: message['result'] }
    if (message['error'] !== undefined) return { error: message['error'] }
  }
  return undefined
}
