import type { Json } from './types.ts'

/** A part of a recorded value that a replay gives back as something less. */
export interface Loss {
  /** Where it stands, such as `.total`; empty for the value itself. */
  readonly at: string
  /** Name of the class of an instance or of an error of one's own; `function` for a function. */
  readonly what: string
}

/** What begins that loss of a call whose query the agent built further before it awaited it. */
export const queryBuilt = 'result: a query that was built further'

/** What stands among the losses of a call whose body changed its arguments. To what, no tape holds. */
export const argsChanged = 'args: changed by the call'

/** More are not listed: a list of a thousand instances is one thing to revive. */
const most = 3

/** What `decodeValue` makes less of than it was, in the order of the text: instances of classes, errors of own classes, functions. */
export function lossesIn(value: Json): readonly Loss[] {
  const found = new Map<string, Loss>()
  const walk = (json: Json, at: string): void => {
    if (found.size >= most || typeof json !== 'object' || json === null) return
    if (Array.isArray(json)) return (json as readonly Json[]).forEach((item, index) => walk(item, `${at}[${index}]`))
    const fields = json as Readonly<Record<string, Json>>
    const what = lossOf(fields)
    if (what !== undefined && !found.has(what)) found.set(what, { at, what })
    const isTagged = Object.hasOwn(fields, '$type')
    for (const [key, item] of Object.entries(fields))
      walk(item, isTagged && (key === 'value' || key === 'fields') ? at : `${at}.${key}`)
  }
  walk(value, '')
  return [...found.values()]
}

function lossOf({ $type, class: name }: Readonly<Record<string, Json>>): string | undefined {
  if ($type === 'function') return 'function'
  if ($type === 'instance') return typeof name === 'string' && name !== '' ? name : 'class without a name'
  return $type === 'error' && typeof name === 'string' && !builtIn.has(name) ? name : undefined
}

const builtIn: ReadonlySet<string> = new Set([
  ...['Error', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError'],
  ...['AggregateError', 'DOMException'],
])
