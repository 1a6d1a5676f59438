import { nearestWord } from '../errors/index.ts'
import type { CommandSpec, CommandInput } from './command.ts'
import { badValue } from './parse.ts'

/**
 * The value of an option that takes one of a few words; `undefined` when it was not given.
 *
 * @throws HarvestError `HARVEST_CLI_ARGUMENT` with the nearest word
 */
export function choose<Word extends string>(
  given: CommandInput,
  option: string,
  words: readonly Word[],
  command: CommandSpec,
): Word | undefined {
  const value = given.value(option)
  if (value === undefined) return undefined
  const word = words.find((each) => each === value)
  if (word !== undefined) return word
  const nearest = nearestWord(value, words)
  const hints = nearest === undefined ? [] : [`did you mean: --${option} ${nearest}`]
  throw badValue(command, option, value, list(words), hints)
}

function list(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
