import { neutral } from '../errors/index.ts'

/**
 * A command line as a person can judge it: whole, in one line, each word that is not plain in quotes, and everything that
 * cannot be seen as an escape such as `\x1b`. A backslash of the word itself is `\\`.
 */
export function shownCommand(argv: readonly string[]): string {
  return argv.map(shownWord).join(' ')
}

function shownWord(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.startsWith('::')) return word
  // One character at a time is also neutral in a line with others: what CI runners obey takes two.
  const seen = word.replaceAll('\\', '\\\\').replaceAll(/[\r\n]/g, (one) => (one === '\n' ? '\\x0a' : '\\x0d'))
  return `'${neutral(seen).replaceAll("'", "\\'")}'`
}
