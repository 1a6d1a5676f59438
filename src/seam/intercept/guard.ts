import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import workerThreads from 'node:worker_threads'
import { captureStack } from '../caller.ts'
import { driverIn } from '../clients/drivers.ts'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { guardProcess } from './guard-process.ts'
import { guardServers } from './guard-servers.ts'
import { type AnyFunction, guard } from './guarding.ts'
import { bindListeners } from './listeners.ts'
import { currentWatcher, permit, refusal, type Watcher } from './outside.ts'
import { currentResponder } from './responder.ts'
import { watchSqlite } from './watch-sqlite.ts'
import { watchWrites } from './watch-writes.ts'
import { workerTarget } from './worker-target.ts'
import { nextTick } from '../source.ts'

/**
 * Refuses all that a replayed run does around the seam: sockets, servers, name look-ups, datagrams, child processes,
 * worker threads, and what reaches below Node's own modules; what it writes is reported. Prototypes are patched, so functions
 * imported early are covered too.
 */
export function installGuard(): void {
  guardSockets()
  guardOpenSockets()
  guardDns()
  guardDatagrams()
  guardChildren()
  guardWorkers()
  guardServers()
  guardProcess()
  bindListeners()
  watchWrites()
  watchSqlite()
  syncBuiltins()
}

function refused(kind: string, target: unknown): Error | undefined {
  return refusal(kind, String(target))
}

function guardSockets(): void {
  guard(net.Socket.prototype, 'connect', (original) => {
    return function connect(this: net.Socket, ...args: unknown[]) {
      // The interceptor connects the sockets it controls to itself: they carry a `connect` of their own.
      const isOwn = Object.hasOwn(this, 'connect')
      if (!isOwn && isHeld(this, args, original)) return this
      const error = isOwn ? undefined : refused('socket', socketTarget(args))
      if (!error) {
        const by = currentResponder() ?? currentWatcher()
        if (by) letThrough.set(this, { by, target: socketTarget(args) })
        return original.apply(this, args) as unknown
      }
      nextTick(() => this.destroy(error))
      return this
    }
  })
}

/**
 * A driver that connects as soon as its client is made is asked about a moment later: by then the client is behind the seam,
 * which closed the socket, or it is not.
 */
export function isHeld(socket: net.Socket, args: readonly unknown[], connect: AnyFunction): boolean {
  if (!currentResponder() && !currentWatcher()) return false
  const madeAt = captureStack()
  if (driverIn(madeAt.stack ?? '') !== 'mysql2') return false
  nextTick(() => {
    if (socket.destroyed) return
    const error = refusal('socket', socketTarget(args), madeAt)
    if (error) socket.destroy(error)
    else connect.apply(socket, [...args])
  })
  return true
}

/** Sockets a replayed run opened itself; those the interceptor answers. */
export const openedInside = new WeakSet<net.Socket>()

/** What was opened before the run never calls `connect` again: a database pool, the pipe of a child. */
function guardOpenSockets(): void {
  for (const key of ['write', 'end'] as const) {
    guard(net.Socket.prototype, key, (original) => {
      return function (this: net.Socket, ...args: unknown[]) {
        const run = currentResponder()
        const says = args[0] !== undefined && typeof args[0] !== 'function'
        const isOurs = !run || !says || !isOpenedOutside(this) || isStandardStream(this)
        const error = isOurs ? undefined : refused('socket', openTarget(this))
        if (!error) return original.apply(this, args) as unknown
        nextTick(() => this.destroy(error))
        return key === 'end' ? this : false
      }
    })
  }
}

/**
 * Sockets that were let through when they connected, and by whom: that one is not asked about each request once more.
 * Everybody else is, for a pool keeps such a socket for whoever comes next.
 */
export const letThrough = new WeakMap<net.Socket, { readonly by: Watcher; readonly target: string }>()

/** Sockets opened outside any run since the guard is there, and pipes of children started so. */
export const openedOutside = new WeakSet<net.Socket>()

/** Sockets from before the guard are recognised by being connected; those of a server in this process are not meant. */
function isOpenedOutside(socket: net.Socket): boolean {
  if (openedOutside.has(socket)) return true
  if (openedInside.has(socket)) return false
  const { _handle: handle, server } = socket as { _handle?: unknown; server?: unknown }
  return Boolean(handle) && socket.remoteAddress !== undefined && !server
}

function isStandardStream(socket: net.Socket): boolean {
  const { fd } = socket as { fd?: number }
  return fd === 1 || fd === 2 || socket === process.stdout || socket === process.stderr
}

