import childProcess from 'node:child_process'
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'
import workerThreads from 'node:worker_threads'
import { patchProperty, syncBuiltins } from '../patch.ts'
import { currentResponder } from './responder.ts'

// biome-ignore lint/suspicious/noExplicitAny: patched functions keep whatever signature they have
type AnyFunction = (...args: any[]) => any
type Table = Record<string, AnyFunction>

/**
 * Refuses whatever a replayed run does around the seam: sockets, name look-ups, datagrams, child processes, worker
 * threads. Prototypes are patched, so functions imported early are covered too.
 */
export function installGuard(): void {
  guardSockets()
  guardDns()
  guardDatagrams()
  guardChildren()
  guardWorkers()
  syncBuiltins()
}

function refused(kind: string, target: unknown): Error | undefined {
  return currentResponder()?.escape(kind, String(target))
}

function guard(name: string, target: object, key: string, make: (original: AnyFunction) => AnyFunction): void {
  if (typeof (target as Table)[key] !== 'function') return
  patchProperty(`guard.${name}.${key}`, target as Table, key, make)
}

function guardSockets(): void {
  guard('net', net.Socket.prototype, 'connect', (original) => {
    return function connect(this: net.Socket, ...args: unknown[]) {
      // The interceptor connects the sockets it controls to itself: they carry a `connect` of their own.
      const error = Object.hasOwn(this, 'connect') ? undefined : refused('socket', socketTarget(args))
      if (!error) return original.apply(this, args) as unknown
      process.nextTick(() => this.destroy(error))
      return this
    }
  })
}

/** `host:port` or the path, from whatever `connect` was called with. */
export function socketTarget(args: readonly unknown[]): string {
  const first: unknown = Array.isArray(args[0]) ? args[0][0] : args[0]
  if (typeof first === 'string') return first
  if (typeof first === 'number') return `${typeof args[1] === 'string' ? args[1] : 'localhost'}:${first}`
  const { path, host, port } = (first ?? {}) as { path?: string; host?: string; port?: number }
  return path || `${host ?? 'localhost'}:${port ?? '?'}`
}

const lookups = /^(lookup|lookupService|resolve.*|reverse)$/

function guardDns(): void {
  for (const key of Object.keys(dns)) if (lookups.test(key)) guard('dns', dns, key, withCallback(`dns.${key}`))
  for (const key of Object.keys(dns.promises)) {
    if (lookups.test(key)) guard('dns.promises', dns.promises, key, withPromise(`dns.${key}`))
  }
  const resolvers = [
    ['dns.Resolver', dns.Resolver, withCallback],
    ['dns.promises.Resolver', dns.promises.Resolver, withPromise],
  ] as const
  for (const [name, Resolver, make] of resolvers) {
    for (const prototype of [Resolver.prototype, Object.getPrototypeOf(Resolver.prototype) as object]) {
      for (const key of Object.getOwnPropertyNames(prototype)) {
        if (lookups.test(key)) guard(`${name}.${prototype === Resolver.prototype ? 'own' : 'base'}`, prototype, key, make(`${name}.${key}`))
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
      process.nextTick(callback as AnyFunction, error)
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
  guard('dgram', dgram.Socket.prototype, 'send', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const where = args.filter((arg) => typeof arg === 'string' || typeof arg === 'number').slice(-2)
      const error = refused('udp', where.reverse().join(':'))
      if (!error) return original.apply(this, args) as unknown
      const callback = args.at(-1)
      if (typeof callback !== 'function') throw error
      process.nextTick(callback as AnyFunction, error)
      return undefined
    }
  })
}

function guardChildren(): void {
  guard('child_process.prototype', childProcess.ChildProcess.prototype, 'spawn', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const { file, args: argv } = (args[0] ?? {}) as { file?: string; args?: readonly string[] }
      const error = refused('child_process', argv?.join(' ') ?? file)
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
  for (const key of ['spawnSync', 'execSync', 'execFileSync']) {
    guard('child_process', childProcess, key, (original) => {
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
  patchProperty('guard.Worker', workerThreads, 'Worker', (Original) => {
    return class Worker extends Original {
      constructor(...args: ConstructorParameters<typeof Original>) {
        const error = refused('worker', args[0])
        if (error) throw error
        super(...args)
      }
    }
  })
}
