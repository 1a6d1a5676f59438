import { neutralLine } from './neutral.ts'

/**
 * A count with its thousands apart: `1,204`.
 *
 * By hand: the first number that `Intl` writes makes Node load what it knows of languages, 17 ms.
 */
export function grouped(count: number): string {
  return String(count).replace(/(?<=^\d+)(?=(?:\d{3})+$)/g, ',')
}

/** `1 step`, `1,204 steps`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** A word as a shell reads it, on one line: in quotes where it is not plain. */
export function shellWord(word: string): string {
  const line = neutralLine(word, 400)
  return /^[\w@%+=:,./-][\w@%+=:,./#-]*$/.test(line) ? line : `'${line.replaceAll("'", `'\\''`)}'`
}
