import nodeCrypto, { type RandomUUIDOptions, type webcrypto } from 'node:crypto'
import { patchProperty, syncBuiltins } from './patch.ts'
import { type Caller, currentRun, type VirtualWorld } from './source.ts'

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
      return fill(array, getRandomValues, () => void call(array))
    }
    return getRandomValues as webcrypto.Crypto['getRandomValues']
  })
}

function patchNodeCrypto(): void {
  patchProperty(nodeCrypto, 'randomUUID', (real) => {
    return function randomUUID(options?: RandomUUIDOptions): ReturnType<typeof real> {
      return currentRun()?.draw('uuid', randomUUID, () => real(options), uuid) ?? real(options)
    }
  })
  patchProperty(nodeCrypto, 'randomBytes', (real) => {
    type Callback = (error: Error | null, bytes: Buffer) => void
    function randomBytes(size: number, callback?: Callback): Buffer | undefined {
      const run = currentRun()
      if (!run) return callback ? (real(size, callback) as unknown as undefined) : real(size)
      const bytes = fill(Buffer.alloc(size), randomBytes, (into) => void real(size).copy(into))
      if (!callback) return bytes
      process.nextTick(callback, null, bytes)
      return undefined
    }
    return randomBytes as typeof real
  })
  patchProperty(nodeCrypto, 'randomFillSync', (real) => {
    function randomFillSync<T extends NodeJS.ArrayBufferView>(buffer: T, offset = 0, size?: number): T {
      if (!currentRun() || !ArrayBuffer.isView(buffer))
        return size === undefined ? real(buffer, offset) : real(buffer, offset, size)
      const unit = 'BYTES_PER_ELEMENT' in buffer ? Number(buffer.BYTES_PER_ELEMENT) : 1
      const from = buffer.byteOffset + offset * unit
      const length = size === undefined ? buffer.byteLength - offset * unit : size * unit
      const part = new Uint8Array(buffer.buffer, from, length)
      fill(part, randomFillSync, (into) => void real(into))
      return buffer
    }
    return randomFillSync as typeof real
  })
  patchProperty(nodeCrypto, 'randomInt', (real) => {
    type Callback = (error: Error | null, value: number) => void
    function randomInt(...args: [number, (number | Callback)?, Callback?]): number | undefined {
      const callback = args.find((arg): arg is Callback => typeof arg === 'function')
      const [first, second] = args.filter((arg): arg is number => typeof arg === 'number') as [number, number?]
      const [min, max] = second === undefined ? [0, first] : [first, second]
      const run = currentRun()
      if (!run) return (real as (...all: unknown[]) => number | undefined)(...args)
      const value = run.draw(
        'int',
        randomInt,
        () => real(min, max),
        (world) => min + Math.floor((world.uint32() / 2 ** 32) * (max - min)),
      )
      if (!callback) return value
      process.nextTick(callback, null, value)
      return undefined
    }
    return randomInt as typeof real
  })
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

function uuid(world: VirtualWorld): ReturnType<webcrypto.Crypto['randomUUID']> {
  const bytes = Buffer.from(Array.from({ length: 16 }, () => world.uint32() & 255))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
