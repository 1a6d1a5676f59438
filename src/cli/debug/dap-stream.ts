import type { HarvestError } from '../../errors/index.ts'
import { isMap, parseJson } from '../../json/canonical.ts'
import { wrong } from './words.ts'

/** A message of the Debug Adapter Protocol, as far as every message has it. */
export interface DapMessage {
  readonly seq: number
  readonly type: 'request' | 'response' | 'event'
  readonly command?: string
  readonly arguments?: unknown
}

/** Bytes of one message and of its head: editors send far less, and all of one is held. */
const [messageCap, headCap] = [16 * 1024 * 1024, 4_096]

/** Takes bytes as they come and gives messages: a head with `Content-Length`, an empty line, JSON. */
export class DapReader {
  #bytes = Buffer.alloc(0)

  /** @throws HarvestError when the bytes are not of this protocol */
  push(bytes: Uint8Array): readonly DapMessage[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes])
    const messages: DapMessage[] = []
    for (;;) {
      const end = this.#bytes.subarray(0, headCap).indexOf('\r\n\r\n')
      if (end === -1 && this.#bytes.length >= headCap)
        throw notDap(`a message has no head of less than ${headCap} bytes`)
      if (end === -1) return messages
      const [, length] = /content-length:\s*(\d+)/i.exec(this.#bytes.subarray(0, end).toString('latin1')) ?? []
      if (length === undefined) throw notDap('a message has no Content-Length')
      const begin = end + 4
      const stop = begin + Number(length)
      if (stop - begin > messageCap) throw notDap(`a message has more than ${messageCap} bytes`)
      if (this.#bytes.length < stop) return messages
      messages.push(messageIn(this.#bytes.subarray(begin, stop).toString('utf8')))
      this.#bytes = this.#bytes.subarray(stop)
    }
  }
}

function messageIn(text: string): DapMessage {
  const message = parseJson(text)
  if (message === undefined) throw notDap('a message is not JSON')
  if (!isMap(message)) throw notDap('a message is not an object')
  const { command = '' } = message
  if (typeof command !== 'string') throw notDap('a message has a command that is not text')
  return message as unknown as DapMessage
}

function notDap(what: string): HarvestError {
  return wrong(`stdin is not the Debug Adapter Protocol: ${what}`, ["for people: npx vitest-harvest debug '<tape>'"])
}

/** What answers requests, until it is over. */
export interface DapResponder {
  readonly isOver: boolean
  /** @param signal - its forks end, or do not begin: the editor left */
  respond(message: DapMessage, signal: AbortSignal): Promise<void>
  /** Ends what is under way. */
  close(): void
}

/** Milliseconds that what was asked before has, once the editor leaves. */
const graceMs = 200

/** Answers one after the other; but who leaves, or ends the input, does not wait for a replay or forks that are under way. */
export async function eachRequest(input: AsyncIterable<unknown>, to: DapResponder): Promise<void> {
  const reader = new DapReader()
  const over = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const stop = new AbortController()
  const leave = (): void =>
    void setTimeout(() => {
      stop.abort()
      to.close()
      left.resolve()
    }, graceMs).unref()
  let last: Promise<void> = Promise.resolve()
  const read = async (): Promise<void> => {
    for await (const bytes of input as AsyncIterable<Buffer>)
      for (const message of reader.push(bytes)) {
        if (message.type !== 'request') continue
        if (['disconnect', 'terminate'].includes(message.command ?? '')) leave()
        last = last.then(() => (to.isOver ? undefined : Promise.race([to.respond(message, stop.signal), left.promise])))
        last.then(() => (to.isOver ? over.resolve() : undefined), over.reject)
      }
    leave()
    await last
  }
  await Promise.race([read(), over.promise])
}

/** A message as it is written. */
export function framed(message: object): string {
  const json = JSON.stringify(message)
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`
}
