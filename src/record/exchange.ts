import zlib, { constants } from 'node:zlib'
import type { ExchangeObserver, ExchangeStart } from '../seam/observe/observer.ts'
import { steadyBoundary } from '../seam/shape.ts'
import {
  type Chunk,
  encodeBytes,
  type ExchangeEvent,
  type HeaderPair,
  joinedBytes,
  type Moment,
} from '../tape/index.ts'
import type { RecordedRun } from './run.ts'

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
interface Piece {
  readonly moment: Moment
  readonly bytes: Buffer
}

/** Collects one exchange while it happens; becomes one line of the tape when it is settled. */
export class ExchangeDraft implements ExchangeObserver {
  readonly #run: RecordedRun
  readonly #start: ExchangeStart
  readonly #issued: Moment
  readonly #where: { readonly in?: number }
  readonly #body: Buffer[] = []
  readonly #pieces: Piece[] = []
  #headers: readonly HeaderPair[]
  #request: Pick<ExchangeEvent, 'url' | 'request'> | undefined
  #head: { moment: Moment; status: number; statusText: string; headers: readonly HeaderPair[] } | undefined
  #end: Moment | undefined
  #error: ExchangeEvent['error']
  #aborted: Moment | undefined
  /** How much of the request is on the tape: nothing, all but its body, or all. */
  #begun: 'no' | 'named' | 'whole' = 'no'

  constructor(run: RecordedRun, start: ExchangeStart, where: { readonly in?: number }) {
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
  }

