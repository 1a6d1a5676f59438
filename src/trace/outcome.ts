import { at, isList, isMap } from '../json/canonical.ts'
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

/** Whether a text of it reads as a wildcard: what was returned so is to be compared with the tape. */
export function holdsWildcard(value: Json): boolean {
  if (value === '*') return true
  if (isList(value)) return value.some(holdsWildcard)
  return isMap(value) && Object.values(value).some(holdsWildcard)
}

function firstDifference(
  path: string,
  expected: Json,
  actual: Json | undefined,
  recorded: Json | undefined,
): OutcomeMatch | undefined {
  if (actual === undefined) return { equal: false, path, expected }
  if (expected === '*' || expected === actual) return undefined
  if (isMap(expected) && isMap(actual)) {
    for (const [key, value] of Object.entries(expected)) {
      const found = Object.hasOwn(actual, key) ? actual[key] : undefined
      const difference = firstDifference(joinKey(path, key), value, found, at(recorded, key))
      if (difference !== undefined) return difference
    }
    const more = isWhole(expected, recorded)
      ? Object.keys(actual).find((key) => !Object.hasOwn(expected, key))
      : undefined
    if (more !== undefined) return { equal: false, path: joinKey(path, more), actual: actual[more]! }
    return undefined
  }
  if (isList(expected) && isList(actual)) {
    for (const [index, value] of expected.entries()) {
      const before = isList(recorded) ? recorded[index] : undefined
      const difference = firstDifference(`${path}[${index}]`, value, actual[index], before)
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
