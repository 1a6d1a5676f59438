import type { Pairs } from '../pairs.ts'
import { onceInProcess, patchProperty } from '../patch.ts'
import { sharedOf } from '../source.ts'

/** What a response of Node's `fetch` says of itself, and the constructor of `Response` cannot be seen. */
interface Facts {
  readonly url: string
}

interface Known {
  readonly facts: WeakMap<object, Facts>
  /** Headers that may not be changed. */
  readonly immutable: WeakSet<object>
}

/** Shared by all copies of this package: the first one put in the getters that look here. */
function known(): Known {
  return sharedOf('intercept.responses', () => ({ facts: new WeakMap(), immutable: new WeakSet() }))
}

/** The head of an answer as it stands on the tape. */
export interface AnswerHead {
  readonly status: number
  readonly statusText: string
  readonly headers: Pairs
}

const emptyStatuses = new Set([204, 205, 304])
/** As the constructor of `Headers` takes a value, and leaves it as it is. */
const plainValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/
const plainName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainPhrase = /^[\t -~\x80-\xff]*$/

/**
 * Whether a response made by hand is the one that undici would make: it has a body, which is not encoded, leads
 * nowhere else, and its headers are those a constructor takes.
 */
export function isPlainHead({ status, statusText, headers }: AnswerHead): boolean {
  if (status < 200 || status > 599 || (status >= 300 && status < 400) || emptyStatuses.has(status)) return false
  if (!plainPhrase.test(statusText)) return false
  if (headers === plain) return true
  const isPlain = headers.every(
    ([name, value]) => name.toLowerCase() !== 'content-encoding' && plainName.test(name) && plainValue.test(value),
  )
  if (isPlain) plain = headers
  return isPlain
}

/** What was found plain last: a tape has equal headers as one list. */
let plain: Pairs | undefined

/** A response that shows what one of Node's `fetch` shows. */
export function ownResponse(url: string, head: AnswerHead, body: ReadableStream<Uint8Array>): Response {
  onceInProcess('intercept.response', showFacts)
  const { status, statusText, headers } = head
  // Interceptors of mock servers stand in for the global class, and leave marks on what they make.
  const Own = Response.prototype.constructor as typeof Response
  const response = new Own(body, { status, statusText, headers: headers as [string, string][] })
  const { facts, immutable } = known()
  facts.set(response, { url })
  immutable.add(response.headers)
  return response
}

/**
 * Lets the getters of `Response` look where a response came from first. A property of its own on the response would be
 * seen by whoever lists or compares its properties, and a class of its own by whoever asks for its prototype.
 */
function showFacts(): void {
  const { facts, immutable } = known()
  const { prototype } = Response
  show(prototype, 'url', facts, ({ url }) => url)
  show(prototype, 'type', facts, () => 'basic')
  patchProperty(prototype, 'clone', (clone) => {
    return function (this: Response): Response {
      const copy = clone.call(this)
      const of = facts.get(this)
      if (of === undefined) return copy
      facts.set(copy, of)
      immutable.add(copy.headers)
      return copy
    }
  })
  for (const key of ['append', 'delete', 'set'] as const)
    patchProperty(Headers.prototype, key, (change) => {
      return function (this: Headers, ...args: [string, string]): void {
        if (!immutable.has(this)) return Reflect.apply(change, this, args)
        // What is wrong with the arguments is said first, as Node does.
        Reflect.apply(change, new Headers(), args)
        throw new TypeError('immutable')
      }
    })
}

function show<K extends 'url' | 'type'>(
  prototype: Response,
  key: K,
  facts: Known['facts'],
  shown: (of: Facts) => Response[K],
): void {
  const before = Object.getOwnPropertyDescriptor(prototype, key)
  const get = before?.get as ((this: unknown) => Response[K]) | undefined
  if (!before || !get) return
  const look = function (this: object): Response[K] {
    const of = facts.get(this)
    return of === undefined ? get.call(this) : shown(of)
  }
  Object.defineProperty(look, 'name', { value: get.name, configurable: true })
  Object.defineProperty(prototype, key, { ...before, get: look })
}
