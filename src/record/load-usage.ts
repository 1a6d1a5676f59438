import { createRequire } from 'node:module'
import { HarvestError } from '../errors/index.ts'

/**
 * Loads the meter, and with it the readers of provider dialects, at once and only now: the first run must find it.
 *
 * @throws HarvestError `HARVEST_RECORDER_METER` when it is not there, as in a bundle
 */
export function loadMeter(): typeof import('./usage.ts') {
  const beside = import.meta.url.endsWith('.ts') ? './usage.ts' : './usage.js'
  try {
    return createRequire(import.meta.url)(beside) as typeof import('./usage.ts')
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_RECORDER_METER',
      {
        what: 'Cannot load the usage counter of the recorder',
        why: 'It is a separate file that is loaded on demand, and bundles lack it.',
        fix: [
          "keep the package out of the bundle: external: ['vitest-harvest']",
          'or record without budget, prices, keep.outliers and keep.tools',
        ],
      },
      { cause },
    )
  }
}
