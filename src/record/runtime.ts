import { HarvestError } from '../errors/index.ts'

/** What of this runtime goes unheard: Bun tells nobody of its requests, as Node and Deno do on their channels. */
export function unheardHere(
  versions: Readonly<Record<string, string | undefined>> = process.versions,
): string | undefined {
  return versions['bun'] === undefined ? undefined : `requests on Bun ${versions['bun']}`
}

export function runtimeNotHeard(what: string): HarvestError {
  return new HarvestError('HARVEST_RECORDING_FAILED', {
    what: `Not supported: ${what} are not recorded; the agent is not affected`,
    why: 'This runtime announces no requests. Wrapped functions are recorded.',
    fix: ['run the program with Node to record it', 'or wrap what asks the world: tool(), retriever(), value()'],
  })
}
