import dgram from 'node:dgram'
import net from 'node:net'
import { type AnyFunction, guard, refuse } from './guarding.ts'
import { permit, refusal } from './outside.ts'
import { nextTick } from '../source.ts'

/** Servers whose port was asked about: Node opens it in a function of theirs that anyone may call. */
const asked = new WeakSet<net.Server>()

/** Refuses ports that a replayed run opens to the world: no request came there when it was recorded. */
export function guardServers(): void {
  guard(net.Server.prototype, 'listen', (original) => {
    return function listen(this: net.Server, ...args: unknown[]) {
      const error = refusal('listen', portOf(args))
      if (!error) {
        asked.add(this)
        return permit(() => original.apply(this, args) as unknown)
      }
      nextTick(() => this.emit('error', error))
      return this
    }
  })
  guard(net.Server.prototype, '_listen2', (original) => {
    return function (this: net.Server, ...args: unknown[]) {
      const error = asked.has(this) ? undefined : refusal('listen', args.slice(0, 2).join(':'))
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
  for (const key of ['addMembership', 'addSourceSpecificMembership'])
    refuse(dgram.Socket.prototype, key, 'udp membership', ([group]) => String(group))
  guard(dgram.Socket.prototype, 'bind', (original: AnyFunction) => {
    return function bind(this: dgram.Socket, ...args: unknown[]) {
      const error = refusal('udp bind', portOf(args))
      if (!error) return permit(() => original.apply(this, args) as unknown)
      nextTick(() => this.emit('error', error))
      return this
    }
  })
}

/** `host:port` or a path, from any arguments of `listen` and `bind`; port 0 is any. */
function portOf(args: readonly unknown[]): string {
  const [first, second] = args
  if (typeof first === 'string' && !/^\d+$/.test(first)) return first
  if (typeof first !== 'object' || first === null) {
    const port = typeof first === 'number' || typeof first === 'string' ? first : 0
    return `${typeof second === 'string' ? second : '*'}:${port}`
  }
  const given = first as { path?: unknown; host?: unknown; address?: unknown; port?: unknown; fd?: unknown }
  if (typeof given.path === 'string') return given.path
  if (given.fd !== undefined) return `descriptor ${String(given.fd)}`
  return `${textOr(given.host ?? given.address, '*')}:${textOr(given.port, '0')}`
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : other
}
