import type { HeaderPair } from '../tape/index.ts'
import { bodyOf } from './body.ts'
import { Cursor } from './cursor.ts'
import type { BytesFormat } from './document.ts'
import { callCap } from './limits.ts'
import { type TextPosition, refusal, type RefusalCode } from './refusal.ts'
import { checkedUrl } from './requests.ts'
import type { ForeignExchange } from './types.ts'
import { Unpacking } from './unpacking.ts'

/** How a trace begins. */
const magic = 'httprr trace v1'

/** Go's httprr. */
export const httprr: BytesFormat = {
  name: 'httprr',
  recognisesBytes: (bytes) => bytes.toString('latin1', markOf(bytes), markOf(bytes) + magic.length) === magic,
  readBytes(bytes, file) {
    if (!this.recognisesBytes(bytes)) throw wrong({ file, byte: 0 }, 'it does not begin as a trace of httprr')
    return { format: 'httprr', exchanges: exchangesOf(bytes, file) }
  },
}

/** Bytes of the byte order mark that an editor puts in front. */
function markOf(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

/**
 * Exchanges of a trace of Go's `httprr`: pairs of requests and responses as they go over the wire, each with its length.
 *
 * @throws HarvestError `HARVEST_IMPORT_SHAPE` with the byte at which it stands
 * @see https://pkg.go.dev/golang.org/x/oscar/internal/httprr
 */
function exchangesOf(bytes: Buffer, file: string): readonly ForeignExchange[] {
  const exchanges: ForeignExchange[] = []
  const unpacking = new Unpacking()
  let at = nextLine(bytes, markOf(bytes) + magic.length)
  while (at < bytes.length) {
    const line = lineEnd(bytes, at)
    const [, asked, answered] = /^(\d{1,12}) (\d{1,12})\r?$/.exec(bytes.toString('latin1', at, line)) ?? []
    if (asked === undefined || answered === undefined) throw wrong({ file, byte: at }, 'two lengths were expected')
    if (exchanges.length >= callCap)
      throw wrong({ file, byte: at }, `more than ${callCap} calls`, 'HARVEST_IMPORT_TOO_LARGE')
    const start = line + 1
    const [middle, end] = boundsOf(bytes, start, Number(asked), Number(answered))
    if (end > bytes.length) throw wrong({ file, byte: at }, 'the trace ends before the call does')
    const exchange = exchangeOf(messageOf(bytes, start, middle, file), messageOf(bytes, middle, end, file))
    const byte = at
    unpacking.check(exchange, () => ({ file, byte }))
    exchanges.push(exchange)
    at = nextLine(bytes, end)
  }
  return exchanges
}

/** Past line ends, which an editor leaves behind the last call. */
function nextLine(bytes: Buffer, from: number): number {
  let at = from
  while (bytes[at] === 0x0a || bytes[at] === 0x0d) at++
  return at
}

/**
 * Where the response begins and ends. The lengths count line ends of headers and of the framing of chunks as two bytes; in
 * a file whose line ends were turned into line feeds they are one.
 */
function boundsOf(
  bytes: Buffer,
  start: number,
  asked: number,
  answered: number,
): readonly [middle: number, end: number] {
  const middle = start + asked
  if (isResponse(bytes, middle)) return [middle, middle + answered]
  const turned = turnedEnd(bytes, start, asked, isResponse)
  if (turned === undefined) return [middle, middle + answered]
  const end = turned + answered - turnedIn(bytes, turned)
  return [turned, turnedEnd(bytes, turned, answered, isNextCall) ?? end]
}

/** Where a message ends whose line ends were turned: as late as what comes next allows. */
function turnedEnd(
  bytes: Buffer,
  start: number,
  length: number,
  isNext: (bytes: Buffer, at: number) => boolean,
): number | undefined {
  const latest = start + length - turnedIn(bytes, start)
  const turned = bytes.subarray(start, latest).reduce((count, byte) => count + Number(byte === 0x0a), 0)
  for (let at = Math.min(latest, bytes.length); at >= start + length - turned; at--) {
    // Inside of the length of the next call it looks as if a call began; only where no line end was turned the sum is exact.
    const isInNumber = /\d/.test(bytes.toString('latin1', at - 1, at)) && turned > turnedIn(bytes, start)
    if (!isInNumber && isNext(bytes, at)) return at
  }
  return undefined
}

function isResponse(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at, at + 5) === 'HTTP/'
}

