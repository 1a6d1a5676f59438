import { currentRun, outsideRuns, seamState } from '../source.ts'
import { ask, askState, callback, isReplaying, type Loose, type Method, over, type Port, put, refuse } from './ask.ts'

/** A client of ioredis; a cluster is not one. */
export function isIoredis(given: Loose): boolean {
  return (
    typeof given['sendCommand'] === 'function' &&
    typeof given['defineCommand'] === 'function' &&
    given['isCluster'] !== true
  )
}

const listening = /^(?:[ps]?(?:un)?subscribe|monitor)$/

interface Command extends Loose {
  readonly name: string
  readonly args: readonly unknown[]
  readonly promise: Promise<unknown>
  resolve: Method
  reject: Method
}

export function instrumentIoredis(port: Port, redis: Loose): void {
  const connect = (redis['connect'] as Method).bind(redis)
  const quiet = isReplaying() || currentRun() ? quieted(redis) : undefined
  over(redis, 'sendCommand', (original) => (command: Command, ...rest: unknown[]) => {
    if (!currentRun()) return original(command, ...rest) as unknown
    if (listening.test(command.name)) refuse(port, [command.name, ...command.args].join(' '))
    let isAsked = false
    const answer = ask<Promise<unknown>>(port, command.name, { args: command.args }, () => {
      isAsked = true
      return quiet?.isOver === false
        ? quiet.over.then(() => original(command, ...rest))
        : (original(command, ...rest) as unknown)
    })
    answer.then(
      (value) => isAsked || answered(command, value),
      (error: unknown) => isAsked || void command.reject(error),
    )
    // Its own promise is kept before the tape has the answer: what the agent asks next would stand beside it there.
    return isAsked ? answer : command.promise
  })
  over(redis, 'connect', () => (done?: Method) => {
    const connected =
      isReplaying() && !currentRun()
        ? Promise.resolve()
        : ask<Promise<void>>(port, 'connect', {}, () => connect() as unknown)
    if (done) callback(connected, done, () => [])
    return connected
  })
  over(redis, 'disconnect', (original) => (...how: unknown[]) => {
    if (!isReplaying()) outsideRuns(() => original(...how) as unknown)
  })
  over(redis, 'duplicate', (original) => (...given: unknown[]) => {
    const twin = original(...given) as Loose
    instrumentIoredis(port, twin)
    return twin
  })
  watchStatus(port, redis)
}

/**
 * It connects a moment after it is made, as whoever made it. In a run it waits to be asked instead: a replay connects to
 * nothing, and what it says while it connects is no step.
 */
function quieted(redis: Loose): { readonly over: Promise<void>; isOver: boolean } | undefined {
  if (redis['status'] !== 'connecting') return undefined
  redis['disconnect']()
  const { promise, resolve } = Promise.withResolvers<void>()
  const quiet = { over: promise, isOver: false }
  seamState().natives.setImmediate(() => {
    redis['manuallyClosing'] = false
    if (redis['status'] === 'end') redis['status'] = 'wait'
    quiet.isOver = true
    resolve()
  })
  return quiet
}

/** The recorded answer is what its caller got: it was made ready then. */
function answered(command: Command, value: unknown): void {
  put(command, 'transformReply', (ready: unknown) => ready)
  command.resolve(value)
}

/** An agent that looks whether it is connected sees what it saw. */
function watchStatus(port: Port, redis: Loose): void {
  let status: unknown = redis['status']
  Object.defineProperty(redis, 'status', {
    configurable: true,
    enumerable: true,
    get: () => askState(port, 'status', () => status),
    set(next: unknown) {
      status = next
    },
  })
}
