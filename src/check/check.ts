import { existsSync } from 'node:fs'
import { shellWord } from '../errors/index.ts'
import { resolve } from 'node:path'
import { recordingsAround } from '../errors/above.ts'
import { here } from '../errors/here.ts'
import { createRedactor } from '../privacy/index.ts'
import { leftoversBelow, leftoversOf } from '../recordings/files.ts'
import { keepsTapeBytes } from '../provenance/index.ts'
import { attributesLine } from './git-attributes.ts'
import { type CheckFinding, inspect, isShared } from './inspect.ts'
import { type Snapshot, staged, workTree } from './snapshot.ts'

export interface CheckOptions {
  /** Paths of the files to check. Default: all recordings of the folder but its inbox. */
  readonly files?: readonly string[]
  /** Check what the next commit holds instead of the work tree. Default false. */
  readonly staged?: boolean
  /** Largest tape to commit, in bytes. Default 10 MiB. */
  readonly maxSize?: number
  /** Kinds of findings that are not secrets here, such as `email`. Default none. */
  readonly allow?: readonly string[]
  /** Called with the number of files done, and of all files. */
  readonly onProgress?: (done: number, all: number) => void
}

/** What a check found. */
export interface CheckReport {
  /** How many files were checked. */
  readonly checked: number
  /** Those of them that serve all cases: what a process fetches once. Relative to the working folder. */
  readonly shared: readonly string[]
  /** In order of files; neutral of secrets. Errors stop a commit, warnings do not. */
  readonly findings: readonly CheckFinding[]
}

const defaultMaxSize = 10 * 1024 * 1024

/**
 * Checks recordings before they are committed: schema, pairs, digests, secrets, size. Runs nothing.
 *
 * @param recordings - the folder with `golden/`. Default: `recordings`; with `staged`, every recording of the next commit
 * @throws HarvestError `HARVEST_CHECK_MISSING` for a file or folder that does not exist, `HARVEST_GIT_…` when git cannot
 *   be asked for the next commit
 */
export async function checkRecordings(recordings?: string, options: CheckOptions = {}): Promise<CheckReport> {
  const { files = [], allow = [], onProgress = () => undefined } = options
  const asked = { files, ...(recordings === undefined ? {} : { dir: recordings }) }
  const snapshot = options.staged === true ? await staged(asked) : workTree(asked)
  const all = snapshot.files.length
  const hasTapes = snapshot.files.some(({ kind }) => kind === 'tape')
  const found = inspectSnapshot(snapshot, { ...options, onProgress: (done) => onProgress(done, all) })
  const ends = hasTapes ? await lineEnds(recordings ?? 'recordings', options.staged === true) : []
  const left = options.staged === true ? [] : leftovers(recordings ?? 'recordings', files)
  const shared = snapshot.files.map(({ path }) => path).filter(isShared)
  return { checked: all, shared, findings: [...found, ...withoutSecrets([...left, ...ends], allow)] }
}

/** Looks at the files of a snapshot, wherever it was taken. Findings are neutral of secrets. */
export function inspectSnapshot(
  snapshot: Snapshot,
  {
    maxSize = defaultMaxSize,
    allow = [],
    onProgress,
  }: Pick<CheckOptions, 'maxSize' | 'allow'> & { readonly onProgress?: (done: number) => void },
): readonly CheckFinding[] {
  return withoutSecrets(inspect(snapshot, { maxSize, allow, progress: (done) => onProgress?.(done) }), allow)
}

/** A finding may quote a secret in the text of an error, or in the name of a file. */
function withoutSecrets(found: readonly CheckFinding[], allow: readonly string[]): readonly CheckFinding[] {
  const redactor = createRedactor({ off: allow })
  return found.map((one) => redactor.json({ ...one }) as unknown as CheckFinding)
}

/** What killed processes left half-written: in all of the folder, its inbox too, or beside the files that were named. */
function leftovers(recordings: string, files: readonly string[]): readonly CheckFinding[] {
  const found = files.length === 0 ? leftoversBelow(recordings) : files.flatMap(leftoversOf)
  return found.map((file) => ({
    level: 'error',
    code: 'HARVEST_TAPE_LEFTOVER',
    file,
    what: 'A killed process left this file, and a part of a run may be in it',
    detail: [],
    fix: [`npx vitest-harvest tapes prune --dir ${shellWord(here(recordingsAround(file) ?? recordings))}`],
  }))
}

/** Whether git would change the line ends of tapes, and with them every digest. */
async function lineEnds(recordings: string, isStaged: boolean): Promise<readonly CheckFinding[]> {
  // The folder may be in another repository than we, or in none; the next commit is that of the one we are in.
  if (!isStaged && !existsSync(recordings)) return []
  const keeps = isStaged ? keepsTapeBytes(process.cwd(), recordings) : keepsTapeBytes(resolve(recordings), '.')
  if ((await keeps) !== false) return []
  return [
    {
      level: 'warning',
      code: 'HARVEST_CHECK_LINE_ENDS',
      file: '.gitattributes',
      what: 'Git may convert the line endings of tapes, which makes them unreadable',
      detail: [],
      fix: [`echo ${shellWord(attributesLine)} >> .gitattributes`, 'or: npx vitest-harvest init'],
    },
  ]
}
