import { closeSync, lstatSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { HarvestError } from '../../errors/index.ts'
import { isToldByBytes } from '../../importers/index.ts'
import { openRegular } from '../files.ts'

/** A file to import, and what its tape is named after. */
export interface Candidate {
  readonly file: string
  /** Its path below the folder that was named, without its ending. */
  readonly stem: string
}

/** What is to be imported: one file the user named, or all that may be a recording below a folder. */
export interface Candidates {
  readonly isFolder: boolean
  readonly list: readonly Candidate[]
}

/** How much of a file without a known ending is looked at. */
const headBytes = 65_536

/** Of files that are read no matter what they begin with. */
export const endingNames = '.yaml .yml .json .jsonl .ndjson .har .httprr .log .traj .responses .eval'.split(' ')

const endings = new RegExp(`(?:\\.har)?(?:${endingNames.join('|').replaceAll('.', '\\.')})(?:\\.gz)?$`, 'i')

/**
 * Finds what is to be imported. Links, hidden folders and `node_modules` are passed over.
 *
 * @throws HarvestError `HARVEST_IMPORT_MISSING`
 */
export function candidatesAt(path: string): Candidates {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined)
    throw new HarvestError('HARVEST_IMPORT_MISSING', {
      what: 'The file or folder to import does not exist',
      where: { path },
      fix: ['paths are relative to the current folder; to list it: ls'],
    })
  if (!stat.isDirectory()) return { isFolder: false, list: [{ file: path, stem: stemOf(basename(path)) }] }
  const list = below(path).map((file) => ({ file, stem: stemOf(relative(path, file)) }))
  return { isFolder: true, list }
}

function below(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.') && name !== 'node_modules')
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((name) => {
      const path = join(folder, name)
      const stat = lstatSync(path)
      if (stat.isDirectory()) return below(path)
      return stat.isFile() && (endings.test(name) || isTold(path)) ? [path] : []
    })
}

/** Whether the first bytes tell a format: goose names its logs of MCP servers after the command, without an ending. */
function isTold(path: string): boolean {
  const head = Buffer.alloc(headBytes)
  const open = openRegular(path)
  try {
    return isToldByBytes(head.subarray(0, readSync(open, head, 0, headBytes, 0)))
  } finally {
    closeSync(open)
  }
}

function stemOf(path: string): string {
  return path.replace(endings, '')
}
