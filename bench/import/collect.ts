import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { HarvestError } from '../../src/errors/index.ts'
import { importRecordings } from '../../src/importers/index.ts'
import { families, writeRecording } from './make.ts'

/** A file that is imported. */
export interface Recording {
  readonly file: string
  readonly bytes: Buffer
  readonly kind: 'JSON' | 'YAML'
  /** JSON Lines. */
  readonly isLines: boolean
}

/**
 * The recordings to import: of the collection in `HARVEST_BENCH_DATA` (default `../shared/data`), those that are imported
 * and that the plain parsers read, too. Without such a folder recordings are made.
 *
 * @param made - folder for recordings that are made
 * @returns with a sentence that says which they are
 */
export function collect(made: string): { readonly recordings: readonly Recording[]; readonly source: string } {
  const folder = resolve(process.env['HARVEST_BENCH_DATA'] ?? '../shared/data')
  const isThere = existsSync(folder)
  if (!isThere) make(made)
  const from = isThere ? folder : made
  const recordings = readdirSync(from, { recursive: true, encoding: 'utf8' })
    .filter((file) => endings.test(file))
    .sort()
    .flatMap((file) => {
      const one = recordingAt(join(from, file))
      return isComparable(one) ? [one] : []
    })
  const source = isThere
    ? 'The recordings are a collection of real ones, from public repositories.'
    : 'The recordings are made by the bench: there was no collection of real ones.'
  return { recordings, source }
}

const endings = /\.(?:ya?ml|json|jsonl|har)$/

function recordingAt(file: string): Recording {
  return {
    file,
    bytes: readFileSync(file),
    kind: /\.ya?ml$/.test(file) ? 'YAML' : 'JSON',
    isLines: file.endsWith('.jsonl'),
  }
}

/** Whether both sides read it, a file of several runs included. */
function isComparable({ file, bytes, kind, isLines }: Recording): boolean {
  try {
    for (const _ of importRecordings({ file, bytes, id: 'bench', agent: 'bench' }).tapes) continue
    const text = bytes.toString('utf8')
    if (kind === 'YAML') parse(text, { logLevel: 'silent' })
    else if (!isLines) JSON.parse(text)
    return true
  } catch (error) {
    // No recording, or more than the plain parser can read.
    if (HarvestError.is(error) || error instanceof Error) return false
    throw error
  }
}

function make(folder: string): void {
  if (existsSync(folder)) return
  mkdirSync(folder)
  for (const [name, family] of Object.entries(families))
    for (let n = 0; n < 40; n++)
      writeRecording(join(folder, `${name}-${n}.${family.ending}`), family, 20_000 + 2_000 * n)
}
