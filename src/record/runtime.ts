import { HarvestError } from '../errors/index.ts'

/**
 * What of this runtime goes unheard. Node's `fetch` is undici, which announces its requests: a runtime without it has a `fetch` of its
 * own, which announces nothing. Bun announces those of `node:http` neither.
 */
export function unheardHere(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  const { bun, deno, undici } = versions
  if (bun !== undefined) return `requests on Bun ${bun}`
  if (undici !== undefined) return undefined
  return `requests of fetch on ${deno === undefined ? 'this runtime' : `Deno ${deno}`}`
}

export function runtimeNotHeard(what: string): HarvestError {
  return new HarvestError('HARVEST_RECORDING_FAILED', {
    what: `Not supported: ${what} are not recorded; the agent is not affected`,
    why: 'This runtime does not announce them. Wrapped functions are recorded.',
    fix: ['run the program with Node to record it', 'or wrap what asks the world: tool(), retriever(), value()'],
  })
}
