import { neutralLine } from '../errors/index.ts'
import {
  changeInPlace,
  codingOf,
  eventAgain,
  type LateRedactor,
  redactedAgain,
  type Redactor,
} from '../privacy/index.ts'
import {
  type CallEvent,
  type HeaderPair,
  type Json,
  parseTapeLines,
  requestBytes,
  responseBytes,
  type Tape,
  type TapeHeader,
} from '../tape/index.ts'

/** Something that looks like a secret, or that could not be searched: then it has no kind. */
export interface SecretFound {
  /** `line 3: email`, `response of event 7: jwt`: never what was found. */
  readonly place: string
  readonly kind?: string
}

export function secretFound(where: string, kind: string): SecretFound {
  return { place: `${where}: ${kind}`, kind }
}

/**
 * Where a tape holds what looks like a secret.
 *
 * @param text - the text the tape was read from
 */
export function secretsIn(tape: Tape, text: string, redactor: Redactor): readonly SecretFound[] {
  const search = new SecretSearch(redactor)
  for (const [index, line] of text.split('\n').entries()) if (line !== '') search.parse(line, index + 1)
  return search.in(tape)
}

/**
 * As {@link secretsIn}, of a tape that is read for it.
 *
 * @param redactorOf - for a tape with this header
 * @throws HarvestError as `parseTape`
 */
export function readForSecrets(
  text: string,
  source: string,
  redactorOf: (header: Pick<TapeHeader, 'redact'>) => Redactor,
): { readonly tape: Tape; readonly search: () => readonly SecretFound[] } {
  let looked: SecretSearch | undefined
  const later: (readonly [json: string, line: number])[] = []
  const tape = parseTapeLines(text, source, (json, fields, line) => {
    looked ??= new SecretSearch(redactorOf(fields))
    // What a part says is valid when its event is whole.
    if (fields['part'] === undefined) looked.look(json, fields, line)
    else later.push([json, line])
  })
  return {
    tape,
    search() {
      for (const [json, line] of later) looked!.parse(json, line)
      return looked!.in(tape)
    },
  }
}

/** Looks through the lines of a tape, and then through the bodies that stand on no line as a whole. */
class SecretSearch {
  readonly #redactor: Redactor
  readonly #found: (readonly [line: number, kind: string])[] = []
  /** Events with a finding on one of their lines; the header has no number. */
  readonly #events = new Set<unknown>()
  /** By event, the body of its request as it stands on its line. */
  readonly #bodies = new Map<unknown, unknown>()

  constructor(redactor: Redactor) {
    this.#redactor = redactor
  }

  parse(json: string, line: number): void {
    this.look(json, JSON.parse(json) as Headed, line)
  }

