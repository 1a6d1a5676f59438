import type { ExchangeObserver, ExchangeStart, HeardHeaders } from '../seam/observe/observer.ts'
import { outsideRuns, seamState } from '../seam/source.ts'
import { type HeaderPair, isSharedRead } from '../tape/index.ts'

/** A read of the process, complete. */
export interface ProcessRead {
  readonly start: ExchangeStart
  /** As a tape has it. */
  readonly startedAt: string
  readonly headers: readonly HeaderPair[]
  readonly sent: Buffer
  readonly status: number
  readonly statusText: string
  readonly answerHeaders: readonly HeaderPair[]
  readonly got: Buffer
}

export interface ProcessReadsSettings {
  /** Bytes of the largest answer that is kept. */
  readonly bodyCap: number
  readonly write: (read: ProcessRead) => void
}

/** Different questions kept of one process, and bytes of those that are not written: a poller must not fill the memory. */
const mostQuestions = 200
const mostBytes = 32 * 2 ** 20
/** No request for a token is larger. */
const mostSent = 64 * 1024

/**
 * What a process fetches outside its runs and may keep: a token, the keys of an issuer, a file. A run that relies on it does not
 * ask for it, and its replay in a fresh process does. Of each question the newest answer is held, and written when a tape is.
 */
export class ProcessReads {
  readonly #settings: ProcessReadsSettings
  readonly #waiting = new Map<string, ProcessRead>()
  /** By question: the answer that was written last. */
  readonly #written = new Map<string, Buffer>()
  #bytes = 0

  constructor(settings: ProcessReadsSettings) {
    this.#settings = settings
  }

  hear(start: ExchangeStart): ExchangeObserver | undefined {
    if (!['GET', 'HEAD', 'POST'].includes(start.method.toUpperCase()) || start.via === 'stdio') return undefined
    return new HeardRead(start, this.#settings.bodyCap, (read) => this.#answered(read))
  }

  /** Writes what came since the last tape. */
  flush(): void {
    const due = [...this.#waiting]
    this.#waiting.clear()
    outsideRuns(() => {
      for (const [question, read] of due) {
        this.#bytes -= read.got.length
        this.#written.set(question, read.got)
        this.#settings.write(read)
      }
    })
  }

  #answered(read: ProcessRead): void {
    const { start, sent, got } = read
    const question = `${start.method} ${start.url}\n${sent.toString('utf8')}`
    if (this.#written.get(question)?.equals(got)) return
    const before = this.#waiting.get(question)
    const isKnown = before !== undefined || this.#written.has(question)
    const bytes = this.#bytes + got.length - (before?.got.length ?? 0)
    if (bytes > mostBytes || (!isKnown && this.#waiting.size + this.#written.size >= mostQuestions)) return
    this.#bytes = bytes
    this.#waiting.set(question, read)
  }
}

/** Collects one exchange, as long as it may be a read that is kept. */
class HeardRead implements ExchangeObserver {
  readonly #start: ExchangeStart
  readonly #startedAt = new Date(seamState().natives.epoch()).toISOString()
  readonly #cap: number
  readonly #answered: (read: ProcessRead) => void
  #headers: readonly HeaderPair[]
  #sent: Buffer[] = []
  #got: Buffer[] = []
  #held = 0
  #head: Pick<ProcessRead, 'status' | 'statusText' | 'answerHeaders'> | undefined
  #isGivenUp = false

  constructor(start: ExchangeStart, cap: number, answered: (read: ProcessRead) => void) {
    this.#start = start
    this.#cap = cap
    this.#answered = answered
    this.#headers = start.headers ?? []
  }

  requestHeaders(pairs: readonly HeaderPair[]): void {
    this.#headers = pairs
  }

  requestChunk(bytes: Buffer): void {
    this.#sent = this.#held + bytes.length > mostSent ? this.#giveUp() : this.#hold(this.#sent, bytes)
  }

  leaving(): void {}

  head(status: number, statusText: string, { pairs }: HeardHeaders): void {
    this.#head = { status, statusText, answerHeaders: pairs }
    const isRead = status < 400 && isSharedRead(this.#start.method, Buffer.concat(this.#sent).toString('utf8'))
    if (!isRead) this.#giveUp()
  }

  chunk(bytes: Buffer): void {
    this.#got = this.#held + bytes.length > this.#cap ? this.#giveUp() : this.#hold(this.#got, bytes)
  }

  end(): void {
    if (this.#isGivenUp || this.#head === undefined) return
    this.#answered({
      start: this.#start,
      startedAt: this.#startedAt,
      headers: this.#headers,
      sent: Buffer.concat(this.#sent),
      got: Buffer.concat(this.#got),
      ...this.#head,
    })
    this.#giveUp()
  }

  error(): void {
    this.#giveUp()
  }

  aborted(): void {
    this.#giveUp()
  }

  #hold(pieces: Buffer[], bytes: Buffer): Buffer[] {
    if (this.#isGivenUp) return []
    this.#held += bytes.length
    pieces.push(bytes)
    return pieces
  }

  #giveUp(): [] {
    this.#isGivenUp = true
    this.#sent = []
    this.#got = []
    return []
  }
}
