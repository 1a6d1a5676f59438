import { isUtf8 } from 'node:buffer'
import type { ClientRequest } from 'node:http'
import type { Pairs } from '../pairs.ts'
import { heldSocket, runHeader } from '../connection.ts'
import { sentToOf, statedHost } from '../shape.ts'
import { type RequestShape, sentFor, shapeOf } from './sent-headers.ts'

/** What Node hands to a socket: one piece, or several at once. */
export type Data = string | Buffer | readonly Piece[]

interface Piece {
  readonly chunk: string | Buffer
  readonly encoding?: BufferEncoding
}

/** The part of a request that Node keeps for itself. */
export interface WrittenRequest extends ClientRequest {
  readonly _header: string | null
}

/** A request that is complete in one write. */
export interface WholeRequest {
  readonly head: RequestHead
  /** Of the run, and of this one request. */
  readonly tag: string
  readonly text: string
  /** Of its body, in bytes. */
  readonly length: number
}

const statedLength = /^\d+$/
/** What a header says when its text is the same bytes in every encoding. */
const plainHead = /^[\r\n\t -~]*$/
const lineEnd = '\r\n'

/** Takes the requests of one connection apart, of which one mostly says what the one before it said. */
export class RequestHeads {
  #last: RequestHead | undefined

  /** `part`: it is not plain, or not all there. `other`: what follows on the connection is another protocol. */
  take(request: WrittenRequest, data: Data, encoding: BufferEncoding): WholeRequest | 'part' | 'other' {
    const written = request._header
    if (request.method === 'CONNECT' || request.hasHeader('upgrade')) return 'other'
    if (written === null) return 'part'
    const text = textAfter(written, data, encoding)
    if (text === undefined) return 'part'
    let values = this.#last?.valuesIn(written)
    if (values === undefined) {
      this.#last = this.#headOf(written, request)
      values = this.#last?.valuesIn(written)
    }
    const head = this.#last
    const length = Buffer.byteLength(text)
    if (head === undefined || values === undefined || values.length !== length) return 'part'
    return { head, tag: values.tag, text, length }
  }

  #headOf(written: string, request: WrittenRequest): RequestHead | undefined {
    const host = statedHost(request)
    const beside = [...sentToOf(request, host), ...heldSocket(request)]
    return plainHead.test(written) && beside.length === 0 ? headOf(written, host) : undefined
  }
}

/** What differs from one request to the next that is otherwise the same. */
interface Values {
  readonly tag: string
  readonly length: number
}

type Variable = 'tag' | 'length'

/** Start line and headers of a request, with a gap for its tag and one for the length of its body. */
export class RequestHead {
  readonly method: string
  readonly target: string
  readonly #shape: RequestShape
  /** What stands before, between and behind the gaps. */
  readonly #texts: readonly string[]
  readonly #gaps: readonly Variable[]
  /** What was sent with the one before, where the length stands there, and which. */
  #sent: { readonly pairs: Pairs; readonly lengthAt: number; readonly length: number } | undefined

  constructor(
    method: string,
    target: string,
    shape: RequestShape,
    texts: readonly string[],
    gaps: readonly Variable[],
  ) {
    this.method = method
    this.target = target
    this.#shape = shape
    this.#texts = texts
    this.#gaps = gaps
  }

  /** What stands in the gaps, if the rest is the same. */
  valuesIn(written: string): Values | undefined {
    const texts = this.#texts
    const gaps = this.#gaps
    if (!written.startsWith(texts[0]!)) return undefined
    let at = texts[0]!.length
    let tag = ''
    let length = 0
    for (let i = 0; i < gaps.length; i++) {
      const end = written.indexOf(lineEnd, at)
      const value = written.slice(at, end)
      if (gaps[i] === 'tag') tag = value
      else length = statedLength.test(value) ? Number(value) : Number.NaN
      const next = texts[i + 1]!
      if (!written.startsWith(next, end)) return undefined
      at = end + next.length
    }
    return at === written.length ? { tag, length } : undefined
  }

  /** The headers a caller states, with a body of so many bytes. */
  shapeWith(length: number): RequestShape {
    const { key, stated } = this.#shape
    return { key, stated: stated.map((pair) => (isLength(pair) ? withLength(length) : pair)) }
  }

  /** The headers that are sent with a body of so many bytes; `undefined` while no such request was seen. */
  sentWith(length: number): Pairs | undefined {
    if (this.#sent === undefined) {
      const sent = sentFor(this.shapeWith(length), length)
      if (sent !== undefined) this.#sent = { pairs: sent, lengthAt: sent.findIndex(isLength), length }
      return sent
    }
    const { pairs, lengthAt } = this.#sent
    // The same list says at a glance that nothing differs.
    if (lengthAt < 0 || this.#sent.length === length) return pairs
    const sent = pairs.slice()
    sent[lengthAt] = withLength(length)
    this.#sent = { pairs: sent, lengthAt, length }
    return sent
  }
}

function isLength([name]: Pairs[number]): boolean {
  return name === 'content-length'
}

function withLength(length: number): Pairs[number] {
  return ['content-length', String(length)]
}

/** `undefined`: it is not plain. */
function headOf(written: string, host: string): RequestHead | undefined {
  const [start = '', ...lines] = written.slice(0, -4).split(lineEnd)
  const [method = '', target = '', version] = start.split(' ')
  if (version !== 'HTTP/1.1' || method === 'HEAD' || !target.startsWith('/')) return undefined
  const stated: [string, string][] = []
  const texts: string[] = []
  const gaps: Variable[] = []
  let text = start
  for (const line of lines) {
    const colon = line.indexOf(': ')
    const name = line.slice(0, colon).toLowerCase()
    if (name === 'transfer-encoding' || name === 'expect') return undefined
    const isTag = name === runHeader
    if (!isTag) stated.push([name, line.slice(colon + 2)])
    if (isTag || name === 'content-length') {
      gaps.push(isTag ? 'tag' : 'length')
      texts.push(`${text}${lineEnd}${line.slice(0, colon + 2)}`)
      text = ''
    } else text += `${lineEnd}${line}`
  }
  const isOnce = (gap: Variable, least: number): boolean => {
    const count = gaps.filter((one) => one === gap).length
    return count >= least && count <= 1
  }
  const shape = shapeOf(`node:http ${method}`, host, stated)
  if (shape === undefined || !isOnce('tag', 1) || !isOnce('length', 0)) return undefined
  return new RequestHead(method, target, shape, [...texts, `${text}${lineEnd}${lineEnd}`], gaps)
}

/** The body that is written behind the head; `undefined` where it does not begin with the head, or is no text. */
function textAfter(head: string, data: Data, encoding: BufferEncoding): string | undefined {
  const isOne = typeof data === 'string' || Buffer.isBuffer(data)
  const first = isOne ? { chunk: data, encoding } : data[0]
  if (typeof first?.chunk !== 'string' || !first.chunk.startsWith(head)) return undefined
  const rest = first.chunk.slice(head.length)
  if ((isOne || data.length === 1) && isOfText(first.encoding)) return rest.toWellFormed()
  const bytes = Buffer.concat(
    [{ chunk: rest, encoding: first.encoding }, ...(isOne ? [] : data.slice(1))].map(({ chunk, encoding: as }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, as) : chunk,
    ),
  )
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

function isOfText(encoding: string | undefined): boolean {
  return encoding === undefined || encoding === null || encoding === 'utf8' || encoding === 'utf-8'
}
