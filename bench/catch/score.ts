import { clopperPearson } from '../../src/blame/index.ts'
import type { Bar, Table } from '../kit/contract.ts'
import type { Verdict } from './columns/run.ts'
import type { Variant } from './project.ts'

/** How one column did. */
export interface Score {
  readonly column: string
  readonly caught: number
  readonly regressions: number
  readonly alarms: number
  readonly benign: number
}

/** Counts what a column said of every variant. */
export function score(column: string, of: ReadonlyMap<string, Verdict>, variants: readonly Variant[]): Score {
  const red = (isRegression: boolean) =>
    variants.filter(({ edit }) => edit?.isRegression === isRegression).map(({ id }) => of.get(id)?.isRed === true)
  const [harmful, harmless] = [red(true), red(false)]
  return {
    column,
    caught: harmful.filter(Boolean).length,
    regressions: harmful.length,
    alarms: harmless.filter(Boolean).length,
    benign: harmless.length,
  }
}

/** All columns, side by side. */
export function summary(scores: readonly Score[]): Table {
  return {
    title: 'Regressions caught, and false alarms',
    columns: ['test', 'caught', '', 'false alarms', ''],
    rows: scores.map(({ column, caught, regressions, alarms, benign }) => [
      column,
      `${caught}/${regressions}`,
      share(caught, regressions),
      `${alarms}/${benign}`,
      share(alarms, benign),
    ]),
  }
}

function share(part: number, whole: number): string {
  const { low, high } = clopperPearson(part, whole)
  return `${percent(part / whole)} (${percent(low)}–${percent(high)})`
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

/** What was promised: the first column is ours, and those that begin with its name are no others. */
export function barsOf(scores: readonly Score[]): readonly Bar[] {
  const [own] = scores
  if (own === undefined) return []
  const mine = rates(own)
  const rivals = scores.filter(({ column }) => !column.startsWith('ours'))
  const others = (of: (theirs: Rates) => number) =>
    Object.fromEntries(rivals.map((each) => [each.column, of(rates(each))]))
  const margin = (of: (theirs: Rates) => number) => Math.min(...rivals.map((each) => of(rates(each))))
  return [
    {
      what: 'regressions caught',
      value: mine.caught,
      limit: { atLeast: 0.95 },
      others: others(({ caught }) => caught),
      claim: 'Regressions of agents that turn the test red, as a share',
      shortfall: missed,
    },
    {
      what: 'false alarms',
      value: mine.alarms,
      limit: { atMost: 0.02 },
      others: others(({ alarms }) => alarms),
      claim: 'Harmless edits of agents that turn the test red, as a share',
      shortfall: alarmed,
    },
    {
      what: 'share caught beyond the best of the others',
      value: margin((theirs) => mine.caught - theirs.caught),
      limit: { atLeast: 0.005 },
      shortfall: asMany,
    },
    {
      what: 'share of false alarms below the best of the others',
      value: margin((theirs) => theirs.alarms - mine.alarms),
      limit: { atLeast: 0 },
      shortfall: quieter,
    },
    {
      what: 'caught less false alarms, beyond the best of the others',
      value: margin((theirs) => mine.caught - mine.alarms - (theirs.caught - theirs.alarms)),
      limit: { atLeast: 0.005 },
    },
  ]
}

interface Rates {
  readonly caught: number
  readonly alarms: number
}

function rates({ caught, regressions, alarms, benign }: Score): Rates {
  return { caught: caught / regressions, alarms: alarms / benign }
}

const missed =
  'What is missed needs a model that is asked anew (instructions of two agents and an added tool, which look like harmless edits; `drift: fail` is red for them and for every rewording), or is in the body of a wrapped tool, which a replay does not run.'
const alarmed =
  'A recorded stream is not served to a request that wants the whole answer at once, and a user message with the new word "only" counts as another question. Both are refused on purpose: no answer is made up, and words that turn a sentence round are no rewording.'
const asMany =
  'nock back catches as many, since it is red for every changed value in a request: for many of the harmless edits, too.'
const quieter =
  'agentevals raises no false alarm on these edits, since it does not look at what the model is told. It misses more, most of all where no model is asked.'
