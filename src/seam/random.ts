import nodeCrypto, { type RandomUUIDOptions, type webcrypto } from 'node:crypto'
import { promisify, types } from 'node:util'
import { callerFile } from './caller.ts'
import { patchProperty, syncBuiltins } from './patch.ts'
import { type Caller, currentRun, nextTick, type VirtualWorld } from './source.ts'

interface Filled {
  readonly buffer: ArrayBufferLike
  readonly byteOffset: number
  readonly byteLength: number
}

/**
 * Sends `Math.random` and the random functions of `crypto` through the run. Values are never replaced while
 * recording: a seeded generator in production would make tokens predictable.
 */
export function patchRandom(): void {
  patchProperty(Math, 'random', (real) => {
    const call = real.bind(Math)
    return function random(): number {
      return currentRun()?.draw('random', random, call, (world) => world.uint32() / 2 ** 32) ?? call()
    }
  })
  patchWebCrypto()
  patchNodeCrypto()
  syncBuiltins()
}

function patchWebCrypto(): void {
  const prototype = Object.getPrototypeOf(globalThis.crypto) as webcrypto.Crypto
  patchProperty(prototype, 'randomUUID', (real) => {
    const call = real.bind(globalThis.crypto)
    return function randomUUID(): ReturnType<webcrypto.Crypto['randomUUID']> {
      return currentRun()?.draw('uuid', randomUUID, call, uuid) ?? call()
    }
  })
  patchProperty(prototype, 'getRandomValues', (real) => {
    const call = real.bind(globalThis.crypto) as (array: Filled) => Filled
    function getRandomValues<T extends Filled>(array: T): T {
      // That of `node:crypto` calls this one, and cannot be replaced: who called it is who asks.
      const isByNode = currentRun() !== undefined && callerFile(getRandomValues).startsWith('node:')
      return fill(array, isByNode ? nodeCrypto.getRandomValues : getRandomValues, () => void call(array))
    }
    return getRandomValues as webcrypto.Crypto['getRandomValues']
  })
}

function patchNodeCrypto(): void {
  const fillAtOnce = nodeCrypto.randomFillSync
  patchProperty(nodeCrypto, 'randomUUID', (real) => {
    return function randomUUID(options?: RandomUUIDOptions): ReturnType<typeof real> {
      return currentRun()?.draw('uuid', randomUUID, () => real(options), uuid) ?? real(options)
    }
  })
  // Of Node 24 and newer.
  const newer = nodeCrypto as { randomUUIDv7?: (options?: object) => Uuid }
  if (newer.randomUUIDv7)
    patchProperty(newer as Required<typeof newer>, 'randomUUIDv7', (real) => {
      return function randomUUIDv7(options?: object): Uuid {
        return currentRun()?.draw('uuid', randomUUIDv7, () => real(options), uuidv7) ?? real(options)
      }
    })
  patchProperty(nodeCrypto, 'randomBytes', (real) => {
    type Callback = (error: Error | null, bytes: Buffer) => void
    const drawn = (caller: Caller, [size]: readonly unknown[]): Buffer =>
      fill(Buffer.alloc(size as number), caller, (into) => void real(size as number).copy(into))
    function randomBytes(size: number, callback?: Callback): Buffer | undefined {
      if (!currentRun()) return callback ? (real(size, callback) as unknown as undefined) : real(size)
      const bytes = drawn(randomBytes, [size])
      if (!callback) return bytes
      nextTick(callback, null, bytes)
      return undefined
    }
    return withPromise(randomBytes as typeof real, real, drawn)
  })
  // Its other names, of which Node keeps the function itself.
  const names = nodeCrypto as { [name in 'pseudoRandomBytes' | 'prng' | 'rng']?: typeof nodeCrypto.randomBytes }
  for (const name of ['pseudoRandomBytes', 'prng', 'rng'] as const)
    if (names[name]) patchProperty(names, name, () => nodeCrypto.randomBytes)
  patchProperty(nodeCrypto, 'randomFillSync', (real) => {
    function randomFillSync(...args: FillArguments): unknown {
      const part = currentRun() && partOf(args)
      if (!part) return Reflect.apply(real, nodeCrypto, args)
      fill(part, randomFillSync, (into) => void real(into))
      return args[0]
    }
    return randomFillSync as typeof real
  })
  patchProperty(nodeCrypto, 'randomFill', (real) => {
    const drawn = (caller: Caller, args: readonly unknown[]): unknown => {
      const part = partOf(args as FillArguments)
      // It refuses the same arguments, with the same error.
      if (!part) return Reflect.apply(fillAtOnce, nodeCrypto, args)
      fill(part, caller, (into) => void fillAtOnce(into))
      return args[0]
    }
    function randomFill(...args: readonly unknown[]): void {
      const at = args.findIndex((arg) => typeof arg === 'function')
      if (at < 1 || !currentRun()) return void Reflect.apply(real, nodeCrypto, args)
      nextTick(args[at] as (...given: unknown[]) => void, null, drawn(randomFill, args.slice(0, at)))
    }
    return withPromise(randomFill as typeof real, real, drawn)
  })
  patchProperty(nodeCrypto, 'randomInt', (real) => {
    const drawn = (caller: Caller, [first, second]: readonly unknown[]): number => {
      const [min, max] = (second === undefined ? [0, first] : [first, second]) as [number, number]
      const fromWorld = (world: VirtualWorld): number => min + Math.floor((world.uint32() / 2 ** 32) * (max - min))
      return currentRun()?.draw('int', caller, () => real(min, max), fromWorld) ?? real(min, max)
    }
    function randomInt(...args: readonly unknown[]): number | undefined {
      if (!currentRun()) return Reflect.apply(real, nodeCrypto, args) as number | undefined
      const callback = args.find((arg) => typeof arg === 'function')
      const value = drawn(
        randomInt,
        args.filter((arg) => arg !== callback),
      )
      if (!callback) return value
      nextTick(callback as (...given: unknown[]) => void, null, value)
      return undefined
    }
    return withPromise(randomInt as typeof real, real, drawn)
  })
}

