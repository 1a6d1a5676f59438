import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { MatchRequest } from '../match/matcher.ts'
import { sameTarget } from '../match/target.ts'
import { type ExchangeEvent, readTape, readTapeHeader, requestBytes, type Tape } from '../tape/index.ts'
import { bodyTextOf } from '../match/step.ts'

/** An answer that a process fetches once and keeps, and where it stands. */
export interface SharedAnswer {
  readonly event: ExchangeEvent
  /** The tape it is on. */
  readonly file: string
}

/**
 * What an earlier run of a process fetched and the process kept: a file of an encoding, a token, the keys of an issuer. A tape
 * of a later run does not hold it, and its agent asks for it in a fresh process.
 *
 * A case is answered from `shared/` beside the golden set alone. A tape of the inbox has, besides, the earlier tapes of its
 * own process: what is taken from them is promoted with it.
 */
export class SharedAnswers {
  readonly #tape: Tape
  #earlier: readonly SharedAnswer[] | undefined
  #kept: readonly SharedAnswer[] | undefined

  constructor(tape: Tape) {
    this.#tape = tape
  }

  /** The answer to exactly this question. Placeholders are numbered by run: only their order counts. */
  find(question: MatchRequest): SharedAnswer | undefined {
    if (!mayBeShared(question)) return undefined
    const { header, source } = this.#tape
    // The newest first: recording again refreshes what is kept.
    this.#earlier ??= earlierOfProcess(source, header).flatMap(answersOn)
    return [...this.#earlier, ...this.#beside()].find(({ event }) => isSame(event, question))
  }

  /** Read when it is asked for the first time: nearly no replay does. */
  #beside(): readonly SharedAnswer[] {
    const folder = sharedFolder(this.#tape.source)
    this.#kept ??= folder === undefined ? [] : tapesIn(folder).flatMap(answersOn)
    return this.#kept
  }
}

function keyOf({ method, url, bodyText }: Pick<MatchRequest, 'method' | 'url' | 'bodyText'>): string {
  return renumbered(`${method} ${url}\n${bodyText}`)
}

/** The folder `shared` of the recordings that a tape is of; `undefined` for a tape that is in none. */
function sharedFolder(source: string): string | undefined {
  for (let folder = dirname(resolve(source)); dirname(folder) !== folder; folder = dirname(folder))
    if (['inbox', 'golden'].includes(basename(folder))) return join(dirname(folder), 'shared')
  return undefined
}

function tapesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.tape.jsonl'))
    .sort()
    .map((name) => join(folder, name))
}

/** Tapes beside this one that the same process wrote before, the newest first. */
function earlierOfProcess(source: string, { process, startedAt, id }: Tape['header']): readonly string[] {
  if (process === undefined) return []
  return tapesIn(dirname(resolve(source)))
    .map((file) => ({ file, header: readTapeHeader(file) }))
    .filter(({ header }) => header.process === process && header.id !== id && header.startedAt <= startedAt)
    .sort((one, other) => (one.header.startedAt < other.header.startedAt ? 1 : -1))
    .map(({ file }) => file)
}

function answersOn(file: string): readonly SharedAnswer[] {
  return readTape(file).events.flatMap((event) => sharedOf(event, file))
}

function sharedOf(event: Tape['events'][number], file: string): readonly SharedAnswer[] {
  if (event.kind !== 'exchange' || event.response?.end === undefined || event.response.status >= 400) return []
  const asked = { method: event.method, url: event.url, bodyText: bodyTextOf(requestBytes(event)) }
  return mayBeShared(asked) ? [{ event, file }] : []
}

/** Only what is read: nothing is asked of a model so, or changed. A token is a read with the method of a change. */
function mayBeShared({ method, bodyText }: Pick<MatchRequest, 'method' | 'bodyText'>): boolean {
  switch (method.toUpperCase()) {
    case 'GET':
    case 'HEAD':
      return bodyText === ''
    case 'POST':
      // RFC 6749, section 4: every request for a token is a form with this field.
      return new URLSearchParams(bodyText).has('grant_type')
    default:
      return false
  }
}

function isSame(event: ExchangeEvent, question: MatchRequest): boolean {
  const { method, url, via, request } = event
  if (method !== question.method || via === 'stdio' || !sameTarget(request.headers, question.target)) return false
  return keyOf({ method, url, bodyText: bodyTextOf(requestBytes(event)) }) === keyOf(question)
}

/** Placeholders count from 1 in this text. */
function renumbered(text: string): string {
  const numbers = new Map<string, string>()
  return text.replaceAll(/(redacted-(?:[a-z][a-z0-9-]*?-)?|\[key-|%5Bkey-)\d{1,9}/g, (placeholder, head: string) => {
    if (!numbers.has(placeholder)) numbers.set(placeholder, `${head}${numbers.size + 1}`)
    return numbers.get(placeholder)!
  })
}
