import { HarvestError } from '../errors/index.ts'
import { loadOwn } from '../own-files.ts'
import type { heardMeter, meter } from './usage.ts'
import type { watchFor } from './watch.ts'

/**
 * Loads the meter, and with it the readers of provider dialects, at once and only now: the first run must find it.
 *
 * @throws HarvestError `HARVEST_RECORDER_METER` when it is not there, as in a bundle
 */
export function loadMeter(): { readonly meter: typeof meter; readonly heardMeter: typeof heardMeter } {
  return loadPart('usage') as ReturnType<typeof loadMeter>
}

/**
 * Loads what asks a run for rules and functions, as {@link loadMeter} does.
 *
 * @throws HarvestError `HARVEST_RECORDER_METER`
 */
export function loadWatch(): { readonly watchFor: typeof watchFor } {
  return loadPart('watch') as { readonly watchFor: typeof watchFor }
}

function loadPart(name: 'usage' | 'watch'): unknown {
  try {
    return loadOwn(`record/${name}`)
  } catch (cause) {
    throw new HarvestError(
      'HARVEST_RECORDER_METER',
      {
        what: 'Cannot load the usage counter of the recorder',
        where: { file: `record/${name}` },
        why: 'It is a separate file that is loaded on demand, and bundles lack it.',
        fix: [
          "keep the package out of the bundle: external: ['vitest-harvest']",
          'or record without budget, prices, keep.outliers, keep.tools and keep.when',
        ],
      },
      { cause },
    )
  }
}
