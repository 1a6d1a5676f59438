import type { Socket } from 'node:net'
import { isClaimed } from '../clients/sockets.ts'
import { noteTarget } from '../connection.ts'
import { isOfHttpClient } from '../http-clients.ts'
import { onChannel } from './channels.ts'
import { currentObserver, guarded } from './observer.ts'

/** Notes of each socket where it leads: who asks over it comes later. */
export function observeTargets(): void {
  onChannel<{ socket: Socket }>('targets', 'net.client.socket', ({ socket }) => {
    const { connect } = socket
    const noted = guarded((args: readonly unknown[]) => noteTarget(socket, args))
    Object.assign(socket, {
      connect(this: Socket, ...args: unknown[]) {
        noted(args)
        return Reflect.apply(connect, this, args) as Socket
      },
    })
  })
}

/**
 * Lists what the seam cannot record: worker threads, and sockets no HTTP client opened, such as those of database
 * drivers. WebSockets are listed where their handshake is heard, children where their pipes are.
 */
export function observeInventory(): void {
  onChannel<object>('inventory', 'worker_threads', () => currentObserver()?.unrecorded('worker thread'))
  onChannel<{ socket: Socket }>('inventory', 'net.client.socket', ({ socket }) => {
    const run = currentObserver()
    if (!run || run.over || isOfHttpClient()) return
    // Only a connected socket knows where it leads.
    const { path } = socket as { path?: string }
    const name = guarded(() => {
      if (isClaimed(socket)) return
      run.unrecorded(`socket ${path ?? `${socket.remoteAddress ?? '?'}:${socket.remotePort ?? '?'}`}`)
    })
    socket.once('connect', name)
  })
}
