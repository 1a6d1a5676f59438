import { isMap } from '../json/canonical.ts'
import type { Json } from './types.ts'

/**
 * Recorded arguments without those that were `undefined`: to the function they are as good as absent, and a model
 * cannot even write them.
 */
export function presentArgs(args: Json): Json {
  if (isMap(args) && args['$type'] === 'deep') return presentArgs(args['value'] ?? null)
  if (isMap(args)) return Object.fromEntries(Object.entries(args).filter(([, value]) => !isUndefined(value)))
  if (!Array.isArray(args)) return args
  const items = args as readonly Json[]
  const present = items.slice(0, items.findLastIndex((value) => !isUndefined(value)) + 1)
  const [only] = present
  // One object argument stands for itself.
  const isAlone = present.length === 1 && items.length > 1 && isMap(only) && only['$type'] === undefined
  return isAlone ? presentArgs(only) : present
}

/** As `encodeValue` writes it. */
function isUndefined(value: Json): boolean {
  return isMap(value) && value['$type'] === 'undefined'
}
