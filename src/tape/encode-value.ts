// Over 300 lines: a case for each kind of value.
import { isDeepStrictEqual, types } from 'node:util'
import { contentsOf, hasSymbols, hasUnlisted, mayHide } from './contents.ts'
import { contentsFlag, fieldsFlag } from './flags.ts'
import type { Json } from './types.ts'

/**
 * Any value as JSON that a person can read: plain JSON stays as it is, everything else becomes `{"$type": …}`.
 *
 * `decodeValue` makes an equal value of it, with three kinds of loss: class instances become plain objects (an
 * error of a class of yours becomes an `Error` with its name), functions become functions that throw, and what
 * could not be read (a getter that throws, a revoked proxy) becomes `undefined`. Shared references and cycles
 * stay. Never throws, and calls nothing of the value but its getters. What classes of the platform say of themselves at once
 * (the status of a `Response`, the size of a `Blob`) stands beside the fields, as `contents`.
 */
export function encodeValue(value: unknown): Json {
  return new Encoder({}).document(value)
}

interface EncodeOptions {
  /** Gets the parts that are not in the result. */
  readonly hidden?: HiddenPart[]
  /** Default true. False: as tapes have it that are without `contents-1`. */
  readonly contents?: boolean
  /** Default true. False: as tapes have it that are without `fields-1`. */
  readonly fields?: boolean
}

/** As {@link encodeValue}, to be compared with what a tape of these flags holds. */
export function encodeFor(flags: readonly string[], value: unknown, hidden?: HiddenPart[]): Json {
  const [contents, fields] = [contentsFlag, fieldsFlag].map((flag) => flags.includes(flag)) as [boolean, boolean]
  return new Encoder({ contents, fields, ...(hidden && { hidden }) }).document(value)
}

/** What a function hides. */
export const functionCode = 'the code of a function'

/** A part of a value that its encoded form says nothing of. */
export interface HiddenPart {
  /** Where: `.total`; empty for the value itself. */
  readonly at: string
  /** What: `the body of a Response`, `the code of a function`. */
  readonly what: string
}

type Fields = { [key: string]: Json }

/** Where an encoded object stands. */
interface Place {
  readonly parent: Place | undefined
  /** From its parent: the key behind a slash, as it is. Of one without a parent: a JSON pointer. */
  readonly step: string
}

// A tape refuses JSON nested deeper than 256: what lies deeper than this moves to a list beside the value.
const levelCap = 100

class Encoder {
  readonly #hidden: HiddenPart[] | undefined
  readonly #hasContents: boolean
  readonly #hasFields: boolean
  readonly #places = new Map<object, Place>()
  readonly #rest: { readonly value: object; readonly place: Place }[] = []
  readonly #references: { readonly node: Fields; readonly target: Place }[] = []

  constructor({ hidden, contents = true, fields = true }: EncodeOptions) {
    this.#hidden = hidden
    this.#hasContents = contents
    this.#hasFields = fields
  }

  document(value: unknown): Json {
    const root: Place = { parent: undefined, step: '' }
    const encoded = this.#value(value, root, 0)
    const rest: Json[] = []
    for (let at = 0; at < this.#rest.length; at++) {
      const { value: deep, place } = this.#rest[at]!
      rest.push(this.#object(deep, place, 0))
    }
    const prefix = rest.length === 0 ? '' : '/value'
    for (const { node, target } of this.#references) node['at'] = pointerOf(target, prefix)
    return rest.length === 0 ? encoded : { $type: 'deep', value: encoded, rest }
  }

  #value(value: unknown, place: Place, level: number): Json {
    switch (typeof value) {
      case 'string':
      case 'boolean':
        return value
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : { $type: 'number', value: numberText(value) }
      case 'undefined':
        return { $type: 'undefined' }
      case 'bigint':
        return { $type: 'bigint', value: `${value}` }
      case 'symbol':
        return symbolJson(value)
      case 'function':
        this.#hides(place, functionCode)
        return functionJson(value)
      case 'object':
        return value === null ? null : this.#reference(value, place, level)
    }
  }

  #reference(value: object, place: Place, level: number): Json {
    const target = this.#places.get(value)
    if (target !== undefined) {
      const node: Fields = { $type: 'same', at: '' }
      this.#references.push({ node, target })
      return node
    }
    if (level < levelCap) {
      this.#places.set(value, place)
      return this.#object(value, place, level)
    }
    const at = this.#rest.length
    const moved: Place = { parent: undefined, step: `/rest/${at}` }
    this.#places.set(value, moved)
    this.#rest.push({ value, place: moved })
    return { $type: 'rest', at }
  }

