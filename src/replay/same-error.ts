import { at, isList, listAt, mapAt } from '../json/canonical.ts'
import { canonicalJson } from '../providers/index.ts'
import type { HiddenPart, Json } from '../tape/index.ts'

/**
 * Errors are the same when name (or class, where that leaves the name at `Error`), message, code, their own fields of data
 * and their causes are. The rest may differ, such as a stack or a request object, and the number an operating system has for
 * its `code`.
 */
export function isSameError(recorded: Json, live: Json): boolean {
  return canonicalJson(comparedFacts(recorded)) === canonicalJson(comparedFacts(live))
}

/** Compared below, whether an error has them of its own or of its class, and what depends on the operating system. */
const apart: ReadonlySet<string> = new Set(['name', 'message', 'errno'])

/** What is no data: it is left out, and what stands beside it is compared. */
const notData: ReadonlySet<string> = new Set(['function', 'headers', 'unreadable'])
/** Instances that say nothing of what went wrong: a class of the platform, what describes a request, a handle of a timer. */
const machinery = /Headers$|^(?:Timeout|Immediate)$/

/** Whether an instance is data: it has fields, and nothing in them is what data cannot be, as in a request or a socket. */
function isDataInstance(value: Json): boolean {
  const name = String(at(value, 'class'))
  if (at(value, 'contents') !== undefined || machinery.test(name) || Object.hasOwn(globalThis, name)) return false
  const fields = at(value, 'fields')
  return fields !== undefined && Object.keys(fields as object).length > 0 && isWhole(fields)
}

function isWhole(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  const type = at(value, '$type')
  if (notData.has(type as string) || (type === 'instance' && !isDataInstance(value))) return false
  return Object.values(value).every((item: Json) => isWhole(item))
}

/** Says where something is left out, and what. */
type Leave = (path: string, what: string) => void

/** The data of a value, `undefined` where it is no data. Errors of other classes are compared as causes are. */
function dataOf(value: Json, path: string, leave: Leave): Json | undefined {
  if (typeof value !== 'object' || value === null) return value
  const type = at(value, '$type')
  if (type === 'error') return factsOf(value, path, leave)
  if (notData.has(type as string)) return undefined
  if (type === 'instance' && !isDataInstance(value)) {
    leave(path, `an instance of ${String(at(value, 'class')) || 'a class without a name'}`)
    return undefined
  }
  // What is left out of a list still has its place there.
  if (isList(value)) return value.map((item, n) => dataOf(item, `${path}[${n}]`, leave) ?? leftOut)
  const data: Record<string, Json> = {}
  for (const [key, item] of Object.entries(value)) {
    const found = dataOf(item, key === 'fields' && type !== undefined ? path : `${path}.${key}`, leave)
    if (found !== undefined) data[key] = found
  }
  return data
}

const leftOut: Json = { $type: 'left out' }

/** Many classes leave `name` at `Error`: what sets their errors apart is the class then, as in the outcome of a case. */
function nameOfError(name: Json | undefined, className: Json | undefined): Json {
  return (name === 'Error' ? className : undefined) ?? name ?? null
}

/** What of an error is compared. */
export function comparedFacts(error: Json): Json {
  return factsOf(error, '', () => undefined)
}

/** Where an error has something that is not compared, and what that is: `.order.pay` is `an instance of Payment`. */
export function uncomparedParts(error: Json): readonly HiddenPart[] {
  const parts: HiddenPart[] = []
  factsOf(error, '', (path, what) => parts.push({ at: path, what }))
  return parts
}

function factsOf(error: Json, path: string, leave: Leave): Json {
  // Anything can be thrown; what is not an error is compared as a value.
  if (at(error, '$type') !== 'error') return error
  const own = mapAt(error, 'fields')
  // Of undici: ports and bytes of the connection that was cut off, which a replay has not.
  const isOfConnection = own['code'] === 'UND_ERR_SOCKET'
  const fields: Record<string, Json> = {}
  for (const [key, value] of Object.entries(own)) {
    if (apart.has(key) || (isOfConnection && key === 'socket')) continue
    const data = dataOf(value, `${path}.${key}`, leave)
    if (data !== undefined) fields[key] = data
  }
  const cause = at(error, 'cause')
  return {
    name: nameOfError(at(error, 'name'), at(error, 'class')),
    message: at(error, 'message') ?? null,
    fields,
    errors: listAt(error, 'errors').map((one, n) => factsOf(one, `${path}.errors[${n}]`, leave)),
    ...(cause !== undefined && { cause: factsOf(cause, `${path}.cause`, leave) }),
  }
}
