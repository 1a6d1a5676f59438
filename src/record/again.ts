import { createHash } from 'node:crypto'
import { codingOf, type LateRedactor } from '../privacy/index.ts'
import {
  type Chunk,
  decodeBytes,
  encodeBytes,
  type EncodedBytes,
  type ExchangeEvent,
  type HeaderPair,
  joinedBytes,
  type Json,
  type MaybeCut,
  type RecordedResponse,
  type Tape,
  type TapeEvent,
  type TapeHeader,
} from '../tape/index.ts'
import type { Piece } from './capped-body.ts'
import { chunksOf } from './cut-body.ts'

type Lines = Pick<Tape, 'header' | 'events'>

/** What is on a tape, redacted once more. Random values stay: a replay draws them again. */
export function redactedAgain({ header, events }: Lines, redactor: LateRedactor): Lines {
  return { header: headerAgain(header, redactor), events: events.map((event) => eventAgain(event, redactor)) }
}

function headerAgain(header: TapeHeader, redactor: LateRedactor): TapeHeader {
  const { input, session, attributes, command } = header
  const said = { input, session, attributes, command }
  const present = Object.entries(said).filter(([, value]) => value !== undefined)
  return { ...header, ...asJson(redactor, Object.fromEntries(present)) }
}

function eventAgain(event: TapeEvent, redactor: LateRedactor): TapeEvent {
  if (event.kind === 'draws') return event
  if (event.kind === 'push') return { ...event, ...pushedAgain(event, redactor) }
  if (event.kind !== 'exchange') return asJson(redactor, event)
  const { url, error, request, response } = event
  return {
    ...event,
    url: redactor.key(url),
    request: requestAgain(request, redactor),
    ...(response && { response: responseAgain(response, redactor) }),
    ...(error && { error: asJson(redactor, error) }),
  }
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
  const { pieces, facts } = sidesAgain(request, [{ bytes: decodeBytes(body) }], redactor)
  return { ...kept, ...facts, body: encodeBytes(joinedBytes(pieces.map(({ bytes }) => bytes))) }
}

function responseAgain(response: RecordedResponse, redactor: LateRedactor): RecordedResponse {
  const { statusText, headers } = response
  const heads = headers.map(([name, value]): HeaderPair => [name, redactor.text(value)])
  const before = response.chunks.map(([n, at, bytes]): Piece => ({ bytes: decodeBytes(bytes), moment: [n, at] }))
  const { pieces, facts } = sidesAgain(response, before, redactor, codingOf(headers))
  return {
    ...response,
    ...(statusText !== undefined && { statusText: redactor.text(statusText) }),
    headers: heads,
    ...facts,
    chunks: chunksAgain(response.chunks, pieces),
  }
}

/** Pieces that are what they were stay as they were written. */
function chunksAgain(before: readonly Chunk[], pieces: readonly Piece[]): readonly Chunk[] {
  const written = new Map<unknown, EncodedBytes>(before.map(([n, , bytes]) => [n, bytes]))
  return chunksOf(
    pieces,
    pieces.map(({ bytes, moment }) => {
      const was = written.get(moment?.[0])
      return was !== undefined && decodeBytes(was).equals(bytes) ? was : encodeBytes(bytes)
    }),
  )
}

/** A body, each side of a cut for itself: a secret across it is on no tape. */
function sidesAgain(
  { cut, whole }: MaybeCut,
  pieces: readonly Piece[],
  redactor: LateRedactor,
  contentEncoding?: string,
): { readonly pieces: readonly Piece[]; readonly facts: MaybeCut } {
  if (cut === undefined || whole === undefined) return { pieces: bodyAgain(pieces, redactor, contentEncoding), facts: {} }
  const [head, tail] = cutAt(pieces, whole.at).map((side) => bodyAgain(side, redactor, undefined))
  const all = [...head!, ...tail!]
  const kept = joinedBytes(all.map(({ bytes }) => bytes))
  if (kept.equals(joinedBytes(pieces.map(({ bytes }) => bytes)))) return { pieces, facts: {} }
  const { sha256: _, ...rest } = whole
  const at = head!.reduce((sum, { bytes }) => sum + bytes.length, 0)
  const keptSha256 = createHash('sha256').update(kept).digest('hex')
  return { pieces: all, facts: { whole: { ...rest, at, keptSha256 } } }
}

function cutAt(pieces: readonly Piece[], at: number): readonly [Piece[], Piece[]] {
  const sides: [Piece[], Piece[]] = [[], []]
  let left = at
  for (const piece of pieces) {
    const { bytes } = piece
    if (left > 0) sides[0].push({ ...piece, bytes: bytes.subarray(0, left) })
    if (left < bytes.length) sides[1].push({ ...piece, bytes: bytes.subarray(Math.max(0, left)) })
    left = Math.max(0, left - bytes.length)
  }
  return sides
}

function bodyAgain(
  pieces: readonly Piece[],
  redactor: LateRedactor,
  contentEncoding: string | undefined,
): readonly Piece[] {
  if (pieces.length === 0) return pieces
  const clean = redactor.packed(
    pieces.map(({ bytes }) => bytes),
    contentEncoding,
  )
  // What could not be unpacked is on no tape.
  if ('unsearched' in clean) return pieces
  return pieces.map((piece, nth) => ({ ...piece, bytes: clean[nth]! }))
}

function asJson<T>(redactor: LateRedactor, value: T): T {
  return redactor.json(value as Json) as T
}
