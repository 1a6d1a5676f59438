import mysql from 'mysql2'
import { type Listening, listening } from './both.ts'

/** Speaks the protocol of MySQL, with the server of the driver itself, of which no types tell all. */
interface Peer {
  sequenceId: number
  on(event: 'error', listener: () => void): void
  on(event: 'query', listener: (sql: string) => void): void
  serverHandshake(about: object): void
  writeTextResult(rows: readonly object[], columns: readonly object[]): void
}

const text = { name: 'asked', columnType: 0xfd, characterSet: 45, columnLength: 1000, flags: 0, decimals: 0 }
const named = { catalog: 'def', schema: '', table: '', orgTable: '', orgName: '' }

/** A server that answers each query with the text it was sent. */
export async function mysqlServer(): Promise<Listening> {
  const server = mysql.createServer(() => undefined) as unknown as {
    on(event: 'connection', listener: (peer: Peer) => void): void
    readonly _server: Parameters<typeof listening>[0]
  }
  server.on('connection', (peer) => {
    // A question begins to count its packets anew, which the driver leaves to its servers.
    const answered = (answer: () => void): void => {
      answer()
      peer.sequenceId = 0
    }
    peer.on('error', () => undefined)
    peer.on('query', (asked) => answered(() => peer.writeTextResult([{ asked }], [{ ...named, ...text }])))
    peer.serverHandshake({
      protocolVersion: 10,
      serverVersion: '8.0.0',
      connectionId: 1,
      statusFlags: 2,
      characterSet: 45,
      capabilityFlags: 0xfff7ff,
      authCallback: (_given: object, done: () => void) => answered(done),
    })
  })
  return listening(server._server)
}
