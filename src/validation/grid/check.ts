import type { Interval } from '../../stats/index.ts'
import type { MeasuredCell } from './measure.ts'
import { type Count, intervalOf, type CellTally } from './tally.ts'

/** A figure that is not what the committed report says. */
export interface Departure {
  readonly cell: string
  /** Such as `top1`. */
  readonly figure: string
  readonly measured: Count
  readonly interval: Interval
  readonly committed: Count
  readonly committedInterval: Interval
}

export interface Comparison {
  /** Tapes that were blamed again, in cells that the report has. */
  readonly tapes: number
  /** Of those, the ones that came out otherwise than the report says of the very same tape. */
  readonly changed: number
  /** Cells that the report says nothing about. */
  readonly unknown: readonly string[]
  readonly departures: readonly Departure[]
}

/** Figures that are held against the report. */
const figures = [
  'top1',
  'certified',
  'falseCertificates',
  'falseClaims',
  'falseBlame',
  'rightOrAbstained',
  'repairSet',
  'earlier',
  'coverage',
] as const satisfies readonly (keyof CellTally)[]

/** Figures that are counts of how tapes came out. */
const ofOutcomes: readonly (keyof CellTally)[] = ['top1', 'certified', 'falseCertificates', 'rightOrAbstained']

/** Holds a sample of cells, measured with the seed of the report, against what it says of them. */
export function compareWithReport(measured: readonly MeasuredCell[], committed: readonly MeasuredCell[]): Comparison {
  const known = new Map(committed.map(({ cell, tally }) => [cell.id, tally]))
  const pairs = measured.flatMap(({ cell, tally }) => {
    const before = known.get(cell.id)
    return before === undefined ? [] : [{ id: cell.id, now: tally, before }]
  })
  return {
    tapes: pairs.reduce((all, { now }) => all + now.tapes, 0),
    changed: pairs.reduce((all, { now, before }) => all + changedTapes(now.outcomes, before.outcomes), 0),
    unknown: measured.flatMap(({ cell }) => (known.has(cell.id) ? [] : [cell.id])),
    departures: pairs.flatMap(({ id, now, before }) => {
      // The very same tapes came out as they did: that they are a few of the worse ones is no change.
      const isSame = changedTapes(now.outcomes, before.outcomes) === 0
      const looked = isSame ? figures.filter((figure) => !ofOutcomes.includes(figure)) : figures
      return looked.flatMap((figure) => departure(id, figure, now, before))
    }),
  }
}

function changedTapes(now: string, before: string): number {
  return [...now].filter((outcome, at) => outcome !== before[at]).length
}

/** Two intervals that have no number in common. */
function departure(
  cell: string,
  figure: (typeof figures)[number],
  now: CellTally,
  before: CellTally,
): readonly Departure[] {
  const [measured, committed] = [now[figure], before[figure]]
  if (measured === undefined || committed === undefined) return []
  const [interval, committedInterval] = [intervalOf(measured), intervalOf(committed)]
  const isApart = interval.high < committedInterval.low || interval.low > committedInterval.high
  return isApart ? [{ cell, figure, measured, interval, committed, committedInterval }] : []
}
