import { Socket } from 'node:net'
import { join } from 'node:path'
import { decodeBytes, type ExchangeEvent, readTape, type Tape } from '../../src/tape/index.ts'
import type { Contestant } from './contestants.ts'

/**
 * Answers `fetch` and `node:http` from memory, in the order of the recording, each piece of a stream by itself, and does
 * nothing else: nothing is compared. What the clients themselves take is the least that any replay above the socket can take.
 *
 * @param read - reads and verifies a tape: done in the measured time, as a replay that serves no changed tape has to
 */
export function memory({ record }: Pick<Contestant, 'record'>, read?: (file: string) => Tape): Contestant {
  let known: readonly Answer[] | undefined
  return {
    record,
    async replay({ dir, name, upstream }, work) {
      const file = join(dir, `${name}.tape.jsonl`)
      const answers = read === undefined ? (known ??= answersOf(readTape(file))) : answersOf(read(file))
      const [real, connect] = [globalThis.fetch, Socket.prototype.connect]
      let next = 0
      const take = (): Answer => answers[next++]!
      globalThis.fetch = () => {
        const { pieces, headers } = take()
        const body = pieces.length > 1 ? inPieces(pieces) : pieces[0]!
        return Promise.resolve(new Response(body, { headers: headers as [string, string][] }))
      }
      Socket.prototype.connect = function (this: Line) {
        // Node's own wait for a handle that never comes, with a listener more for each call.
        this.setKeepAlive = this.setNoDelay = this.setTimeout = this.ref = this.unref = () => this
        this._read = () => undefined
        this._writeGeneric = (_isMany, _data, _encoding, callback) => {
          callback?.()
          const { bytes } = take()
          queueMicrotask(() => this.push(bytes))
        }
        queueMicrotask(() => this.emit('connect'))
        return this
      } as typeof connect
      try {
        return await work(upstream)
      } finally {
        globalThis.fetch = real
        Socket.prototype.connect = connect
      }
    },
  }
}

interface Line extends Socket {
  _read(): void
  _writeGeneric(isMany: boolean, data: unknown, encoding: string, callback?: () => void): void
}

interface Answer {
  readonly headers: readonly (readonly [string, string])[]
  readonly pieces: readonly string[]
  /** As they come over a connection. */
  readonly bytes: Buffer
}

function inPieces(pieces: readonly string[]): ReadableStream<Uint8Array> {
  let next = 0
  return new ReadableStream({
    type: 'bytes',
    pull(stream) {
      const piece = pieces[next++]
      if (piece !== undefined) stream.enqueue(Uint8Array.from(Buffer.from(piece)))
      else {
        stream.close()
        stream.byobRequest?.respond(0)
      }
    },
  })
}

function answersOf({ events }: Tape): readonly Answer[] {
  return events
    .filter((event): event is ExchangeEvent => event.kind === 'exchange')
    .map(({ response }) => {
      const pieces = (response?.chunks ?? []).map(([, , piece]) =>
        typeof piece === 'string' ? piece : decodeBytes(piece).toString('utf8'),
      )
      const headers = (response?.headers ?? []).filter(([name]) => name.startsWith('content-'))
      return {
        headers,
        pieces,
        get bytes() {
          const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
          return Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n${pieces.join('')}`)
        },
      }
    })
}
