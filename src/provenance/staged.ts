import type { SimpleGit } from 'simple-git'
import { HarvestError } from '../errors/index.ts'
import { commitArguments } from './git.ts'
import { textOf } from './git-asker.ts'
import { openGit, type GitSettings } from './git-client.ts'

/** A file of git's index. Paths are seen from the top of the work tree, with `/`. */
export interface IndexedFile {
  readonly path: string
  /** What it is: a link or a submodule is no file one can read. */
  readonly type: 'file' | 'link' | 'submodule' | 'conflict'
  /** Name of its content in the object store. */
  readonly oid: string
}

/** What the next commit would hold. */
export interface GitIndex {
  /** Absolute path of the top of the work tree. */
  readonly top: string
  /** Every recorded file: cases and tapes, wherever they lie. */
  readonly recordings: readonly IndexedFile[]
  /** Files that differ from the last commit; all of them in a repository without commits. */
  readonly staged: readonly IndexedFile[]
  /** What was there in the last commit and changes or goes, by path: the oid it had. */
  readonly before: ReadonlyMap<string, string>
  /** Bytes of contents, by oid. */
  sizesOf(oids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** Contents, by oid; all of them in memory. */
  contentsOf(oids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>
}

/**
 * Reads git's index: what is staged, not what lies in the work tree.
 *
 * Inside a hook it is the index of the commit that is being made, also with `git commit -a` and `git commit <path>`.
 * Names of files never become arguments of git, and contents are asked for by their hash.
 *
 * @throws HARVEST_GIT_INDEX outside of a work tree, and where git is not installed
 */
export async function readIndex(cwd: string): Promise<GitIndex> {
  const ask = asking(cwd, unreadable)
  const { staged, before } = readChanges(await ask((git) => git.diff(changeArguments)))
  return {
    top: await ask((git) => git.revparse(['--show-toplevel'])),
    recordings: readEntries(await ask((git) => git.raw(entryArguments))),
    staged,
    before,
    ...objectsBy(ask),
  }
}

/** What two commits differ in, and what the later one holds. */
export interface GitRange extends Omit<GitIndex, 'staged'> {
  /** Files of the later commit that the earlier one has not, or has otherwise. */
  readonly changed: readonly IndexedFile[]
  /** Full hashes: where both began, and the later commit. */
  readonly base: string
  readonly head: string
}

/**
 * Reads what a branch changed: from the commit it parted from `base` at, to `head`. Nothing of the work tree is looked at.
 *
 * @param base - any name of a commit
 * @throws HARVEST_GIT_RANGE for a name that is no commit, and where git is not installed
 */
export async function readRange(cwd: string, base: string, head: string): Promise<GitRange> {
  const ask = asking(cwd, rangeUnreadable)
  const commit = async (name: string): Promise<string> => {
    const hash = await ask((git) => git.revparse(commitArguments(name)))
    if (hash === '') throw rangeUnreadable(cwd, '', undefined)
    return hash
  }
  const [from, to] = [await commit(base), await commit(head)]
  const parted = (await ask((git) => git.raw('merge-base', from, to))).trim()
  if (parted === '') throw rangeUnreadable(cwd, 'they have no commit in common', undefined)
  const { staged: changed, before } = readChanges(await ask((git) => git.diff([...rangeArguments, parted, to])))
  const tree = await ask((git) => git.raw('ls-tree', '-r', '-z', '--full-tree', to))
  return {
    top: await ask((git) => git.revparse(['--show-toplevel'])),
    recordings: readTree(tree).filter(({ path }) => /\.(?:case\.ya?ml|tape\.jsonl)$/.test(path)),
    changed,
    before,
    base: parted,
    head: to,
    ...objectsBy(ask),
  }
}

const rangeArguments = ['--raw', '-z', '--no-abbrev', '--no-renames', '--no-ext-diff']
const changeArguments = ['--cached', ...rangeArguments]
const entryArguments = [
  'ls-files',
  '--stage',
  '-z',
  '--full-name',
  '--',
  ...['case.yaml', 'case.yml', 'tape.jsonl'].map((ending) => `:(top,glob)**/*.${ending}`),
]

type Ask = <Answer>(question: (git: SimpleGit) => PromiseLike<Answer>, settings?: GitSettings) => Promise<Answer>

function asking(cwd: string, refuse: typeof unreadable): Ask {
  const git = openGit(cwd, true)
  return async (question, settings) => {
    try {
      return await question(await git(settings))
    } catch (error) {
      throw refuse(cwd, textOf(error), error)
    }
  }
}

function objectsBy(ask: Ask): Pick<GitIndex, 'sizesOf' | 'contentsOf'> {
  return {
    sizesOf: async (oids) =>
      oids.length === 0
        ? new Map()
        : readSizes(await ask((git) => git.catFile(['--batch-check']), { input: lines(oids) })),
    contentsOf: async (oids) => (oids.length === 0 ? new Map() : ask((git) => contentsOf(git), { input: lines(oids) })),
  }
}

/** Contents of the objects that git is given to read, by oid. */
export async function contentsOf(git: SimpleGit): Promise<ReadonlyMap<string, Buffer>> {
  return readContents((await git.binaryCatFile(['--batch'])) as Buffer)
}

/** What git is given to read for these objects. */
export function lines(oids: readonly string[]): string {
  return `${oids.join('\n')}\n`
}

/** `:<old mode> <new mode> <old oid> <new oid> <status>`, NUL, path, NUL. */
function readChanges(raw: string): Pick<GitIndex, 'staged' | 'before'> {
  const parts = raw.split('\0')
  const staged: IndexedFile[] = []
  const before = new Map<string, string>()
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [head = '', path = ''] = [parts[at], parts[at + 1]]
    const [, mode = '', oldOid = '', oid = '', status = ''] = head.split(' ')
    if (!/^0+$/.test(oldOid)) before.set(path, oldOid)
    if (status === 'U') staged.push({ path, type: 'conflict', oid })
    else if (status !== 'D') staged.push({ path, type: typeOf(mode), oid })
  }
  return { staged, before }
}

/** `<mode> <oid> <stage>`, tab, path, NUL. */
function readEntries(listed: string): readonly IndexedFile[] {
  return listed.split('\0').flatMap((entry): IndexedFile[] => {
    const tab = entry.indexOf('\t')
    if (tab === -1) return []
    const [mode = '', oid = '', stage] = entry.slice(0, tab).split(' ')
    return [{ path: entry.slice(tab + 1), type: stage === '0' ? typeOf(mode) : 'conflict', oid }]
  })
}

/** `<mode> <type> <oid>`, tab, path, NUL. */
function readTree(listed: string): readonly IndexedFile[] {
  return listed.split('\0').flatMap((entry): IndexedFile[] => {
    const tab = entry.indexOf('\t')
    if (tab === -1) return []
    const [mode = '', , oid = ''] = entry.slice(0, tab).split(' ')
    return [{ path: entry.slice(tab + 1), type: typeOf(mode), oid }]
  })
}

function typeOf(mode: string): IndexedFile['type'] {
  if (mode === '120000') return 'link'
  return mode === '160000' ? 'submodule' : 'file'
}

/** `<oid> <type> <size>`. */
function readSizes(checked: string): ReadonlyMap<string, number> {
  return new Map(
    checked.split('\n').flatMap((line) => {
      const [oid = '', , size] = line.split(' ')
      return size === undefined ? [] : [[oid, Number(size)] as const]
    }),
  )
}

/** What `cat-file --batch` answers, by oid: `<oid> <type> <size>`, line feed, that many bytes, line feed. */
function readContents(batch: Buffer): ReadonlyMap<string, Buffer> {
  const contents = new Map<string, Buffer>()
  for (let at = 0; at < batch.length; ) {
    const headEnd = batch.indexOf(0x0a, at)
    const [oid = '', , size] = batch.toString('latin1', at, headEnd).split(' ')
    const length = Number(size ?? 0)
    contents.set(oid, batch.subarray(headEnd + 1, headEnd + 1 + length))
    at = headEnd + 1 + length + (size === undefined ? 0 : 1)
  }
  return contents
}

function unreadable(cwd: string, said: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_GIT_INDEX',
    {
      what: 'git cannot read the staged files',
      where: { folder: cwd, git: said },
      fix: [
        'run it inside a git work tree, such as from a pre-commit hook',
        'or without --staged: npx vitest-harvest check',
      ],
    },
    { cause },
  )
}

function rangeUnreadable(cwd: string, said: string, cause: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_GIT_RANGE',
    {
      what: 'git cannot compare these two commits',
      where: { folder: cwd, git: said || 'one of them is no commit of this repository' },
      fix: [
        'name two commits: npx vitest-harvest review origin/main..HEAD',
        'in CI, fetch the base: git fetch origin main',
      ],
    },
    { cause },
  )
}
