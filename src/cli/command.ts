import type { Screen } from './screen.ts'

/** One option of a command. */
export interface OptionSpec {
  /** As cac writes it: `--dir <folder>`, `--json`. */
  readonly flag: string
  readonly about: string
  /** May be given more than once. */
  readonly many?: true
}

/** What a command was called with, checked: nothing in it is unknown, missing or doubled. */
export interface Given {
  /** Arguments in order. */
  readonly args: readonly string[]
  /** Value of an option, without its dashes. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
  has(name: string): boolean
  /** What stood behind `--`; `undefined` when there was no `--`. */
  readonly rest: readonly string[] | undefined
}

/** One command of `harvest`. */
export interface CommandSpec {
  readonly name: string
  /** Arguments as cac writes them: `<tape>`, `[tape]`, `<...tapes>`. */
  readonly args?: string
  readonly about: string
  readonly options: readonly OptionSpec[]
  /** What stands behind `--`, for the help; without it a `--` is refused. */
  readonly rest?: string
  /** Everything behind the command's name goes on untouched, except a leading `--help`. */
  readonly passThrough?: true
  /** Lines a reader can paste, without the leading `harvest`. */
  readonly examples: readonly string[]
  run(given: Given, screen: Screen): Promise<number> | number
}

/** Every command has it. */
export const jsonOption: OptionSpec = { flag: '--json', about: 'Print the answer as JSON' }
