import diagnostics from 'node:diagnostics_channel'
import { Agent, ClientRequest, type IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { hasOtherSubscribers, onceInProcess } from '../patch.ts'
import { outsideRuns } from '../source.ts'

/**
 * Makes one exchange of Node's own client and keeps it. V8 forgets what a class of objects looks like when the last one of
 * them is gone, and what it has compiled for them with it: each collection after a run would have Node's client start over.
 *
 * It goes nowhere, and where anybody else listens for requests, or has replaced the client, it is not made.
 */
export function keepSampleExchange(): void {
  const isHeard = channels.some((name) => hasOtherSubscribers(diagnostics.channel(name)))
  if (!isHeard && isNodes) onceInProcess('intercept.sample', () => outsideRuns(makeSample))
}

const channels = [
  'http.client.request.created',
  'http.client.request.start',
  'http.client.response.finish',
  'net.client.socket',
]

/** A mock of the whole client may stand in its place. */
const isNodes = /^function ClientRequest\(input, options, cb\) \{/.test(Function.prototype.toString.call(ClientRequest))

const kept: (ClientRequest | IncomingMessage)[] = []

function makeSample(): void {
  const socket = new Socket()
  const read: Socket['_read'] = () => undefined
  socket._read = read
  const write: Socket['_writeGeneric'] = (_isMany, _data, _encoding, callback) => {
    callback?.()
    queueMicrotask(() => socket.push('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'))
  }
  socket._writeGeneric = write
  const agent = new Agent({ keepAlive: true })
  const connect: Agent['createConnection'] = () => socket
  agent.createConnection = connect
  const request = new ClientRequest({ method: 'POST', agent, headers: { a: 'b' } })
  request.once('response', (response) => {
    kept.push(request, response)
    response.resume()
  })
  // Whoever changed agents may refuse it: then nothing is kept.
  request.once('error', () => kept.splice(0))
  request.end('{}')
}
