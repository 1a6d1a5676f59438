import { connect } from 'node:net'
import { Agent, setGlobalDispatcher } from 'undici'

/**
 * Lets `fetch` reach every host of the world, `https://api.openai.com` included, on one loopback port. Only the connection
 * is another one: clients, and whoever listens to them, see the address that was asked for.
 */
export function routeTo(port: number): void {
  setGlobalDispatcher(
    new Agent({
      connect(_options, callback) {
        const socket = connect({ host: '127.0.0.1', port })
        socket.once('connect', () => callback(null, socket))
        socket.once('error', (error) => callback(error, null))
      },
    }),
  )
}
