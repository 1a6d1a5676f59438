import { types } from 'node:util'

/** What a framework hands a tool beside its arguments: for whom the agent runs, what it may. */
export interface ToolContext {
  /** `undefined` where nothing of it is data. */
  readonly data: unknown
  /** Objects at work in it, such as a connection: they are no data, and not on the tape. */
  readonly live: readonly { readonly at: string; readonly what: string }[]
}

/** No tenant stands further down, and getters may make objects for ever. */
const deepest = 12

/** What is shared is gone through wherever it stands: its number may double with each step down. */
const mostValues = 100_000

/**
 * The data in what an agent hands its framework for its tools. Left out is what is no data: functions and objects at work;
 * messages to and from a model, which are compared where it is asked; what is empty. An instance of a class is data as far as it
 * says itself (`toJSON`), or holds nothing else.
 */
export function contextOf(given: unknown): ToolContext {
  const live: { readonly at: string; readonly what: string }[] = []
  const miss = (at: string, what: string): undefined => {
    live.push({ at, what })
    return undefined
  }
  return { data: dataOf(given, '', [], { miss, seen: 0 }), live }
}

interface Walk {
  readonly miss: (at: string, what: string) => undefined
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
  if (typeof value !== 'object' || value === null || isWhole(value)) return value
  if (value instanceof AbortSignal || above.includes(value)) return undefined
  if (above.length > deepest) return miss(at, 'what lies deeper')
  const inside = [...above, value]
  if (Array.isArray(value))
    return isHistory(value)
      ? undefined
      : filled(value.map((item, i) => dataOf(item, `${at}[${i}]`, inside, walk) ?? null))
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = prototype === Object.prototype || prototype === null
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
  if (!isPlain && !holdsDataAlone(value, above, walk)) return miss(at, `an instance of ${String(constructor?.name)}`)
  const fields = ownData(value).map(([name, field]) => [name, dataOf(field, `${at}.${name}`, inside, walk)] as const)
  return filled(Object.fromEntries(fields.filter(([, field]) => field !== undefined)))
}

function filled<T extends object>(data: T): T | undefined {
  return Object.keys(data).length === 0 ? undefined : data
}

/** What is written down at once, with all that is in it. */
function isWhole(value: object): boolean {
  return (
    types.isDate(value) || types.isMap(value) || types.isSet(value) || ArrayBuffer.isView(value) || value instanceof URL
  )
}

function isHistory(items: readonly unknown[]): boolean {
  const isMessage = (item: unknown): boolean =>
    typeof item === 'object' &&
    item !== null &&
    'content' in item &&
    typeof (item as { readonly role?: unknown }).role === 'string'
  return items.length > 0 && items.every(isMessage)
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

/** Fields that are read without running code of their owner. */
function ownData(value: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(Object.getOwnPropertyDescriptors(value)).flatMap(([name, field]) =>
    field.enumerable === true && 'value' in field ? [[name, field.value as unknown] as const] : [],
  )
}
