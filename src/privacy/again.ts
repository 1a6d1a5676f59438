import { createHash } from 'node:crypto'
import {
  type CallEvent,
  type Chunk,
  decodeBytes,
  encodeBytes,
  type ExchangeEvent,
  type HeaderPair,
  isCut,
  joinedBytes,
  type Json,
  type MaybeCut,
  namedLateFlag,
  type RecordedResponse,
  type TapeClose,
  type TapeEvent,
  type TapeHeader,
  type WrittenLine,
} from '../tape/index.ts'
import { codingOf } from './codings.ts'
import type { LateRedactor, Redactor } from './redactor.ts'

interface Lines {
  readonly header: TapeHeader
  readonly events: readonly TapeEvent[]
}

/** A line of a tape, as {@link redactedAgain}. */
export function lineAgain(line: WrittenLine, redactor: LateRedactor): WrittenLine {
  const { header, event } = line
  return {
    ...line,
    ...(header && { header: headerAgain(header, redactor) }),
    ...(event && { event: eventAgain(event, redactor) }),
  }
}

/** What is on a tape, redacted once more. Random values stay: a replay draws them again. */
export function redactedAgain<T extends Lines>(tape: T, redactor: LateRedactor): T {
  const { header, events } = tape
  return {
    ...tape,
    header: headerAgain(header, redactor),
    events: events.map((event) => eventAgain(event, redactor)),
  }
}

/**
 * What replaces the values that stand in clear in what went through this redactor before they got their name; `undefined`
 * without any.
 *
 * @param look - has all of that searched
 */
export function lateIn(redactor: Redactor, look: (search: LateRedactor) => void): LateRedactor | undefined {
  if (redactor.named === 0) return undefined
  const search = redactor.late()
  look(search)
  return search.met.size === 0 ? undefined : redactor.late(search.met)
}

/** A tape in memory that went through this redactor, without the values that were named when they had gone through. */
export function withoutLate<T extends Lines & { readonly close: Pick<TapeClose, 'outcome'> }>(
  tape: T,
  redactor: Redactor,
): T {
  const late = lateIn(redactor, (search) => {
    redactedAgain(tape, search)
    asJson(search, tape.close.outcome)
  })
  if (late === undefined) return tape
  return { ...redactedAgain(tape, late), close: { ...tape.close, outcome: asJson(late, tape.close.outcome) } }
}

function headerAgain(header: TapeHeader, redactor: LateRedactor): TapeHeader {
  const { input, session, attributes, command } = header
  const said = { input, session, attributes, command }
  const present = Object.entries(said).filter(([, value]) => value !== undefined)
  const flags = [...new Set([...header.flags, namedLateFlag])]
  return { ...header, flags, ...asJson(redactor, Object.fromEntries(present)) }
}

/** As {@link redactedAgain}, of one event. */
export function eventAgain(event: TapeEvent, redactor: LateRedactor): TapeEvent {
  if (event.kind === 'draws') return event
  if (event.kind === 'push') return { ...event, ...pushedAgain(event, redactor) }
  if ('wrote' in event && event.wrote !== undefined) {
    const wrote = redactedChanges(event.wrote, (value) => asJson(redactor, value))
    return { ...namedAgain({ ...event, wrote: [] }, redactor), wrote }
  }
  if (event.kind !== 'exchange') return namedAgain(event, redactor)
  const { url, error, request, response } = event
  return {
    ...event,
    url: redactor.key(url),
    request: requestAgain(request, redactor),
    ...(response && { response: responseAgain(response, redactor) }),
    ...(error && { error: asJson(redactor, error) }),
  }
}

/** What an event is called stays, and is not searched. */
function namedAgain<T extends TapeEvent>(event: T, redactor: LateRedactor): T {
  const names: Partial<Record<'name' | 'from' | 'to', string>> =
    event.kind === 'message' ? { from: event.from, to: event.to } : 'name' in event ? { name: event.name } : {}
  const unnamed = Object.fromEntries(Object.keys(names).map((key) => [key, '']))
  const again = asJson(redactor, { ...event, ...unnamed })
  const fields = Object.entries(again).map(([key, value]) => [key, cutAgain(event[key as keyof T], value, redactor)])
  return { ...again, ...Object.fromEntries(fields), ...names }
}

/** A value that was cut, or a list of some: no part of a secret stays at the cut, and no digest follows from one. */
function cutAgain(before: unknown, after: unknown, redactor: LateRedactor): unknown {
  if (Array.isArray(before) && Array.isArray(after))
    return after.map((item, at) => cutAgain(before[at], item, redactor))
  if (!isCut(before) || !isCut(after)) return after
  const [end, start] = redactor.apart(after.head, after.tail)
  const [head, tail] = [after.head.slice(0, end), after.tail.slice(start)]
  if (before.head === head && before.tail === tail) return after
  const { sha256: _, ...rest } = after
  const gone = Buffer.byteLength(after.head.slice(end)) + Buffer.byteLength(after.tail.slice(0, start))
  return { ...rest, cut: after.cut + gone, head, tail }
}

type Pushed = Extract<TapeEvent, { kind: 'push' }>

