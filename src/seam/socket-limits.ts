import type { ClientRequest } from 'node:http'
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
  /** It is so long; 0: as long as it likes. */
  is(ms: number): void
  /** It was set, maybe to what it is. */
  set(): void
  /** Something was sent or came. */
  refresh(): void
}

/** What a request was asked to be sent with. */
interface Asked {
  readonly timeout?: number
  readonly agent?: { readonly options: { readonly timeout?: number } } | null
}

const limits = sharedOf('socket.limits', () => new WeakMap<net.Socket, Limit>())

/**
 * Sockets have timers of their own inside of Node. A recorded run hears those of its requests run out; those of a replayed
 * one run by its clock, see {@link limitReplayed}. To be called when a request of `node:http` is made.
 */
export function limitByRun(request: ClientRequest): void {
  const run = currentRun()
  if (run === undefined || isReplay(run) || run.timerSet === undefined) return
  patchSockets()
  request.once('socket', (socket: net.Socket) => limit(request, socket, new HeardLimit(request, socket, run)))
}

/** To be called when a request of a replayed run has its socket. */
export function limitReplayed(request: ClientRequest, socket: net.Socket, run: Responder): void {
  limit(request, socket, new ReplayedLimit(request, socket, run))
}

function limit(request: ClientRequest & Asked, socket: net.Socket, one: Limit): void {
  limits.set(socket, one)
  // A server may have shortened that of a connection that is used again, which no replay knows.
  one.is(request.timeout ?? request.agent?.options.timeout ?? 0)
}

/** Time limits of sockets are heard from now on. */
export function patchSockets(): void {
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
  })
}

/** After its answer, Node sets the socket to how long a connection may be idle. */
function isUnderWay(request: ClientRequest, { _httpMessage }: net.Socket): boolean {
  return _httpMessage === request && (request as { readonly _ended?: boolean })._ended !== true
}

class HeardLimit implements Limit {
  readonly request: ClientRequest
  readonly #socket: net.Socket
  readonly #run: RunContext
  #ms: number | undefined
  #listener: TimerListener | undefined
  readonly #fired = (): void => {
    if (isUnderWay(this.request, this.#socket)) this.#listener?.fired()
  }

  constructor(request: ClientRequest, socket: net.Socket, run: RunContext) {
    this.request = request
    this.#socket = socket
    this.#run = run
  }

  set(): void {
    const { timeout = 0 } = this.#socket
    if (timeout !== this.#ms && isUnderWay(this.request, this.#socket)) this.is(timeout)
  }

  is(ms: number): void {
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
  /** The end of its request is. */
  #isHeard = false
  #isStopping = false

  constructor(request: ClientRequest, socket: net.Socket, run: Responder) {
    this.request = request
    this.#socket = socket
    this.#run = run
  }

  set(): void {
    if (this.#isStopping) return
    const { timeout = 0 } = this.#socket
    // An idle connection is left open: there is nothing to close.
    if (timeout !== this.#ms && isUnderWay(this.request, this.#socket)) return this.is(timeout)
    this.#stop()
    this.refresh()
  }

  /** Ends the timer that Node runs: without a time there is no such timer. */
  #stop(): void {
    const socket = this.#socket as net.Socket & { timeout?: number }
    const { timeout } = socket
    if (!timeout) return
    this.#isStopping = true
    socket.setTimeout(0)
    this.#isStopping = false
    socket.timeout = timeout
  }

  is(ms: number): void {
    const socket = this.#socket
    this.#stop()
    this.#ms = ms
    this.#timer?.close()
    this.#timer = ms > 0 ? new Timer(this.#run, socketLimits, () => socket.emit('timeout'), ms, [], false) : undefined
    if (ms > 0 && !this.#isHeard) {
      this.#isHeard = true
      this.request.once('close', () => this.#timer?.close())
    }
  }

  refresh(): void {
    const timer = this.#timer
    if (timer && !timer.cancelled && timer.due !== this.#run.now + timer.ms) timer.refresh()
  }
}
