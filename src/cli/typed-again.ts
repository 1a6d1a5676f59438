import { nearestWord, neutralLine } from '../errors/index.ts'
import { shellWord } from '../errors/words.ts'
import { program } from './command.ts'

/**
 * Options by their names without dashes: set to a value, set (`true`), left out (`false`), or left out with their value
 * (`undefined`).
 */
export type OptionChanges = Readonly<Record<string, string | boolean | undefined>>

/**
 * The command line that was typed, with other options: what a reader pastes next.
 *
 * @param command - the command in the place of the typed one; default: the same
 */
export function typedAgain(changes: OptionChanges, command?: string): string {
  const words = withOptions(process.argv.slice(2), changes)
  const at = words.findIndex((word) => !word.startsWith('-'))
  if (command !== undefined && at !== -1) words[at] = command
  return neutralLine(`${program} ${words.map(shellWord).join(' ')}`, 400)
}

/** An option that is there already gets the new value: given twice, the command would refuse it. */
function withOptions(typed: readonly string[], changes: OptionChanges): string[] {
  const terminator = typed.indexOf('--')
  const end = terminator === -1 ? typed.length : terminator
  const isChanged = (word: string): boolean => word.startsWith('--') && word.slice(2) in changes
  const hasValue = (word = ''): boolean => isChanged(word) && typeof changes[word.slice(2)] !== 'boolean'
  const isKept = (word: string, at: number): boolean =>
    !isChanged(word.replace(/=.*$/s, '')) && !hasValue(typed[at - 1])
  const set = Object.entries(changes).flatMap(([name, value]) => {
    if (value === false || value === undefined) return []
    if (value === true) return [`--${name}`]
    return corrected(valuesOf(typed.slice(0, end), name), value).flatMap((one) => [`--${name}`, one])
  })
  return [...typed.slice(0, end).filter(isKept), ...set, ...typed.slice(end)]
}

/** What was typed for an option, `--ok a --ok=b`. */
function valuesOf(typed: readonly string[], name: string): readonly string[] {
  return typed.flatMap((word, at) => {
    if (word.startsWith(`--${name}=`)) return [word.slice(name.length + 3)]
    return word === `--${name}` ? typed.slice(at + 1, at + 2) : []
  })
}

/** Of several values one was mistyped: the others stay. Where none is near to the new one, it stands for all of them. */
function corrected(typed: readonly string[], value: string): readonly string[] {
  const mistyped = typed.length > 1 ? nearestWord(value, typed) : undefined
  return mistyped === undefined ? [value] : typed.map((one) => (one === mistyped ? value : one))
}
