import type { Socket } from 'node:net'
import { onChannel } from './channels.ts'
import { currentObserver } from './observer.ts'

/** Lists what the seam cannot record: WebSockets, worker threads, sockets of database drivers. */
export function observeInventory(): void {
  onChannel<{ address?: { address?: string }; protocol?: string; websocket?: { url?: string } }>(
    'inventory',
    'undici:websocket:open',
    (message) => currentObserver()?.unrecorded(`websocket ${message.websocket?.url ?? message.address?.address ?? ''}`.trim()),
  )
  onChannel<object>('inventory', 'worker_threads', () => currentObserver()?.unrecorded('worker thread'))
  onChannel<{ socket: Socket }>('inventory', 'net.client.socket', ({ socket }) => {
    const run = currentObserver()
    if (!run) return
    // HTTP clients open sockets too: only a socket that no HTTP parser owns once it is connected is a raw one.
    socket.once('connect', () => {
      const owner = socket as { parser?: unknown; _httpMessage?: unknown; encrypted?: boolean }
      setImmediate(() => {
        if (isRaw(socket) && !owner.parser && !owner._httpMessage) {
          run.unrecorded(`socket ${socket.remoteAddress ?? '?'}:${socket.remotePort ?? '?'}`)
        }
      })
    })
  })
}

/** undici and http2 mark the sockets they own with symbols of their own. */
function isRaw(socket: Socket): boolean {
  return !Object.getOwnPropertySymbols(socket).some((symbol) =>
    /client|session|parser|no ref|blocking|reset|socket info|http2|kBound/i.test(String(symbol.description)),
  )
}
