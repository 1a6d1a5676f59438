import { isUtf8 } from 'node:buffer'
import { codingOf, redactedMethod, type Redactor } from '../privacy/index.ts'
import { at } from '../json/canonical.ts'
import { requestText as sentText } from '../providers/exchange.ts'
import { type ModelRequest, readModelRequest } from '../providers/index.ts'
import type { LiveRequest } from '../seam/intercept/index.ts'
import { steadyBoundary } from '../seam/shape.ts'
import { messageOf, type RpcMessage } from '../seam/stdio.ts'
import {
  type CallEvent,
  type Cut,
  type ExchangeEvent,
  isEnding,
  type Json,
  requestBytes,
  type Step,
  type Tape,
  type TapeEvent,
  type WholeBody,
} from '../tape/index.ts'
import { beforeCut } from '../tape/partial.ts'
import { cutQuestion, windowFor } from './cut-request.ts'
import type { GateItem } from './delivery.ts'
import type { MatchRequest } from './matcher.ts'
import { mediaRequest } from './media.ts'
import { targetOf } from './target.ts'

/** A recorded step and how far its replay has come. */
export interface StepState<E extends Step = Step> {
  readonly event: E
  /** 1-based, for people. */
  readonly number: number
  /** What the gate delivers for it, the request first. */
  readonly items: GateItem[]
  /** Asked for, or made needless by the tool call it happened in. */
  taken: boolean
  /** The agent asked for it (a needless one is taken but not served). */
  served: boolean
  /** All of its answer was delivered. */
  answered: boolean
}

export type ExchangeState = StepState<ExchangeEvent> & {
  readonly bodyText: string
  readonly model: ModelRequest | undefined
  /** The same, and what a model of images or of speech is asked. */
  readonly asked: ModelRequest | undefined
  /** Its answer was larger than its cap: what stands before the cut is served, and then an error. */
  readonly cut?: Cut | undefined
}
export type CallState = StepState<CallEvent>

/** The steps of a tape in order, with nothing done yet. */
export function stepStates(tape: Tape): readonly (ExchangeState | CallState)[] {
  const steps = tape.events.filter(isStep)
  return steps.map((event, i) => {
    const number = i + 1
    if (event.kind === 'exchange') return new RecordedExchange(event, number)
    return { event, number, items: [], taken: false, served: false, answered: false }
  })
}

export function isStep(event: TapeEvent): event is Step {
  return event.kind === 'exchange' || event.kind === 'tool' || event.kind === 'retrieval' || event.kind === 'value'
}

/** A class: V8 makes a hash table of each object literal with a getter, and a replay has thousands that it asks again and again. */
class RecordedExchange implements ExchangeState {
  readonly event: ExchangeEvent
  readonly number: number
  readonly items: GateItem[] = []
  taken = false
  served = false
  answered = false
  readonly bodyText: string
  readonly cut: Cut | undefined
  #model: ModelRequest | undefined | null = null
  #media: ModelRequest | undefined | null = null

  constructor(recorded: ExchangeEvent, number: number) {
    const part = beforeCut(recorded)
    const { moment } = part ?? {}
    const error =
      moment === undefined ? {} : { error: { moment, name: 'Error', message: 'the recorded answer is cut here' } }
    this.event = part === undefined ? recorded : { ...recorded, response: part.response, ...error }
    this.number = number
    this.cut = part?.cut
    this.bodyText = requestText(this.event)
  }

