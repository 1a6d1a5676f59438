import type { ExchangeObserver, ExchangeStart, HeardHeaders } from '../seam/observe/observer.ts'
import { encodeBytes, type ExchangeEvent, type HeaderPair, joinedBytes, type Moment } from '../tape/index.ts'
import { CappedBody } from './capped-body.ts'
import { bytesOf, chunksOf } from './cut-body.ts'
import type { Bodies, ExchangeDraft } from './exchange.ts'
import type { HeldRun, HeldWork } from './held-run.ts'
import type { RecordedRun } from './run.ts'
import type { HeardExchange } from './usage.ts'

const none: readonly HeaderPair[] = []

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
  #head: { readonly moment: Moment; readonly status: number; readonly headers: HeardHeaders } | undefined
  #end: Moment | undefined
  #isSettled = false
  /** What becomes of it when the run is written. */
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
  leaving(): void {}

  head(status: number, statusText: string, headers: HeardHeaders): void {
    if (this.#isSettled || this.#run.over) return
    const moment = this.#run.moment()
    this.#head = { moment, status, headers }
    this.#run.grown(headers.bytes)
    this.#run.happened({ moment, tell: () => this.#draft?.head(status, statusText, headers) })
  }

  chunk(bytes: Buffer): void {
    if (this.#isSettled || this.#run.over || bytes.length === 0) return
    this.#grow(this.#bodies.got, bytes, this.#run.moment())
  }

  end(): void {
    this.#settle((moment) => {
      this.#end = moment
      return () => this.#draft?.end()
    })
  }

  error(error: { readonly name?: string; readonly message?: string; readonly code?: string }): void {
    this.#settle(() => () => this.#draft?.error(error))
  }

  aborted(): void {
    this.#settle(() => () => this.#draft?.aborted())
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

  #settle(work: (moment: Moment) => () => void): void {
    if (this.#isSettled || this.#run.over) return
    this.#isSettled = true
    const moment = this.#run.moment()
    const told = work(moment)
    this.#run.settled(this)
    this.#run.happened({ moment, tell: told })
  }

  #grow(body: CappedBody, bytes: Buffer, moment?: Moment): void {
    if (this.#run.isFreed) return
    const before = body.held
    body.add(bytes, moment)
    this.#run.grown(body.held - before)
  }
}
