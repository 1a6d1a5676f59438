import { inflateRawSync, constants } from 'node:zlib'

/** RFC 6455: what one side of a WebSocket says, whole. */
export interface WebSocketMessage {
  readonly kind: 'text' | 'binary' | FrameKind
  readonly data: Buffer
}

/** What is no text: `close` carries a code and a reason. */
export type FrameKind = 'binary' | 'close' | 'ping' | 'pong'

const kinds: Readonly<Record<number, WebSocketMessage['kind']>> = {
  1: 'text',
  2: 'binary',
  8: 'close',
  9: 'ping',
  10: 'pong',
}
const opcodes = { text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** How far back a compressed message may refer to those before. */
const windowSize = 32_768
const tail = Buffer.from([0, 0, 0xff, 0xff])

/** Takes a byte stream apart into messages: masked or not, in pieces, compressed with permessage-deflate (RFC 7692). */
export class FrameReader {
  readonly #heard: (message: WebSocketMessage) => void
  #rest: Buffer = Buffer.alloc(0)
  #pieces: Buffer[] = []
  #kind: WebSocketMessage['kind'] = 'text'
  #isCompressed = false
  #window: Buffer = Buffer.alloc(0)

  constructor(heard: (message: WebSocketMessage) => void) {
    this.#heard = heard
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    for (let size = this.#frame(); size !== undefined; size = this.#frame()) this.#rest = this.#rest.subarray(size)
  }

  /** Takes the first frame; its size in bytes, or `undefined` where it is not all there. */
  #frame(): number | undefined {
    const [first, second] = [this.#rest[0], this.#rest[1]]
    if (first === undefined || second === undefined) return undefined
    const short = second & 0x7f
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0
    const isMasked = (second & 0x80) !== 0
    const start = 2 + extra + (isMasked ? 4 : 0)
    if (this.#rest.length < start) return undefined
    const length =
      extra === 0 ? short : extra === 2 ? this.#rest.readUInt16BE(2) : Number(this.#rest.readBigUInt64BE(2))
    if (this.#rest.length < start + length) return undefined
    const data = Buffer.from(this.#rest.subarray(start, start + length))
    if (isMasked) for (let i = 0; i < length; i++) data[i]! ^= this.#rest[start - 4 + (i % 4)]!
    this.#take(first, data)
    return start + length
  }

  #take(first: number, data: Buffer): void {
    const [isLast, isCompressed, opcode] = [(first & 0x80) !== 0, (first & 0x40) !== 0, first & 0x0f]
    // Between the pieces of a message.
    if (opcode >= 8) return this.#heard({ kind: kinds[opcode] ?? 'pong', data })
    if (opcode !== 0) {
      this.#kind = kinds[opcode] ?? 'binary'
      this.#isCompressed = isCompressed
      this.#pieces = []
    }
    this.#pieces.push(data)
    if (!isLast) return
    const whole = Buffer.concat(this.#pieces)
    this.#pieces = []
    const message = { kind: this.#kind, data: whole }
    this.#heard(this.#isCompressed ? this.#inflated(message) : message)
  }

  /** What cannot be decompressed stands for itself, as bytes: the other side closes such a connection, with the agent still there. */
  #inflated(message: WebSocketMessage): WebSocketMessage {
    try {
      const data = inflateRawSync(Buffer.concat([message.data, tail]), {
        finishFlush: constants.Z_SYNC_FLUSH,
        ...(this.#window.length > 0 && { dictionary: this.#window }),
      })
      this.#window = Buffer.concat([this.#window, data]).subarray(-windowSize)
      return { ...message, data }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'Z_DATA_ERROR') throw error
      return { kind: 'binary', data: message.data }
    }
  }
}

/** A message as a server sends it. */
export function serverFrame({ kind, data }: WebSocketMessage): Buffer {
  const { length } = data
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10)
  head[0] = 0x80 | opcodes[kind]
  if (length < 126) head[1] = length
  else if (length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(length), 2)
  }
  return Buffer.concat([head, data])
}

/** What a tape says of a message: its text, the code and the reason of a close, base64 of anything else. */
export function messageText({ kind, data }: WebSocketMessage): string {
  if (kind === 'text') return data.toString('utf8')
  if (kind !== 'close') return data.toString('base64')
  return data.length < 2 ? '' : `${data.readUInt16BE(0)} ${data.subarray(2).toString('utf8')}`.trimEnd()
}

/** The reverse of {@link messageText}. */
export function messageOfText(text: string, kind: WebSocketMessage['kind']): WebSocketMessage {
  if (kind === 'text') return { kind, data: Buffer.from(text) }
  if (kind !== 'close') return { kind, data: Buffer.from(text, 'base64') }
  const [, code, reason = ''] = /^(\d+) ?(.*)$/s.exec(text) ?? []
  if (code === undefined) return { kind, data: Buffer.alloc(0) }
  const head = Buffer.alloc(2)
  head.writeUInt16BE(Number(code))
  return { kind, data: Buffer.concat([head, Buffer.from(reason)]) }
}

/** The addresses of WebSockets: the second of a run to one address is another peer. */
export class SocketNumbers {
  readonly #opened = new Map<string, number>()

  next(url: string): string {
    const count = (this.#opened.get(url) ?? 0) + 1
    this.#opened.set(url, count)
    const address = url.replace(/^http/, 'ws')
    return count === 1 ? address : `${address}#${count}`
  }
}

const ofHandshake = /^(sec-websocket-(key|version|extensions|accept)|connection|upgrade|host)$/i

/** Headers that mean something: keys of the handshake are drawn, the rest is the same for everybody. */
export function meaningful<P extends readonly [string, string]>(headers: readonly P[]): readonly P[] {
  return headers.filter(([name]) => !ofHandshake.test(name))
}

export function isWebSocket(upgrade: unknown): boolean {
  return typeof upgrade === 'string' && upgrade.toLowerCase() === 'websocket'
}
