import { isUtf8 } from 'node:buffer'
import { type HarvestError, shellWord } from '../errors/index.ts'
import { orRecordAgain, toRestore } from '../errors/usual-steps.ts'
import { openLine } from './digest.ts'
import { duplicateKeyIn } from './duplicate-keys.ts'
import { brokenLine, printable, tapeFault } from './errors.ts'
import { knownFlags } from './flags.ts'
import { hazardOf } from './hazards.ts'
import { type LikeBody, RecentBodies } from './like.ts'
import { PartsRead } from './parts.ts'
import { SeenNumbers } from './seen.ts'
import { closeProblem, eventProblem, headerProblem, isFields, readOutcome, type WrittenOutcome } from './shape.ts'
import {
  type Body,
  type ExchangeEvent,
  formatVersion,
  type HeaderPair,
  type Json,
  type StateEvent,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
} from './types.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Gets each line of a tape that is valid so far, before anything is made of its members.
 *
 * @param json - the line without its digest
 * @param fields - what that says; not to be kept
 * @param line - its number; 1 is the header
 */
export type LineLook = (json: string, fields: Fields, line: number) => void

/**
 * Reads the lines of one tape in file order: digest, shape, numbers, references. Holds no line after it is read
 * but the request bodies later lines may refer to.
 *
 * Gotchas: the bytes given are scratch space afterwards, see {@link openLine}.
 */
export class LineReader {
  readonly #source: string
  readonly #bodies = new RecentBodies()
  readonly #states = new RecentBodies()
  readonly #seen = new SeenNumbers()
  readonly #parts = new PartsRead()
  /** Of the exchange before. */
  #requestHeaders: readonly HeaderPair[] = []
  #responseHeaders: readonly HeaderPair[] = []
  #line = 0
  #events = 0
  #closed = false
  #header: Pick<TapeHeader, 'imported'> = {}
  readonly #look: LineLook | undefined
  /** The last line read, without its digest. */
  #json = ''
  /** Digest of the last line read. */
  digest = ''

  constructor(source: string, look?: LineLook) {
    this.#source = source
    this.#look = look
  }

  /** Number of the line read last; 1 is the header. */
  get line(): number {
    return this.#line
  }

  /** Whether the closing line was read: nothing may follow it, also no half of a line. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** The first line. */
  header(bytes: Buffer, start: number, end: number): TapeHeader {
    const header = this.#next(bytes, start, end, (fields) => this.#refuseNewer(fields))
    const problem = Number.isSafeInteger(header['harvest']) ? headerProblem(header) : 'harvest is not a format version'
    if (problem !== undefined) throw this.#broken(`it is not the header of a tape: ${problem}`)
    const flags = header['flags'] as readonly string[]
    const unknown = flags.filter((flag) => !knownFlags.includes(flag))
    if (unknown.length > 0) throw this.#unknownFlags(unknown)
    this.#header = header as unknown as TapeHeader
    this.#show(header)
    return this.#header as TapeHeader
  }

  /** Any line after the first; `undefined` for one of an event that more is to be said of. */
  next(bytes: Buffer, start: number, end: number): TapeEvent | TapeClose | undefined {
    if (this.#closed) {
      this.#line++
      throw this.#broken('it stands after the closing line')
    }
    const fields = this.#next(bytes, start, end)
    if (fields['kind'] === 'close') return this.#asClose(fields)
    return fields['part'] === undefined ? this.#asEvent(fields) : this.#asPart(fields)
  }

