import { clopperPearson } from '../../src/stats/index.ts'
import type { Bar, Table } from '../kit/contract.ts'
import type { Keys } from './columns/ours.ts'
import type { Verdict } from './columns/run.ts'
import type { Variant } from './project.ts'

/** How one column did. */
export interface Score {
  readonly column: string
  readonly regressions: Counts
  /** Those of them that end otherwise in the recorded situation, live. */
  readonly endings: Counts
  readonly benign: Counts
}

interface Counts {
  readonly all: number
  readonly different: number
  readonly unproven: number
}

/** Counts what a column said of every variant. */
export function score(
  column: string,
  of: ReadonlyMap<string, Verdict>,
  variants: readonly Variant[],
  ended: ReadonlySet<string>,
): Score {
  const regressions = variants.filter(({ edit }) => edit?.isRegression === true)
  const counts = (those: readonly Variant[]): Counts => {
    const verdicts = those.map(({ id }) => of.get(id)?.verdict)
    return {
      all: those.length,
      different: verdicts.filter((verdict) => verdict === 'different').length,
      unproven: verdicts.filter((verdict) => verdict === 'unproven').length,
    }
  }
  return {
    column,
    regressions: counts(regressions),
    endings: counts(regressions.filter(({ id }) => ended.has(id))),
    benign: counts(variants.filter(({ edit }) => edit?.isRegression === false)),
  }
}

/** All columns, side by side. */
export function summary(scores: readonly Score[]): Table {
  return {
    title: 'Regressions caught, and false alarms',
    columns: ['test', 'regressions not green', '', 'red', 'unproven', 'benign red', '', 'benign unproven', ''],
    rows: scores.map(({ column, regressions, benign }) => [
      column,
      `${notGreen(regressions)}/${regressions.all}`,
      share(notGreen(regressions), regressions.all),
      String(regressions.different),
      String(regressions.unproven),
      `${benign.different}/${benign.all}`,
      share(benign.different, benign.all),
      `${benign.unproven}/${benign.all}`,
      share(benign.unproven, benign.all),
    ]),
  }
}

function notGreen({ different, unproven }: Counts): number {
  return different + unproven
}

function share(part: number, whole: number): string {
  const { low, high } = clopperPearson(part, whole)
  return `${percent(part / whole)} (${percent(low)}–${percent(high)})`
}

function percent(value: number): string {
  return `${(100 * value).toFixed(1)} %`
}

/** What was promised: the first column is ours, and those that begin with its name are no others. */
export function barsOf(scores: readonly Score[], keys: Keys): readonly Bar[] {
  const [own] = scores
  if (own === undefined) return []
  const rivals = scores.filter(({ column }) => !column.startsWith('ours'))
  const others = (of: (theirs: Score) => number) => Object.fromEntries(rivals.map((each) => [each.column, of(each)]))
  const ofOneKey = [...keys.values()].filter((count) => count === 1).length
  return [
    {
      what: 'regressions not green',
      value: caught(own),
      limit: { atLeast: 0.97 },
      parts: {
        different: own.regressions.different / own.regressions.all,
        unproven: own.regressions.unproven / own.regressions.all,
      },
      others: others(caught),
      claim: 'Regressions of agents that do not leave the test green, as a share',
      shortfall: missed,
    },
    {
      what: 'regressions that end otherwise live, not green',
      value: notGreen(own.endings) / own.endings.all,
      limit: { atLeast: 0.98 },
      others: others(({ endings }) => notGreen(endings) / endings.all),
    },
    {
      what: 'benign edits red',
      value: alarms(own),
      limit: { atMost: 0.02 },
      parts: { unproven: own.benign.unproven / own.benign.all },
      others: others(alarms),
      claim: 'Harmless edits of agents that turn the test red, as a share',
    },
    {
      what: 'share caught beyond each of the others at its own share of false alarms',
      value: Math.min(...rivals.map((theirs) => lead(own, theirs))),
      limit: { atLeast: 0.005 },
      others: others((theirs) => lead(own, theirs)),
    },
    {
      what: 'caught less false alarms, beyond the best of the others',
      value: Math.min(...rivals.map((theirs) => caught(own) - alarms(own) - (caught(theirs) - alarms(theirs)))),
      limit: { atLeast: 0.005 },
    },
    {
      what: 'unproven edits with one changed question to look at, as a share',
      value: keys.size === 0 ? 0 : ofOneKey / keys.size,
      limit: { atLeast: 0.9 },
    },
  ]
}

function caught({ regressions }: Score): number {
  return notGreen(regressions) / regressions.all
}

function alarms({ benign }: Score): number {
  return benign.different / benign.all
}

/**
 * How much more we catch than another one where we raise as few false alarms as it does. Where we raise more, we have no
 * setting to compare: then nothing that we catch counts.
 */
function lead(own: Score, theirs: Score): number {
  return (alarms(own) <= alarms(theirs) ? caught(own) : 0) - caught(theirs)
}

const missed = 'What is missed is in the body of a wrapped tool, which a replay does not run.'
