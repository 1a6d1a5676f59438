import { existsSync, lstatSync, realpathSync } from 'node:fs'
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path'
import { stepsElsewhere } from '../errors/above.ts'
import { here, isSeenFromHere } from '../errors/here.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import type { IndexedFile } from '../provenance/index.ts'
import { filesBelow, listFolder, readRegularFile } from '../recordings/files.ts'

/** One file as it lies in the work tree or in git's index. */
export interface SnapshotFile {
  /** As it is shown: with `/`, seen from here, or from the top of the repository when it comes from the index. */
  readonly path: string
  readonly kind: 'case' | 'tape' | 'other'
  readonly type: 'file' | 'link' | 'conflict' | 'other'
  readonly bytes: number
}

/** What is looked at, and what lies around it. */
export interface Snapshot {
  /** The files to judge. */
  readonly files: readonly SnapshotFile[]
  /** Every case and tape there is, those of {@link files} too: pairs and ids are looked up among them. */
  readonly all: readonly SnapshotFile[]
  /** Whether this is what the next commit holds. */
  readonly isStaged: boolean
  /** Cases as the last commit has them, that change now or go, with their text. */
  readonly before: readonly { readonly path: string; readonly text: string }[]
  /** Paths that the last commit has and the next one has not. */
  readonly gone: readonly string[]
  read(file: SnapshotFile): Buffer
  /** A shown path as a command that is run from here has to name it. */
  fromHere(path: string): string
}

/** Where recordings are looked for, and which of them. */
export interface SnapshotScope {
  /** Folder with inbox/ and golden/, when one was named. */
  readonly dir?: string
  /** Paths; none for everything. */
  readonly files: readonly string[]
}

/**
 * The recordings of the work tree. Without names of files: the whole folder, its inbox left out.
 *
 * @throws HarvestError `HARVEST_CHECK_MISSING` for a file or folder that is not there
 */
export function workTree({ dir = 'recordings', files }: SnapshotScope): Snapshot {
  for (const file of files) if (lstatSync(file, { throwIfNoEntry: false }) === undefined) throw missing(file)
  if (files.length === 0 && !existsSync(dir)) throw missing(dir)
  const inbox = join(dir, 'inbox') + sep
  const below = filesBelow(dir, () => true).filter((file) => !file.startsWith(inbox))
  const beside = [...new Set(files.map((file) => dirname(file)))].flatMap((folder) => filesIn(folder))
  const known = new Map([...below, ...beside].map((file) => [key(file), entryOf(file)]))
  const chosen = (files.length === 0 ? below : files).map((file) => known.get(key(file)) ?? entryOf(file))
  return {
    files: chosen,
    all: [...known.values()].filter(({ kind }) => kind !== 'other'),
    isStaged: false,
    before: [],
    gone: [],
    read: ({ path }) => readRegularFile(path),
    fromHere: (path) => path,
  }
}

/**
 * The recordings the next commit changes, as git's index holds them: everything below a folder called `recordings`,
 * or below the folder named.
 *
 * @throws HarvestError `HARVEST_GIT_INDEX`
 */
export async function staged({ dir, files }: SnapshotScope): Promise<Snapshot> {
  // Loaded for this alone: without --staged git is not asked.
  const { readIndex } = await import('../provenance/staged.ts')
  const index = await readIndex(process.cwd())
  const top = realpathSync(index.top)
  const fromTop = (path: string): string => relative(top, realAs(path)).split(sep).join('/')
  const within = dir === undefined ? undefined : `${fromTop(dir)}/`
  const isRecording = (path: string): boolean =>
    within === undefined ? /(?:^|\/)recordings\//.test(path) : path.startsWith(within)
  const named = files.length === 0 ? undefined : new Set(files.map(fromTop))
  const changed = index.staged.filter(({ path }) => isRecording(path) && named?.has(path) !== false)
  const around = index.recordings.filter(({ path }) => isRecording(path))
  const oids = new Map([...around, ...changed].map(({ path, oid }) => [path, oid]))
  const sizes = await index.sizesOf([...new Set(changed.filter(isPlain).map(({ oid }) => oid))])
  const entry = ({ path, type, oid }: IndexedFile): SnapshotFile => ({
    path,
    kind: kindOf(path),
    type: type === 'submodule' ? 'other' : type,
    bytes: sizes.get(oid) ?? 0,
  })
  const present = new Set([...around, ...changed].map(({ path }) => path))
  const past = [...index.before].filter(([path]) => isRecording(path))
  const cases = around.filter(({ path, type }) => kindOf(path) === 'case' && type === 'file')
  const pastCases = past.filter(([path]) => kindOf(path) === 'case')
  const contents = await index.contentsOf([
    ...new Set([
      ...changed.filter((one) => isPlain(one) && (sizes.get(one.oid) ?? 0) <= readCap).map(({ oid }) => oid),
      ...cases.map(({ oid }) => oid),
      ...pastCases.map(([, oid]) => oid),
    ]),
  ])
  const read = (oid: string | undefined): Buffer => contents.get(oid ?? '') ?? Buffer.alloc(0)
  return {
    files: changed.map(entry),
    all: around.map(entry),
    isStaged: true,
    before: pastCases.map(([path, oid]) => ({ path, text: read(oid).toString('utf8') })),
    gone: past.map(([path]) => path).filter((path) => !present.has(path)),
    read: ({ path }) => read(oids.get(path)),
    fromHere: (path) => here(join(top, path)),
  }
}

/** Bytes of a file beyond which nothing more than its size is looked at. */
export const readCap = 256 * 1024 * 1024

/** Whether a file is what {@link kindOf} calls a case. */
function kindOf(path: string): SnapshotFile['kind'] {
  if (/\.case\.ya?ml$/.test(path)) return 'case'
  return path.endsWith('.tape.jsonl') ? 'tape' : 'other'
}

function isPlain({ type }: IndexedFile): boolean {
  return type === 'file'
}

function entryOf(file: string): SnapshotFile {
  const stats = lstatSync(file)
  const type = stats.isSymbolicLink() ? 'link' : stats.isFile() ? 'file' : 'other'
  return { path: key(file), kind: kindOf(file), type, bytes: stats.size }
}

function filesIn(folder: string): readonly string[] {
  return listFolder(folder)
    .filter((entry) => !entry.isDirectory() && kindOf(entry.name) !== 'other')
    .map(({ name }) => join(folder, name))
}

/** One spelling for one file: seen from here, with `/`. */
function key(file: string): string {
  // Thousands of files are spelled like that already.
  if (isSeenFromHere(file)) return file
  return posix.normalize((relative('.', resolve(file)) || '.').split(sep).join('/'))
}

/** The path with the links of its folders followed, as git sees it; the file itself need not be there any more. */
function realAs(path: string): string {
  const whole = resolve(path)
  for (let folder = dirname(whole); ; folder = dirname(folder)) {
    if (existsSync(folder) || folder === dirname(folder)) return join(realpathSync(folder), relative(folder, whole))
  }
}

function missing(path: string): HarvestError {
  return new HarvestError('HARVEST_CHECK_MISSING', {
    what: `There is no ${neutralLine(basename(path), 80)} to check`,
    where: { path: neutralLine(path, 400) },
    fix: [
      ...stepsElsewhere(path),
      'correct the path',
      "to check another folder of recordings: npx vitest-harvest check --dir '<folder>'",
    ],
  })
}
