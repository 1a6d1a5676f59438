import type { TextRange } from './types.ts'

/** A secret that stands in several places, in pieces. */
export interface Scattered {
  readonly kind: string
  readonly value: string
  readonly contextual?: true
  readonly encoded?: TextRange['encoded']
  /** Parts of the text, in order; the first is replaced, the others are cut. */
  readonly pieces: readonly { readonly start: number; readonly end: number }[]
}

/**
 * Finds secrets that a model streamed piece by piece: `jane@exam` in one event, `ple.com` in the next. In the
 * bytes they never stand together; whoever reads the answer puts them together again.
 *
 * Looks at server-sent events, JSON lines and a streamed JSON list, and there at the fields in which providers
 * send pieces of an answer.
 */
export function findScattered(text: string, find: (joined: string) => readonly TextRange[]): readonly Scattered[] {
  if (!isStream(text)) return []
  return [...gather(text).values()].flatMap((pieces) => (pieces.length > 1 ? inPieces(pieces, find) : []))
}

/** Whether a text may be a stream of pieces that are read together. */
export function isStream(text: string): boolean {
  if (/^(?:data|event|id|retry|:)/.test(text)) return text.includes('\ndata:')
  if (text.startsWith('{')) return text.includes('}\n{') || text.includes('}\r\n{')
  return /^\[\s{0,4}\{/.test(text) && text.includes('"candidates"')
}

interface Piece {
  /** Where its text stands, without the quotes. */
  readonly start: number
  readonly raw: string
  readonly text: string
}

const pieceFields =
  'content|text|delta|arguments|partial_json|thinking|reasoning|reasoning_content|refusal|transcript|input|textDelta|inputTextDelta|response|completion|generated_text|output'
const piecePattern = new RegExp(`"(${pieceFields})"\\s{0,8}:\\s{0,8}"((?:[^"\\\\\n]|\\\\.){0,65536})"`, 'g')
const streamPattern =
  /"(?:index|output_index|content_index|contentBlockIndex|item_id)"\s{0,8}:\s{0,8}("?[\w-]{1,128}"?)/g

/** The texts a stream sends in pieces, each in order. */
export function streamedTexts(text: string): Iterable<readonly Pick<Piece, 'start' | 'text'>[]> {
  return gather(text).values()
}

/** Pieces by the stream they belong to: the field, and the numbers of choice, block or item beside it. */
function gather(text: string): Map<string, Piece[]> {
  const streams = new Map<string, Piece[]>()
  let lineEnd = -1
  let numbers = ''
  piecePattern.lastIndex = 0
  for (let match = piecePattern.exec(text); match !== null; match = piecePattern.exec(text)) {
    const [whole, field = '', raw = ''] = match
    const end = match.index + whole.length - 1
    if (end > lineEnd) {
      const lineStart = text.lastIndexOf('\n', match.index) + 1
      const lineFeed = text.indexOf('\n', end)
      lineEnd = lineFeed === -1 ? text.length : lineFeed
      numbers = numbersIn(text.slice(lineStart, lineEnd))
    }
    const stream = `${field} ${numbers}`
    const pieces = streams.get(stream) ?? []
    if (pieces.length === 0) streams.set(stream, pieces)
    pieces.push({ start: end - raw.length, raw, text: textOf(raw) })
  }
  return streams
}

function numbersIn(line: string): string {
  let numbers = ''
  streamPattern.lastIndex = 0
  for (let match = streamPattern.exec(line); match !== null; match = streamPattern.exec(line)) numbers += `${match[1]},`
  return numbers
}

function inPieces(pieces: readonly Piece[], find: (joined: string) => readonly TextRange[]): Scattered[] {
  const joined = pieces.map(({ text }) => text).join('')
  const scattered: Scattered[] = []
  let first = 0
  let firstStart = 0
  for (const { kind, value, start, end, contextual, encoded } of find(joined)) {
    // In the order of their meaning, not of their places.
    if (start < firstStart) first = firstStart = 0
    while (firstStart + pieces[first]!.text.length <= start) firstStart += pieces[first++]!.text.length
    const parts: { start: number; end: number }[] = []
    for (let at = first, atStart = firstStart; atStart < end; atStart += pieces[at++]!.text.length) {
      const piece = pieces[at]!
      const from = Math.max(0, start - atStart)
      const to = Math.min(piece.text.length, end - atStart)
      if (from < to)
        parts.push({ start: piece.start + rawOffset(piece, from), end: piece.start + rawOffset(piece, to) })
    }
    // One piece may have all of it, and the one before its name: `Bearer ` and then the token.
    if (parts.length > 1 || !find(pieces[first]!.text).some((alone) => alone.value === value))
      scattered.push({ kind, value, pieces: parts, ...(contextual && { contextual }), ...(encoded && { encoded }) })
  }
  return scattered
}

function textOf(raw: string): string {
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`) as string
  } catch {
    // Not JSON: what stands there is then all there is.
    return raw
  }
}

/** Where a character of the text of a piece stands in its raw form. */
function rawOffset({ raw, text }: Piece, offset: number): number {
  if (raw === text) return offset
  let at = 0
  for (let taken = 0; taken < offset; taken++) at += raw[at] !== '\\' ? 1 : raw[at + 1] === 'u' ? 6 : 2
  return at
}
