import { stripVTControlCharacters, type styleText } from 'node:util'
import { neutral } from '../errors/index.ts'
import { columnsOf } from './fold.ts'

type Format = Parameters<typeof styleText>[0]

/** Where a command prints, and whether colours mean anything there. */
export interface Screen {
  /** A line of the answer, on stdout. */
  line(text?: string): void
  /** A line about the answer, on stderr. */
  note(text: string): void
  /** The answer for programs, on stdout. */
  json(value: unknown): void
  /** Text in colour, when stdout is a terminal and nobody set NO_COLOR. */
  paint(format: Format, text: string): string
  /** Where we are, on one line of the terminal that the next call replaces; nothing when stderr is no terminal. */
  progress(text: string): void
}

/** Text whose lines are ours and whose words may be recorded: neutral, line by line. */
export function neutralLines(text: string): string {
  return text.split('\n').map(neutral).join('\n')
}

/** Rows in columns, two spaces between them; `right` are the columns of numbers. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string {
  const widths = rows.reduce<number[]>((widest, row) => {
    row.forEach((cell, i) => (widest[i] = Math.max(widest[i] ?? 0, widthOf(cell))))
    return widest
  }, [])
  return rows
    .map((row) =>
      row
        .map((cell, i) => {
          const gap = ' '.repeat((widths[i] ?? 0) - widthOf(cell))
          return right.includes(i) ? gap + cell : cell + gap
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function widthOf(cell: string): number {
  return columnsOf(stripVTControlCharacters(cell))
}
