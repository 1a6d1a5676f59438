import { at, isList, isMap, listAt, mapAt } from '../json/canonical.ts'
import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/**
 * Errors are the same when name, message, code, their own fields of data and their causes are. The rest may differ,
 * such as a stack or a request object, and the number an operating system has for its `code`.
 */
export function isSameError(recorded: Json, live: Json): boolean {
  return canonicalJson(comparedFacts(recorded)) === canonicalJson(comparedFacts(live))
}

/** Compared below, whether an error has them of its own or of its class, and what depends on the operating system. */
const apart: ReadonlySet<string> = new Set(['name', 'message', 'errno'])

/** Data alone: no instance of a class, no function, and no headers, which have names of requests in them. */
function isData(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  return !notData.has(at(value, '$type') as string) && Object.values(value).every((item: Json) => isData(item))
}

const notData: ReadonlySet<string> = new Set(['instance', 'function', 'headers', 'error', 'unreadable'])

/** What an error keeps of other errors in a field of its own; of what other classes keep there the same is compared as of it. */
function comparedField(value: Json): Json {
  if (at(value, '$type') === 'error') return comparedFacts(value)
  if (isList(value)) return value.map((item) => comparedField(item))
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparedField(item)]))
}

/** What of an error is compared. */
export function comparedFacts(error: Json): Json {
  // Anything can be thrown; what is not an error is compared as a value.
  if (at(error, '$type') !== 'error') return error
  const own = mapAt(error, 'fields')
  // Of undici: ports and bytes of the connection that was cut off, which a replay has not.
  const isOfConnection = own['code'] === 'UND_ERR_SOCKET'
  const fields = Object.entries(own)
    .filter(([key]) => !apart.has(key) && !(isOfConnection && key === 'socket'))
    .map(([key, value]): readonly [string, Json] => [key, comparedField(value)])
    .filter(([, value]) => isData(value))
  const cause = at(error, 'cause')
  return {
    name: at(error, 'name') ?? null,
    message: at(error, 'message') ?? null,
    fields: Object.fromEntries(fields),
    errors: listAt(error, 'errors').map((one) => comparedFacts(one)),
    ...(cause !== undefined && { cause: comparedFacts(cause) }),
  }
}
