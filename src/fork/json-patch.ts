import { isMap, type JsonMap } from '../json/canonical.ts'
import { HarvestError, nearestWord, neutralLine } from '../errors/index.ts'
import type { Json } from '../tape/index.ts'

/** One operation of a JSON patch. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/**
 * Applies a JSON patch, all of it or nothing; the document itself stays as it is.
 *
 * @throws HarvestError `HARVEST_FORK_PATCH` with the operation that does not apply, and what is there
 * @see RFC 6902, pointers as in RFC 6901
 */
export function applyJsonPatch(document: Json, operations: readonly JsonPatchOperation[]): Json {
  return operations.reduce<Json>((value, operation, index) => {
    const refuse: Refuse = (because, there = []) => wrong(because, there, operation, index)
    return apply(value, operation, refuse)
  }, document)
}

/**
 * Reads the text of a JSON patch.
 *
 * @throws HarvestError `HARVEST_FORK_PATCH` when it is not one
 */
export function readJsonPatch(text: string): readonly JsonPatchOperation[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw noPatch((cause as SyntaxError).message, cause)
  }
  if (!Array.isArray(value)) throw noPatch('it is no list of operations')
  return value.map((one: unknown, index) => {
    const problem = problemOf(one)
    if (problem !== undefined) throw noPatch(`operation ${index + 1}: ${problem}`)
    return one as JsonPatchOperation
  })
}

type Refuse = (because: string, there?: readonly string[]) => HarvestError

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test']

function problemOf(one: unknown): string | undefined {
  if (typeof one !== 'object' || one === null || Array.isArray(one)) return 'it is no object'
  const { op, path, from } = one as Readonly<Record<string, unknown>>
  if (typeof op !== 'string' || !operationNames.includes(op)) {
    const near = typeof op === 'string' ? nearestWord(op, operationNames) : undefined
    return `"op" is one of ${operationNames.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`
  }
  if (typeof path !== 'string' || !isPointer(path)) return '"path" is no pointer such as /items/0/total'
  if ((op === 'move' || op === 'copy') && (typeof from !== 'string' || !isPointer(from)))
    return '"from" is no pointer such as /items/0/total'
  const needsValue = op === 'add' || op === 'replace' || op === 'test'
  return needsValue && !Object.hasOwn(one, 'value') ? '"value" is missing' : undefined
}

function isPointer(text: string): boolean {
  return text === '' || (text.startsWith('/') && !/~(?![01])/.test(text))
}

function apply(document: Json, operation: JsonPatchOperation, refuse: Refuse): Json {
  const path = keysOf(operation.path)
  switch (operation.op) {
    case 'add':
      return place(document, path, operation.value, refuse)
    case 'replace':
      valueAt(document, path, refuse)
      return path.length === 0 ? operation.value : replace(document, path, operation.value, refuse)
    case 'remove':
      valueAt(document, path, refuse)
      return take(document, path, refuse)
    case 'copy':
      return place(document, path, valueAt(document, keysOf(operation.from), refuse), refuse)
    case 'move': {
      if (operation.path.startsWith(`${operation.from}/`)) throw refuse('a value cannot be moved into itself')
      const from = keysOf(operation.from)
      const value = valueAt(document, from, refuse)
      return operation.path === operation.from ? document : place(take(document, from, refuse), path, value, refuse)
    }
    case 'test': {
      const value = valueAt(document, path, refuse)
      if (!isSame(value, operation.value)) throw refuse(`the test fails: there is ${JSON.stringify(value)}`)
      return document
    }
    default:
      return operation satisfies never
  }
}

function keysOf(pointer: string): readonly string[] {
  const keys = pointer === '' ? [] : pointer.slice(1).split('/')
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function valueAt(value: Json, [key, ...rest]: readonly string[], refuse: Refuse): Json {
  if (key === undefined) return value
  return valueAt(childOf(value, key, refuse), rest, refuse)
}

function childOf(value: Json, key: string, refuse: Refuse): Json {
  if (isList(value)) {
    const item = value[indexOf(key, value.length - 1, refuse)]
    if (item === undefined) throw refuse(`there is no item ${key}`)
    return item
  }
  const child = isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined
  if (child === undefined) throw refuse(`there is no '${key}'`, isMap(value) ? Object.keys(value) : [])
  return child
}

/** What `change` makes of the container of the last key. */
function changeAt(
  value: Json,
  [key, ...rest]: readonly string[],
  change: (container: Json, key: string) => Json,
  refuse: Refuse,
): Json {
  if (key === undefined) throw refuse('the whole document cannot be removed')
  if (rest.length === 0) return change(value, key)
  const child = changeAt(childOf(value, key, refuse), rest, change, refuse)
  if (isList(value)) return value.map((item, at) => (at === Number(key) ? child : item))
  // A computed key: `__proto__` becomes a member like any other.
  return { ...(value as JsonMap), [key]: child }
}

function place(document: Json, path: readonly string[], value: Json, refuse: Refuse): Json {
  if (path.length === 0) return value
  const put = (container: Json, key: string): Json => {
    if (isList(container))
      return container.toSpliced(key === '-' ? container.length : indexOf(key, container.length, refuse), 0, value)
    if (!isMap(container)) throw refuse('nothing can be added to a bare value')
    return { ...container, [key]: value }
  }
  return changeAt(document, path, put, refuse)
}

function replace(document: Json, path: readonly string[], value: Json, refuse: Refuse): Json {
  const put = (container: Json, key: string): Json =>
    isList(container)
      ? container.map((item, at) => (at === Number(key) ? value : item))
      : { ...(container as JsonMap), [key]: value }
  return changeAt(document, path, put, refuse)
}

function take(document: Json, path: readonly string[], refuse: Refuse): Json {
  const drop = (container: Json, key: string): Json =>
    isList(container)
      ? container.toSpliced(Number(key), 1)
      : Object.fromEntries(Object.entries(container as JsonMap).filter(([name]) => name !== key))
  return changeAt(document, path, drop, refuse)
}

function indexOf(key: string, last: number, refuse: Refuse): number {
  if (!/^(0|[1-9]\d*)$/.test(key)) throw refuse(`'${key}' is no place in a list`)
  if (Number(key) > last) throw refuse(`the list ends before ${key}`)
  return Number(key)
}

/** RFC 6902, 4.6: the order of members means nothing. */
function isSame(a: Json, b: Json): boolean {
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, at) => isSame(item, b[at] ?? null))
  if (!isMap(a) || !isMap(b)) return a === b
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(a[key] ?? null, b[key] ?? null))
  )
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

function wrong(because: string, there: readonly string[], operation: JsonPatchOperation, index: number): HarvestError {
  const last = keysOf(operation.path).at(-1) ?? ''
  const near = nearestWord(last, there)
  return new HarvestError('HARVEST_FORK_PATCH', {
    what: 'The JSON Patch does not apply to the recorded answer',
    where: {
      operation: `${index + 1}, ${neutralLine(JSON.stringify(operation), 120)}`,
      because: neutralLine(because, 200),
      ...(there.length === 0 ? {} : { there: neutralLine(there.join(', '), 300) }),
    },
    fix: near === undefined ? [] : [`did you mean: ${neutralLine(near, 60)}`],
  })
}

function noPatch(problem: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_FORK_PATCH',
    {
      what: 'Invalid JSON Patch (RFC 6902)',
      where: { problem: neutralLine(problem, 200) },
      fix: ['write a list: [{ "op": "replace", "path": "/items/0/total", "value": 30 }]'],
    },
    { cause },
  )
}