function openTarget({ remoteAddress, remotePort }: net.Socket): string {
  return remoteAddress === undefined ? 'a pipe opened before the run' : `${remoteAddress}:${remotePort ?? '?'}`
}

/** `host:port` or the path, from any arguments of `connect`. */
export function socketTarget(args: readonly unknown[]): string {
  const first: unknown = Array.isArray(args[0]) ? args[0][0] : args[0]
  if (typeof first === 'string') return pathTarget(first)
  if (typeof first === 'number') return `${typeof args[1] === 'string' ? args[1] : 'localhost'}:${first}`
  const { path, host, port } = (first ?? {}) as { path?: string; host?: string; port?: number }
  return path ? pathTarget(path) : `${host ?? 'localhost'}:${port ?? '?'}`
}

/** A file called `db:5432` is no host. */
function pathTarget(path: string): string {
  return /^[^/\\]*:(?:\d+|\?)$/.test(path) ? `./${path}` : path
}

const lookups = /^(lookup|lookupService|resolve.*|reverse)$/

function guardDns(): void {
  for (const key of Object.keys(dns)) if (lookups.test(key)) guard(dns, key, withCallback(`dns.${key}`))
  for (const key of Object.keys(dns.promises)) {
    if (lookups.test(key)) guard(dns.promises, key, withPromise(`dns.${key}`))
  }
  const resolvers = [
    ['dns.Resolver', dns.Resolver, withCallback],
    ['dns.promises.Resolver', dns.promises.Resolver, withPromise],
  ] as const
  for (const [name, Resolver, make] of resolvers) {
    for (const prototype of [Resolver.prototype, Object.getPrototypeOf(Resolver.prototype) as object]) {
      for (const key of Object.getOwnPropertyNames(prototype)) {
        if (lookups.test(key)) guard(prototype, key, make(`${name}.${key}`))
      }
    }
  }
}

function withCallback(kind: string): (original: AnyFunction) => AnyFunction {
  return (original) =>
    function (this: unknown, ...args: unknown[]) {
      const error = refused(kind, args[0])
      if (!error) return original.apply(this, args) as unknown
      const callback = args.at(-1)
      if (typeof callback !== 'function') throw error
      nextTick(callback as AnyFunction, error)
      return undefined
    }
}

function withPromise(kind: string): (original: AnyFunction) => AnyFunction {
  return (original) =>
    function (this: unknown, ...args: unknown[]) {
      const error = refused(kind, args[0])
      return error ? Promise.reject(error) : (original.apply(this, args) as unknown)
    }
}

function guardDatagrams(): void {
  guard(dgram.Socket.prototype, 'send', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const where = args.filter((arg) => typeof arg === 'string' || typeof arg === 'number').slice(-2)
      const error = refused('udp', where.reverse().join(':'))
      if (!error) return permit(() => original.apply(this, args) as unknown)
      const callback = args.at(-1)
      if (typeof callback !== 'function') throw error
      nextTick(callback as AnyFunction, error)
      return undefined
    }
  })
}

function guardChildren(): void {
  guard(childProcess.ChildProcess.prototype, 'spawn', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const { file, args: argv } = (args[0] ?? {}) as { file?: string; args?: readonly string[] }
      const error = refused('child_process', argv?.join(' ') ?? file)
      if (error) throw error
      const started = original.apply(this, args) as unknown
      const { stdin } = this as { stdin?: net.Socket | null }
      if (stdin && !currentResponder()) openedOutside.add(stdin)
      return started
    }
  })
  for (const key of ['spawnSync', 'execSync', 'execFileSync']) {
    guard(childProcess, key, (original) => {
      return function (this: unknown, ...args: unknown[]) {
        const argv = Array.isArray(args[1]) ? args[1] : []
        const error = refused(`child_process.${key}`, [args[0], ...argv].join(' '))
        if (error) throw error
        return original.apply(this, args) as unknown
      }
    })
  }
}

function guardWorkers(): void {
  guard(workerThreads.Worker.prototype, 'postMessage', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const error = currentResponder() && refused('worker', 'a message to a worker started before the run')
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
  patchProperty(workerThreads, 'Worker', (Original) => {
    return class Worker extends Original {
      constructor(...args: ConstructorParameters<typeof Original>) {
        const error = refused('worker', workerTarget(args[0], args[1]))
        if (error) throw error
        super(...args)
      }
    }
  })
}
