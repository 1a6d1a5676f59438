import type { ExchangeObserver, ExchangeStart, HeardHeaders } from '../seam/observe/observer.ts'
import type { BodyUse } from '../seam/reading.ts'
import { encodeBytes, type ExchangeEvent, type HeaderPair, joinedBytes, type Moment } from '../tape/index.ts'
import { CappedBody } from '../privacy/index.ts'
import { bytesOf, chunksOf } from './cut-body.ts'
import type { Bodies, ExchangeDraft } from './exchange.ts'
import type { HeldRun, HeldWork } from './held-run.ts'
import type { RecordedRun } from './run.ts'
import type { HeardExchange } from './usage.ts'

const none: readonly HeaderPair[] = []

type ClientError = Parameters<ExchangeObserver['error']>[0]

/** The head of an answer, as it came. */
class HeldHead implements HeldWork {
  readonly moment: Moment
  readonly status: number
  readonly statusText: string
  readonly headers: HeardHeaders
  readonly #exchange: HeldExchange

  constructor(exchange: HeldExchange, moment: Moment, status: number, statusText: string, headers: HeardHeaders) {
    this.#exchange = exchange
    this.moment = moment
    this.status = status
    this.statusText = statusText
    this.headers = headers
  }

  tell(): void {
    this.#exchange.draft?.head(this.status, this.statusText, this.headers)
  }
}

/** How an exchange ended. */
class HeldEnd implements HeldWork {
  readonly moment: Moment
  readonly how: 'end' | 'aborted' | 'error'
  readonly #exchange: HeldExchange
  readonly #error: ClientError | undefined

  constructor(exchange: HeldExchange, moment: Moment, how: HeldEnd['how'], error: ClientError | undefined) {
    this.#exchange = exchange
    this.moment = moment
    this.how = how
    this.#error = error
  }

  tell(): void {
    const { draft } = this.#exchange
    if (this.how === 'error') draft?.error(this.#error ?? {})
    else draft?.[this.how]()
  }
}

/** One exchange of a run that is not decided: what was heard, as it came. */
export class HeldExchange implements ExchangeObserver, HeldWork, HeardExchange {
  readonly #run: HeldRun
  readonly #start: ExchangeStart
  /** When it was issued. */
  readonly moment: Moment
  readonly #where: { readonly in?: number }
  readonly #bodies: Bodies
  /** Where the client said them later; those it began with are read when they are needed. */
  #headers: readonly HeaderPair[] | undefined
  #head: HeldHead | undefined
  #end: Moment | undefined
  #isSettled = false
  #draft: ExchangeDraft | undefined

  constructor(run: HeldRun, start: ExchangeStart, where: { readonly in?: number }) {
    this.#run = run
    this.#start = start
    this.moment = run.moment()
    this.#bodies = { sent: new CappedBody(run.bodyCap), got: new CappedBody(run.bodyCap) }
    this.#where = where
    run.happened(this)
  }

  get isSettled(): boolean {
    return this.#isSettled
  }

  /** What becomes of it while the run is written. */
  get draft(): ExchangeDraft | undefined {
    return this.#draft
  }

  /** The exchange begins once more. */
  tell(recorded: RecordedRun): void {
    this.#draft = recorded.exchange(this.#start, this.#where, this.#bodies)
  }

  requestHeaders(pairs: readonly HeaderPair[]): void {
    this.#headers = pairs
    this.#run.later(() => this.#draft?.requestHeaders(pairs))
  }

  requestChunk(bytes: Buffer): void {
    if (!this.#run.over) this.#grow(this.#bodies.sent, bytes)
  }

  /** What is not decided is not on a disk. */
  leaving(isWhole: boolean): void {
    if (isWhole) this.#bodies.heard = 'whole'
  }

  coming(): void {
    this.#bodies.heard = 'coming'
  }

  get isComing(): boolean {
    return !this.#isSettled && this.#bodies.heard === 'coming'
  }

  head(status: number, statusText: string, headers: HeardHeaders): void {
    if (this.#isSettled || this.#run.over) return
    this.#head = new HeldHead(this, this.#run.moment(), status, statusText, headers)
    this.#run.happened(this.#head, headers.bytes)
  }

  reading(): (how: BodyUse) => void {
    const { reads } = this.#run
    const [n] = this.moment
    return (how) => void reads.set(n, how)
  }

  chunk(bytes: Buffer): void {
    if (this.#isSettled || this.#run.over || bytes.length === 0) return
    this.#grow(this.#bodies.got, bytes, this.#run.moment())
  }

  end(): void {
    this.#settle('end')
  }

  error(error: ClientError): void {
    this.#settle('error', error)
  }

  aborted(): void {
    this.#settle('aborted')
  }

  /** Its largest body that can be let go, in bytes. */
  get largest(): number {
    return Math.max(this.#bodies.sent.loose, this.#bodies.got.loose)
  }

  /** Lets its largest body go. Returns how many bytes that were. */
  letGo(): number {
    const { sent, got } = this.#bodies
    return (sent.loose > got.loose ? sent : got).letGo()
  }

  /** Lets all go that was heard. */
  drop(): void {
    this.#bodies.sent.drop()
    this.#bodies.got.drop()
    this.#headers = none
    this.#head = undefined
    this.#draft = undefined
  }

  get method(): string {
    return this.#start.method
  }

  get url(): string {
    return this.#start.url
  }

  /** 0: it was not answered. */
  get status(): number {
    return this.#head?.status ?? 0
  }

  get sent(): Buffer {
    return joinedBytes(bytesOf(this.#bodies.sent.pieces))
  }

  get got(): Buffer {
    return joinedBytes(bytesOf(this.#bodies.got.pieces))
  }

  /** The exchange as it is known now, as it came: for counting what it used, and not for a tape. */
  asHeard(): ExchangeEvent {
    const [n, at] = this.moment
    const { via, method, url } = this.#start
    const { sent, got } = this.#bodies
    const body = joinedBytes(bytesOf(sent.pieces))
    const answer = this.#head && {
      moment: this.#head.moment,
      status: this.#head.status,
      headers: this.#head.headers.pairs,
      chunks: chunksOf(got.pieces, bytesOf(got.pieces).map(encodeBytes)),
      ...(this.#end && { end: this.#end }),
    }
    return {
      kind: 'exchange',
      n,
      at,
      via,
      method,
      url,
      request: {
        headers: this.#headers ?? this.#start.headers ?? none,
        ...(body.length === 0 ? {} : { body: encodeBytes(body) }),
      },
      ...(answer && { response: answer }),
    }
  }

  #settle(how: HeldEnd['how'], error?: ClientError): void {
    if (this.#isSettled || this.#run.over) return
    this.#isSettled = true
    const moment = this.#run.moment()
    if (how === 'end') this.#end = moment
    this.#run.settled(this)
    this.#run.happened(new HeldEnd(this, moment, how, error))
  }

  #grow(body: CappedBody, bytes: Buffer, moment?: Moment): void {
    if (this.#run.isFreed) return
    const before = body.held
    body.add(bytes, moment)
    this.#run.grown(body.held - before)
  }
}
