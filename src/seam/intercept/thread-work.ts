import nodeCrypto, { webcrypto } from 'node:crypto'
import { types } from 'node:util'
import zlib from 'node:zlib'
import { patchProperty, replacements } from '../patch.ts'

type AnyFunction = (this: unknown, ...args: unknown[]) => unknown

declare const WebAssembly: Record<string, AnyFunction>

/** Calls of crypto and of WebAssembly's compiler that are not done yet. */
let callsUnderWay = 0
/** Streams that compress or decompress a piece now. */
const streams = new Set<ZlibStream>()

/** What `zlib` streams inherit, beside what Node documents. */
interface ZlibStream {
  readonly destroyed: boolean
  readonly readableLength: number
  readonly readableHighWaterMark: number
  _transform: (chunk: Buffer, encoding: BufferEncoding, done: (...given: unknown[]) => void) => void
}

/**
 * Whether crypto, zlib or the compiler of WebAssembly works for someone on other threads. None of them is among
 * `process.getActiveResourcesInfo()`, and the agent goes on when it is done: until then it is not quiet.
 */
export function isThreadWorking(): boolean {
  for (const stream of streams) {
    // What it has made is not read: it goes on when someone does.
    const isFull = stream.readableLength >= stream.readableHighWaterMark
    if (stream.destroyed) streams.delete(stream)
    else if (!isFull) return true
  }
  return callsUnderWay > 0
}

/** Takes note of what goes on Node's threads from now on. What is drawn of the run does not go there. */
export function watchThreadWork(): void {
  const ours = replacements().get(nodeCrypto)
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(nodeCrypto)))
    if (isFunction(value) && !ours?.has(name) && !isClass(name)) watchCallback(nodeCrypto as never, name as never)
  const { subtle } = webcrypto
  const prototype = Object.getPrototypeOf(subtle) as Record<string, AnyFunction>
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
    if (isFunction(value) && name !== 'constructor') watchPromise(prototype, name)
  // Those that stream wait for the network as well, and nothing comes from there while someone works.
  for (const name of ['compile', 'instantiate']) watchPromise(WebAssembly, name)
  watchStreams()
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === 'function'
}

function isClass(name: string): boolean {
  return /^[A-Z]/.test(name)
}

/** A function of `crypto` works on a thread where its last argument is a callback. */
function watchCallback(target: Record<string, AnyFunction>, name: string): void {
  patchProperty(target, name, (original) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      const callback = args.at(-1)
      if (!isFunction(callback)) return Reflect.apply(original, this, args)
      const end = begin()
      const called = function (this: unknown, ...given: unknown[]): unknown {
        end()
        return Reflect.apply(callback, this, given)
      }
      try {
        return Reflect.apply(original, this, [...args.slice(0, -1), called])
      } catch (error) {
        end()
        throw error
      }
    }
  })
}

function watchPromise(target: Record<string, AnyFunction>, name: string): void {
  patchProperty(target, name, (original) => {
    return function (this: unknown, ...args: unknown[]): unknown {
      const answer = Reflect.apply(original, this, args)
      if (types.isPromise(answer)) {
        const end = begin()
        answer.then(end, end)
      }
      return answer
    }
  })
}

function watchStreams(): void {
  let base = zlib.Gunzip.prototype as object
  while (!Object.hasOwn(base, '_transform')) base = Object.getPrototypeOf(base) as object
  patchProperty(base as ZlibStream, '_transform', (original) => {
    return function (this: ZlibStream, chunk, encoding, done): void {
      streams.add(this)
      original.call(this, chunk, encoding, (...given) => {
        streams.delete(this)
        done(...given)
      })
    }
  })
}

/** One more is under way; returns what ends it, once. */
function begin(): () => void {
  callsUnderWay++
  let isDone = false
  return () => {
    if (!isDone) callsUnderWay--
    isDone = true
  }
}
