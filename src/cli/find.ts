import { globSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { readTapeHeader, type TapeHeader } from '../tape/index.ts'
import { suggest } from './suggest.ts'

/** A tape of the recordings folder, by what its first line says. */
export interface Listed {
  readonly file: string
  readonly header: TapeHeader
}

/**
 * The file of a tape somebody named: a path, an id, or `latest` for the one of the inbox that was started last.
 *
 * @throws HarvestError `HARVEST_TAPE_MISSING` with the nearest id, `HARVEST_TAPE_AMBIGUOUS` when several have this id
 */
export function findTapeFile(word: string, recordings = 'recordings'): string {
  if (/[/\\]|\.jsonl$/.test(word) || statSync(word, { throwIfNoEntry: false })?.isFile() === true) return resolve(word)
  if (word === 'latest') return latest(recordings)
  const files = tapeFiles(recordings)
  const named = files.filter((file) => idOf(file) === word)
  // A promoted tape has the name of its case; messages name it by the id it was recorded under.
  const found = named.length > 0 ? named : files.filter((file) => recordedId(file) === word).slice(0, 1)
  if (found.length > 1) throw ambiguous(word, found)
  const [file] = found
  if (file === undefined) throw missing(word, files.map(idOf), recordings)
  return resolve(file)
}

/** Every tape below a folder with its header, oldest first; what is no tape is handed to `onBad`. */
export function listTapeFiles(folder: string, onBad: (file: string, error: unknown) => void): readonly Listed[] {
  const listed: Listed[] = []
  for (const file of tapeFiles(folder)) {
    try {
      listed.push({ file, header: readTapeHeader(resolve(file)) })
    } catch (error) {
      onBad(file, error)
    }
  }
  return listed.sort((a, b) => (a.header.startedAt < b.header.startedAt ? -1 : 1))
}

function latest(recordings: string): string {
  const inbox = join(recordings, 'inbox')
  const newest = listTapeFiles(inbox, () => {
    // A tape that cannot be read is not the latest one; `harvest ls` names it.
  }).at(-1)
  if (newest !== undefined) return resolve(newest.file)
  throw new HarvestError('HARVEST_TAPE_MISSING', {
    what: 'The inbox holds no tape',
    where: { inbox },
    fix: ['record a run: harvest record -- node agent.js', 'or name a tape by its path'],
  })
}

function tapeFiles(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return globSync('**/*.tape.jsonl', { cwd: folder })
    .map((file) => join(folder, file))
    .sort()
}

function recordedId(file: string): string | undefined {
  try {
    return readTapeHeader(file).id
  } catch (error) {
    // What is no tape has no id; whoever names it by its path is told why.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

function idOf(file: string): string {
  return basename(file, '.tape.jsonl')
}

function ambiguous(id: string, files: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_TAPE_AMBIGUOUS', {
    what: `Several tapes have the id '${neutralLine(id, 60)}'`,
    where: Object.fromEntries(files.map((file, i) => [`${i + 1}`, file])),
    fix: ['name one of them by its path'],
  })
}

function missing(id: string, known: readonly string[], recordings: string): HarvestError {
  const nearest = suggest(id, known)
  return new HarvestError('HARVEST_TAPE_MISSING', {
    what: `There is no tape with the id '${neutralLine(id, 60)}'`,
    where: { folder: recordings, tapes: `${known.length}` },
    fix: [
      ...(nearest === undefined ? [] : [`did you mean: ${nearest}`]),
      'to see which there are: harvest ls',
      'or name it by its path',
    ],
  })
}
