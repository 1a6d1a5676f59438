import { stripVTControlCharacters, styleText } from 'node:util'
import { neutral } from '../errors/index.ts'

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

/** A screen over this process's stdout and stderr. */
export function createScreen(): Screen {
  let busy = false
  const clear = (): void => {
    if (busy) process.stderr.write('\r\u001b[K')
    busy = false
  }
  return {
    line(text = '') {
      clear()
      process.stdout.write(`${text}\n`)
    },
    note(text) {
      clear()
      process.stderr.write(`${text}\n`)
    },
    json(value) {
      clear()
      process.stdout.write(`${neutralJson(JSON.stringify(value, undefined, 2))}\n`)
    },
    paint: (format, text) => styleText(format, text, { stream: process.stdout }),
    progress(text) {
      if (!process.stderr.isTTY) return
      clear()
      process.stderr.write(text.slice(0, (process.stderr.columns || 80) - 1))
      busy = text !== ''
    },
  }
}

// JSON escapes C0 controls only. The same value in other letters: what `neutral` takes out of text, as `\u` escapes.
const unseen =
  /(?!\u200c|\u200d|[\ufe00-\ufe0f])[\u007f-\u009f\u200e\u200f\u2028-\u202e\ufff9-\ufffb\u{e0000}-\u{e0fff}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|#(?=#(?:\[|vso\[|teamcity\[))/giu

/** JSON that holds the same values, with nothing in it a terminal or a CI runner obeys. */
export function neutralJson(json: string): string {
  return json.replace(unseen, asEscape)
}

function asEscape(characters: string): string {
  return [...Array(characters.length).keys()]
    .map((i) => `\\u${characters.charCodeAt(i).toString(16).padStart(4, '0')}`)
    .join('')
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
  return stripVTControlCharacters(cell).length
}
