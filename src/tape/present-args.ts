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
  return items.slice(0, items.findLastIndex((value) => !isUndefined(value)) + 1)
}

/** As `encodeValue` writes it. */
function isUndefined(value: Json): boolean {
  return isMap(value) && value['$type'] === 'undefined'
}
