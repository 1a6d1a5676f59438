/** A message of the Debug Adapter Protocol, as far as every message has it. */
export interface DapMessage {
  readonly seq: number
  readonly type: 'request' | 'response' | 'event'
  readonly command?: string
  readonly arguments?: unknown
}

/** Takes bytes as they come and gives messages: a head with `Content-Length`, an empty line, JSON. */
export class DapReader {
  #bytes = Buffer.alloc(0)

  /** @throws Error when the bytes are not of this protocol */
  push(bytes: Uint8Array): readonly DapMessage[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    const messages: DapMessage[] = []
    for (;;) {
      const end = this.#bytes.indexOf('\r\n\r\n')
      if (end === -1) return messages
      const [, length] = /content-length:\s*(\d+)/i.exec(this.#bytes.subarray(0, end).toString('latin1')) ?? []
      if (length === undefined) throw new Error('a message has no Content-Length')
      const begin = end + 4
      const stop = begin + Number(length)
      if (this.#bytes.length < stop) return messages
      messages.push(JSON.parse(this.#bytes.subarray(begin, stop).toString('utf8')) as DapMessage)
      this.#bytes = this.#bytes.subarray(stop)
    }
  }
}

/** A message as it is written. */
export function framed(message: object): string {
  const json = JSON.stringify(message)
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}
