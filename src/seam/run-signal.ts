import { currentRun } from './source.ts'

/**
 * The signal of the run this code belongs to: aborted when the run passes the hard limit of its recorder's `budget`, and
 * in a replay at the same place. Hand it to the model client.
 *
 * @returns `undefined` outside of a run, and where nothing limits it
 * @since 0.2.0
 */
export function runSignal(): AbortSignal | undefined {
  return currentRun()?.signal
}
