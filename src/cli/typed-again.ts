import { neutralLine } from '../errors/index.ts'
import { program } from './command.ts'

/** The command line that was typed, with more options and without others: what a reader pastes next. */
export function typedAgain(more: readonly string[], without: readonly string[] = []): string {
  const typed = process.argv.slice(2).filter((word) => !without.includes(word))
  const words = [...typed, ...more.filter((word) => !typed.includes(word))]
  return neutralLine(`${program} ${words.map(quoted).join(' ')}`, 400)
}

/** A word as a shell reads it back. */
function quoted(word: string): string {
  return /^[\w@%+=:,./#-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
