import type { HarnessResult } from '../../validation/harness/index.ts'
import {
  addCounts,
  type Agreed,
  type Comparison,
  type Count,
  type Departure,
  type EngineResult,
  type QualityGate,
  intervalOf,
  type MeasuredCell,
  rateOf,
} from '../../validation/grid/index.ts'
import { type Screen, table } from '../../report/output.ts'

/** Prints the engine level: a row per family, then every promise with the worst cell it was held against. */
export function printEngine({ seed, tapes, cells, gates }: EngineResult, screen: Screen): void {
  screen.line(
    `Engine level: models of an agent whose causes are known. ${tapesOf(cells)} tapes: ${cells.length} cells of ${tapes}, seed ${seed}`,
  )
  printLevel(cells, gates, screen)
}

/** Prints the harness level, as the engine level is. */
export function printHarness({ seed, cells, gates, forks, requests }: HarnessResult, screen: Screen): void {
  screen.line()
  screen.line(
    `Harness level: real runs over loopback HTTP, recorded while something is planted. ${tapesOf(cells)} runs, seed ${seed}; ` +
      `${forks} forks, ${requests} requests`,
  )
  printLevel(cells, gates, screen)
}

/** Prints whether the two levels say the same, and where not. */
export function printAgreement(agreement: readonly Agreed[], screen: Screen): void {
  const apart = agreement.filter(({ agrees }) => !agrees)
  screen.line()
  screen.line(`Both levels: ${agreement.length - apart.length} of ${agreement.length} figures agree`)
  for (const { family, figure, harness, engine } of apart)
    screen.line(
      `  ${screen.paint('red', 'apart')} ${family} ${figure}: harness ${harness[0]} of ${harness[1]}, engine ${engine[0]} of ${engine[1]}`,
    )
}

function tapesOf(cells: readonly MeasuredCell[]): number {
  return cells.reduce((sum, { tally }) => sum + tally.tapes, 0)
}

function printLevel(cells: readonly MeasuredCell[], gates: readonly QualityGate[], screen: Screen): void {
  screen.line()
  const rows = [...Map.groupBy(cells, ({ cell }) => `${cell.subject}\t${tailOf(cell.noise)}`)].map(([, list]) =>
    familyRow(list),
  )
  screen.line(table([headings, ...rows], [2, 3, 4, 5, 6, 7, 8, 9]))
  screen.line()
  screen.line(
    'top-1: the first guess is right. certified: right, and claimed at delta .05. false: claimed and wrong.\n' +
      'blamed: a step where none decided, or a decoy. Intervals: Clopper-Pearson, 95 %, over different tapes.',
  )
  screen.line()
  screen.line('Promises, each held against the worst of its cells')
  for (const gate of gates) printGate(gate, screen)
}

/** Prints what differs from the committed report. */
export function printComparison({ tapes, changed, unknown, departures }: Comparison, screen: Screen): void {
  screen.line()
  screen.line(`Against the report: ${tapes - changed} of ${tapes} tapes came out as it says`)
  if (unknown.length > 0) screen.line(`  ${unknown.length} cells are not in it, such as ${unknown[0]}`)
  for (const one of departures) screen.line(`  ${screen.paint('red', 'left')} ${departureText(one)}`)
}

const headings = [
  'family',
  'tail',
  'tapes',
  'top-1',
  '95 %',
  'certified',
  'false',
  'blamed',
  'forks p50',
  'p95',
  'worst cell',
]

function familyRow(list: readonly MeasuredCell[]): readonly string[] {
  const [first] = list
  const sum = (of: (one: MeasuredCell['tally']) => Count): Count => addCounts(list.map(({ tally }) => of(tally)))
  const top1 = sum((tally) => tally.top1)
  const worst = list.toSorted((a, b) => rateOf(a.tally.top1) - rateOf(b.tally.top1))[0]
  const most = (of: (one: MeasuredCell['tally']) => number): string =>
    `${Math.max(...list.map(({ tally }) => of(tally)))}`
  return [
    first?.cell.subject ?? '',
    tailOf(first?.cell.noise ?? ''),
    `${top1[1]}`,
    rate(top1),
    interval(top1),
    rate(sum((tally) => tally.certified)),
    rate(sum((tally) => tally.falseCertificates)),
    rate(sum((tally) => tally.falseBlame)),
    most(({ forks }) => forks.p50),
    most(({ forks }) => forks.p95),
    worst === undefined || rateOf(worst.tally.top1) === 1
      ? ''
      : `${worst.cell.id.slice(worst.cell.subject.length + 1)}: ${rate(worst.tally.top1)}`,
  ]
}

function printGate({ name, about, bar, isMet, cells, worst }: QualityGate, screen: Screen): void {
  const mark = isMet ? screen.paint('green', 'kept  ') : screen.paint('red', 'BROKEN')
  const measured =
    worst === undefined ? '' : `${number(worst.measured)}${worst.interval ? ` ${range(worst.interval)}` : ''}`
  const where = worst === undefined || (isMet && isBest(bar, worst.measured)) ? '' : `, worst: ${worst.id}`
  screen.line(`  ${mark} ${name} ${bar}: ${measured} (${cells} cells${where})`)
  screen.line(`         ${about}`)
}

/** All cells are as good as can be: then none is the worst. */
function isBest(bar: string, measured: number): boolean {
  return bar.startsWith('>') ? measured === 1 : measured === 0
}

function departureText({ cell, figure, measured, interval: now, committed, committedInterval }: Departure): string {
  return `${cell}: ${figure} is ${rate(measured)} ${range(now)}, the report says ${rate(committed)} ${range(committedInterval)}`
}

function tailOf(noise: string): string {
  return noise === 'exact' ? 'exact' : 'noisy'
}

function rate(count: Count): string {
  return count[1] === 0 ? '-' : number(rateOf(count))
}

function interval(count: Count): string {
  return count[1] === 0 ? '-' : range(intervalOf(count))
}

function range({ low, high }: { readonly low: number; readonly high: number }): string {
  return `${low.toFixed(3)}-${high.toFixed(3)}`
}

function number(value: number): string {
  return Number.isInteger(value) ? `${value}` : value.toFixed(3)
}
