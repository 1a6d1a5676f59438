import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type Redactor, redactorOfTape } from '../privacy/index.ts'
import { pathOf, sameForms } from '../match/credentials.ts'
import { headerDrift, meaningOnTape } from '../match/header-drift.ts'
import type { MatchRequest } from '../match/matcher.ts'
import { sameTarget } from '../match/target.ts'
import {
  decodeBytes,
  type ExchangeEvent,
  type HeaderPair,
  headersFlag,
  isSharedRead,
  isTokenRead,
  outsideFolder,
  readTape,
  readTapeHeader,
  requestBytes,
  sharedFolder,
  type Tape,
  type TapeHeader,
} from '../tape/index.ts'
import { bodyTextOf } from '../match/step.ts'
import type { SharedRequest } from '../match/types.ts'

/** An answer that a process fetches once and keeps, and where it stands. */
export interface SharedAnswer {
  readonly event: ExchangeEvent
  /** The tape it is on. */
  readonly file: string
}

/** A request as it is asked, and as it is sent. */
export interface SharedQuestion {
  readonly question: MatchRequest
  readonly headers: readonly HeaderPair[]
  /** What the agent is answered may go on to the world, which takes no stand-in for a token. */
  readonly isForWorld?: boolean
}

interface KnownAnswer extends SharedAnswer {
  readonly header: TapeHeader
}

/**
 * What another run of a process fetched, or no run at all, and the process kept: a file of an encoding, a token, the keys of an
 * issuer. The tape does not hold it, and its agent asks for it in a fresh process.
 *
 * A case is answered from `shared/` beside the golden set alone. A tape of the inbox has, besides, the other tapes of its
 * own process, and what was fetched outside its runs: what is taken from them is promoted with it.
 */
export class SharedAnswers {
  readonly #tape: Tape
  #ofProcess: readonly KnownAnswer[] | undefined
  #kept: readonly KnownAnswer[] | undefined
  #redactor: Redactor | undefined
  #addresses: ReadonlySet<string> | undefined

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /**
   * The answer to exactly this question, asked by whom and under which conditions it was. Placeholders are numbered by run:
   * only their order counts.
   */
  find(asked: SharedQuestion): SharedAnswer | undefined {
    const { question, headers, isForWorld = false } = asked
    if (!isSharedRead(question.method, question.bodyText)) return undefined
    return this.#all().find(
      (known) =>
        isSame(known.event, question) &&
        this.#isAskedAlike(known, headers) &&
        !(isForWorld && holdsPlaceholder(known.event)),
    )
  }

  /**
   * The answer to a question of the run that its tape has none for. What the process has already, the run did not ask when it
   * was recorded: of its own addresses nothing is shared, so that what it asks otherwise, or once more, stays a change of the
   * agent. Tokens for all things are fetched at one address: of them it is the question that counts.
   */
  findForRun(asked: SharedQuestion): SharedAnswer | undefined {
    const { question } = asked
    const { method, bodyText } = question
    const isOwn = isTokenRead(method, bodyText) ? this.#isOnTape(question) : this.#asked().has(addressOf(question))
    return isOwn ? undefined : this.find(asked)
  }

  /** Another tenant, language or condition is another question, and so is one without its key. */
  #isAskedAlike({ event, header: { flags, redact } }: KnownAnswer, sent: readonly HeaderPair[]): boolean {
    const redactor = (this.#redactor ??= redactorOfTape(this.#tape, { keys: 'unnumbered' }))
    const meaning = meaningOnTape(this.#tape, redactor)
    const isWhole = [flags, this.#tape.header.flags].every((each) => each.includes(headersFlag))
    const [recorded, live] = [event.request.headers, redactor.requestHeaders(sent)].map((pairs) =>
      pairs.map(([name, value]): HeaderPair => [name, renumbered(value)]),
    ) as [HeaderPair[], HeaderPair[]]
    const drift = headerDrift(recorded, live, {
      own: redact?.headers ?? [],
      isWhole,
      meaning,
      method: event.method,
    })
    return drift.length === 0 && (!isWhole || sameForms(recorded, live, meaning))
  }

  #isOnTape(question: MatchRequest): boolean {
    return this.#tape.events.some((event) => event.kind === 'exchange' && isSame(event, question))
  }

  #asked(): ReadonlySet<string> {
    this.#addresses ??= new Set(
      this.#tape.events.flatMap((event) => (event.kind === 'exchange' ? [addressOf(event)] : [])),
    )
    return this.#addresses
  }

  /** Whether what the run asked at this place is a token, of which a replay has one from its process already. */
  isHeldToken(event: ExchangeEvent, served: readonly SharedRequest[]): boolean {
    const { method, url } = event
    const bodyText = bodyTextOf(requestBytes(event))
    if (served.length === 0 || !isTokenRead(method, bodyText)) return false
    const isServed = ({ file, event: { n } }: SharedAnswer): boolean =>
      served.some((one) => one.file === file && one.n === n)
    const key = keyOf({ method, url, bodyText })
    return this.#all().some(
      (one) => isServed(one) && keyOf({ ...one.event, bodyText: bodyTextOf(requestBytes(one.event)) }) === key,
    )
  }

  /** Whether there is an answer to a request of this address. */
  holds(method: string, url: string): boolean {
    const asked = renumbered(`${method} ${url}`)
    return this.#all().some(({ event }) => renumbered(`${event.method} ${event.url}`) === asked)
  }

  urls(): readonly string[] {
    return this.#all().map(({ event }) => event.url)
  }

  #all(): readonly KnownAnswer[] {
    // The newest first: recording again refreshes what is kept.
    this.#ofProcess ??= tapesOfProcess(this.#tape).flatMap(answersOn)
    return [...this.#ofProcess, ...this.#beside()]
  }

  /** Read when it is asked for the first time: nearly no replay does. */
  #beside(): readonly KnownAnswer[] {
    const folder = sharedFolderOf(this.#tape.source)
    this.#kept ??= folder === undefined ? [] : tapesIn(folder).flatMap(answersOn)
    return this.#kept
  }
}

