import { fisherExact, holm } from '../../stats/index.ts'
import { groupOf } from '../../faults/families.ts'
import type { MeasuredCell } from '../grid/measure.ts'
import { addCounts, type Count, type CellTally } from '../grid/tally.ts'

/** One figure of a family at both levels. */
export interface Agreement {
  readonly family: string
  readonly figure: 'top-1' | 'certified' | 'false certificates'
  readonly harness: Count
  readonly engine: Count
  /**
   * How likely counts that differ so much are when both levels are alike: Fisher's exact test, two-sided, after Holm's
   * correction for all comparisons.
   */
  readonly chance: number
  readonly agrees: boolean
}

const figures: Readonly<Record<Agreement['figure'], (tally: CellTally) => Count>> = {
  'top-1': ({ top1 }) => top1,
  certified: ({ certified }) => certified,
  'false certificates': ({ falseCertificates }) => falseCertificates,
}

/**
 * Compares the harness level with the engine level: family by family, over the cells of the engine level whose runs are
 * as long and as noisy. The two are never added up.
 *
 * @param alpha - the chance of finding any difference that is not there. Default .05
 */
export function agreementOf(
  harness: readonly MeasuredCell[],
  engine: readonly MeasuredCell[],
  alpha = 0.05,
): readonly Agreement[] {
  const compared = harness.flatMap(({ cell, tally }) => {
    const alike = engine.filter(
      ({ cell: other }) =>
        (other.subject === cell.subject || other.subject === groupOf(cell.families[0] ?? 'F7.passing_run')) &&
        other.noise === cell.noise &&
        other.length <= Math.max(50, cell.length) &&
        other.band !== 'drop .4-.6' &&
        !other.sweeps,
    )
    if (alike.length === 0) return []
    return Object.entries(figures).map(([figure, of]) => ({
      family: cell.subject,
      figure: figure as Agreement['figure'],
      harness: of(tally),
      engine: addCounts(alike.map((one) => of(one.tally))),
    }))
  })
  const chances = holm(compared.map(({ harness: here, engine: there }) => twoSided(here, there)))
  return compared.map((one, index) => {
    const chance = chances[index] ?? 1
    return { ...one, chance, agrees: chance > alpha }
  })
}

function twoSided(first: Count, second: Count): number {
  const [here, there] = [first, second].map(([hits, runs]) => ({ hits, runs }))
  if (here === undefined || there === undefined || here.runs === 0 || there.runs === 0) return 1
  return Math.min(1, 2 * Math.min(fisherExact(here, there), fisherExact(there, here)))
}
