import { joinedBytes, type Json } from '../tape/index.ts'
import { presentArgs, presentValue } from '../tape/present.ts'
import { CappedBody, type CutBody } from './capped-body.ts'
import { cutOverlap, redactSides } from './cut.ts'
import type { Redactor } from './redactor.ts'

interface CutJson extends CutBody {
  /** Placeholders stand in it, or what looks like some. */
  readonly isMarked: boolean
  /** The long texts in which `head` ends and `tail` begins: each may be secret for its name. */
  readonly ended: LongText | undefined
  readonly begun: LongText | undefined
  /** `tail` has the quote before it. */
  readonly isBegunWhole: boolean
}

/** A text that is longer than what is looked through of an end. */
interface LongText {
  readonly name: string
  readonly from: number
  readonly to: number
  /** Short texts of the object it stands in, or the one before it in a list: they may say what it is. */
  readonly beside: readonly (readonly [name: string, text: string])[]
}

/** What is left of values that were cut, by what stands in their place until they are redacted. */
const left = new WeakMap<object, CutJson>()

/** No character takes more bytes in JSON. */
const mostBytes = 6
/** Characters that are made bytes together. */
const pieceLength = 64 * 1024
/** A text of more may begin before what is looked through of the tail. */
const longText = cutOverlap / mostBytes

/** How a value is cut. */
export interface Cutting {
  /** It is compared as arguments are: those at its end that are `undefined` make no difference. Default `false`. */
  readonly isArgs?: boolean
  /** Tapes with `cuts-1` have it as it was written: keys in any order, and members that are `undefined`. Default `false`. */
  readonly isAsWritten?: boolean
  /** Whether placeholders stand in a text; a recorder does not ask. */
  readonly holds?: (text: string) => boolean
}

/**
 * A value as `encodeValue` wrote it; of one whose JSON is larger than a body may be, what stands in its place until it is
 * redacted. Values that are compared as equal where they are whole are cut alike: their JSON has the keys in order, and no member
 * that is `undefined`.
 *
 * @param window - bytes kept of either end
 */
export function cappedValue(
  value: Json,
  window: number,
  { isArgs = false, isAsWritten = false, holds }: Cutting = {},
): Json {
  if (mostBytes * sizeOf(value) <= 2 * window) return value
  const body = new CappedBody(2 * window)
  const longTexts: LongText[] = []
  let text = ''
  let [isMarked, last] = [false, '']
  const flush = (): void => {
    body.add(Buffer.from(text))
    isMarked ||= holds?.(last + text) === true
    last = text.slice(-longestPlaceholder)
    text = ''
  }
  const write = (part: string): void => {
    text += part
    if (text.length >= pieceLength) flush()
  }
  const writeLong = (long: string, name: string, beside: LongText['beside']): void => {
    flush()
    const from = body.size
    writeText(long, write)
    flush()
    longTexts.push({ name, from, to: body.size, beside })
  }
  const given = isAsWritten ? value : isArgs ? presentArgs(value) : presentValue(value)
  writeJson(given, { name: '', beside: [] }, { isAsWritten, write, writeLong })
  flush()
  const { cut } = body
  if (cut === undefined) return value
  // As the arguments of a call they are compared with what it made of them.
  const inPlace = { $type: 'cut', size: cut.size, sha256: cut.sha256 }
  const tailStart = cut.size - bytesIn(cut.tail)
  const headEnd = bytesIn(cut.head)
  const ended = longTexts.find(({ from, to }) => from < headEnd && headEnd < to)
  const begun = longTexts.find(({ from, to }) => from <= tailStart && tailStart < to)
  left.set(inPlace, { ...cut, isMarked, ended, begun, isBegunWhole: begun?.from === tailStart })
  return inPlace
}

const longestPlaceholder = 256

/** Of values that were cut, those in which placeholders stand. */
const marked = new WeakSet<object>()
/** Whether placeholders stand in a value that was cut. */
export function holdsPlaceholders(cut: object): boolean {
  return marked.has(cut)
}

/** What may stand on a tape of a value, or of what {@link cappedValue} left of it. */
export function redactedValue(value: Json, redactor: Redactor): Json {
  const cut = cutOf(value)
  if (cut === undefined) return redactor.json(value)
  const { size, sha256, window } = cut
  const [opening] = contextOf(cut.begun, redactor)
  const [named, ending] = contextOf(cut.ended, redactor)
  const before = cut.head.map(({ bytes }) => bytes)
  // A text has its quote.
  const context = Buffer.from(named.slice(0, -1))
  if (ending !== '') {
    before.push(wholeEnd(before.pop()!), Buffer.from(ending))
    const begin = cut.head.findIndex((_, at) => bytesIn(cut.head.slice(0, at)) === cut.ended?.from)
    before.splice(begin, 0, context)
  }
  const [first, ...others] = cut.tail.map(({ bytes }) => bytes)
  // What begins in the middle of a character is no text.
  const start = first!.findIndex((byte) => (byte & 0xc0) !== 0x80)
  const after = [Buffer.from(cut.isBegunWhole ? opening.slice(0, -1) : opening), first!.subarray(start), ...others]
  const { head, tail, kept, isChanged } = redactSides(before, after, window, redactor, context)
  const json = {
    $type: 'cut',
    cut: size - kept,
    size,
    window,
    head: joinedBytes(head).toString(),
    tail: joinedBytes(tail).toString(),
    ...(!isChanged && { sha256 }),
  }
  if (cut.isMarked) marked.add(json)
  return json
}

