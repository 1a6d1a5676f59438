import { at, isList, isMap, type JsonMap } from '../json/canonical.ts'
import { isUndefined } from '../tape/present.ts'
import type { Json } from '../tape/types.ts'

/** Whether an outcome is what was expected, and where it first is not. */
export interface OutcomeMatch {
  readonly equal: boolean
  /** Such as `order.items[0].price`; empty for the outcome itself. */
  readonly path?: string
  readonly expected?: Json
  /** Absent when there is nothing at the path. */
  readonly actual?: Json
}

/**
 * Compares an outcome with what a case expects, by structure: maps need to hold what is expected and may hold more,
 * at every depth; lists agree in length and item by item; everything else exactly. The text `*` matches anything
 * that is there, `null` included.
 *
 * @param recorded - the recorded outcome: a map that is expected with all keys it had then may hold no other
 */
export function matchOutcome(expected: Json, actual: Json, recorded?: Json): OutcomeMatch {
  return firstDifference('', expected, actual, recorded) ?? { equal: true }
}

/** Whether a map was expected with every key that was recorded there: then no key was left open. */
export function isWhole(expected: Json, recorded: Json | undefined): boolean {
  return isMap(expected) && isMap(recorded) && Object.keys(recorded).every((key) => Object.hasOwn(expected, key))
}

/** By these keys an outcome says that a value is that one exactly, or that a map has no other key. */
const [exactKey, onlyKey] = ['$is', '$only']

/** Whether a part of it reads as more than a value, such as the text `*`: what was returned so is to be compared with the tape. */
export function holdsWildcard(value: Json): boolean {
  if (value === '*' || wrappedIn(value, exactKey) !== undefined || wrappedIn(value, onlyKey) !== undefined) return true
  if (isList(value)) return value.some(holdsWildcard)
  return isMap(value) && Object.values(value).some(holdsWildcard)
}

function wrappedIn(value: Json, key: string): Json | undefined {
  return isMap(value) && Object.keys(value).length === 1 ? at(value, key) : undefined
}

/**
 * The outcome that is this value alone: it has no other key, and its texts are no wildcards.
 *
 * @param recorded - what the tape has there: maps with all of its keys have no other one anyway
 */
export function exactly(value: Json, recorded: Json | undefined): Json {
  return isExactly(value, recorded) ? value : withExact(value)
}

/** The outcome that says so of a value. */
export function withExact(value: Json): Json {
  return { [exactKey]: value }
}

/** An outcome with its values as `present` gives them, and without members that are undefined. */
export function presentOutcome(expected: Json, present: (value: Json) => Json): Json {
  const exact = exactIn(expected)
  if (exact !== undefined) return withExact(present(exact))
  const only = onlyIn(expected)
  const said = only ?? expected
  if (isList(said)) return said.map((item) => presentOutcome(item, present))
  if (!isMap(said) || said['$type'] !== undefined) return present(said)
  const members = Object.entries(said).filter(([, value]) => !isUndefined(value))
  const map = Object.fromEntries(members.map(([key, value]) => [key, presentOutcome(value, present)]))
  return only === undefined ? map : withOnly(map)
}

function isExactly(value: Json, recorded: Json | undefined): boolean {
  if (isList(value))
    return value.every((item, index) => isExactly(item, isList(recorded) ? recorded[index] : undefined))
  if (!isMap(value) || isUndefined(value)) return value !== '*'
  if (!isWhole(value, recorded) || holdsWildcard(value)) return false
  return Object.entries(value).every(([key, item]) => isExactly(item, at(recorded, key)))
}

/** What an outcome says a value is exactly; `undefined` when it leaves something open. */
export function exactIn(expected: Json): Json | undefined {
  return wrappedIn(expected, exactKey)
}

/** What an outcome expects of a map that has no other key; `undefined` when it does not say so. */
export function onlyIn(expected: Json): JsonMap | undefined {
  const only = wrappedIn(expected, onlyKey)
  return isMap(only) ? only : undefined
}

/** The outcome that is a map with these keys and no other. */
export function withOnly(expected: JsonMap): Json {
  return { [onlyKey]: expected }
}

/** An outcome as a value, to be read beside one. */
export function asValue(expected: Json): Json {
  const exact = exactIn(expected)
  if (exact !== undefined) return exact
  const said = onlyIn(expected) ?? expected
  if (isList(said)) return said.map(asValue)
  return isMap(said) ? Object.fromEntries(Object.entries(said).map(([key, value]) => [key, asValue(value)])) : said
}

function firstDifference(
  path: string,
  said: Json,
  actual: Json | undefined,
  recorded: Json | undefined,
  isExact = false,
): OutcomeMatch | undefined {
  const exact = isExact ? undefined : exactIn(said)
  if (exact !== undefined) return firstDifference(path, exact, actual, recorded, true)
  const only = isExact ? undefined : onlyIn(said)
  const expected = only ?? said
  if (actual === undefined) return { equal: false, path, expected }
  if ((expected === '*' && !isExact) || expected === actual) return undefined
  if (isMap(expected) && isMap(actual)) {
    for (const [key, value] of Object.entries(expected)) {
      const found = Object.hasOwn(actual, key) ? actual[key] : undefined
      const difference = firstDifference(joinKey(path, key), value, found, at(recorded, key), isExact)
      if (difference !== undefined) return difference
    }
    const isClosed = isExact || only !== undefined || isWhole(expected, recorded)
    const more = isClosed ? Object.keys(actual).find((key) => !Object.hasOwn(expected, key)) : undefined
    if (more !== undefined) return { equal: false, path: joinKey(path, more), actual: actual[more]! }
    return undefined
  }
  if (isList(expected) && isList(actual)) {
    for (const [index, value] of expected.entries()) {
      const before = isList(recorded) ? recorded[index] : undefined
      const difference = firstDifference(`${path}[${index}]`, value, actual[index], before, isExact)
      if (difference !== undefined) return difference
    }
    if (expected.length === actual.length) return undefined
  }
  return { equal: false, path, expected, actual }
}

function joinKey(path: string, key: string): string {
  if (!/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}
