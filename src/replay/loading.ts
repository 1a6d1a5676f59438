import { installInterceptors, watchOutside } from '../seam/intercept/index.ts'
import type { HarvestError } from '../errors/index.ts'
import { escapedWhileLoading } from '../playback/problems.ts'
import { isAllowed } from '../playback/allow.ts'

/**
 * Loads an agent's modules with the way to the world shut: a connection made while modules load would be a live call
 * that no tape knows of.
 *
 * @param allow - escapes to let through, as in the replay options
 * @throws HarvestError `HARVEST_ESCAPE` for the first thing that reached out
 */
export async function guardLoading<T>(load: () => Promise<T>, allow: readonly string[] = []): Promise<T> {
  installInterceptors()
  const refused: HarvestError[] = []
  const unwatch = watchOutside({
    escape(kind, target) {
      if (isAllowed(allow, kind, target)) return undefined
      const error = escapedWhileLoading(kind, target)
      refused.push(error)
      return error
    },
  })
  try {
    const loaded = await load()
    if (refused[0]) throw refused[0]
    return loaded
  } catch (error) {
    // The error of a module that could not connect says less than what was refused.
    throw refused[0] ?? error
  } finally {
    unwatch()
  }
}