/** What looks like a secret under any name that promises one. */
const sample = 'a1B2c3D4e5F6g7H8'

/** What is read before and behind a part of a long text, so that it is found for its name, or for the name beside it. */
function contextOf(text: LongText | undefined, redactor: Redactor): readonly [opening: string, ending: string] {
  if (text === undefined) return ['', '']
  const { name, beside } = text
  const own = JSON.stringify(name)
  const telling = beside.find(([key, said]) => {
    const probe = key === '' ? JSON.stringify([said, sample]) : `{${member(key, said)},${own}:"${sample}"}`
    return redactor.scan(probe).some(({ index, length }) => index + length > probe.lastIndexOf(sample))
  })
  if (telling === undefined) return [`${own}:"`, '']
  const [key, said] = telling
  if (key === '') return [`[${JSON.stringify(said)},"`, '']
  return [`{${member(key, said)},${own}:"`, `",${member(key, said)}}`]
}

function member(key: string, said: string): string {
  return `${JSON.stringify(key)}:${JSON.stringify(said)}`
}

/** Without a character or an escape at its end that may not be whole. */
function wholeEnd(bytes: Buffer): Buffer {
  const end = bytes.subarray(-16).toString('latin1')
  const part = /(?:[\xc0-\xff][\x80-\xbf]{0,3}|\\+(?:u[\da-f]{0,4})?)$/.exec(end)?.[0] ?? ''
  return bytes.subarray(0, bytes.length - part.length)
}

/** Roughly what a value, or what is left of it, takes in memory, in bytes. */
export function jsonSize(value: Json): number {
  const cut = cutOf(value)
  return cut === undefined ? sizeOf(value) : bytesIn(cut.head) + bytesIn(cut.tail)
}

function sizeOf(value: Json): number {
  if (typeof value === 'string') return 24 + value.length
  if (typeof value !== 'object' || value === null) return 8
  let size = 32
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) size += sizeOf(item)
    return size
  }
  for (const [key, item] of Object.entries(value)) size += 24 + key.length + sizeOf(item)
  return size
}

function bytesIn(pieces: CutBody['head']): number {
  return pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

function cutOf(value: Json): CutJson | undefined {
  return typeof value === 'object' && value !== null ? left.get(value) : undefined
}

type Write = (part: string) => void

/** Where a value stands: the key it stands under, and the short texts beside it. */
interface Standing {
  readonly name: string
  readonly beside: LongText['beside']
}

interface Writing {
  readonly isAsWritten: boolean
  readonly write: Write
  readonly writeLong: (text: string, name: string, beside: LongText['beside']) => void
}

/** As `JSON.stringify`, in parts: never all of a long text at once. */
function writeJson(value: Json, { name, beside }: Standing, writing: Writing): void {
  const { isAsWritten, write, writeLong } = writing
  if (typeof value === 'string' && value.length > longText) return writeLong(value, name, beside)
  if (typeof value !== 'object' || value === null) return write(JSON.stringify(value))
  if (Array.isArray(value)) {
    write('[')
    value.forEach((item: Json, at) => {
      if (at > 0) write(',')
      const last: unknown = value[at - 1]
      writeJson(item, { name, beside: isShort(last) ? [['', last]] : [] }, writing)
    })
    return write(']')
  }
  const map = value as { readonly [key: string]: Json }
  const keys = isAsWritten ? Object.keys(map) : Object.keys(map).sort()
  let texts: LongText['beside'] | undefined
  write('{')
  keys.forEach((key, at) => {
    if (at > 0) write(',')
    writeText(key, write)
    write(':')
    texts ??= keys.flatMap((one) => (isShort(map[one]) ? [[one, map[one]] as const] : [])).slice(0, mostBeside)
    writeJson(map[key]!, { name: key, beside: texts }, writing)
  })
  write('}')
}

const [longestBeside, mostBeside] = [64, 16]

function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestBeside
}

function writeText(text: string, write: Write): void {
  write('"')
  for (let from = 0; from < text.length; ) {
    let to = from + pieceLength
    // Both halves of a character.
    if (to < text.length && (text.charCodeAt(to - 1) & 0xfc00) === 0xd800) to++
    write(JSON.stringify(text.slice(from, to)).slice(1, -1))
    from = to
  }
  write('"')
}
