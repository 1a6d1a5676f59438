import { stripVTControlCharacters, type styleText } from 'node:util'
import { neutral } from '../errors/index.ts'
import { columnsOf, wrapText } from './fold.ts'

type Format = Parameters<typeof styleText>[0]

/** Where a command prints, and whether colours mean anything there. */
export interface Screen {
  /** A line of the answer, on stdout. */
  line(text?: string): void
  /** A line about the answer, on stderr. */
  note(text: string): void
  /** The answer for programs, on stdout. */
  json(value: unknown): void
  /** Text in colour, when stdout is a terminal and NO_COLOR is not set. */
  paint(format: Format, text: string): string
  /** Where we are, on one line of the terminal that the next call replaces; nothing when stderr is no terminal. */
  progress(text: string): void
}

/** Text whose lines are ours and whose words may be recorded: neutral, line by line. */
export function neutralLines(text: string): string {
  return text.split('\n').map(neutral).join('\n')
}

/** Columns that a table takes at most. */
export const tableWidth = 100

/**
 * Rows in columns, two spaces between them. A table that is wider than 100 columns has its texts wrapped, after blanks and
 * commas: names and paths stay whole, so that they can be copied.
 *
 * @param right - the columns of numbers; they are not wrapped
 * @param width - columns of the whole; `Infinity`: one line for each row
 */
export function table(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  width: number = tableWidth,
): string {
  return tableRows(rows, right, width).flat().join('\n')
}

/** As {@link table}, the lines of each row. */
export function tableRows(
  rows: readonly (readonly string[])[],
  right: readonly number[] = [],
  width: number = tableWidth,
): readonly (readonly string[])[] {
  const widths = widestOf(rows, widthOf)
  const least = widestOf(rows, (cell) =>
    Math.max(0, ...(stripVTControlCharacters(cell).match(/[^ ,]+,?/g) ?? []).map(columnsOf)),
  )
  const excess = (): number => widths.reduce((sum, one) => sum + one + 2, -2) - width
  // The widest text gives first.
  while (excess() > 0) {
    const room = widths.map((one, i) => (right.includes(i) || one <= least[i]! ? 0 : one))
    const most = Math.max(...room)
    if (most === 0) break
    widths[room.indexOf(most)] = most - 1
  }
  return rows.map((row) => linesOf(row, widths, right))
}

/**
 * Rows in columns as in {@link table}, one line each. Each is made when it is its turn: there may be thousands.
 *
 * @param widest - columns of the widest cell of each column of the rows
 */
export function* tableLines(
  head: readonly string[],
  rows: Iterable<readonly string[]>,
  widest: readonly number[],
  right: readonly number[] = [],
): Generator<string> {
  const widths = [...widest]
  widen(widths, head, widthOf)
  yield lineOf(head, widths, right)
  for (const row of rows) yield lineOf(row, widths, right)
}

function widestOf(rows: readonly (readonly string[])[], of: (cell: string) => number): number[] {
  const widths: number[] = []
  for (const row of rows) widen(widths, row, of)
  return widths
}

function widen(widths: number[], row: readonly string[], of: (cell: string) => number): void {
  for (let i = 0; i < row.length; i++) widths[i] = Math.max(widths[i] ?? 0, of(row[i] ?? ''))
}

/** Columns of the widest line. */
export function widthOfRows(rows: readonly (readonly string[])[]): number {
  return Math.max(0, ...rows.flat().map(widthOf))
}

function linesOf(row: readonly string[], widths: readonly number[], right: readonly number[]): readonly string[] {
  const cells = row.map((cell, i) => wrapCell(cell, widths[i] ?? 0))
  const height = Math.max(1, ...cells.map(({ length }) => length))
  return Array.from({ length: height }, (_, line) =>
    lineOf(
      cells.map((parts) => parts[line] ?? ''),
      widths,
      right,
    ),
  )
}

function lineOf(cells: readonly string[], widths: readonly number[], right: readonly number[]): string {
  let line = ''
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] ?? ''
    const gap = ' '.repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell)))
    line += `${i === 0 ? '' : '  '}${right.includes(i) ? gap + cell : cell + gap}`
  }
  return line.trimEnd()
}

/** A cell in lines. Its colour is put around each of them. */
function wrapCell(cell: string, width: number): readonly string[] {
  if (widthOf(cell) <= width) return [cell]
  const [, before = '', text = '', after = ''] =
    /^((?:\u001b\[[\d;]*m)*)([^\u001b]*)((?:\u001b\[[\d;]*m)*)$/.exec(cell) ?? []
  // Colours inside of a text: where they would have to begin again is not known here.
  if (text === '') return wrapText(stripVTControlCharacters(cell), width)
  return wrapText(text, width).map((line) => `${before}${line}${after}`)
}

/** How many columns of a terminal a cell takes, colours or not. */
export function widthOf(cell: string): number {
  if (/^[ -~]*$/.test(cell)) return cell.length
  return columnsOf(stripVTControlCharacters(cell))
}