function pushedAgain({ url, text, frame }: Pushed, redactor: LateRedactor): Pick<Pushed, 'url' | 'text'> {
  const isBinary = frame === 'binary' || frame === 'ping' || frame === 'pong'
  if (!isBinary) return { url: redactor.key(url), text: redactor.text(text) }
  const bytes = redactor.chunks([Buffer.from(text, 'base64')])
  return { url: redactor.key(url), text: joinedBytes(bytes).toString('base64') }
}

function requestAgain(request: ExchangeEvent['request'], redactor: LateRedactor): ExchangeEvent['request'] {
  const { headers, body } = request
  const kept = { ...request, headers: headers.map(([name, value]): HeaderPair => [name, redactor.key(value)]) }
  // A tape that was read holds no references.
  if (body === undefined || (typeof body === 'object' && 'like' in body)) return kept
  const { pieces, facts } = bodyAgain(request, [decodeBytes(body)], redactor)
  return { ...kept, ...facts, body: encodeBytes(joinedBytes(pieces)) }
}

function responseAgain(response: RecordedResponse, redactor: LateRedactor): RecordedResponse {
  const { statusText, headers, chunks } = response
  const before = chunks.map(([, , bytes]) => decodeBytes(bytes))
  const { pieces, facts } = bodyAgain(response, before, redactor, codingOf(headers))
  return {
    ...response,
    ...(statusText !== undefined && { statusText: redactor.text(statusText) }),
    headers: headers.map(([name, value]): HeaderPair => [name, redactor.text(value)]),
    ...facts,
    chunks: chunks.flatMap((chunk, nth): Chunk[] => {
      const [n, at] = chunk
      const [was, is] = [before[nth]!, pieces[nth]!]
      if (is.equals(was)) return [chunk]
      return is.length === 0 ? [] : [[n, at, encodeBytes(is)]]
    }),
  }
}

/** A body, either side of a cut for itself: what stood across it is on no tape. */
function bodyAgain(
  { cut, whole }: MaybeCut,
  pieces: readonly Buffer[],
  redactor: LateRedactor,
  contentEncoding?: string,
): { readonly pieces: readonly Buffer[]; readonly facts: MaybeCut } {
  if (cut === undefined || whole === undefined)
    return { pieces: piecesAgain(pieces, redactor, contentEncoding), facts: {} }
  let left = whole.at
  const borders = pieces.map(({ length }) => {
    const border = Math.min(length, left)
    left -= border
    return border
  })
  const head = piecesAgain(
    pieces.map((piece, nth) => piece.subarray(0, borders[nth])),
    redactor,
  )
  const tail = piecesAgain(
    pieces.map((piece, nth) => piece.subarray(borders[nth])),
    redactor,
  )
  // A part of a secret at the cut is the same in bytes and in what they are as text: what is no text has none.
  const [ends, begins] = [joinedBytes(head).toString(), joinedBytes(tail).toString()]
  const [end, start] = redactor.apart(ends, begins)
  const [gone, skipped] = [Buffer.byteLength(ends.slice(end)), Buffer.byteLength(begins.slice(0, start))]
  const kept = [without(head.toReversed(), gone, -1).toReversed(), without(tail, skipped, 1)] as const
  const all = pieces.map((_, nth) => joinedBytes([kept[0][nth]!, kept[1][nth]!]))
  if (all.every((piece, nth) => piece.equals(pieces[nth]!))) return { pieces, facts: {} }
  const { sha256: _, ...rest } = whole
  const at = kept[0].reduce((sum, { length }) => sum + length, 0)
  const keptSha256 = createHash('sha256').update(joinedBytes(all)).digest('hex')
  return { pieces: all, facts: { cut: cut + gone + skipped, whole: { ...rest, at, keptSha256 } } }
}

/** Pieces without so many bytes of the first ones: at their beginning, or at their end. */
function without(pieces: readonly Buffer[], count: number, side: 1 | -1): readonly Buffer[] {
  let left = count
  return pieces.map((piece) => {
    const gone = Math.min(left, piece.length)
    left -= gone
    return side === 1 ? piece.subarray(gone) : piece.subarray(0, piece.length - gone)
  })
}

function piecesAgain(pieces: readonly Buffer[], redactor: LateRedactor, contentEncoding?: string): readonly Buffer[] {
  const clean = pieces.length === 0 ? pieces : redactor.packed(pieces, contentEncoding)
  // What could not be unpacked is on no tape.
  return 'unsearched' in clean ? pieces : clean
}

function asJson<T>(redactor: LateRedactor, value: T): T {
  return redactor.json(value as Json) as T
}

type Changes = NonNullable<CallEvent['wrote']>

/** What a tool wrote into its context, in the objects it stands in there: their names say what it is. */
export function changeInPlace([path, value]: Changes[number]): Json {
  return path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value ?? null)
}

/** The changes, each redacted in its place. */
export function redactedChanges(changes: Changes, redact: (value: Json) => Json): Changes {
  return changes.map((change): Changes[number] => {
    const whole = changeInPlace(change)
    let inner = redact(whole)
    if (inner === whole) return change
    const path: string[] = []
    while (path.length < change[0].length) {
      const [name, value] = Object.entries(inner as { readonly [name: string]: Json })[0]!
      path.push(name)
      inner = value
    }
    return change.length === 1 ? [path] : [path, inner]
  })
}