  look(json: string, event: Headed, line: number): void {
    if (event.request !== undefined) this.#bodies.set(event.n, event.request.body)
    const kinds = kindsOnLine(json, event, this.#redactor)
    if (kinds.length === 0) return
    for (const kind of kinds) this.#found.push([line, kind])
    this.#events.add(event.n)
    // What a name tells here is looked for in all of the tape.
    this.#redactor.json(inPlace(event) as unknown as Json)
  }

  in(tape: Tape): readonly SecretFound[] {
    const found = this.#found.sort(([a], [b]) => a - b).map(([line, kind]) => secretFound(`line ${line}`, kind))
    // A body that came in pieces is in pieces on its line; put together it may hold what none of them does.
    const bodies = found.length > 0 ? [] : bodiesOf(tape, this.#bodies)
    const inBodies = bodies.flatMap(([where, body, coding, n]) => {
      const here = inBody(where, body, coding, this.#redactor)
      if (here.length === 0) return here
      this.#events.add(n)
      this.#redactor.packed([body], coding)
      return here
    })
    const all = [...found, ...inBodies]
    if (all.length > 0) all.push(...this.#named(tape))
    return [...new Map(all.map((one) => [one.place, one])).values()]
  }

  /** Where a value stands that is known by a name elsewhere on the tape. */
  #named({ header, events }: Tape): readonly SecretFound[] {
    const places: readonly (readonly [n: unknown, place: string, search: (late: LateRedactor) => unknown])[] = [
      [undefined, 'line 1', (late) => redactedAgain({ header, events: [] }, late)],
      ...events.map((event) => [event.n, `event ${event.n}`, (late: LateRedactor) => eventAgain(event, late)] as const),
    ]
    const late = this.#redactor.late()
    return places.flatMap(([n, place, search]) => {
      const before = late.replacements
      if (!this.#events.has(n)) search(late)
      return late.replacements === before ? [] : [secretFound(place, 'secret')]
    })
  }
}

function kindsOnLine(line: string, event: Headed, redactor: Redactor): readonly string[] {
  // The pieces of an answer are left out: cut anywhere, half a word can look like something it is not.
  const { response } = event
  const placed = inPlace(event)
  if (placed !== event) {
    const text = JSON.stringify(placed)
    return kindsIn(text, placed, text, redactor)
  }
  if (response?.chunks === undefined) return kindsIn(line, event, undefined, redactor)
  const { chunks: _, ...rest } = response
  const whole = { ...event, response: rest }
  const written = JSON.stringify(whole)
  return kindsIn(written, whole, written, redactor)
}

/** What a tool wrote into its context is searched as it was redacted. */
function inPlace(event: Headed): Headed {
  const { wrote } = event
  // Of other events the field may hold anything.
  if (!Array.isArray(wrote) || !wrote.every((one) => Array.isArray(one) && Array.isArray(one[0]))) return event
  return { ...event, wrote: (wrote as NonNullable<CallEvent['wrote']>).map(changeInPlace) }
}

/** @param written - the text, where it is how `JSON.stringify` writes the event */
function kindsIn(text: string, event: Headed, written: string | undefined, redactor: Redactor): readonly string[] {
  const kinds = redactor.scan(text).map(({ kind }) => kind)
  return kinds.length > 0 || !hidesSecret(event, written, redactor) ? kinds : ['secret']
}

/** What only its place tells: text in base64, and values under a name that promises a secret. */
function hidesSecret(event: Headed, written: string | undefined, redactor: Redactor): boolean {
  const { request, response } = event
  return (
    redactor.json(event as Json, written) !== event ||
    (request?.headers ?? []).some((pair) => isOpen(pair, redactor.requestHeaders([pair]), redactor)) ||
    (response?.headers ?? []).some((pair) => isOpen(pair, redactor.headers([pair]), redactor))
  )
}

/** Whether a header says more than it would if it were recorded now: `sid=[key-1]` goes through unchanged. */
function isOpen([name, value]: HeaderPair, [shown]: readonly HeaderPair[], redactor: Redactor): boolean {
  if (shown !== undefined) return shown[1] !== value
  const named = { [name]: value }
  return redactor.json(named) !== named
}

/** As much of a line as matters here. */
interface Headed {
  readonly n?: unknown
  readonly wrote?: unknown
  readonly request?: { readonly headers?: readonly HeaderPair[]; readonly body?: unknown }
  readonly response?: { readonly headers?: readonly HeaderPair[]; readonly chunks?: unknown }
}

/** A body as its reader gets it: unpacked, and what a binary stream says. One that cannot be read may hold anything. */
function inBody(where: string, body: Buffer, coding: string | undefined, redactor: Redactor): readonly SecretFound[] {
  const found = redactor.scanBody(body, coding)
  if (!('unsearched' in found)) return found.map(({ kind }) => secretFound(where, kind))
  const { unsearched } = found
  return [{ place: `${where}: could not be searched (${neutralLine(unsearched.coding, 60)}: ${unsearched.reason})` }]
}

/**
 * The bodies that no line has as a whole.
 *
 * @param onLine - by event, the body of its request as it stands on its line
 */
function bodiesOf(
  { events }: Tape,
  onLine: ReadonlyMap<unknown, unknown>,
): readonly (readonly [place: string, body: Buffer, coding: string | undefined, n: number])[] {
  return events.flatMap((event): (readonly [string, Buffer, string | undefined, number])[] => {
    if (event.kind !== 'exchange') return []
    const { n, request, response } = event
    const { body, coded, headers } = request
    // What stands on the tape without its codings is searched as it stands.
    const coding = coded ? undefined : codingOf(headers)
    const answer = [`response of event ${n}`, responseBytes(event), codingOf(response?.headers ?? []), n] as const
    // As a text of its line it was looked through, unless it is binary.
    const isSearched = typeof body === 'string' && coding === undefined && body === onLine.get(n) && !isBinary(body)
    return isSearched ? [answer] : [[`request of event ${n}`, requestBytes(event), coding, n], answer]
  })
}

/** Whether a text may be a binary event stream, which begins with its length. */
function isBinary(text: string): boolean {
  return text.charCodeAt(0) < 0x20
}
