import { createServer, type Socket } from 'node:net'
import { PGlite } from '@electric-sql/pglite'
import { type Listening, listening } from './both.ts'

/** A server of Postgres in this process: one database, one connection after the other takes its turn. */
export async function postgresServer(): Promise<Listening> {
  const database = await PGlite.create()
  let turn: Promise<unknown> = Promise.resolve()
  const server = createServer((socket) => serve(socket))
  const open = await listening(server)
  return {
    get port() {
      return open.port
    },
    get reached() {
      return open.reached
    },
    async [Symbol.asyncDispose]() {
      await open[Symbol.asyncDispose]()
      await turn
      await database.close()
    },
  }

  function serve(socket: Socket): void {
    let buffered = Buffer.alloc(0)
    let isStarted = false
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      buffered = Buffer.concat([buffered, bytes as Buffer])
      for (let message = take(); message !== undefined; message = take()) {
        const asked = message
        turn = turn.then(async () => {
          const answer = await database.execProtocolRaw(asked, { syncToFs: false })
          if (!socket.destroyed) socket.write(answer)
        })
      }
    })

    function take(): Buffer | undefined {
      const head = isStarted ? 1 : 0
      if (buffered.length < head + 4) return undefined
      const length = head + buffered.readInt32BE(head)
      if (buffered.length < length) return undefined
      const message = buffered.subarray(0, length)
      buffered = buffered.subarray(length)
      // A request for TLS is answered with no.
      if (!isStarted && message.readInt32BE(4) === 80877103) {
        socket.write('N')
        return take()
      }
      if (!isStarted) {
        isStarted = true
        return message
      }
      if (message[0] === 0x58) {
        socket.end()
        return undefined
      }
      return message
    }
  }
}
