import { ClientRequest } from 'node:http'
import net from 'node:net'
import type { Responder } from './intercept/responder.ts'
import { onceInProcess, patchProperty } from './patch.ts'
import { currentRun, type RunContext, sharedOf, type TimerListener } from './source.ts'
import { isReplay, Timer } from './timers.ts'

/** Who sets them, as the timers of a run name it. */
export const socketLimits = 'node:http'

/** How long the socket of a request may be silent. */
interface Limit {
  readonly request: ClientRequest
  /** It was set, maybe to what it is. */
  set(): void
  /** Something was sent or came. */
  refresh(): void
}

const limits = sharedOf('socket.limits', () => new WeakMap<net.Socket, Limit>())
const wanted = sharedOf('socket.limits.wanted', () => new WeakMap<ClientRequest, number>())

/**
 * Sockets have timers of their own inside of Node. A recorded run hears those of its requests run out; those of a replayed
 * one run by its clock. To be called when a request of `node:http` is made.
 */
export function limitByRun(request: ClientRequest): void {
  const run = currentRun()
  if (run === undefined || (!isReplay(run) && run.timerSet === undefined)) return
  patchSockets()
  request.once('socket', (socket: net.Socket) => {
    const limit = isReplay(run) ? new ReplayedLimit(request, socket, run) : new HeardLimit(request, socket, run)
    limits.set(socket, limit)
    limit.set()
    connectedLimit(request)
  })
}

function patchSockets(): void {
  onceInProcess('socket.limits', () => {
    patchProperty(net.Socket.prototype, 'setTimeout', (original) => {
      return function setTimeout(this: net.Socket, ...args) {
        const set = original.apply(this, args)
        limits.get(this)?.set()
        return set
      }
    })
    patchProperty(net.Socket.prototype, '_unrefTimer', (original) => {
      return function _unrefTimer(this: net.Socket) {
        original.call(this)
        limits.get(this)?.refresh()
      }
    })
    patchProperty(ClientRequest.prototype, 'setTimeout', (original) => {
      return function setTimeout(this: ClientRequest, ms, callback) {
        const set = original.call(this, ms, callback)
        const run = currentRun()
        if (run !== undefined && isReplay(run)) {
          wanted.set(this, ms)
          connectedLimit(this)
        }
        return set
      }
    })
  })
}

/** Node sets it once the connection is there, which is when the answer comes where nothing is connected. */
function connectedLimit(request: ClientRequest): void {
  const ms = wanted.get(request)
  const { socket } = request
  if (ms !== undefined && socket?.connecting && limits.get(socket)?.request === request) socket.setTimeout(ms)
}

class HeardLimit implements Limit {
  readonly request: ClientRequest
  readonly #socket: net.Socket
  readonly #run: RunContext
  #ms: number | undefined
  #listener: TimerListener | undefined
  readonly #fired = (): void => {
    if (this.#socket._httpMessage === this.request) this.#listener?.fired()
  }

  constructor(request: ClientRequest, socket: net.Socket, run: RunContext) {
    this.request = request
    this.#socket = socket
    this.#run = run
  }

  set(): void {
    const { timeout: ms = 0, _httpMessage } = this.#socket
    if (_httpMessage !== this.request || ms === this.#ms) return
    this.#ms = ms
    this.#listener = this.#run.timerSet?.(socketLimits, ms)
    this.#socket.off('timeout', this.#fired)
    if (ms === 0 || this.#listener === undefined) return
    this.#socket.prependListener('timeout', this.#fired)
    const stop = (): unknown => this.#socket.off('timeout', this.#fired)
    this.#listener.onOver(stop)
    this.request.once('close', stop)
  }

  refresh(): void {
    // It runs by itself.
  }
}

class ReplayedLimit implements Limit {
  readonly request: ClientRequest
  readonly #socket: net.Socket
  readonly #run: Responder
  #ms: number | undefined
  #timer: Timer | undefined
  #isStopping = false

  constructor(request: ClientRequest, socket: net.Socket, run: Responder) {
    this.request = request
    this.#socket = socket
    this.#run = run
    request.once('close', () => this.#timer?.close())
  }

  set(): void {
    const socket = this.#socket
    const { timeout: ms = 0 } = socket
    if (this.#isStopping) return
    this.#isStopping = true
    // The one that Node runs.
    socket.setTimeout(0)
    Object.assign(socket, { timeout: ms })
    this.#isStopping = false
    // An idle connection is left open: there is nothing to close.
    if (socket._httpMessage !== this.request) return
    if (ms === this.#ms) return this.refresh()
    this.#ms = ms
    this.#timer?.close()
    this.#timer = ms > 0 ? new Timer(this.#run, socketLimits, () => socket.emit('timeout'), ms, [], false) : undefined
  }

  refresh(): void {
    const timer = this.#timer
    if (timer && !timer.cancelled && timer.due !== this.#run.now + timer.ms) timer.refresh()
  }
}
