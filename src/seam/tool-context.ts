import { types } from 'node:util'

/** What a framework hands a tool beside its arguments: for whom the agent runs, what it may. */
export interface ToolContext {
  /** `undefined` where nothing of it is data. */
  readonly data: unknown
  /** Objects at work in it, such as a connection: they are no data, and not on the tape. */
  readonly live: readonly { readonly at: string; readonly what: string }[]
  /** Instances of classes whose fields are data. A class can keep more than its fields show. */
  readonly instances: readonly { readonly at: string; readonly value: object }[]
  /** What is at a place of it, data or not. */
  at(path: readonly string[]): unknown
}

/** No tenant stands further down, and getters may make objects for ever. */
const deepest = 12

/** What is shared is gone through wherever it stands: its number may double with each step down. */
const mostValues = 100_000

/** Several things of which each is handed over as a whole; see {@link partsOf}. */
const parts: object = Object.create(null) as object

/** What an agent hands over in several parts, such as `context` and `metadata`. */
export function partsOf(fields: Readonly<Record<string, unknown>>): object {
  return Object.assign(Object.create(parts) as object, fields)
}

/**
 * The data in what an agent hands its framework for its tools. Left out is what is no data: functions and objects at work;
 * messages to and from a model, which are compared where it is asked; what is empty. An instance of a class is data as far as it
 * says itself (`toJSON`), or holds nothing else; the one that is handed over itself, as far as its fields are. Getters are listed,
 * and not read.
 */
export function contextOf(given: unknown): ToolContext {
  const live: { readonly at: string; readonly what: string }[] = []
  const miss = (at: string, what: string): undefined => {
    live.push({ at, what })
    return undefined
  }
  const instances: { readonly at: string; readonly value: object }[] = []
  const data = dataOf(given, '', [], { miss, instances, seen: 0 })
  return { data, live, instances, at: (path) => partAt(given, path) }
}

interface Walk {
  readonly miss: (at: string, what: string) => undefined
  readonly instances: { readonly at: string; readonly value: object }[]
  /** How many values were looked at. */
  seen: number
}

function dataOf(value: unknown, at: string, above: readonly object[], walk: Walk): unknown {
  if (walk.seen > mostValues) return undefined
  if (++walk.seen > mostValues) return walk.miss(at, `what comes after ${mostValues} values`)
  try {
    return readData(value, at, above, walk)
  } catch {
    // A proxy or getter that throws is an object at work: it is listed.
    return walk.miss(at, 'what cannot be read')
  }
}

function readData(value: unknown, at: string, above: readonly object[], walk: Walk): unknown {
  const { miss } = walk
  if (typeof value === 'function' || typeof value === 'symbol') return undefined
  // Where a search goes on is moved by each use of it.
  if (types.isRegExp(value)) return new RegExp(value.source, value.flags)
  if (typeof value !== 'object' || value === null || isWhole(value)) return value
  if (value instanceof AbortSignal || above.includes(value)) return undefined
  if (isTimer(value)) return miss(at, 'a timer')
  if (above.length > deepest) return miss(at, 'what lies deeper')
  const inside = [...above, value]
  if (Array.isArray(value))
    return isHistory(value)
      ? undefined
      : filled(value.map((item, i) => dataOf(item, `${at}[${i}]`, inside, walk) ?? null))
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null || prototype === parts
  const isHandedOver = above.length === 0 || (above.length === 1 && Object.getPrototypeOf(above[0]) === parts)
  const { toJSON, constructor } = value as {
    readonly toJSON?: unknown
    readonly constructor?: { readonly name?: unknown }
  }
  if (!isPlain && typeof toJSON === 'function') {
    try {
      return dataOf(Reflect.apply(toJSON, value, []), at, inside, walk)
    } catch {
      // What cannot say what it is, is an object at work: it is listed.
      return miss(at, `an instance of ${String(constructor?.name)}`)
    }
  }
  const isAtWork = !isPlain && !holdsDataAlone(value, above, walk)
  if (isAtWork && !isHandedOver) return miss(at, `an instance of ${String(constructor?.name)}`)
  // What begins so is its own business: an emitter of Node has `_eventsCount`.
  const described = Object.entries(Object.getOwnPropertyDescriptors(value))
  const own = ownData(described).filter(([name]) => !isAtWork || !name.startsWith('_'))
  if (isAtWork && own.length === 0) return miss(at, `an instance of ${String(constructor?.name)}`)
  if (!isPlain) walk.instances.push({ at, value })
  const getters = gettersOf(value, described, isPlain)
  if (getters.length === 1) miss(`${at}.${getters[0]}`, 'a getter')
  if (getters.length > 1) miss(at, `getters (${getters.length})`)
  const fields = own.map(([name, field]) => [name, dataOf(field, `${at}.${name}`, inside, walk)] as const)
  return filled(Object.fromEntries(fields.filter(([, field]) => field !== undefined)))
}

function filled<T extends object>(data: T): T | undefined {
  return Object.keys(data).length === 0 ? undefined : data
}