/** Whether the file ends here, but for line ends, or another call begins. */
function isNextCall(bytes: Buffer, at: number): boolean {
  return /^[\r\n]*(?:$|\d{1,12} \d{1,12}\r?\n[A-Z-]+ \S)/.test(bytes.toString('latin1', at, at + 64))
}

/** Line feeds alone, up to the end of the headers. */
function turnedIn(bytes: Buffer, start: number): number {
  let count = 0
  for (let at = start; at < bytes.length; at++) {
    if (bytes[at] !== 0x0a) continue
    if (bytes[at - 1] !== 0x0d) count++
    if (bytes[at + 1] === 0x0a) return count + 1
    if (bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return count
  }
  return count
}

interface Message {
  readonly first: string
  readonly headers: readonly HeaderPair[]
  readonly body: Buffer
  readonly place: TextPosition
}

function exchangeOf(request: Message, response: Message): ForeignExchange {
  const [, method, url] = /^([A-Z-]+) (\S+) HTTP\/[\d.]+$/.exec(request.first) ?? []
  const [, status, statusText] = /^HTTP\/[\d.]+ (\d{3})(?: (.*))?$/.exec(response.first) ?? []
  if (method === undefined || url === undefined) throw wrong(request.place, 'it is not the first line of a request')
  if (status === undefined) throw wrong(response.place, 'it is not the first line of a response')
  const host = request.headers.find(([name]) => name === 'host')?.[1] ?? ''
  const place = new Cursor(url, { file: request.place.file, lineOf: () => undefined })
  return {
    method,
    url: checkedUrl(url.startsWith('/') ? `https://${host}${url}` : url, place),
    requestHeaders: request.headers,
    ...(request.body.length === 0 ? {} : { requestBody: bodyOf(request.body) }),
    response: {
      status: Number(status),
      ...(statusText ? { statusText } : {}),
      headers: response.headers,
      body: bodyOf(response.body),
    },
  }
}

function messageOf(bytes: Buffer, start: number, end: number, file: string): Message {
  const place = { file, byte: start }
  const message = bytes.subarray(start, end)
  const { head, body } = headOf(message) ?? {}
  if (head === undefined || body === undefined) throw wrong(place, 'its headers do not end')
  const [first = '', ...lines] = head.split(/\r?\n/)
  const headers = lines.map((line): HeaderPair => {
    const colon = line.indexOf(':')
    if (colon <= 0) throw wrong(place, 'a header has no colon')
    return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
  })
  const isChunked = headers.some(([name, value]) => name === 'transfer-encoding' && /\bchunked$/i.test(value))
  return { first, headers, body: isChunked ? dechunked(body, place) : body, place }
}

function headOf(message: Buffer): { readonly head: string; readonly body: Buffer } | undefined {
  const [windows, unix] = [message.indexOf('\r\n\r\n'), message.indexOf('\n\n')]
  if (windows !== -1 && (unix === -1 || windows < unix))
    return { head: message.toString('latin1', 0, windows), body: message.subarray(windows + 4) }
  return unix === -1 ? undefined : { head: message.toString('latin1', 0, unix), body: message.subarray(unix + 2) }
}

/** The body without its framing, which is that of the recorder's writer: how it arrived is not in it. */
function dechunked(body: Buffer, place: TextPosition): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const line = lineEnd(body, at)
    const size = /^([0-9a-f]{1,8})\s*(;.*)?$/i.exec(body.toString('latin1', at, line))?.[1]
    if (size === undefined) throw wrong(place, 'a chunk of its body has no length', 'HARVEST_IMPORT_BODY')
    const length = Number.parseInt(size, 16)
    if (length === 0) break
    pieces.push(body.subarray(line + 1, line + 1 + length))
    at = line + 1 + length
    if (body[at] === 0x0d) at++
    if (body[at] === 0x0a) at++
  }
  return Buffer.concat(pieces)
}

/** Index of the next line feed, or the end. */
function lineEnd(bytes: Buffer, from: number): number {
  const end = bytes.indexOf(0x0a, from)
  return end === -1 ? bytes.length : end
}

function wrong(place: TextPosition, problem: string, code: RefusalCode = 'HARVEST_IMPORT_SHAPE'): Error {
  return refusal(code, place, problem)
}
