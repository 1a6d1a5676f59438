import { type Bar, holds, type KeptResult, type Table } from './contract.ts'

/** All results as one page. */
export function renderResults(results: readonly KeptResult[]): string {
  const lines = [
    '# Results',
    '',
    'Written by `npm run bench`; do not edit. Times are ratios of things measured in turn in one run, so that they can be',
    'compared between machines. A figure with a range is the median of the rounds with the smallest and the largest.',
    'The folder of each question says what is compared and why that is fair.',
    '',
    '## Promises',
    '',
    ...markdown(promises(results)),
  ]
  const short = results.flatMap(({ name, bars }) => bars.filter((bar) => !holds(bar)).map((bar) => ({ name, bar })))
  if (short.length > 0) {
    lines.push('', '### What falls short', '')
    for (const { name, bar } of short)
      lines.push(`* **${name}: ${bar.what}.** ${bar.shortfall ?? 'Not explained yet.'}`)
  }
  for (const result of results) lines.push('', ...section(result))
  return `${lines.join('\n')}\n`
}

/** One result, for a terminal and for the page. */
export function section(result: KeptResult): string[] {
  const versions = Object.entries(result.versions).map(([name, version]) => `${name} ${version}`)
  const lines = [`## ${result.question}`, '', `[${result.name}](${result.name}/README.md)`]
  for (const table of result.tables) lines.push('', `**${table.title}**`, '', ...markdown(table))
  if (result.remarks !== undefined && result.remarks.length > 0) {
    lines.push('', ...result.remarks.map((remark) => `* ${remark}`))
  }
  lines.push(
    '',
    `${result.isQuick ? 'A small share (`--quick`), measured' : 'Measured'} ${result.date} on ${result.machine}; Node ${result.node}; ${versions.join(', ')}.`,
  )
  return lines
}

/** The promises of all results as one table. */
export function promises(results: readonly KeptResult[]): Table {
  return {
    title: 'Promises',
    columns: ['bench', 'promise', 'bar', 'measured', 'kept', 'others'],
    rows: results.flatMap(({ name, bars }) =>
      bars.map((bar) => [name, bar.what, limitOf(bar), measured(bar), holds(bar) ? 'yes' : '**no**', others(bar)]),
    ),
  }
}

/** What docs/benchmarks.md claims: the promises that have words for it. A claim that does not hold says so. */
export function claims(results: readonly KeptResult[]): Table {
  return {
    title: 'Measured',
    columns: ['Measured', 'vitest-harvest', 'others', 'how'],
    rows: results.flatMap(({ name, bars }) =>
      bars.flatMap((bar) =>
        bar.claim === undefined
          ? []
          : [
              [
                bar.claim,
                holds(bar) ? measured(bar) : `${measured(bar)} (we aim at ${limitOf(bar)})`,
                others(bar),
                `[${name}](../bench/${name}/README.md)`,
              ],
            ],
      ),
    ),
  }
}

const claimsBegin = '<!-- written by npm run bench -->'
const claimsEnd = '<!-- up to here -->'

/**
 * A document with the table of claims between its two markers written anew.
 *
 * @throws Error when the document has no such place
 */
export function withClaims(text: string, results: readonly KeptResult[]): string {
  const begin = text.indexOf(claimsBegin)
  const end = text.indexOf(claimsEnd)
  if (begin < 0 || end < begin) throw new Error(`no ${claimsBegin} … ${claimsEnd}`)
  const table = markdown(claims(results)).join('\n')
  return `${text.slice(0, begin + claimsBegin.length)}\n\n${table}\n\n${text.slice(end)}`
}

/** A table in Markdown, its columns aligned so that it can be read as text too. */
export function markdown({ columns, rows }: Table): string[] {
  const cells = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')))
  const widths = columns.map((_, i) => Math.max(3, ...cells.map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]): string =>
    `| ${widths.map((width, i) => (row[i] ?? '').padEnd(width)).join(' | ')} |`
  const [head = [], ...body] = cells
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)]
}

function limitOf({ limit }: Bar): string {
  return 'atMost' in limit ? `≤ ${limit.atMost}` : `≥ ${limit.atLeast}`
}

function others({ others = {} }: Bar): string {
  return Object.entries(others)
    .sort(([, a], [, b]) => a - b)
    .map(([name, value]) => `${name}: ${number(value)}`)
    .join('; ')
}

function measured({ value, spread, parts }: Bar): string {
  const range = spread === undefined ? '' : ` (${number(spread[0])}–${number(spread[1])})`
  const behind = Object.entries(parts ?? {}).map(([name, part]) => `${name}: ${number(part)}`)
  return `${number(value)}${range}${behind.length === 0 ? '' : ` (${behind.join('; ')})`}`
}

/** Two digits behind the point, unless it is a count or large. */
function number(value: number): string {
  return value.toFixed(Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : 2)
}