  #hides(place: Place, what: string): void {
    this.#hidden?.push({ at: pathOf(place), what })
  }

  #object(value: object, place: Place, level: number): Json {
    try {
      if (this.#hidden !== undefined) this.#lookForHidden(value, place)
      const keys = this.#hasFields && isFielded(value) ? keysBeside(value) : noKeys
      if (keys.length > 0) return this.#withFields(value, keys, place, level)
      return this.#special(value, place, level) ?? this.#fielded(value, place, level)
    } catch (error) {
      return unreadable(error)
    }
  }

  #lookForHidden(value: object, place: Place): void {
    if (kindOf(value) !== 'instance') {
      if (hasSymbols(value)) this.#hides(place, 'fields with a symbol for a name')
      if (!Array.isArray(value) && hasUnlisted(value)) this.#hides(place, 'fields that are not enumerable')
    }
    if (!this.#hasFields && isFielded(value) && keysBeside(value).length > 0)
      this.#hides(place, `the fields of a ${classNameOf(value) ?? ''}`)
  }

  /** A value that is not lists or fields, and has some fields all the same. */
  #withFields(value: object, keys: readonly string[], place: Place, level: number): Json {
    return {
      $type: 'fielded',
      value: this.#special(value, below(place, 'value'), level + 1) ?? null,
      fields: this.#fields(value, keys, below(place, 'fields'), level + 2),
    }
  }

  /** Values that are not lists or fields; `undefined` for those that are. */
  #special(value: object, place: Place, level: number): Json | undefined {
    if (Array.isArray(value)) return this.#array(value, place, level)
    if (types.isDate(value)) return { $type: 'date', value: Number.isNaN(value.getTime()) ? null : value.toISOString() }
    if (types.isRegExp(value)) return regExpJson(value)
    if (types.isMap(value)) {
      const entries = this.#pairs([...value], { parent: place, step: '/entries' }, level + 3)
      return { $type: 'map', entries }
    }
    if (types.isSet(value)) {
      const inside = { parent: place, step: '/values' }
      return { $type: 'set', values: [...value].map((item, at) => this.#value(item, below(inside, at), level + 2)) }
    }
    if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) return bytesJson(value)
    if (types.isBoxedPrimitive(value)) {
      return { $type: 'boxed', value: this.#value(value.valueOf(), below(place, 'value'), level + 1) }
    }
    // Of no class: nothing below is meant, and each look at a class takes a while.
    if (Object.getPrototypeOf(value) === Object.prototype && !types.isNativeError(value)) return undefined
    if (value instanceof URL) return { $type: 'url', value: value.href }
    if (value instanceof URLSearchParams) return { $type: 'search-params', value: value.toString() }
    if (value instanceof Headers) return { $type: 'headers', entries: [...value] }
    if (types.isNativeError(value) || value instanceof Error) return this.#error(value, place, level)
    return undefined
  }

  #array(list: readonly unknown[], place: Place, level: number): Json {
    const keys = Object.keys(list)
    // As many keys as items, and the last of them an index: no holes and no fields.
    const dense = keys.length === list.length && (list.length === 0 || keys.at(-1) === `${list.length - 1}`)
    if (dense) return list.map((item, at) => this.#value(item, below(place, at), level + 1))
    const isItem = (key: string): boolean => /^(?:0|[1-9]\d{0,9})$/.test(key) && Number(key) < list.length
    const items = keys.filter(isItem).map((key) => [Number(key), list[Number(key)]] as const)
    const others = keys.filter((key) => !isItem(key))
    return {
      $type: 'array',
      length: list.length,
      items: this.#pairs(items, { parent: place, step: '/items' }, level + 3),
      ...(others.length > 0 && { fields: this.#fields(list, others, below(place, 'fields'), level + 2) }),
    }
  }

  #error(error: Error, place: Place, level: number): Json {
    const keys = Object.keys(error).filter((key) => key !== 'stack')
    const { code } = error as { code?: unknown }
    // Errors of Node keep `code` where `Object.keys` does not see it.
    if (typeof code === 'string' && !keys.includes('code')) keys.push('code')
    const hasCause = Object.hasOwn(error, 'cause') && !keys.includes('cause')
    const hasErrors = Object.hasOwn(error, 'errors') && !keys.includes('errors')
    const part = (name: string, value: unknown): Json => this.#value(value, below(place, name), level + 1)
    return {
      $type: 'error',
      // What a tape gave back has the class in a replay that it was recorded with.
      class: recordedClassOf(error) ?? classNameOf(error) ?? 'Error',
      name: `${error.name}`,
      message: `${error.message}`,
      ...(keys.length > 0 && { fields: this.#fields(error, keys, below(place, 'fields'), level + 2) }),
      ...(hasErrors && { errors: part('errors', (error as AggregateError).errors) }),
      ...(hasCause && { cause: part('cause', error.cause) }),
    }
  }

  #fielded(value: object, place: Place, level: number): Json {
    const keys = Object.keys(value)
    const kind = kindOf(value)
    if (kind === 'plain' && !keys.includes('$type') && !keys.includes('__proto__')) {
      return this.#fields(value, keys, place, level + 1)
    }
    const fields = this.#fields(value, keys, below(place, 'fields'), level + 2)
    if (kind === 'plain') return { $type: 'object', fields }
    if (kind === 'bare') return { $type: 'object', prototype: null, fields }
    const name = classNameOf(value) ?? ''
    const contents = this.#hasContents ? contentsOf(value) : undefined
    const isRead = this.#hidden === undefined || contents !== undefined
    const hidden = isRead ? contents?.hidden && hiddenOf(contents.hidden, name) : behindFields(value)
    if (hidden !== undefined) this.#hides(place, hidden)
    if (contents === undefined) return { $type: 'instance', class: name, fields }
    const held = this.#fields(contents.facts, Object.keys(contents.facts), below(place, 'contents'), level + 2)
    return { $type: 'instance', class: name, fields, contents: held }
  }

  /** Fields as an object, or as pairs when one is called `__proto__`: no object of a tape has such a key. */
  #fields(value: object, keys: readonly string[], place: Place, level: number): Json {
    const read = (key: string): Readable => readField(value, key)
    if (keys.includes('__proto__')) {
      return keys.map((key, at) => [key, this.#read(read(key), below(below(place, at), 1), level + 2)])
    }
    const fields: Fields = {}
    for (const key of keys) fields[key] = this.#read(read(key), below(place, key), level)
    return fields
  }

  #read(field: Readable, place: Place, level: number): Json {
    return 'error' in field ? unreadable(field.error) : this.#value(field.value, place, level)
  }

  #pairs(pairs: readonly (readonly [unknown, unknown])[], place: Place, level: number): Json {
    return pairs.map(([first, second], at) => {
      const pair = below(place, at)
      return [this.#value(first, below(pair, 0), level), this.#value(second, below(pair, 1), level)]
    })
  }
}

const noKeys: readonly string[] = []

/** Whether a value is encoded by what it holds beside fields. */
function isFielded(value: object): boolean {
  if (Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype) return false
  return (
    types.isDate(value) ||
    types.isRegExp(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isAnyArrayBuffer(value) ||
    ArrayBuffer.isView(value) ||
    types.isBoxedPrimitive(value) ||
    value instanceof URL ||
    value instanceof URLSearchParams ||
    value instanceof Headers
  )
}

function keysBeside(value: object): readonly string[] {
  const hasItems = types.isTypedArray(value) || value instanceof String
  // To name all the bytes of an image takes long.
  if (types.isTypedArray(value) && isDeepStrictEqual(value, sameBytes(value))) return noKeys
  return hasItems ? Object.keys(value).filter((key) => !/^\d+$/.test(key)) : Object.keys(value)
}

/** The same memory without fields. */
function sameBytes(value: NodeJS.TypedArray): unknown {
  const { buffer, byteOffset, length, [Symbol.toStringTag]: name } = value
  if (Buffer.isBuffer(value)) return Buffer.from(buffer, byteOffset, length)
  const made = (globalThis as unknown as Record<string, new (...of: unknown[]) => unknown>)[name]
  return made && new made(buffer, byteOffset, length)
}

/** What an instance of a class may hold that its fields do not show. */
export function behindFields(value: object): string | undefined {
  return mayHide(value) ? hiddenOf('what lies behind the fields', classNameOf(value) ?? '') : undefined
}

function hiddenOf(what: string, name: string): string {
  return `${what} of a ${name || 'class without a name'}`
}

type Readable = { readonly value: unknown } | { readonly error: unknown }

function readField(value: object, key: string): Readable {
  try {
    return { value: (value as Record<string, unknown>)[key] }
  } catch (error) {
    return { error }
  }
}

function below(parent: Place, key: string | number): Place {
  return { parent, step: `/${key}` }
}

function pointerOf(place: Place, prefix: string): string {
  const steps: string[] = []
  let at: Place | undefined = place
  for (; at !== undefined; at = at.parent)
    steps.push(at.parent === undefined ? at.step : `/${escapePointer(at.step.slice(1))}`)
  const moved = steps.at(-1)!.startsWith('/rest/')
  return (moved ? '' : prefix) + steps.reverse().join('')
}

/** As people write it. */
function pathOf(place: Place): string {
  const steps: string[] = []
  for (let at: Place | undefined = place; at?.parent !== undefined; at = at.parent)
    steps.push(escapePointer(at.step.slice(1)))
  const named = steps.reverse().filter((step) => step !== 'fields' && step !== 'contents')
  return named.map((step) => (/^\d+$/.test(step) ? `[${step}]` : `.${step}`)).join('')
}

/** RFC 6901. */
export function escapePointer(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : `${value}`
}

function symbolJson(value: symbol): Json {
  const key = Symbol.keyFor(value)
  if (key !== undefined) return { $type: 'symbol', key }
  const known = Object.getOwnPropertyNames(Symbol).find(
    (name) => (Symbol as unknown as Fields)[name] === (value as unknown),
  )
  if (known !== undefined) return { $type: 'symbol', known }
  return { $type: 'symbol', ...(value.description !== undefined && { description: value.description }) }
}

function functionJson(value: { readonly name?: unknown }): Json {
  try {
    return { $type: 'function', name: typeof value.name === 'string' ? value.name : '' }
  } catch (error) {
    return unreadable(error)
  }
}

function regExpJson({ source, flags, lastIndex }: RegExp): Json {
  return { $type: 'regexp', source, flags, ...(lastIndex !== 0 && { lastIndex }) }
}

function bytesJson(value: ArrayBufferLike | ArrayBufferView): Json {
  const bytes = ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : Buffer.from(value)
  const name = Buffer.isBuffer(value) ? 'Buffer' : Object.prototype.toString.call(value).slice(8, -1)
  return { $type: 'bytes', class: name, base64: bytes.toString('base64') }
}

function unreadable(error: unknown): Json {
  let message = ''
  try {
    message = String(error instanceof Error ? error.message : error)
  } catch {
    // What was thrown cannot be printed either; that it was thrown is all there is to say.
  }
  return { $type: 'unreadable', message }
}

/** `plain` as from a literal (of any realm), `bare` without a prototype, else an instance of a class. */
function kindOf(value: object): 'plain' | 'bare' | 'instance' {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null) return 'bare'
  if (prototype === Object.prototype) return 'plain'
  // A plain object of another realm (Vitest's vm pools): its prototype is the end of its chain and holds what ours does.
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype as object, 'isPrototypeOf')
    ? 'plain'
    : 'instance'
}

function recordedClassOf(value: object): string | undefined {
  const { [givenBack]: name } = value as { readonly [givenBack]?: unknown }
  return typeof name === 'string' ? name : undefined
}

const givenBack = Symbol.for('vitest-harvest/class')

function classNameOf(value: object): string | undefined {
  const { constructor } = value as { constructor?: { name?: unknown } }
  return typeof constructor === 'function' && typeof constructor.name === 'string' ? constructor.name : undefined
}