  /** Taken apart only when a replay needs the parts: an exact match never does. */
  get model(): ModelRequest | undefined {
    const { method, url } = this.event
    if (this.#model === null) this.#model = readModelRequest({ method, url, body: this.bodyText })
    return this.#model
  }

  get asked(): ModelRequest | undefined {
    const { method, url } = this.event
    if (this.model !== undefined) return this.model
    if (this.#media === null) this.#media = mediaRequest({ method, url, bodyText: this.bodyText })
    return this.#media
  }
}

/** What `bodyTextOf` makes of a recorded request. Half of a surrogate pair, which a tape can spell, is no text. */
function requestText(event: ExchangeEvent): string {
  const { body, unsearched } = event.request
  if (unsearched !== undefined) return unsearchedText
  return typeof body === 'string' && body.isWellFormed() ? body : bodyTextOf(requestBytes(event))
}

const notText = '\ud800base64:'

/** A body as one string: its text, or base64 when it is not text, under a mark no text can begin with. */
export function bodyTextOf(bytes: Buffer): string {
  return isUtf8(bytes) ? bytes.toString('utf8') : notText + bytes.toString('base64')
}

/** The bytes of a body of which {@link bodyTextOf} made a string. */
export function bytesOfText(text: string): Buffer {
  return text.startsWith(notText) ? Buffer.from(text.slice(notText.length), 'base64') : Buffer.from(text)
}

/**
 * What a request asks of a tape: redacted as the tape is, and without what differs each time.
 */
export function questionOf(
  live: LiveRequest,
  redactor: Redactor,
  { keyNames, isOnTape = () => false, cuts = [] }: Looking = {},
): MatchRequest {
  const window = windowFor(live.body.length, cuts)
  if (window !== undefined) {
    const { via } = live
    const method = redactedMethod(live.method, redactor)
    const url = redactor.url(live.url, keyNames)
    const { ends, whole } = cutQuestion(live, redactor, window)
    return { via, method, url, bodyText: bodyTextOf(ends), target: targetOf(live.headers), whole }
  }
  const steady = steadyBoundary(live.headers, live.body)
  const text = textOf(live, steady)
  const target = targetOf(live.headers)
  if (text !== undefined) {
    const asked = { via: live.via, method: live.method, url: live.url, bodyText: text, target }
    if (isOnTape(asked)) {
      redactor.observe(asked.url)
      redactor.observeBody(text)
      return asked
    }
  }
  const { body } = steady
  // In the order they were redacted when the run was recorded: placeholders are numbered by first appearance.
  const method = redactedMethod(live.method, redactor)
  const url = redactor.url(live.url, keyNames)
  const sent = redactor.unpacked(body, codingOf(live.headers))
  const bodyText = 'unsearched' in sent ? unsearchedText : bodyTextOf(sent.bytes)
  return { via: live.via, method, url, bodyText, target }
}

/** In the place of a body that cannot be read; no text is this. */
const unsearchedText = '\ud800unsearched'

/** What is known of the tape a request is asked of. */
interface Looking {
  /** Bodies of requests of which it has only the ends. */
  readonly cuts?: readonly WholeBody[]
  /** Names of the query under which it has keys of requests with this path. */
  readonly keyNames?: ReadonlySet<string> | undefined
  /**
   * Whether it has just that, open. Then there is nothing to look for: what stands on a tape has been redacted, goes through
   * unchanged, and nothing reaches a disk with it that is not there.
   */
  readonly isOnTape?: (asked: MatchRequest) => boolean
}

/** The body of a live request, its boundary steadied; `undefined` when it is not text. */
function textOf(live: LiveRequest, { headers, body }: ReturnType<typeof steadyBoundary>): string | undefined {
  if (live.text !== undefined && headers === live.headers) return live.text
  return isUtf8(body) ? body.toString('utf8') : undefined
}

/** `step 4, POST /v1/chat/completions` */
export function describeStep({ event, number }: StepState): string {
  return `step ${number}, ${describeEvent(event)}`
}

export function describeEvent(event: Step): string {
  if (event.kind !== 'exchange') return `${event.kind} ${event.name}`
  if (isEnding(event))
    return event.method === 'END'
      ? `end of input of ${childName(event.url)}`
      : `signal ${requestBytes(event).toString()} to ${childName(event.url)}`
  return describeAsked(event, sentText(event))
}

/** A request: `POST api.example/orders`; to an MCP server by what it asks there: `tools/call refund on api.example/mcp`. */
export function describeAsked(
  { via, method, url }: Pick<ExchangeEvent, 'method' | 'url' | 'via'>,
  text: string,
): string {
  const message: RpcMessage | undefined = text.includes('"jsonrpc"') ? messageOf(text) : undefined
  if (via !== 'stdio' && message?.method === undefined) return `${method} ${shortUrl(url)}`
  const { params } = (message ?? {}) as { readonly params?: Json }
  const about = [at(params, 'name'), at(params, 'uri')].filter((one) => typeof one === 'string')
  return `${[message?.method ?? method, ...about].join(' ')} on ${via === 'stdio' ? childName(url) : shortUrl(url)}`
}

/** The address of a child as its command is typed: `stdio:node server.ts`; a long one is cut. */
export function childName(url: string): string {
  const typed = url
    .replace(/%([\da-f]{2})/gi, (written, code: string) => {
      const char = String.fromCharCode(Number.parseInt(code, 16))
      return /[\n -~]/.test(char) ? char : written
    })
    .replace(/\s+/g, ' ')
  return typed.length > longestName ? `${typed.slice(0, longestName - 1)}…` : typed
}

const longestName = 80

/** The same without its scheme: `node server.ts`. */
export function commandOf(url: string): string {
  return childName(url).replace(/^stdio:/, '')
}

export function shortUrl(url: string): string {
  if (!URL.canParse(url)) return url
  const { host, pathname, search } = new URL(url)
  return `${host}${pathname}${search}`
}
