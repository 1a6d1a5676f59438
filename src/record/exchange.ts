import type { ExchangeObserver, ExchangeStart, HeardHeaders } from '../seam/observe/observer.ts'
import type { BodyUse } from '../seam/reading.ts'
import { addressedUrl, sentHeaders, steadyBoundary } from '../seam/shape.ts'
import {
  encodeBytes,
  type ExchangeEvent,
  type HeaderPair,
  joinedBytes,
  type Moment,
  type RecordedResponse,
} from '../tape/index.ts'
import { CappedBody, codingOf, redactedMethod } from '../privacy/index.ts'
import { bytesOf, chunksOf, cutAnswer, cutRequest } from './cut-body.ts'
import { EarlyPieces } from './early.ts'
import type { RecordedRun } from './run.ts'

const nothing = Buffer.alloc(0)

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
/** The bodies of an exchange, as they come in. */
export interface Bodies {
  readonly sent: CappedBody
  readonly got: CappedBody
  /** How much of the request was heard: `coming` when the rest of it will be in a moment; absent: as much as is there. */
  heard?: 'coming' | 'whole'
}

/** Collects one exchange while it happens; becomes one line of the tape when it is settled. */
export class ExchangeDraft implements ExchangeObserver {
  readonly #run: RecordedRun
  readonly #start: ExchangeStart
  readonly #issued: Moment
  readonly #where: { readonly in?: number }
  readonly #bodies: Bodies
  #headers: readonly HeaderPair[]
  #request: Pick<ExchangeEvent, 'url' | 'request'> | undefined
  #head: { moment: Moment; status: number; statusText: string; headers: readonly HeaderPair[] } | undefined
  #end: Moment | undefined
  #error: ExchangeEvent['error']
  #aborted: Moment | undefined
  /** How much of the request is on the tape: nothing, all but its body, or all. */
  #begun: 'no' | 'named' | 'whole' = 'no'
  /** Of an answer that was not complete soon. */
  #early: EarlyPieces | undefined

  /** @param bodies - those of an exchange that is over; default: they are still to come */
  constructor(run: RecordedRun, start: ExchangeStart, where: { readonly in?: number }, bodies?: Bodies) {
    this.#bodies = bodies ?? { sent: new CappedBody(run.bodyCap), got: new CappedBody(run.bodyCap) }
    this.#run = run
    this.#start = start
    this.#where = where
    this.#issued = run.moment()
    this.#headers = start.headers ?? []
    run.opened(this)
  }

