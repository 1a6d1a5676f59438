import { isMap } from '../json/canonical.ts'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { repositoryOf } from '../errors/usual-steps.ts'
import { filesBelow, writeFileAtomic } from './files.ts'

/**
 * Commands that the project lets a tape run: name → its words, `{ refund: ['node', 'src/refund.ts'] }`. A last `'*'` stands
 * for any further words of letters, digits, blanks and `_@.,:+/-` that do not begin with a dash.
 */
export type Programs = Readonly<Record<string, readonly string[]>>

/** Where a list of programs is written, such as `harvest.programs in package.json`. */
const inManifest = 'harvest.programs'

/** The first program that has exactly these words; `undefined` when none has. */
export function programNamed(programs: Programs, argv: readonly string[]): string | undefined {
  return Object.keys(programs).find((name) => isListed(programs[name] ?? [], argv))
}

function isListed(words: readonly string[], argv: readonly string[]): boolean {
  const isOpen = words.at(-1) === anyWords
  const fixed = isOpen ? words.slice(0, -1) : words
  if (isOpen ? argv.length < fixed.length : argv.length !== fixed.length) return false
  return fixed.every((word, at) => word === argv[at]) && argv.slice(fixed.length).every((word) => plainWord.test(word))
}

const anyWords = '*'
// No option, and nothing a shell or a program reads as anything but text.
const plainWord = /^(?!-)[\w@.,:+/ -]*$/

/**
 * What is wrong with a list of programs: the name of the part and what was expected; `undefined` when nothing is.
 *
 * @param programs - as it was written, of any type
 */
export function programsIssue(programs: unknown): { readonly part: string; readonly expected: string } | undefined {
  const shape = "lists of words, such as { refund: ['node', 'src/refund.ts'] }"
  if (typeof programs !== 'object' || programs === null || Array.isArray(programs))
    return { part: 'programs', expected: shape }
  for (const [name, words] of Object.entries(programs) as [string, unknown][]) {
    const part = `programs.${name}`
    const isWords = Array.isArray(words) && words.length > 0 && words.every((word) => typeof word === 'string')
    if (!isWords || words[0] === '') return { part, expected: shape }
    const stars = words.filter((word) => word === anyWords).length
    // `node *` would be any script there is.
    const isOpenTooSoon = stars > 0 && !words.slice(1, -1).some((word: string) => !word.startsWith('-'))
    if (stars > 1 || (stars === 1 && words.at(-1) !== anyWords) || isOpenTooSoon)
      return { part, expected: "'*' as the last word only, behind the script: ['node', 'src/refund.ts', '*']" }
  }
  return undefined
}

/** The `package.json` of a folder: its own, or the nearest above it. One that lies among recordings is data, as they are. */
export function manifestOf(folder: string): string | undefined {
  for (let at = aboveRecordings(resolve(folder)); ; at = dirname(at)) {
    const file = join(at, 'package.json')
    if (existsSync(file)) return file
    if (at === dirname(at)) return undefined
  }
}

/** The folder that holds the outermost recordings a folder lies in; the folder itself where it lies in none. */
export function aboveRecordings(folder: string): string {
  let found = folder
  const root = repositoryOf(folder)
  for (let at = folder; at !== root && at !== dirname(at); at = dirname(at))
    if (isRecordings(at, root !== undefined)) found = dirname(at)
  return found
}

/** @param isBelow - whether it lies in a repository, where a folder of the usual name is one of recordings */
function isRecordings(folder: string, isBelow: boolean): boolean {
  if (isBelow && basename(folder) === 'recordings') return true
  const kept = ['golden', 'inbox'].map((name) => join(folder, name)).filter((below) => existsSync(below))
  return kept.some((below) => filesBelow(below, (name) => /\.(?:tape\.jsonl|case\.ya?ml)$/.test(name)).length > 0)
}

/**
 * The programs that the `package.json` of a folder lists under `harvest.programs`.
 *
 * @throws HARVEST_OPTION when the file or the list cannot be understood
 */
export function readPrograms(folder: string): Programs {
  const file = manifestOf(folder)
  if (file === undefined) return {}
  const { harvest = {} } = readManifest(file)
  const programs = isMap(harvest) ? harvest['programs'] : undefined
  if (programs === undefined) return {}
  const issue = programsIssue(programs)
  if (issue !== undefined) throw badManifest(file, issue.part, issue.expected)
  return programs as Programs
}

/**
 * Adds a program to `harvest.programs` of a `package.json`, in the indentation the file has.
 *
 * @param name - wanted; a number is put behind it when another program has it
 * @returns the name it got
 * @throws HARVEST_OPTION as {@link readPrograms}, HARVEST_RECORDINGS_WRITE
 */
export function addProgram(file: string, name: string, argv: readonly string[]): string {
  const text = readFileSync(file, 'utf8')
  const manifest = readManifest(file)
  const { harvest = {} } = manifest
  if (!isMap(harvest)) throw badManifest(file, 'harvest', 'a map')
  const programs = (harvest['programs'] ?? {}) as Programs
  const issue = programsIssue(programs)
  if (issue !== undefined) throw badManifest(file, issue.part, issue.expected)
  let free = name
  for (let n = 2; Object.hasOwn(programs, free); n++) free = `${name}-${n}`
  const changed = { ...manifest, harvest: { ...harvest, programs: { ...programs, [free]: argv } } }
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  '
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
  const end = /\n$/.test(text) ? '\n' : ''
  writeFileAtomic(file, (JSON.stringify(changed, undefined, indent) + end).replaceAll('\n', lineEnd))
  return free
}

function readManifest(file: string): Readonly<Record<string, unknown>> {
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  } catch (cause) {
    throw badManifest(file, 'the file', `JSON (${(cause as Error).message})`)
  }
  if (!isMap(manifest)) throw badManifest(file, 'the file', 'a map')
  return manifest
}

function badManifest(file: string, part: string, expected: string): HarvestError {
  return new HarvestError('HARVEST_OPTION', {
    what: `Invalid ${inManifest} in package.json`,
    where: { file, part: neutralLine(part), expected: neutralLine(expected, 200) },
    fix: [`"harvest": { "programs": { "refund": ["node", "src/refund.ts"] } }`],
  })
}
