import { posix } from 'node:path'
import type { SpawnEvent, Tape } from '../tape/index.ts'

/** A command, and the folder it starts in as seen from that of the run. */
export type Start = Pick<SpawnEvent, 'command' | 'cwd'>

/** The children that a recorded run started, one for each time. */
export function spawnsOf({ events }: Tape): SpawnEvent[] {
  return events.filter((event) => event.kind === 'spawn')
}

/**
 * Whether two commands start the same. A file in the project is known by its place in it, wherever the project lies and
 * whether its path is written whole or from the folder of the child. Folders outside are those of the machine: there the name
 * of a file counts.
 */
export function sameCommand(recorded: Start, live: Start): boolean {
  const [before, now] = [recorded.command, live.command]
  const [from, to] = [recorded.cwd, live.cwd]
  return before.length === now.length && before.every((part, i) => sameWords(part, now[i] ?? '', words, from, to, true))
}

/** Whether two values of a variable are equal, but for where the project lies. */
export function sameVariable(recorded: string, live: string): boolean {
  return sameWords(recorded, live, variableWords, '.', '.', false)
}

/** Paths stand behind `--root=`, or in a JSON text. */
const words = /([\s"'=,;()[\]{}]+)/
/** And in a list with colons, which are no part of an address. */
const variableWords = /([\s"'=,;()[\]{}]+|(?<!^[A-Za-z]):(?!\/\/))/

function sameWords(
  recorded: string,
  live: string,
  between: RegExp,
  from = '.',
  to = '.',
  isOutsideFree: boolean,
): boolean {
  if (recorded === live) return true
  const [before, now] = [inProject(recorded).split(between), inProject(live).split(between)]
  return (
    before.length === now.length &&
    before.every(
      (word, i) => word === now[i] || samePath(placeOf(word, from), placeOf(now[i] ?? '', to), isOutsideFree),
    )
  )
}

interface Place {
  /** In the project; or a whole path that is not in this one, of which it is unknown whether it is in that of another machine. */
  readonly path: string
  readonly isInProject: boolean
  /** One name: a file, or a program that is looked for. */
  readonly isName: boolean
  /** Nothing but its form says that it is a path at all: `a/b`. */
  readonly isDoubtful: boolean
}

function samePath(recorded: Place, live: Place, isOutsideFree: boolean): boolean {
  if (posix.basename(recorded.path) !== posix.basename(live.path)) return false
  if (recorded.isDoubtful && live.isDoubtful) return false
  if (recorded.isInProject && live.isInProject) return recorded.path === live.path
  if (!recorded.isInProject && !live.isInProject) return isOutsideFree
  const [inside, other] = recorded.isInProject ? [recorded, live] : [live, recorded]
  return other.path.endsWith(`/${inside.path}`) || (isOutsideFree && inside.isName)
}

/** Stands for the folder of the project. No path has it. */
const project = '\0'

function inProject(text: string): string {
  const root = slashed(process.cwd())
  return slashed(text).replaceAll('file://', '').replaceAll(`${root}/`, `${project}/`)
}

function slashed(text: string): string {
  return text.replaceAll('\\', '/')
}

function placeOf(word: string, folder: string): Place {
  const isName = !word.includes('/')
  if (word.startsWith(`${project}/`))
    return { path: posix.normalize(word.slice(2)), isInProject: true, isName, isDoubtful: false }
  const isWhole = /^(?:[A-Za-z]:|~)?\//.test(word)
  if (isWhole) return { path: posix.normalize(word), isInProject: false, isName, isDoubtful: false }
  const path = posix.join(folder === '(elsewhere)' ? '.' : folder, word)
  return { path, isInProject: true, isName, isDoubtful: !word.startsWith('.') }
}
