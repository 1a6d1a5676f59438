import { Socket } from 'node:net'
import { join } from 'node:path'
import { type ExchangeEvent, readTape, responseBytes } from '../../src/tape/index.ts'
import type { Contestant, Place } from './contestants.ts'

/**
 * Answers `fetch` and `node:http` from memory, in the order of the recording, and does nothing else: no tape is read, nothing
 * is compared. What the clients themselves take is the least that any replay above the socket can take.
 */
export function memory({ record }: Pick<Contestant, 'record'>): Contestant {
  let answers: readonly Answer[] | undefined
  return {
    record,
    async replay(place, work) {
      answers ??= answersOf(place)
      const [real, connect] = [globalThis.fetch, Socket.prototype.connect]
      let next = 0
      const take = (): Answer => answers![next++]!
      globalThis.fetch = () => {
        const { body, headers } = take()
        return Promise.resolve(new Response(body, { headers: headers as [string, string][] }))
      }
      Socket.prototype.connect = function (this: Line) {
        this.setKeepAlive = this.setNoDelay = this.setTimeout = () => this
        this._writeGeneric = (_isMany, _data, _encoding, callback) => {
          callback?.()
          const { bytes } = take()
          queueMicrotask(() => this.push(bytes))
        }
        queueMicrotask(() => this.emit('connect'))
        return this
      } as typeof connect
      try {
        return await work(place.upstream)
      } finally {
        globalThis.fetch = real
        Socket.prototype.connect = connect
      }
    },
  }
}

interface Line extends Socket {
  _writeGeneric(isMany: boolean, data: unknown, encoding: string, callback?: () => void): void
}

interface Answer {
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
  /** As they come over a connection. */
  readonly bytes: Buffer
}

function answersOf({ dir, name }: Place): readonly Answer[] {
  const exchanges = readTape(join(dir, `${name}.tape.jsonl`)).events.filter(
    (event): event is ExchangeEvent => event.kind === 'exchange',
  )
  return exchanges.map((event) => {
    const body = responseBytes(event).toString('utf8')
    const headers = [
      ['content-type', 'application/json'],
      ['content-length', String(Buffer.byteLength(body))],
    ] as const
    const head = headers.map(([header, value]) => `${header}: ${value}\r\n`).join('')
    return { headers, body, bytes: Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`) }
  })
}
