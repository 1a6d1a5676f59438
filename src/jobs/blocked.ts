import { HarvestError } from '../errors/index.ts'

/**
 * The error of a run whose worker was terminated, for no timer fires on a blocked thread.
 *
 * @param more - how to give it more time
 */
export function threadBlocked(where: Readonly<Record<string, string>>, more: string): HarvestError {
  return new HarvestError('HARVEST_AGENT_TIMEOUT', {
    what: 'The agent blocked its thread past the time limit; its worker was terminated',
    where,
    why: 'An endless loop or a long synchronous call keeps timers from running; so does a machine that is busy with other work.',
    fix: ['if it is a loop: end it, or `await` something in it', more],
  })
}
