import { createRequire } from 'node:module'
import { HarvestError } from '../errors/index.ts'

/**
 * Loads the meter, and with it the readers of provider dialects, at once and only now: the first run must find it.
 *
 * @throws HarvestError `HARVEST_RECORDER_METER` when it is not there, as in a bundle
 */
export function loadMeter(): typeof import('./meter.ts') {
  const beside = import.meta.url.endsWith('.ts') ? './meter.ts' : './meter.js'
  try {
    return createRequire(import.meta.url)(beside) as typeof import('./meter.ts')
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_RECORDER_METER',
      {
        what: 'The part of the recorder that counts what model calls use cannot be loaded',
        why: 'It is loaded only when an option needs it, by its place beside the recorder; a bundle has no such place.',
        fix: [
          "keep the package out of the bundle: external: ['vitest-harvest']",
          'or record without budget, prices, keep.outliers and keep.tools',
        ],
      },
      { cause },
    )
  }
}
