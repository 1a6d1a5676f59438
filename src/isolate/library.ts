import { type BlameTapeOptions, runOptionsOf } from '../blame/index.ts'
import { readTape, requireClosed, type Tape } from '../tape/index.ts'
import { type IsolatedRun, isolateRun } from './run.ts'

/** How the layer of a failure is isolated from code. */
export type IsolateTapeOptions = Omit<BlameTapeOptions, 'mutate' | 'onProgress' | 'repairs'>

/**
 * Finds the layer that triggers a failure.
 *
 * @param tape - a tape, or its file
 * @throws HarvestError as `blame`
 */
export function isolate(tape: string | Tape, options: IsolateTapeOptions): Promise<IsolatedRun> {
  const opened = requireClosed(typeof tape === 'string' ? readTape(tape) : tape)
  return isolateRun(opened, runOptionsOf(opened, options))
}