/** What is written down at once, with all that is in it. */
function isWhole(value: object): boolean {
  return (
    types.isDate(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isRegExp(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof URL
  )
}

/** Of Node, or of a run in its place. */
function isTimer(value: object): boolean {
  const { ref, unref, hasRef } = value as { readonly [name: string]: unknown }
  return [ref, unref, hasRef].every((method) => typeof method === 'function')
}

function isHistory(items: readonly unknown[]): boolean {
  const isMessage = (item: unknown): boolean =>
    typeof item === 'object' &&
    item !== null &&
    'content' in item &&
    (typeof (item as { readonly role?: unknown }).role === 'string' || isMessageObject(item))
  return items.length > 0 && items.every(isMessage)
}

/** Of a class of messages, which says what kind each is. */
function isMessageObject(item: object): boolean {
  return !isPlain(item) && typeof (item as { readonly type?: unknown }).type === 'string'
}

function holdsDataAlone(value: object, above: readonly object[], walk: Walk): boolean {
  const inside = [...above, value]
  const fields = Object.values(Object.getOwnPropertyDescriptors(value))
  const isData = (field: unknown): boolean => {
    if (typeof field === 'function' || typeof field === 'symbol') return false
    if (typeof field !== 'object' || field === null || isWhole(field)) return true
    if (inside.length > deepest || inside.includes(field) || ++walk.seen > mostValues) return false
    if (Array.isArray(field)) return field.every(isData)
    const isEmpty = Object.getPrototypeOf(field) === Object.prototype && Object.keys(field).length === 0
    return isEmpty || holdsDataAlone(field, inside, walk)
  }
  return fields.length > 0 && fields.every((field) => 'value' in field && isData(field.value))
}

type Described = readonly (readonly [name: string, property: PropertyDescriptor])[]

/** Fields that are read without running code of their owner. */
function ownData(described: Described): readonly (readonly [name: string, value: unknown])[] {
  return described.flatMap(([name, field]) =>
    field.enumerable === true && 'value' in field ? [[name, field.value as unknown] as const] : [],
  )
}

/**
 * Names of what an object and its classes compute when it is read: code of their owner, which may do anything and is not run.
 *
 * @param isPlain - it has no class
 */
function gettersOf(value: object, own: Described, isPlain: boolean): readonly string[] {
  const names = own.flatMap(([name, { get }]) => (get === undefined ? [] : [name]))
  if (isPlain) return names
  let holder = Object.getPrototypeOf(value) as object | null
  // What all objects have says nothing of this one.
  while (holder !== null && Object.getPrototypeOf(holder) !== null) {
    for (const [name, { get }] of Object.entries(Object.getOwnPropertyDescriptors(holder))) if (get) names.push(name)
    holder = Object.getPrototypeOf(holder) as object | null
  }
  return names
}

/** Something in a context that a tool wrote while it ran: where, and what is there now; nothing is. */
export type ContextChange = readonly [path: readonly string[], value?: unknown]

/** Writes into a context what a tool wrote there when it ran: in what is there, so that others who hold it see that too. */
export function writeContext(given: unknown, changes: readonly ContextChange[]): void {
  for (const [path, ...rest] of changes) {
    const holder = partAt(given, path.slice(0, -1))
    const name = path.at(-1)
    if (!isObject(holder)) continue
    if (name === undefined) {
      if (isObject(rest[0])) for (const [key, value] of Object.entries(rest[0])) put(holder, key, value)
    } else if (rest.length > 0) put(holder, name, rest[0])
    else if (isMapLike(holder, name)) holder.delete?.(name)
    else Reflect.deleteProperty(holder, name)
  }
}

function put(holder: object, name: string, value: unknown): void {
  // What a tape names is its own property, or becomes one.
  if (name === '__proto__') return
  const there = field(holder, name)
  if (Array.isArray(there) && Array.isArray(value)) there.splice(0, there.length, ...(value as unknown[]))
  else if (there instanceof Map && value instanceof Map) {
    there.clear()
    for (const [key, item] of value) there.set(key, item)
  } else if (there instanceof Set && value instanceof Set) {
    there.clear()
    for (const item of value) there.add(item)
  } else if (isEmpty(value) && isObject(there)) for (const key of Object.keys(there)) Reflect.deleteProperty(there, key)
  else if (isPlain(value) && isObject(there) && isNoData(there))
    // It was empty, and others may hold it.
    for (const [key, item] of Object.entries(value)) put(there, key, item)
  else if (isMapLike(holder, name)) holder.set(name, value)
  else Reflect.set(holder, name, value)
}

/** What says itself which values it has (`toJSON`), and keeps them behind methods as a map does: the context of a request. */
interface MapLike {
  get(name: string): unknown
  set(name: string, value: unknown): unknown
  delete?(name: string): unknown
}

function isMapLike(holder: object, name: string): holder is MapLike {
  const { get, set, toJSON } = holder as Partial<Record<string, unknown>>
  return (
    !Object.hasOwn(holder, name) && !isPlain(holder) && [get, set, toJSON].every((way) => typeof way === 'function')
  )
}

function field(holder: object, name: string): unknown {
  if (name === '__proto__') return undefined
  if (isMapLike(holder, name)) return holder.get(name)
  return Object.hasOwn(holder, name) ? Reflect.get(holder, name) : undefined
}

function isNoData(value: object): boolean {
  const { data, live } = contextOf(value)
  return data === undefined && live.length === 0
}

function isEmpty(value: unknown): boolean {
  return isPlain(value) && Object.keys(value).length === 0
}

function isPlain(value: unknown): value is object {
  return isObject(value) && Object.getPrototypeOf(value) === Object.prototype
}

function partAt(given: unknown, path: readonly string[]): unknown {
  let part = given
  for (const name of path) part = isObject(part) ? field(part, name) : undefined
  return part
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
