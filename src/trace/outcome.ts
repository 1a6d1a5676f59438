import { isList, isMap } from '../json/canonical.ts'
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
 */
export function matchOutcome(expected: Json, actual: Json): OutcomeMatch {
  return firstDifference('', expected, actual) ?? { equal: true }
}

function firstDifference(path: string, expected: Json, actual: Json | undefined): OutcomeMatch | undefined {
  if (actual === undefined) return { equal: false, path, expected }
  if (expected === '*' || expected === actual) return undefined
  if (isMap(expected) && isMap(actual)) {
    for (const [key, value] of Object.entries(expected)) {
      const found = Object.hasOwn(actual, key) ? actual[key] : undefined
      const difference = firstDifference(joinKey(path, key), value, found)
      if (difference !== undefined) return difference
    }
    return undefined
  }
  if (isList(expected) && isList(actual)) {
    for (const [index, value] of expected.entries()) {
      const difference = firstDifference(`${path}[${index}]`, value, actual[index])
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
