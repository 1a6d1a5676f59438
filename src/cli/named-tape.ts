import { shellWord } from '../errors/index.ts'
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { recordingsAround } from '../errors/above.ts'
import { here } from '../errors/here.ts'
import type { CommandInput, CommandSpec } from './command.ts'

/** A tape or case that was named on the command line, and found. */
export interface NamedTape {
  /** As it was typed. */
  readonly word: string
  readonly file: string
  readonly caseId?: string
  /** Whether this id means the tape. */
  isCalled(id: string): boolean
  /** Whether a command finds the tape by this id. */
  isFoundBy(id: string): boolean
}

const all = new Map<string, NamedTape>()

/** Keeps what was named: messages call a tape by its id, and a command needs the word that finds it. */
export function noteNamed(named: NamedTape): void {
  if (!all.has(named.file)) all.set(named.file, named)
}

/** The tapes that were named, in their order. */
export function namedTapes(): readonly NamedTape[] {
  return [...all.values()]
}

/** Forgets them: another command line of this process names its own. */
export function forgetNamed(): void {
  all.clear()
}

/** A tape of the inbox by its name, unless a case has it, which goes before; any other by its path. */
export function tapeWord(file: string, dir = 'recordings'): string {
  return isFoundByName(file, dir) ? shellWord(basename(file, '.tape.jsonl')) : pathWord(file)
}

/** Whether the name of a file of the inbox is no case's. */
export function isFoundByName(file: string, dir = 'recordings'): boolean {
  const folder = recordingsFolder(dir)
  const name = basename(file, '.tape.jsonl')
  const isInbox = dirname(resolve(file)) === resolve(folder, 'inbox')
  const isOfCase = ['yaml', 'yml'].some((ending) => existsSync(join(folder, 'golden', `${name}.case.${ending}`)))
  return isInbox && !isOfCase
}

/** Of a file as it is shortest from here. */
export function pathWord(file: string): string {
  return shellWord(here(file))
}

/** For the folder that holds both parts, also where one of them was listed alone. */
export function dirOption(dir = 'recordings'): string {
  const whole = recordingsFolder(dir)
  return resolve(whole) === resolve('recordings') ? '' : ` --dir ${shellWord(whole)}`
}

/** The folder that holds inbox and golden set, where one of them was named. */
export function recordingsFolder(dir = 'recordings'): string {
  return ['inbox', 'golden'].includes(basename(resolve(dir))) ? dirname(dir) : dir
}

/**
 * What was typed, about the recordings that all its golden tapes and cases are in by their paths, unless it names others: at the
 * root of a workspace a command that is given one is about those of its package. What is promoted goes where the reader is.
 */
export function inFolderOfPaths(given: CommandInput, { name, args = '', options }: CommandSpec): CommandInput {
  if (name === 'promote' || !/tape|case/.test(args) || !options.some(({ flag }) => flag.startsWith('--dir ')))
    return given
  const folder = given.has('dir') ? undefined : folderOfPaths(given.args)
  return folder === undefined
    ? given
    : { ...given, value: (option) => (option === 'dir' ? folder : given.value(option)) }
}

/** `undefined` of those that commands look in without an option. */
function folderOfPaths(words: readonly string[]): string | undefined {
  const folders = new Set(words.map((word) => (isGolden(word) ? recordingsAround(word) : undefined)))
  const [one] = folders
  return one === undefined || folders.size > 1 || one === resolve('recordings') ? undefined : here(one)
}

function isGolden(word: string): boolean {
  return /[\\/]golden[\\/]/.test(resolve(word)) && existsSync(word)
}
