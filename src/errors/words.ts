import { neutralLine } from './neutral.ts'

/** `1 step`, `1,204 steps`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

/** A word as a shell reads it, on one line: in quotes where it is not plain. */
export function shellWord(word: string): string {
  const line = neutralLine(word, 400)
  return /^[\w@%+=:,./-][\w@%+=:,./#-]*$/.test(line) ? line : `'${line.replaceAll("'", `'\\''`)}'`
}
