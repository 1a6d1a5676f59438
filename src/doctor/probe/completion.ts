import { AsyncResource } from 'node:async_hooks'
import crypto from 'node:crypto'
import fs from 'node:fs'
import zlib from 'node:zlib'
import { currentResponder, type Responder } from '../../seam/intercept/responder.ts'
import { seamState } from '../../seam/source.ts'
import { type Manner, patch } from './patching.ts'
import { ask, type Slot } from './probe.ts'

const filesystem = ['readFile', 'writeFile', 'appendFile', 'stat', 'lstat', 'readdir', 'access', 'open', 'mkdir']
const files = [...filesystem, 'copyFile', 'rename', 'unlink', 'rm', 'realpath', 'mkdtemp']
const compression = ['gzip', 'gunzip', 'deflate', 'inflate', 'deflateRaw', 'inflateRaw', 'brotliCompress', 'unzip']
const hashing = ['scrypt', 'pbkdf2', 'hkdf', 'randomFill', 'generateKeyPair', 'sign', 'verify']
const subtle = ['digest', 'sign', 'verify', 'encrypt', 'decrypt', 'deriveBits', 'deriveKey', 'importKey', 'generateKey']

/**
 * Work that Node does on threads of its own may be done in any order. Under the probe it is handed over in the order it
 * was started; where two pieces are under way at once, one way of being another is: this place last, and what it has
 * started itself in reverse.
 */
export function probeCompletion(): void {
  for (const key of files) {
    hold(fs, key, 'callback', `fs.${key}`)
    hold(fs.promises, key, 'promise', `fs.promises.${key}`)
  }
  for (const key of [...compression, 'brotliDecompress']) hold(zlib, key, 'callback', `zlib.${key}`)
  for (const key of hashing) hold(crypto, key, 'callback', `crypto.${key}`)
  for (const key of subtle) {
    hold(Object.getPrototypeOf(crypto.webcrypto.subtle) as object, key, 'promise', `crypto.subtle.${key}`)
  }
}

/** A piece of work under way. */
interface Work {
  readonly slot: Slot
  readonly isLast: boolean
  readonly run: Responder | undefined
  /** Hands the result over; set once it is there. */
  release?: () => void
}

/** In the order they were started. */
const working = new Set<Work>()

function hold(target: object, key: string, manner: Manner, name: string): void {
  const make = (original: (...args: unknown[]) => unknown) => {
    return function patched(this: unknown, ...args: unknown[]): unknown {
      const callback = args.at(-1)
      if (manner === 'callback' && typeof callback !== 'function') return original.apply(this, args)
      const slot = ask(() => ({ kind: 'order of completion', name }), patched)
      if (!slot) return original.apply(this, args)
      const work = begin(slot)
      if (manner === 'promise') return finished(original.apply(this, args) as Promise<unknown>, work)
      // Handed over while another piece ends, it is still called as part of its own run.
      const handOver = AsyncResource.bind(callback as (...all: unknown[]) => unknown)
      args[args.length - 1] = (...results: unknown[]) => end(work, () => handOver(...results))
      return original.apply(this, args)
    }
  }
  patch(target, key, make, 'probe of completion')
}

function finished(result: Promise<unknown>, work: Work): Promise<unknown> {
  return new Promise((resolve, reject) => {
    result.then(
      (value) => end(work, () => resolve(value)),
      (error: unknown) => end(work, () => reject(error as Error)),
    )
  })
}

const lastInReverse = ['last, in reverse']

function begin(slot: Slot): Work {
  // Alone, it delays nothing.
  const overlaps = working.size > 0
  if (overlaps) for (const other of working) other.slot.way(lastInReverse)
  const isLast = overlaps ? slot.way(lastInReverse) !== undefined : slot.isVaried
  const run = currentResponder()
  const work: Work = { slot, isLast, run }
  working.add(work)
  // Done and not handed over, it is still work under way: no recorded answer may overtake it.
  if (run) run.pending++
  return work
}

function end(work: Work, release: () => void): void {
  work.release = () => {
    working.delete(work)
    if (work.run) work.run.pending--
    release()
  }
  letGo()
}

/** Turns of the event loop before one more result is handed over: what the last one led to has begun by then. */
const calmTurns = 3
/** Real ms after which nothing waits any more for work that does not end, such as the reading of a pipe. */
const patienceMs = 1_000

let isLetting = false

/** Hands over what is done: in the order it was started, and what is to be last once nothing else is under way. */
function letGo(): void {
  handOverFirst(false)
  if (isLetting || working.size === 0) return
  isLetting = true
  const { setImmediate, uptime } = seamState().natives
  let calm = 0
  let movedAt = uptime()
  const turn = (): void => {
    if (![...working].some(({ release }) => release !== undefined)) {
      // What ends next calls again.
      isLetting = false
      return
    }
    const isLate = uptime() - movedAt > patienceMs
    let hasMoved = handOverFirst(isLate)
    const isCalm = [...working].every(({ release }) => release !== undefined)
    calm = isCalm ? calm + 1 : 0
    const last = [...working].findLast(({ isLast, release }) => isLast && release !== undefined)
    if (last && !hasMoved && (calm >= calmTurns || isLate)) {
      calm = 0
      last.release?.()
      hasMoved = true
    }
    if (hasMoved) movedAt = uptime()
    setImmediate(turn)
  }
  seamState().runs.run(null, () => setImmediate(turn))
}

/** Hands over what is done and has nothing before it that is not; `isLate`: all that is done. */
function handOverFirst(isLate: boolean): boolean {
  let hasMoved = false
  for (const { isLast, release } of working) {
    if (isLast) continue
    if (release === undefined && !isLate) break
    release?.()
    hasMoved ||= release !== undefined
  }
  return hasMoved
}
