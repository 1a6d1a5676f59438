import { joinedBytes, type Json } from '../tape/index.ts'
import { CappedBody, type CutBody } from './capped-body.ts'
import { cutOverlap, redactSides } from './cut.ts'
import type { Redactor } from './redactor.ts'

interface CutJson extends CutBody {
  /** Placeholders stand in it, or what looks like some. */
  readonly isMarked: boolean
  /** Name and quote of the text in which `tail` begins: it may be secret for its name. */
  readonly opening: string
}

/** What is left of values that were cut, by what stands in their place until they are redacted. */
const left = new WeakMap<object, CutJson>()

/** No character takes more bytes in JSON. */
const mostBytes = 6
/** Characters that are made bytes together. */
const pieceLength = 64 * 1024
/** A text of more may begin before what is looked through of the tail. */
const longText = cutOverlap / mostBytes

/**
 * A value as `encodeValue` wrote it; of one whose JSON is larger than a body may be, what stands in its place until it is
 * redacted.
 *
 * @param window - bytes kept of either end
 */
export function cappedValue(value: Json, window: number): Json {
  if (mostBytes * sizeOf(value) <= 2 * window) return value
  const body = new CappedBody(2 * window)
  const longTexts: { readonly name: string; readonly from: number; readonly to: number }[] = []
  let text = ''
  let [isMarked, last] = [false, '']
  const flush = (): void => {
    body.add(Buffer.from(text))
    isMarked ||= placeholder.test(last + text)
    last = text.slice(-placeholderLength)
    text = ''
  }
  const write = (part: string): void => {
    text += part
    if (text.length >= pieceLength) flush()
  }
  const writeLong = (long: string, name: string): void => {
    flush()
    const from = body.size
    writeText(long, write)
    flush()
    longTexts.push({ name, from, to: body.size })
  }
  writeJson(value, '', write, writeLong)
  flush()
  const { cut } = body
  if (cut === undefined) return value
  // As the arguments of a call they are compared with what it made of them.
  const inPlace = { $type: 'cut', size: cut.size, sha256: cut.sha256 }
  const tailStart = cut.size - bytesIn(cut.tail)
  const begun = longTexts.find(({ from, to }) => from <= tailStart && tailStart < to)
  left.set(inPlace, {
    ...cut,
    isMarked,
    opening: begun === undefined ? '' : `${JSON.stringify(begun.name)}:${begun.from < tailStart ? '"' : ''}`,
  })
  return inPlace
}

/** How placeholders of secrets and of keys begin. */
const placeholder = /redacted-|\[key-/
const placeholderLength = 'redacted-'.length

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
  const before = cut.head.map(({ bytes }) => bytes)
  const [first, ...others] = cut.tail.map(({ bytes }) => bytes)
  // What begins in the middle of a character is no text.
  const start = first!.findIndex((byte) => (byte & 0xc0) !== 0x80)
  const after = [Buffer.from(cut.opening), first!.subarray(start), ...others]
  const { head, tail, kept, isChanged } = redactSides(before, after, window, redactor)
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

/**
 * As `JSON.stringify`, in parts: never all of a long text at once.
 *
 * @param name - the key it stands under
 */
function writeJson(value: Json, name: string, write: Write, writeLong: (text: string, name: string) => void): void {
  if (typeof value === 'string' && value.length > longText) return writeLong(value, name)
  if (typeof value !== 'object' || value === null) return write(JSON.stringify(value))
  const keys = Array.isArray(value) ? undefined : Object.keys(value)
  const items = keys === undefined ? (value as readonly Json[]) : Object.values(value)
  write(keys === undefined ? '[' : '{')
  items.forEach((item, at) => {
    if (at > 0) write(',')
    if (keys !== undefined) {
      writeText(keys[at]!, write)
      write(':')
    }
    writeJson(item, keys?.[at] ?? name, write, writeLong)
  })
  write(keys === undefined ? ']' : '}')
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
