import diagnostics from 'node:diagnostics_channel'
import net from 'node:net'
import { onceInProcess, patchProperty } from '../patch.ts'
import { currentResponder, type Responder } from './responder.ts'

/**
 * Which run a request belongs to, carried in a header of its own. A pooled connection runs in the context of whoever
 * opened it, so the context alone would hand one run's request to another. The header never leaves the process.
 */
export const runHeader = 'x-vitest-harvest-run'

const runs = new Map<string, Responder>()
const numbers = new WeakMap<Responder, string>()
let lastNumber = 0

export function numberOf(run: Responder): string {
  let number = numbers.get(run)
  if (number === undefined) {
    number = String(++lastNumber)
    numbers.set(run, number)
    runs.set(number, run)
  }
  return number
}

export function runOf(number: string | null | undefined): Responder | undefined {
  return number ? runs.get(number) : undefined
}

/** Forgets runs that are over. */
export function forgetRuns(isOver: (run: Responder) => boolean): void {
  for (const [number, run] of runs) if (isOver(run)) runs.delete(number)
}

const openedInside = new WeakSet<net.Socket>()

/**
 * Writes the run into every request at the moment it is made, and refuses requests that would ride a connection from
 * before the run: those never call `connect`, so only the channels see them. Install after the socket interceptor.
 */
export function attributeRequests(): void {
  patchProperty('attribution.connect', net.Socket.prototype, 'connect', (original) => {
    return function connect(this: net.Socket, ...args: unknown[]) {
      if (currentResponder()) openedInside.add(this)
      return Reflect.apply(original, this, args) as net.Socket
    } as typeof original
  })
  listen('undici:request:create', ({ request }: { request: { addHeader(name: string, value: string): void } }) => {
    const run = currentResponder()
    if (run) request.addHeader(runHeader, numberOf(run))
  })
  listen('http.client.request.created', ({ request }: { request: HttpRequest }) => {
    const run = currentResponder()
    if (!run) return
    request.setHeader(runHeader, numberOf(run))
    request.once('socket', (socket: net.Socket) => {
      if (openedInside.has(socket)) return
      const error = run.escape('http', `${request.method} ${String(request.getHeader('host'))}${request.path}`)
      if (error) request.destroy(error)
    })
  })
  listen('undici:client:sendHeaders', ({ request, socket }: { request: UndiciRequest; socket: net.Socket }) => {
    const run = currentResponder() ?? runOf(headerOf(request.headers))
    if (!run || openedInside.has(socket)) return
    const error = run.escape('http', `${request.method} ${String(request.origin)}${request.path}`)
    if (error) socket.destroy(error)
  })
}

interface HttpRequest {
  readonly method: string
  readonly path: string
  getHeader(name: string): unknown
  setHeader(name: string, value: string): void
  once(event: 'socket', listener: (socket: net.Socket) => void): void
  destroy(error: Error): void
}

interface UndiciRequest {
  readonly method: string
  readonly origin: unknown
  readonly path: string
  readonly headers: unknown
}

function headerOf(headers: unknown): string | undefined {
  const flat = Array.isArray(headers) ? headers.map(String) : String(headers).split(/\r\n|: /)
  const at = flat.indexOf(runHeader)
  return at < 0 ? undefined : flat[at + 1]
}

function listen<M>(channel: string, handler: (message: M) => void): void {
  onceInProcess(`attribution.${channel}`, () => {
    const listener = (message: unknown): void => handler(message as M)
    diagnostics.subscribe(channel, listener)
    return () => diagnostics.unsubscribe(channel, listener)
  })
}