const known = new WeakMap<Tape, SharedAnswers>()

/** One for all that ask of a tape: an inbox has many tapes to look through. */
export function sharedAnswersOf(tape: Tape): SharedAnswers {
  const made = known.get(tape) ?? new SharedAnswers(tape)
  known.set(tape, made)
  return made
}

function addressOf({ method, url }: Pick<MatchRequest, 'method' | 'url'>): string {
  return `${method} ${pathOf(url)}`
}

function keyOf({ method, url, bodyText }: Pick<MatchRequest, 'method' | 'url' | 'bodyText'>): string {
  return renumbered(`${method} ${url}\n${bodyText}`)
}

/** The folder `shared` of the recordings that a tape is of; `undefined` for a tape that is in none. */
function sharedFolderOf(source: string): string | undefined {
  for (let folder = dirname(resolve(source)); dirname(folder) !== folder; folder = dirname(folder))
    if (['inbox', 'golden'].includes(basename(folder))) return join(dirname(folder), sharedFolder)
  return undefined
}

function tapesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tape.jsonl'))
    .sort()
    .map((name) => join(folder, name))
}

/**
 * Tapes of the same process that began before this one ended, also of what it fetched outside its runs: those from before this
 * one, the newest first, and then those that ran beside it.
 */
function tapesOfProcess({ source, header, close }: Tape): readonly string[] {
  const { process, startedAt, id } = header
  if (process === undefined) return []
  const folder = dirname(resolve(source))
  const endedAt = new Date(Date.parse(startedAt) + (close?.at ?? 0)).toISOString()
  const all = [...tapesIn(join(folder, outsideFolder)), ...tapesIn(folder)]
    .map((file) => ({ file, header: readTapeHeader(file) }))
    .filter((one) => one.header.process === process && one.header.id !== id && one.header.startedAt <= endedAt)
    .sort((one, other) => (one.header.startedAt < other.header.startedAt ? 1 : -1))
  const isBefore = (one: (typeof all)[number]): boolean => one.header.startedAt <= startedAt
  return [...all.filter(isBefore), ...all.filter((one) => !isBefore(one)).reverse()].map(({ file }) => file)
}

function answersOn(file: string): readonly KnownAnswer[] {
  const { header, events } = readTape(file)
  return events.flatMap((event) => (event.kind === 'exchange' && isShareable(event) ? [{ event, file, header }] : []))
}

function isShareable(event: ExchangeEvent): boolean {
  const { method, response } = event
  const isAnswered = response?.end !== undefined && response.status < 400
  return isAnswered && isSharedRead(method, bodyTextOf(requestBytes(event)))
}

function isSame(event: ExchangeEvent, question: MatchRequest): boolean {
  const { method, url, via, request } = event
  if (method !== question.method || via === 'stdio' || !sameTarget(request.headers, question.target)) return false
  return keyOf({ method, url, bodyText: bodyTextOf(requestBytes(event)) }) === keyOf(question)
}

function holdsPlaceholder({ response }: ExchangeEvent): boolean {
  const body = (response?.chunks ?? []).map(([, , bytes]) => decodeBytes(bytes).toString('utf8')).join('')
  return /redacted-[a-z]/.test(body)
}

/** Placeholders count from 1 in this text. */
function renumbered(text: string): string {
  const numbers = new Map<string, string>()
  return text.replaceAll(/(redacted-(?:[a-z][a-z0-9-]*?-)?|\[key-|%5Bkey-)\d{1,9}/g, (placeholder, head: string) => {
    if (!numbers.has(placeholder)) numbers.set(placeholder, `${head}${numbers.size + 1}`)
    return numbers.get(placeholder)!
  })
}
