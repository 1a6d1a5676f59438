import type { Screen } from '../report/output.ts'

/** One option of a command. */
export interface OptionSpec {
  /** `--dir <folder>` takes a value, `--json` none. */
  readonly flag: string
  readonly about: string
  /** One letter for it: `-x`. */
  readonly short?: string
  /** May be given more than once. */
  readonly many?: true
  /** Earlier spellings: they still work, and print a hint. */
  readonly was?: readonly FormerOption[]
  /** Works, and is left out of the help. */
  readonly hidden?: true
  /** Options that do not stand beside it, by their names without dashes: refused together, and a next step leaves them out. */
  readonly excludes?: readonly string[]
}

/** An earlier spelling of an option. */
export interface FormerOption {
  /** `--budget <usd>`. */
  readonly flag: string
  /** The value under the new name. Default: the same. */
  readonly value?: (old: string) => string
  /** An option without a value that the old spelling implied, such as `live`. */
  readonly implies?: string
}

/** What a command was called with, checked: nothing in it is unknown, missing or doubled. */
export interface CommandInput {
  /** Arguments in order. */
  readonly args: readonly string[]
  /** Value of an option, without its dashes. */
  value(name: string): string | undefined
  values(name: string): readonly string[]
  has(name: string): boolean
  /** What stood after `--`; `undefined` when there was no `--`. */
  readonly rest: readonly string[] | undefined
}

/** An option as help and reference show it: `-x, --commands <list>`. */
export function shownFlag({ flag, short }: OptionSpec): string {
  return short === undefined ? flag : `${short}, ${flag}`
}

/** The headings of the help. */
export const groups = ['Record', 'Inspect', 'Test', 'Debug', 'Explain', 'Manage'] as const

/** What the help and the parser know about a command. Loads nothing that runs. */
export interface CommandSpec {
  readonly name: string
  /** Heading in the help. Absent: an earlier name, which still works and is left out of the help. */
  readonly group?: (typeof groups)[number]
  /** Page of docs/ about it. */
  readonly page?: string
  /** Has no heading and is named below the list of commands. */
  readonly isApart?: true
  /** Of an earlier name: how the command is written now. */
  readonly now?: string
  /** Arguments: `<tape>` is required, `[tape]` optional, `[...cases]` any number. */
  readonly args?: string
  readonly about: string
  readonly options: readonly OptionSpec[]
  /** What stands after `--`, for the help; without it a `--` is refused. */
  readonly rest?: string
  /** Everything after the command's name is passed on untouched, except a leading `--help`. */
  readonly passThrough?: true
  /** Lines a reader can paste, without the program's name. */
  readonly examples: readonly string[]
}

/** One command. */
export interface Command extends CommandSpec {
  run(given: CommandInput, screen: Screen): Promise<number> | number
}

/** The name people type. */
export const program = 'npx vitest-harvest'