  requestChunk(bytes: Buffer): void {
    this.#run.redactDue()
    this.#body.push(bytes)
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
    if (this.#settled || this.#run.over || this.#begun === 'whole') return
    const isAll = isWhole || this.#isAsLongAsSaid()
    if (!isAll && this.#begun === 'named') return
    this.#begun = isAll ? 'whole' : 'named'
    this.#run.begin(() => (isAll ? this.#asked() : this.#named()))
  }

  #isAsLongAsSaid(): boolean {
    const length = this.#headers.find(([name]) => name === 'content-length')?.[1]
    return length !== undefined && Number(length) === this.#body.reduce((sum, { length }) => sum + length, 0)
  }

  head(status: number, statusText: string, headers: readonly HeaderPair[]): void {
    if (this.#settled || this.#run.over) return
    this.#run.redactRequests()
    this.#head = { moment: this.#run.moment(), status, statusText, headers }
  }

  chunk(bytes: Buffer): void {
    if (this.#settled || this.#run.over || bytes.length === 0) return
    this.#pieces.push({ moment: this.#run.moment(), bytes })
  }

  end(): void {
    if (this.#settled || this.#run.over) return
    this.#end = this.#run.moment()
    this.#run.settled(this)
  }

  error(error: { readonly name?: string; readonly message?: string; readonly code?: string }): void {
    if (this.#settled || this.#run.over) return
    this.#run.redactRequests()
    const type = error.constructor?.name
    const facts = plainFields(error, this.#run.redactor)
    this.#error = {
      moment: this.#run.moment(),
      name: error.name ?? 'Error',
      message: this.#run.redactor.text(error.message ?? ''),
      ...(error.code === undefined ? {} : { code: error.code }),
      ...(type && type !== 'Error' && type !== 'Object' ? { type } : {}),
      ...(Object.keys(facts).length === 0 ? {} : { facts }),
    }
    this.#run.settled(this)
  }

  aborted(): void {
    if (this.#settled || this.#run.over) return
    this.#run.redactRequests()
    this.#aborted = this.#run.moment()
    this.#run.settled(this)
  }

  /** The line for the tape, redacted: the request first, as a replay will see it first. */
  event(): ExchangeEvent {
    const { redactor } = this.#run
    const event: Mutable<ExchangeEvent> = this.#asked()
    if (this.#start.via === 'stdio' && !this.#head) event.oneWay = true
    if (this.#head) {
      event.response = {
        ...this.#head,
        statusText: redactor.text(this.#head.statusText),
        headers: redactor.headers(this.#head.headers),
        chunks: this.#chunks(),
        ...(this.#end ? { end: this.#end } : {}),
      }
    }
    if (this.#error) event.error = this.#error
    if (this.#aborted) event.aborted = this.#aborted
    return event
  }

  /** The request, and nothing of what came of it. */
  #asked(): ExchangeEvent {
    this.redactRequest()
    return this.#withRequest(this.#request ?? this.#redactedRequest())
  }

  /** As {@link #asked}, without a body. */
  #named(): ExchangeEvent {
    const { url, request } = this.#redactedRequest([])
    return this.#withRequest({ url, request })
  }

  #withRequest(request: Pick<ExchangeEvent, 'url' | 'request'>): ExchangeEvent {
    const [n, at] = this.#issued
    const { via, method } = this.#start
    return { kind: 'exchange', n, at, ...this.#where, via, method, ...request }
  }

  #redactedRequest(sent: readonly Buffer[] = this.#body): Pick<ExchangeEvent, 'url' | 'request'> {
    const { redactor } = this.#run
    const { headers, body } = steadyBoundary(this.#headers, joinedBytes(sent))
    // In the order a replay redacts them: placeholders are numbered by first appearance.
    const url = redactor.url(this.#start.url)
    const clean = body.length === 0 ? undefined : redactor.encoded([body])[0]!
    const kept = redactor.requestHeaders(headers)
    return { url, request: { headers: kept, ...(clean === undefined ? {} : { body: clean }) } }
  }

  #chunks(): readonly Chunk[] {
    const { redactor } = this.#run
    const encoding = this.#head?.headers.find(([name]) => name === 'content-encoding')?.[1]
    const raw = this.#pieces.map((piece) => piece.bytes)
    const clean = encoding ? redactEncoded(raw, encoding, redactor).map(encodeBytes) : redactor.encoded(raw)
    const chunks: Chunk[] = []
    this.#pieces.forEach(({ moment: [n, at] }, i) => {
      const bytes = clean[i]
      // What was cut out of a piece may have been all of it.
      if (bytes !== undefined && bytes !== '') chunks.push([n, at, bytes])
    })
    return chunks
  }
}

type Redactor = RecordedRun['redactor']

/** What an error says beside name, message and code, as far as it is plain. */
function plainFields(error: object, redactor: Redactor): Record<string, string | number | boolean> {
  const fields: Record<string, string | number | boolean> = {}
  for (const [key, value] of Object.entries(error)) {
    if (key === 'name' || key === 'message' || key === 'code' || key === 'stack') continue
    if (typeof value === 'string') fields[key] = redactor.text(value)
    else if (typeof value === 'number' || typeof value === 'boolean') fields[key] = value
  }
  return fields
}

function redactBytes(body: Buffer, redactor: Redactor): Buffer {
  return joinedBytes(redactor.chunks([body]))
}

/**
 * A compressed body is kept byte for byte when it hides no secret. When it does, the redacted text is compressed
 * again as one piece: the client still gets what its headers promise.
 */
function redactEncoded(pieces: readonly Buffer[], encoding: string, redactor: Redactor): readonly Buffer[] {
  const decoded = decode(Buffer.concat(pieces), encoding)
  if (!decoded) return pieces
  const redacted = redactBytes(decoded, redactor)
  if (redacted.equals(decoded)) return pieces
  const encoded = encode(redacted, encoding)
  return pieces.map((_, i) => (i === 0 ? encoded : Buffer.alloc(0)))
}

/** What came of a compressed body, also of one cut short; `undefined` for an encoding nobody here can read. */
function decode(bytes: Buffer, encoding: string): Buffer | undefined {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = constants
  const maxOutputLength = 64 * 1024 * 1024
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.gunzipSync(bytes, { finishFlush: Z_SYNC_FLUSH, maxOutputLength })
    case 'deflate':
      return zlib.inflateSync(bytes, { finishFlush: Z_SYNC_FLUSH, maxOutputLength })
    case 'br':
      return zlib.brotliDecompressSync(bytes, { finishFlush: BROTLI_OPERATION_FLUSH, maxOutputLength })
    case 'zstd':
      return zlib.zstdDecompressSync(bytes, { finishFlush: ZSTD_e_flush, maxOutputLength })
    default:
      return undefined
  }
}

function encode(bytes: Buffer, encoding: string): Buffer {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.gzipSync(bytes)
    case 'deflate':
      return zlib.deflateSync(bytes)
    case 'br':
      return zlib.brotliCompressSync(bytes)
    default:
      return zlib.zstdCompressSync(bytes)
  }
}
