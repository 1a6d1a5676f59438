import { chanceOf, pickOf } from './chance.ts'

/** One entry of the ledger, as the bookkeeping answers it. */
export interface BookEntry {
  readonly entry: number
  readonly id: string
  /** Local time, `2026-06-12T10:00`; entries from {@link closing} on belong to the next quarter. */
  readonly at: string
  readonly debit: number
  readonly credit: number
  readonly lines: readonly number[]
  /** How often it counts. */
  readonly times: number
  /** What someone wrote beside it. */
  readonly note?: string
}

/** Where the quarter ends. */
export const closing = '2026-07-01T00:00'

/** The true entry. Different seeds are different ledgers, and so are the years of one. */
export function trueEntry(seed: number, entry: number, year = 2026): BookEntry {
  const name = [seed, year, entry]
  // Two digits that differ: a number of equal ones could not be transposed.
  const [tens, ones] = [pickOf(1, 5, ...name, 'tens'), pickOf(5, 10, ...name, 'ones')]
  return {
    entry,
    id: `E-${entry}`,
    at: `2026-06-${String(pickOf(10, 30, ...name, 'day'))}T10:00`,
    debit: 200 + 10 * tens + ones + (year === 2026 ? 0 : 300),
    credit: pickOf(1, 40, ...name, 'credit'),
    lines: [pickOf(1, 90, ...name, 'line')],
    times: 1,
  }
}

/** What can be wrong with an answer that looks right. */
export type ValueFault =
  | 'raised'
  | 'stale'
  | 'swapped'
  | 'transposed'
  | 'cents'
  | 'empty'
  | 'twice'
  | 'skewed'
  | 'dst'
  | 'collision'

/** The entry with something wrong: every kind changes what the ledger adds up to. */
export function spoil(right: BookEntry, kind: ValueFault): BookEntry {
  const { debit, credit, entry } = right
  switch (kind) {
    case 'raised':
      return { ...right, debit: debit + 1000 }
    case 'stale':
      return { ...right, debit: debit - 100 }
    case 'swapped':
      return { ...right, debit: credit, credit: debit }
    case 'transposed':
      return { ...right, debit: debit - (debit % 100) + (debit % 10) * 10 + Math.floor((debit % 100) / 10) }
    case 'cents':
      return { ...right, debit: debit * 100 }
    case 'empty':
      return { ...right, lines: [] }
    case 'twice':
      return { ...right, times: 2 }
    case 'skewed':
      return { ...right, at: '2027-01-01T10:00' }
    // Half past eleven in the evening, written in summer time where winter time was meant.
    case 'dst':
      return { ...right, at: '2026-07-01T00:30' }
    case 'collision':
      return { ...right, id: `E-${entry === 0 ? 1 : entry - 1}` }
  }
}

/** What an entry comes to. */
export function amountOf({ debit, credit, lines, times, at }: BookEntry): number {
  if (at >= closing) return 0
  return times * (debit - credit + lines.reduce((sum, line) => sum + line, 0))
}

/** How the amounts of some entries make one. */
export interface EntryGroup {
  /**
   * `sum` adds them up. `least`, `most` and `middle` are one of them: what second and third readings of one thing agree on.
   * `apart`: how far the first two are from each other. `last`: the one that arrived last.
   */
  readonly by: 'sum' | 'least' | 'most' | 'middle' | 'apart' | 'last'
  readonly of: readonly number[]
}

/**
 * The total of a ledger, by the amounts known of its entries, in the order in which they became known. An entry that no one
 * knows comes to nothing.
 */
export function totalOf(groups: readonly EntryGroup[], known: ReadonlyMap<number, number>): number {
  return groups.reduce((total, group) => total + amountOfGroup(group, known), 0)
}

function amountOfGroup({ by, of }: EntryGroup, known: ReadonlyMap<number, number>): number {
  const amounts = of.map((entry) => known.get(entry) ?? 0)
  const sorted = amounts.toSorted((a, b) => a - b)
  const [first = 0, second = 0] = amounts
  switch (by) {
    case 'sum':
      return amounts.reduce((sum, amount) => sum + amount, 0)
    case 'least':
      return sorted[0] ?? 0
    case 'most':
      return sorted.at(-1) ?? 0
    case 'middle':
      return sorted[Math.floor(sorted.length / 2)] ?? 0
    case 'apart':
      return Math.abs(first - second)
    case 'last':
      return [...known].findLast(([entry]) => of.includes(entry))?.[1] ?? 0
  }
}

/** A small error of reckoning that belongs to a name; never nothing, and no two add up to nothing. */
export function slipOf(...name: readonly (string | number)[]): number {
  return 0.001 * (1 + Math.floor(chanceOf(...name, 'size') * 900))
}
