import type { SerializedConfig } from 'vitest'

/**
 * Whether nothing in this run needs the module of a case in Vite's graph: watch mode follows what it imports, locations
 * come from its source map, coverage and lists of imports are made from modules. A worker that runs one file has nothing
 * to save, and one in a vm has globals of its own for each.
 */
export function isCollectedHere(config: SerializedConfig): boolean {
  const { watch, isolate, pool, includeTaskLocation, coverage, experimental } = config
  const isNeeded = watch || includeTaskLocation || coverage?.enabled || keepsImports(experimental)
  return !isNeeded && !isolate && (pool === 'forks' || pool === 'threads')
}

/** `recordDependencies` is in no type, and not in Vitest 4. */
function keepsImports(experimental: SerializedConfig['experimental']): boolean {
  const { importDurations } = experimental
  return (importDurations?.limit ?? 0) > 0 || Reflect.get(experimental, 'recordDependencies') === true
}
