import type { Pairs } from '../pairs.ts'
import { patchProperty, subscribeOnce } from '../patch.ts'
import { failedToHear, type HeardHeaders } from './observer.ts'

/** Subscribes once per process; a throwing handler is counted, never thrown. */
export function onChannel<M>(room: string, channel: string, handler: (message: M) => void): void {
  subscribeOnce<M>(`observe.${room}`, channel, (message) => {
    try {
      handler(message)
    } catch (error) {
      failedToHear(error)
    }
  })
}

/** Headers in any of the shapes undici and node:http hand out, as lower-case pairs in order. */
export function headerPairs(headers: unknown): Pairs {
  if (headers === null || headers === undefined) return []
  if (typeof headers === 'string') return headers.split('\r\n').filter(Boolean).map(splitLine)
  if (Array.isArray(headers)) return flatPairs(headers as readonly unknown[])
  return Object.entries(headers as Record<string, unknown>).flatMap(([name, value]) =>
    name.startsWith(':') || value === undefined
      ? []
      : (Array.isArray(value) ? value : [value]).map((one) => [name.toLowerCase(), text(one)] as const),
  )
}

/** Headers that are read already. */
export function readHeaders(headers: unknown): HeardHeaders {
  return { pairs: headerPairs(headers), bytes: 0 }
}

/** A larger part of what the network brought is not held for the headers in it. */
const mostHeld = 16 * 1024

/** Headers as undici found them: parts of the memory in which they came, with what came beside them. */
export function laterHeaders(headers: unknown): HeardHeaders {
  const [first] = Array.isArray(headers) ? (headers as readonly unknown[]) : []
  const bytes = Buffer.isBuffer(first) ? first.buffer.byteLength : Number.POSITIVE_INFINITY
  return bytes > mostHeld ? readHeaders(headers) : new LaterHeaders(headers as readonly unknown[], bytes)
}

class LaterHeaders implements HeardHeaders {
  readonly bytes: number
  #given: readonly unknown[] | undefined
  #pairs: Pairs | undefined

  constructor(given: readonly unknown[], bytes: number) {
    this.bytes = bytes
    // Whoever hears of them too may change the list.
    this.#given = given.slice()
  }

  get pairs(): Pairs {
    this.#pairs ??= headerPairs(this.#given)
    this.#given = undefined
    return this.#pairs
  }
}

function splitLine(line: string): readonly [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
}

function flatPairs(flat: readonly unknown[]): Pairs {
  const pairs: (readonly [string, string])[] = []
  for (let i = 0; i + 1 < flat.length; i += 2) {
    const name = text(flat[i]).toLowerCase()
    const value = flat[i + 1]
    if (Array.isArray(value)) for (const one of value) pairs.push([name, text(one)])
    else pairs.push([name, text(value)])
  }
  return pairs
}

function text(value: unknown): string {
  if (typeof value === 'string') return value
  return Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
}

/** A copy: chunks handed out by the parsers alias memory that is reused. */
export function copyBytes(chunk: unknown, encoding?: unknown): Buffer {
  if (typeof chunk === 'string') {
    return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
  }
  return Buffer.from(chunk as Uint8Array)
}

let aborts = 0
/** What clients aborted with: a request that waits for a connection fails with it some turns later. */
const reasons = new WeakSet()

/** Hears that a client aborts, for it may do so with any error. */
export function hearAborts(): void {
  patchProperty(AbortController.prototype, 'abort', (original) => {
    return function abort(this: AbortController, ...args) {
      aborts++
      const [reason] = args as readonly unknown[]
      if (typeof reason === 'object' && reason !== null) reasons.add(reason)
      try {
        original.apply(this, args)
      } finally {
        aborts--
      }
    }
  })
}

/** Names of errors that are the client's own doing: a replayed client does them again by itself. */
export function isOwnDoing(error: { name?: unknown; code?: unknown } | null | undefined): boolean {
  return (
    aborts > 0 ||
    // No network fails with anything else.
    typeof error !== 'object' ||
    (error !== null && reasons.has(error)) ||
    error?.name === 'AbortError' ||
    error?.name === 'TimeoutError' ||
    error?.code === 'UND_ERR_ABORTED' ||
    error?.code === 'UND_ERR_DESTROYED'
  )
}
