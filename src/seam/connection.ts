import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import type { Pairs } from './pairs.ts'

/**
 * Which run a request belongs to, carried in a header of its own. A pooled connection runs in the context of whoever
 * opened it, so the context alone would hand one run's request to another. The header never leaves the process.
 */
export const runHeader = 'x-vitest-harvest-run'

/**
 * Stands among the headers of a request on a tape, but was not sent: the unix socket that its connection leads to, or
 * what a connection leads to that the code opens by itself.
 */
export const socketName = ':socket'

/** In its place, where that is not seen. */
export const unknownSocket = '(unknown)'

/** Where a socket leads: a path, or `tcp://host:port`. */
const target = Symbol.for('vitest-harvest.target')

/** @param args - what `connect` of a socket is called with */
export function noteTarget(socket: object, args: readonly unknown[]): void {
  // In a replay, the interceptor connects it once more, to itself.
  if (targetOf(socket) !== undefined) return
  const [first, second] = (Array.isArray(args[0]) ? args[0] : args) as readonly unknown[]
  const isPath = typeof first === 'string' && !/^\d+$/.test(first)
  const given = typeof first === 'object' && first !== null ? first : isPath ? { path: first } : { port: first }
  const { path, host = typeof second === 'string' ? second : 'localhost', port } = given as Record<string, unknown>
  const value = path ? socketPlace(String(path)) : `tcp://${[host, port].join(':')}`
  Object.assign(socket, { [target]: value })
}

/** Where a socket leads: a path, or `tcp://host:port`. */
export function targetOf(socket: object | null | undefined): string | undefined {
  return (socket as { readonly [target]?: string } | null | undefined)?.[target]
}

/** What stands beside the headers of a request over this socket: nothing where it leads to a host. */
export function socketOf(socket: object | null | undefined): Pairs {
  const known = targetOf(socket)
  return known === undefined || known.startsWith('tcp:') ? nothing : [[socketName, known]]
}

const nothing: Pairs = []

/** The same for a socket that is connected, and may have been opened before anyone looked: over the network, it knows. */
export function connectedSocket(socket: (object & { readonly remoteAddress?: string | undefined }) | undefined): Pairs {
  const isUnseen = socket !== undefined && targetOf(socket) === undefined && socket.remoteAddress === undefined
  return isUnseen ? [[socketName, unknownSocket]] : socketOf(socket)
}

/** The same for a request of `node:http`, as far as it says so before it has a socket. */
export function statedSocket({ agent, socketPath }: SentRequest): Pairs {
  const path = agent?.options?.socketPath ?? socketPath
  return path ? [[socketName, socketPlace(String(path))]] : nothing
}

/** The same for one that has its socket. Without an agent, or with another way to connect on its agent, the code has opened it. */
export function heldSocket(request: SentRequest): Pairs {
  const stated = statedSocket(request)
  if (stated.length > 0) return stated
  const { agent, socket } = request
  const isOpenedByCode = !agent || Object.hasOwn(agent, 'createConnection')
  return isOpenedByCode ? [[socketName, targetOf(socket) ?? unknownSocket]] : socketOf(socket)
}

/** The parts of a request of `node:http`, or of its options, that say where it is sent. */
export interface SentRequest {
  readonly agent?: { readonly options?: { readonly socketPath?: unknown } } | null | undefined
  readonly socketPath?: unknown
  readonly socket?: object | null | undefined
}

/**
 * The path of a socket without what the machine adds: in the folder of the project from there, and below `~`, `(temporary)`
 * and `(runtime)`. Abstract ones of Linux begin with `@`.
 */
export function socketPlace(path: string): string {
  if (path.startsWith('\0')) return `@${path.slice(1)}`
  const whole = slashed(resolve(path))
    .replace(/^\/var\/run\//, '/run/')
    .replace(/^\/run\/user\/\d+/, '(runtime)')
  const folders = [
    [process.cwd(), ''],
    [tmpdir(), '(temporary)/'],
    ['/tmp', '(temporary)/'],
    [process.env['HOME'] ?? process.env['USERPROFILE'], '~/'],
  ] as const
  const places = folders.flatMap(([given = '', shown]) => {
    const folder = `${slashed(given)}/`
    return folder !== '/' && whole.startsWith(folder) ? [shown + whole.slice(folder.length)] : []
  })
  // In the nearest of them least is left.
  return places.sort((a, b) => a.length - b.length)[0] ?? whole
}

function slashed(path: string): string {
  return path.replaceAll('\\', '/').replace(/^\/private\//, '/')
}