  get #settled(): boolean {
    return this.#end !== undefined || this.#error !== undefined || this.#aborted !== undefined
  }

  requestHeaders(pairs: readonly HeaderPair[]): void {
    this.#run.redactDue()
    this.#headers = pairs
    this.#request = undefined
  }

  requestChunk(bytes: Buffer): void {
    this.#run.redactDue()
    this.#bodies.sent.add(bytes)
    this.#request = undefined
  }

  /** Redacts the request as far as it came; see {@link RecordedRun.redactRequests}. */
  redactRequest(): void {
    this.#request ??= this.#redactedRequest()
  }

  /**
   * The next bytes go out now: what is asked is on the tape before the world can know it. A body that is still being
   * sent comes later, for half a body could be half a secret.
   */
  leaving(isWhole: boolean): void {
    if (isWhole) this.#bodies.heard = 'whole'
    if (this.#settled || this.#run.over || this.#begun === 'whole') return
    const isAll = isWhole || this.#isAsLongAsSaid()
    if (!isAll && this.#begun === 'named') return
    this.#begun = isAll ? 'whole' : 'named'
    this.#run.begin(() => (isAll ? this.#asked() : this.#named()))
  }

  coming(): void {
    this.#bodies.heard = 'coming'
  }

  get isComing(): boolean {
    return this.#bodies.heard === 'coming'
  }

  #isAsLongAsSaid(): boolean {
    const length = this.#headers.find(([name]) => name === 'content-length')?.[1]
    return length !== undefined && Number(length) === this.#bodies.sent.size
  }

  head(status: number, statusText: string, { pairs }: HeardHeaders): void {
    if (this.#settled || this.#run.over) return
    this.#run.redactRequests()
    this.#head = { moment: this.#run.moment(), status, statusText, headers: pairs }
  }

  reading(): (how: BodyUse) => void {
    const { reads } = this.#run
    const [n] = this.#issued
    return (how) => void reads.set(n, how)
  }

  chunk(bytes: Buffer): void {
    if (this.#settled || this.#run.over || bytes.length === 0) return
    this.#bodies.got.add(bytes, this.#run.moment())
    this.#run.arriving(this)
  }

  end(): void {
    if (this.#settled || this.#run.over) return
    this.#end = this.#run.moment()
    this.#run.settled(this)
  }

  error(error: { readonly name?: string; readonly message?: string; readonly code?: string }): void {
    if (this.#settled || this.#run.over) return
    this.#run.redactRequests()
    const { redactor } = this.#run
    const { name = 'Error', code, constructor } = error
    const type = constructor?.name
    // Together: a field may say what another holds.
    const { message = '', ...facts } = redactor.json({ ...plainFields(error), message: error.message ?? '' }) as Plain
    this.#error = {
      moment: this.#run.moment(),
      name: redactor.name(`${name}`),
      message: `${message}`,
      ...(code === undefined ? {} : { code: typeof code === 'string' ? redactor.name(code) : code }),
      ...(typeof type === 'string' && type !== '' && type !== 'Error' && type !== 'Object'
        ? { type: redactor.name(type) }
        : {}),
      ...(Object.keys(facts).length === 0 ? {} : { facts }),
    }
    this.#run.settled(this)
  }

  aborted(): void {
    if (this.#settled || this.#run.over) return
    // A client that heard the last event waits for no end: it had the whole answer.
    if (this.#saidDone) return this.end()
    this.#run.redactRequests()
    this.#aborted = this.#run.moment()
    this.#run.settled(this)
  }

  /** The answer is a stream that said it was done: what may follow is its end. */
  get #saidDone(): boolean {
    const last = this.#bodies.got.pieces.at(-1)
    return last !== undefined && /(?:^|[\r\n])data: ?\[DONE\]\s*$/.test(Buffer.from(last.bytes).toString('latin1'))
  }

  /**
   * What had arrived of the answer, as far as it will not be redacted no matter what comes; `undefined` when that is no
   * more than before. Bodies in a content encoding, and those that are no text, wait for their end.
   */
  soFar(): ExchangeEvent | undefined {
    if (this.#settled || this.#head === undefined || this.#begun !== 'whole' || this.#request === undefined)
      return undefined
    if (codingOf(this.#head.headers) !== undefined) return undefined
    this.#early ??= new EarlyPieces()
    const pieces = this.#early.next(this.#bodies.got.pieces, (text) => this.#run.redactor.settled(text))
    if (pieces === undefined) return undefined
    const { moment, status } = this.#head
    const encoded = pieces.map(({ bytes }) => encodeBytes(bytes))
    const chunks = chunksOf(pieces, encoded)
    // Headers may hold secrets, and are redacted when the answer is: numbers go by first appearance.
    return { ...this.#withRequest(this.#request), response: { moment, status, headers: [], chunks } }
  }

  /** What is redacted of the request is not on the tape yet. */
  get holdsRedacted(): boolean {
    return this.#request !== undefined && this.#begun !== 'whole'
  }

  /** More had arrived than was written. */
  get isBehind(): boolean {
    if (this.#settled) return false
    const { pieces } = this.#bodies.got
    return this.#early === undefined ? pieces.length > 0 : this.#early.isBehind(pieces)
  }

  /** The line for the tape, redacted: the request first, as a replay will see it first. */
  event(): ExchangeEvent {
    const { redactor } = this.#run
    const event: Mutable<ExchangeEvent> = this.#asked()
    if (isOneWay(this.#start.via)) {
      if (!this.#head) event.oneWay = true
    } else if (this.#isOpen) event.request = { ...event.request, open: true }
    if (this.#head) {
      event.response = {
        ...this.#head,
        statusText: redactor.text(this.#head.statusText),
        headers: redactor.headers(this.#head.headers),
        ...this.#answer(this.#head.headers),
        ...(this.#end ? { end: this.#end } : {}),
      }
    }
    if (this.#error) event.error = this.#error
    if (this.#aborted) event.aborted = this.#aborted
    return event
  }

  /** The end of the request was not heard, and no whole answer to it. */
  get #isOpen(): boolean {
    return this.#end === undefined && this.#bodies.heard !== 'whole' && !this.#isAsLongAsSaid()
  }

  /** The request, and nothing of what came of it. */
  #asked(): ExchangeEvent {
    this.redactRequest()
    return this.#withRequest(this.#request ?? this.#redactedRequest())
  }

  /** As {@link #asked}, without a body. */
  #named(): ExchangeEvent {
    const { url, request } = this.#redactedRequest(new CappedBody(0))
    return this.#withRequest({ url, request })
  }

  #withRequest(request: Pick<ExchangeEvent, 'url' | 'request'>): ExchangeEvent {
    const [n, at] = this.#issued
    const { via, method } = this.#start
    return {
      kind: 'exchange',
      n,
      at,
      ...this.#where,
      via,
      method: redactedMethod(method, this.#run.redactor),
      ...request,
    }
  }

  #redactedRequest(sent: CappedBody = this.#bodies.sent): Pick<ExchangeEvent, 'url' | 'request'> {
    const { redactor } = this.#run
    const left = sent.cut
    const whole = left === undefined ? joinedBytes(bytesOf(sent.pieces)) : nothing
    const { headers, body } = steadyBoundary(this.#headers, whole)
    // In the order a replay redacts them: placeholders are numbered by first appearance.
    redactedMethod(this.#start.method, redactor)
    const url = redactor.url(addressedUrl(this.#start.url, this.#headers))
    const kept =
      left === undefined ? this.#sentBody(body, codingOf(headers)) : cutRequest(this.#headers, left, redactor)
    return { url, request: { headers: redactor.requestHeaders(sentHeaders(this.#start.url, headers)), ...kept } }
  }

  #sentBody(body: Buffer, encoding: string | undefined): Omit<ExchangeEvent['request'], 'headers'> {
    const { redactor } = this.#run
    if (encoding === undefined) return body.length === 0 ? {} : { body: redactor.encoded([body])[0]! }
    const unpacked = redactor.unpacked(body, encoding)
    if ('unsearched' in unpacked) return unpacked
    const { bytes, coded } = unpacked
    return { ...(bytes.length === 0 ? {} : { body: encodeBytes(bytes) }), ...(coded && { coded }) }
  }

  #answer(headers: readonly HeaderPair[]): Pick<RecordedResponse, 'chunks' | 'cut' | 'whole' | 'unsearched'> {
    const { redactor } = this.#run
    const { got } = this.#bodies
    if (got.cut !== undefined) return cutAnswer(headers, got.cut, redactor)
    const encoding = codingOf(headers)
    const raw = bytesOf(got.pieces)
    if (encoding === undefined) return { chunks: chunksOf(got.pieces, redactor.encoded(raw)) }
    const packed = redactor.packed(raw, encoding)
    return 'unsearched' in packed
      ? { chunks: [], ...packed }
      : { chunks: chunksOf(got.pieces, packed.map(encodeBytes)) }
  }
}

type Plain = Record<string, string | number | boolean>

/** What an error says beside name, message and code, as far as it is plain. */
function plainFields(error: object): Plain {
  const fields: Plain = {}
  for (const [key, value] of Object.entries(error)) {
    if (key === 'name' || key === 'message' || key === 'code' || key === 'stack') continue
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') fields[key] = value
  }
  return fields
}

/** Where what is said need not be answered. */
function isOneWay(via: ExchangeStart['via']): boolean {
  return via === 'stdio' || via === 'websocket'
}
