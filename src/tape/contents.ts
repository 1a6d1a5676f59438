import { isUtf8 } from 'node:buffer'
import { types } from 'node:util'

/** What an instance of a class of the platform holds beside fields. */
export interface Contents {
  readonly facts: Readonly<Record<string, unknown>>
  /** What of it is not read: `the body`, or `bytes`. */
  readonly hidden?: string
}

const bodies = new WeakMap<object, unknown>()

/** Keeps what was heard of the body of a response, which can be read only once: JSON as its value, other text as it is. */
export function keepBody(response: Response, bytes: Uint8Array): void {
  const text = isUtf8(bytes) ? new TextDecoder().decode(bytes) : undefined
  const isJson = /[/+]json\b/i.test(response.headers.get('content-type') ?? '')
  bodies.set(response, text === undefined ? bytes : isJson ? valueOf(text) : text)
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not JSON, no matter what its header says: its text is what there is.
    return text
  }
}

/**
 * What an instance of a class of the platform says of itself at once, read without a change to it. The classes are known by their
 * tags: Node loads theirs when they are first named, and a service may never need them. `undefined` for any other class.
 */
export function contentsOf(value: object): Contents | undefined {
  switch (Object.prototype.toString.call(value)) {
    case '[object Response]': {
      const { status, statusText, headers, body } = value as Response
      const heard = bodies.get(value)
      const facts = { status, statusText, headers }
      if (heard !== undefined) return { facts: { ...facts, body: heard } }
      return { facts, ...(body !== null && { hidden: 'the body' }) }
    }
    case '[object Request]': {
      const { method, url, headers, body } = value as Request
      return { facts: { method, url, headers }, ...(body !== null && { hidden: 'the body' }) }
    }
    case '[object Blob]':
    case '[object File]': {
      const { type, size, name } = value as File
      return { facts: { type, size, ...(name !== undefined && { name }) }, ...(size > 0 && { hidden: 'the bytes' }) }
    }
    case '[object FormData]':
      return { facts: { entries: [...(value as FormData)] } }
    case '[object AbortSignal]':
      return { facts: { aborted: (value as AbortSignal).aborted } }
    case '[object AbortController]':
      return { facts: { aborted: (value as AbortController).signal.aborted } }
    default:
      return undefined
  }
}

/**
 * Whether an instance may hold something that its fields do not show: it has none, or one with a symbol for a name or one that
 * is not enumerable, its class is part of the platform, or the code of its class has private names or keeps something by the
 * instance in a map beside it, as compilers write private names for older runtimes.
 */
export function mayHide(value: object): boolean {
  if (types.isProxy(value)) return false
  return Object.keys(value).length === 0 || hasUnlisted(value) || hasSymbols(value) || classesOf(value).some(hides)
}

/** Whether an object has fields of its own that are not enumerable. */
export function hasUnlisted(value: object): boolean {
  return Object.getOwnPropertyNames(value).length > Object.keys(value).length
}

/** Whether an object has fields with a symbol for a name that others see. */
export function hasSymbols(value: object): boolean {
  return Object.getOwnPropertySymbols(value).some((key) => Object.prototype.propertyIsEnumerable.call(value, key))
}

function classesOf(value: object): readonly object[] {
  const classes: object[] = []
  for (let at: unknown = Object.getPrototypeOf(value); typeof at === 'object' && at !== null; ) {
    const above: unknown = Object.getPrototypeOf(at)
    const { constructor } = at as { readonly constructor?: unknown }
    // The last one is `Object`, which holds nothing.
    if (above !== null && typeof constructor === 'function') classes.push(constructor)
    at = above
  }
  return classes
}

const known = new WeakMap<object, boolean>()

function hides(constructor: object): boolean {
  let found = known.get(constructor)
  if (found === undefined) {
    const code = Function.prototype.toString.call(constructor)
    found =
      /\{\s*\[native code\]\s*\}$|#[\p{ID_Start}$_]|\.set\(this,|[\w$]Private\w*\(this,|__private\w+\(this,/u.test(code)
    known.set(constructor, found)
  }
  return found
}