/** By `promisify`, which would call it from code of Node, it is called by whoever calls the promise: what Node reads is not recorded. */
function withPromise<F extends (...args: never[]) => unknown>(
  patched: F,
  real: F,
  drawn: (caller: Caller, args: readonly unknown[]) => unknown,
): F {
  const realPromised = promisify(real as unknown as (done: () => void) => void) as (
    ...args: readonly unknown[]
  ) => unknown
  function promised(...args: readonly unknown[]): unknown {
    return currentRun() ? new Promise((done) => done(drawn(promised, args))) : realPromised(...args)
  }
  return Object.defineProperty(patched, promisify.custom, { value: promised })
}

type FillArguments = readonly [buffer: unknown, offset?: number, size?: number]

/** The bytes that are to be filled; `undefined` where Node refuses the arguments. */
function partOf([buffer, offset = 0, size]: FillArguments): Uint8Array | undefined {
  const isView = ArrayBuffer.isView(buffer)
  if (!isView && !types.isAnyArrayBuffer(buffer)) return undefined
  const unit = isView && 'BYTES_PER_ELEMENT' in buffer ? Number(buffer.BYTES_PER_ELEMENT) : 1
  const from = offset * unit
  const length = size === undefined ? buffer.byteLength - from : size * unit
  if (!(from >= 0 && length >= 0 && from + length <= buffer.byteLength)) return undefined
  return isView ? new Uint8Array(buffer.buffer, buffer.byteOffset + from, length) : new Uint8Array(buffer, from, length)
}

/** Fills a view, by the world or by the run. */
function fill<T extends Filled>(view: T, caller: Caller, real: (into: Uint8Array) => void): T {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  const run = currentRun()
  if (!run) {
    real(bytes)
    return view
  }
  const drawn = run.draw(
    'bytes',
    caller,
    () => {
      real(bytes)
      return Buffer.from(bytes)
    },
    (world) => Buffer.from(bytes.map(() => world.uint32() & 255)),
  )
  bytes.set(drawn.subarray(0, bytes.length))
  return view
}

type Uuid = ReturnType<webcrypto.Crypto['randomUUID']>

function uuid(world: VirtualWorld): Uuid {
  return written(4, chance(world))
}

/** A UUID that begins with the time. */
function uuidv7(world: VirtualWorld): Uuid {
  const bytes = chance(world)
  bytes.writeUIntBE(Math.floor(world.epochMs()), 0, 6)
  return written(7, bytes)
}

function chance(world: VirtualWorld): Buffer {
  return Buffer.from(Array.from({ length: 16 }, () => world.uint32() & 255))
}

function written(version: number, bytes: Buffer): Uuid {
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | (version << 4)
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
