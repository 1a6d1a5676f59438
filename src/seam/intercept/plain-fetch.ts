import { areEqual, type Pairs } from '../pairs.ts'
import type { StatedRequest } from './responder.ts'

/** A `fetch` that Node can be asked without its body: the body is known here, and whoever answers takes it from here. */
export interface PlainFetch {
  readonly method: string
  /** The body as it is sent: half of a surrogate pair is replaced. */
  readonly text: string
  /** What to call Node's `fetch` with. */
  readonly args: [input: string | URL, init: RequestInit]
}

/**
 * Takes a call of `fetch` apart when nothing about it can be a surprise; `undefined` for any other.
 *
 * undici makes a stream of a body, copies the stream, and reads the copy piece by piece. That is half of what a served
 * call costs, and the serving dispatcher only wants the bytes. A body may be left out where the answer cannot depend on
 * it: a text, sent by a method that keeps it, under a content type that is stated. Reading the arguments must run no
 * code of the caller's: getters, coercions and iterators of its own are left to undici.
 */
export function plainFetch(args: readonly unknown[]): PlainFetch | undefined {
  const [input, init] = args
  if (!(typeof input === 'string' || input instanceof URL) || !isPlainObject(init)) return undefined
  const { body, method, headers } = init
  if (typeof body !== 'string' || body === '' || !bodyMethods.has(method)) return undefined
  for (const name in init) if (!isInert(name, init[name])) return undefined
  if (!statesType(headers)) return undefined
  const { body: _body, ...bodyless } = init
  return { method: method as string, text: body.toWellFormed(), args: [input, bodyless] }
}

/** Whether a dispatch of undici carries on a plain `fetch`: the first, or one after a redirect that keeps the body. */
export function isOf(
  plain: PlainFetch,
  { method, body }: { readonly method: string; readonly body?: unknown },
): boolean {
  // A redirect that drops the body asks by another method.
  return method === plain.method && (body === null || body === undefined)
}

/** The headers of the request as they are with its body. */
export function withLength(headers: Pairs, { text }: PlainFetch): Pairs {
  const length = String(Buffer.byteLength(text))
  return headers.map((pair) => (pair[0] === 'content-length' ? (['content-length', length] as const) : pair))
}

/** What the caller states of the request, before undici adds to it; `undefined` where its address is not a text. */
export function statedBy({ method, text, args: [url, { headers }] }: PlainFetch): StatedRequest | undefined {
  if (typeof url !== 'string') return undefined
  let pairs: Pairs | undefined
  const stated = (): Pairs =>
    (pairs ??= asBefore(
      isOwn(headers)
        ? [...Headers.prototype.entries.call(headers)]
        : Object.entries(headers as Record<string, string>).map(
            ([name, value]) => [name.toLowerCase(), value] as const,
          ),
    ))
  return { via: 'undici', method, url, text, headers: stated }
}

/** What was stated last. An agent states mostly the same: then it is the same list, and whoever compares sees it at a glance. */
let last: Pairs = []

function asBefore(stated: Pairs): Pairs {
  if (!areEqual(last, stated)) last = stated
  return last
}

/**
 * Whether a function is the `fetch` of this Node, as opposed to one that someone put over it and that would see what is
 * left out. The one of another vm context asks another dispatcher than ours.
 */
export function isNodes(fetch: unknown): boolean {
  if (!(fetch instanceof Function)) return false
  const source = Function.prototype.toString.call(fetch)
  return /^function fetch\(input, init = undefined\) \{/.test(source) && source.includes('internal/deps/undici/undici')
}

/** For these undici states the length of an absent body, in the place of that of a present one. */
const bodyMethods: ReadonlySet<unknown> = new Set(['POST', 'PUT'])

/** What the answer to a request depends on no more with a body than without. */
const bodyBlind = new Set(
  'body method headers signal redirect duplex mode credentials cache referrer referrerPolicy integrity'.split(' '),
)

function isInert(name: string, value: unknown): boolean {
  if (value === undefined) return true
  if (name === 'headers') return true
  if (name === 'signal') return value === null || value instanceof AbortSignal
  return bodyBlind.has(name) && typeof value === 'string'
}

/** Without a stated type undici states one, by the body; a stated length it puts beside its own. */
function statesType(headers: unknown): boolean {
  if (isOwn(headers)) {
    const { has } = Headers.prototype
    return has.call(headers, 'content-type') && !has.call(headers, 'content-length')
  }
  if (!isPlainObject(headers)) return false
  let hasType = false
  for (const name in headers) {
    const lower = name.toLowerCase()
    if (typeof headers[name] !== 'string' || lower === 'content-length') return false
    hasType ||= lower === 'content-type'
  }
  return hasType
}

/** Headers of Node's class itself: a class of the caller's may have a word in being read. */
function isOwn(headers: unknown): headers is Headers {
  if (typeof headers !== 'object' || headers === null) return false
  const prototype: unknown = Object.getPrototypeOf(headers)
  return prototype !== Object.prototype && prototype === Headers.prototype
}

/** An object made of data alone, all of which a copy of it has too. */
function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const name of Object.getOwnPropertyNames(value)) {
    const property = Object.getOwnPropertyDescriptor(value, name)
    if (!property || property.get || property.set || !property.enumerable) return false
  }
  return true
}