  /** Events that had begun and are not settled, as far as they came: before the closing line, and at the end of the tape. */
  open(): readonly TapeEvent[] {
    return this.#parts.takeOpen().map((event) => {
      if (typeof event === 'string') throw this.#broken(`an unsettled event is invalid: ${event}`)
      return event
    })
  }

  #asPart(fields: Fields): TapeEvent | undefined {
    const n = fields['n'] as number
    const before = this.#parts.soFar(n)
    const event = this.#parts.take(fields)
    if (typeof event === 'string') throw this.#broken(event)
    this.#show(fields)
    if (before === undefined) this.#count(n)
    // What was put together holds this very request.
    const { request } = fields as { readonly request?: { body?: Body; headers: readonly HeaderPair[] } }
    const { response } = (event ?? {}) as Partial<ExchangeEvent>
    this.#shareHeaders({ request, response })
    const url = before?.['url'] ?? fields['url']
    if (request?.body !== undefined) this.#resolveBody(n, String(url), request)
    return event
  }

  #count(n: number): void {
    if (!this.#seen.add(n)) throw this.#broken(`the tape has another event ${n}`)
    this.#events++
  }

  #asEvent(fields: Fields): TapeEvent {
    const problem = eventProblem(fields)
    if (problem !== undefined) throw this.#broken(`it is not an event: ${problem}`)
    const event = fields as unknown as TapeEvent
    this.#show(fields)
    this.#count(event.n)
    if (event.kind === 'exchange') {
      this.#shareHeaders(event)
      if (event.request.body !== undefined) this.#resolveBody(event.n, event.url, event.request)
    }
    return event.kind === 'state' ? this.#resolveState(event, fields['like'] as LikeBody | undefined) : event
  }

  #shareHeaders({
    request,
    response,
  }: {
    readonly request?: Headed | undefined
    readonly response?: Headed | undefined
  }) {
    if (request) this.#requestHeaders = request.headers = shared(request.headers, this.#requestHeaders)
    if (response) this.#responseHeaders = response.headers = shared(response.headers, this.#responseHeaders)
  }

  #resolveBody(n: number, url: string, request: { body?: Body }): void {
    const { body } = request
    if (typeof body === 'object' && 'like' in body) {
      const whole = this.#bodies.resolve(body)
      if (whole === undefined)
        throw this.#broken(`its request body refers to event ${body.like}, which holds no such text`)
      request.body = whole
    }
    if (typeof request.body === 'string') this.#bodies.remember(n, url, request.body)
  }

  #resolveState(event: StateEvent, like: LikeBody | undefined): StateEvent {
    const text = like === undefined ? JSON.stringify(event.data) : this.#states.resolve(like)
    const data = like === undefined ? event.data : parsed(text)
    if (text === undefined || data === undefined)
      throw this.#broken(`its state refers to event ${like?.like}, which holds no such text`)
    this.#states.remember(event.n, event.name, text)
    const { like: _, ...rest } = event as StateEvent & { readonly like?: LikeBody }
    return { ...rest, data }
  }

  #asClose(fields: Fields): TapeClose {
    const problem = closeProblem(fields)
    if (problem !== undefined) throw this.#broken(`it is not a closing line: ${problem}`)
    if (fields['events'] !== this.#events) {
      throw this.#broken(`it counts ${String(fields['events'])} events, the tape holds ${this.#events}`)
    }
    this.#closed = true
    this.#show(fields)
    const close = fields as unknown as TapeClose
    return { ...close, outcome: readOutcome(close.outcome as WrittenOutcome, this.#header) }
  }

  #show(fields: Fields): void {
    this.#look?.(this.#json, fields, this.#line)
  }

  #next(bytes: Buffer, start: number, end: number, check?: (fields: Fields) => void): Fields {
    this.#line++
    const sealed = openLine(this.digest, bytes, start, end)
    const json = sealed?.json ?? bytes.toString('utf8', start, end)
    const value = this.#parse(json)
    check?.(value)
    if (sealed === undefined || sealed.stated !== undefined) throw this.#tampered(sealed?.stated, sealed?.digest)
    const hazard = hazardOf(value, json)
    if (hazard !== undefined) throw this.#broken(hazard)
    if (!isUtf8(bytes.subarray(start, end))) throw this.#broken('it is not UTF-8 text')
    const twice = duplicateKeyIn(json, value)
    if (twice !== undefined) throw this.#broken(`the key ${JSON.stringify(twice)} stands twice in one map`)
    this.digest = sealed.digest
    this.#json = json
    return value
  }

  #parse(json: string): Fields {
    if (json.endsWith('\r')) {
      throw tapeFault('HARVEST_TAPE_LINE', this.#place, {
        what: 'The tape has Windows line endings',
        why: 'Git converted its line endings.',
        fix: ['add to .gitattributes: *.tape.jsonl -text', `then: git restore ${shellWord(this.#source)}`],
      })
    }
    let value: unknown
    try {
      value = JSON.parse(json)
    } catch (error) {
      throw this.#broken(json === '' ? 'it is empty' : (error as SyntaxError).message, error)
    }
    if (!isFields(value)) throw this.#broken('it is not an object')
    return value
  }

  #refuseNewer({ harvest }: Fields): void {
    if (typeof harvest !== 'number' || !(harvest > formatVersion)) return
    throw tapeFault('HARVEST_TAPE_VERSION', this.#place, {
      what: 'The tape has a newer format than this version of vitest-harvest reads',
      where: { format: `${harvest}`, known: `${formatVersion}` },
      fix: ['npm install --save-dev vitest-harvest@latest'],
    })
  }

  #unknownFlags(flags: readonly string[]): HarvestError {
    return tapeFault('HARVEST_TAPE_VERSION', this.#place, {
      what: 'The tape needs a newer version of vitest-harvest',
      where: { unknown: printable(flags.join(', ')), known: knownFlags.join(', ') },
      why: 'It was recorded by a newer version, whose replay rules differ.',
      fix: ['npm install --save-dev vitest-harvest@latest'],
    })
  }

  #tampered(stated: string | undefined, actual: string | undefined): HarvestError {
    return tapeFault('HARVEST_TAPE_TAMPERED', this.#place, {
      what: 'The tape was changed after it was recorded',
      where: {
        digest: stated === undefined ? 'missing' : printable(stated),
        ...(actual !== undefined && { computed: actual }),
      },
      why: 'The digest does not match: the line was edited, or one before it was removed, repeated or moved.',
      fix: [
        ...toRestore(this.#source),
        orRecordAgain,
        'to change what a test expects, edit its case file: a tape is evidence',
      ],
    })
  }

  #broken(problem: string, cause?: unknown): HarvestError {
    return brokenLine(this.#source, this.#line, problem, cause)
  }

  get #place(): { source: string; line: number } {
    return { source: this.#source, line: this.#line }
  }
}

interface Headed {
  headers: readonly HeaderPair[]
}

/** Headers are mostly those of the exchange before: what says the same becomes one, for memory and for who compares. */
function shared(headers: readonly HeaderPair[], before: readonly HeaderPair[]): readonly HeaderPair[] {
  const pairs = headers as HeaderPair[]
  let isSame = pairs.length === before.length
  for (let i = 0; i < pairs.length; i++) {
    const [was, is] = [before[i], pairs[i]!]
    if (was !== undefined && was[0] === is[0] && was[1] === is[1]) pairs[i] = was
    else isSame = false
  }
  return isSame ? before : pairs
}

function parsed(text: string | undefined): Json | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Json)
  } catch {
    // A reference that puts no JSON together is a broken one: its reader says so.
    return undefined
  }
}
