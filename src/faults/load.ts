import type { Tape } from '../tape/index.ts'
import type { ChaosOptions, ChaosReport } from './chaos-types.ts'

/**
 * Runs an agent many times with faults drawn at random, offline, and shrinks a failure to the faults that it needs.
 *
 * As `chaos` of `vitest-harvest/faults`; what draws and shrinks is loaded with the first call.
 */
export async function chaos<T>(tape: Tape | string, options: ChaosOptions<T>): Promise<ChaosReport> {
  return (await import('./chaos.ts')).chaos(tape, options)
}
