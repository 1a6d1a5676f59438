import { posix } from 'node:path'
import { type CheckFinding, inspectSnapshot, type Snapshot, type SnapshotFile } from '../check/index.ts'
import { type AcceptedChange, acceptedFileName, type Case, parseAccepted, parseCase } from '../cases/index.ts'
import { HarvestError } from '../errors/index.ts'
import { canonicalJson } from '../json/canonical.ts'
import { type GitRange, type IndexedFile, readRange } from '../provenance/index.ts'
import { parseTape, type Tape } from '../tape/index.ts'
import { renderBaseline, traceOf } from '../trace/index.ts'
import { type TapeDigest, tapeDigest } from './tape-digest.ts'
import { type Weakening, weakenings } from './weakened.ts'

export interface ReviewOptions {
  /** Folder with `golden/`. Default: every folder of the repository that is called `recordings`. */
  readonly dir?: string
  /** Largest tape, in bytes. Default 10 MiB. */
  readonly maxSize?: number
  /** Kinds of findings that are not secrets here. Default none. */
  readonly allow?: readonly string[]
}

/** A case that was added, changed or removed. */
export interface ReviewedCase {
  readonly id: string
  readonly file: string
  readonly change: 'added' | 'changed' | 'removed'
  /** What it asserts less than before, or than one that is promoted. */
  readonly weakened: readonly Weakening[]
  readonly approved?: { readonly by?: string; readonly reason?: string }
  /** Questions of models whose change someone accepted here. */
  readonly accepted: number
}

/** A tape that was added or changed. */
export interface ReviewedTape {
  readonly file: string
  readonly change: 'added' | 'changed'
  readonly bytes: number
  /** What it does, in five lines; absent when it cannot be read, see the findings. */
  readonly digest?: TapeDigest
  /** Other tapes that ask, do and return the same. */
  readonly sameAs: readonly string[]
}

/** Changes in the file of changed questions that are accepted for all cases. */
export interface ReviewedAcceptances {
  readonly file: string
  /** Changed questions that were accepted here; absent when the file cannot be read, so read it yourself. */
  readonly accepted?: number
}

/** What a change to recordings means. */
export interface Review {
  /** Commits that were compared. */
  readonly base: string
  readonly head: string
  readonly cases: readonly ReviewedCase[]
  readonly tapes: readonly ReviewedTape[]
  /** Questions that all cases accept from now on. */
  readonly acceptedForAll: readonly ReviewedAcceptances[]
  /** What `check` finds in the changed files: secrets, sizes, pairs, digests. */
  readonly findings: readonly CheckFinding[]
  /** Changed files that may set policies for all cases: read them. */
  readonly configs: readonly string[]
  /** Bytes of recordings after the change, less those before. */
  readonly grownBytes: number
}

/**
 * Reads what a branch does to recordings: cases that assert less, what each new tape does, secrets, duplicates and sizes.
 * Looks at the commits alone, and runs nothing.
 *
 * @param range - `origin/main..HEAD`, or the base alone
 * @throws HarvestError `HARVEST_GIT_RANGE`
 */
export async function reviewRange(range: string, options: ReviewOptions = {}): Promise<Review> {
  const [base = '', head = ''] = range.split(/\.{2,3}/)
  const git = await readRange(process.cwd(), base || 'HEAD', head || 'HEAD')
  return reviewChanges(git, options)
}

async function reviewChanges(git: GitRange, options: ReviewOptions): Promise<Review> {
  const isRecording = isBelow(options.dir)
  const after = new Map(git.recordings.filter(({ path }) => isRecording(path)).map((file) => [file.path, file]))
  const changed = git.changed.filter(({ path }) => isRecording(path))
  const before = new Map([...git.before].filter(([path]) => isRecording(path)))
  const contents = await git.contentsOf([
    ...new Set([...[...after.values(), ...changed].filter(isFile).map(({ oid }) => oid), ...before.values()]),
  ])
  const read = (oid: string | undefined): Buffer =>
    (oid === undefined ? undefined : contents.get(oid)) ?? Buffer.alloc(0)
  const state: State = { after, before, changed, read }
  const tapes = reviewTapes(state)
  return {
    base: git.base,
    head: git.head,
    cases: reviewCases(state),
    tapes,
    acceptedForAll: reviewAccepted(state),
    findings: inspectSnapshot(snapshotOf(state), options),
    configs: git.changed
      .map(({ path }) => path)
      .filter((path) => /(?:^|\/)(?:vitest|vite)\.(?:config|workspace)\.\w+$/.test(path)),
    grownBytes:
      changed.filter(isFile).reduce((sum, { oid }) => sum + read(oid).length, 0) -
      [...before.values()].reduce((sum, oid) => sum + read(oid).length, 0),
  }
}

interface State {
  /** Cases and tapes of the later commit. */
  readonly after: ReadonlyMap<string, IndexedFile>
  /** What changes or goes, as it was. */
  readonly before: ReadonlyMap<string, string>
  /** Files that come or change, of any kind. */
  readonly changed: readonly IndexedFile[]
  read(oid: string | undefined): Buffer
}

function isBelow(dir: string | undefined): (path: string) => boolean {
  if (dir === undefined) return (path) => /(?:^|\/)recordings\//.test(path)
  const folder = `${posix.normalize(dir.replaceAll('\\', '/')).replace(/\/$/, '')}/`
  return (path) => path.startsWith(folder)
}

function isFile({ type }: IndexedFile): boolean {
  return type === 'file'
}

const isCasePath = (path: string): boolean => /\.case\.ya?ml$/.test(path)

function reviewCases({ after, before, changed, read }: State): readonly ReviewedCase[] {
  const now = changed
    .filter(({ path, type }) => type === 'file' && isCasePath(path))
    .flatMap(({ path, oid }) => caseIn(read(oid), path))
  const was = [...before].filter(([path]) => isCasePath(path)).flatMap(([path, oid]) => caseIn(read(oid), path))
  // A case that moved is the same case: its id says so.
  const old = new Map(was.map((one) => [one.id, one]))
  const changedCases = now.map((one): ReviewedCase => {
    const earlier = old.get(one.id) ?? was.find(({ file }) => file === one.file)
    const { approved, accepted = [] } = one
    return {
      id: one.id,
      file: one.file,
      change: earlier === undefined ? 'added' : 'changed',
      weakened: weakenings(earlier, one, tapeOf(one, after, read)),
      ...(approved === undefined ||
      canonicalJson((earlier?.approved ?? null) as never) === canonicalJson(approved as never)
        ? {}
        : { approved }),
      accepted: accepted.filter((entry) => earlier?.accepted?.every((known) => !isSameReview(known, entry)) !== false)
        .length,
    }
  })
  const ids = new Set(
    [
      ...now,
      ...[...after.values()].filter(({ path }) => isCasePath(path)).flatMap(({ path, oid }) => caseIn(read(oid), path)),
    ].map(({ id }) => id),
  )
  const removed = was
    .filter(({ id }) => !ids.has(id))
    .map(
      ({ id, file }): ReviewedCase => ({
        id,
        file,
        change: 'removed',
        weakened: [{ field: 'case', what: 'removed' }],
        accepted: 0,
      }),
    )
  return [...changedCases, ...removed].sort((one, other) => (one.file < other.file ? -1 : 1))
}

/** The same change, accepted at the same steps. */
function isSameReview(one: AcceptedChange, other: AcceptedChange): boolean {
  return one.key === other.key && JSON.stringify(one.steps) === JSON.stringify(other.steps)
}

function reviewAccepted({ before, changed, read }: State): readonly ReviewedAcceptances[] {
  return changed
    .filter(({ path, type }) => type === 'file' && posix.basename(path) === acceptedFileName)
    .flatMap(({ path: file, oid }): readonly ReviewedAcceptances[] => {
      const now = acceptedKeys(read(oid), file)
      if (now === undefined) return [{ file }]
      const was = new Set(before.has(file) ? acceptedKeys(read(before.get(file)), file) : [])
      const accepted = now.filter((key) => !was.has(key)).length
      return accepted === 0 ? [] : [{ file, accepted }]
    })
}

function acceptedKeys(bytes: Buffer, file: string): readonly string[] | undefined {
  try {
    return parseAccepted(bytes.toString('utf8'), file).map(
      ({ key, was, now, steps = {} }) => `${key} ${was} ${now} ${JSON.stringify(steps)}`,
    )
  } catch (error) {
    // Vitest is red for a file that does not parse; the review names it.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

/** A case that does not read is a finding of the check. */
function caseIn(bytes: Buffer, path: string): readonly Case[] {
  try {
    return [parseCase(bytes.toString('utf8'), path)]
  } catch (error) {
    if (HarvestError.is(error)) return []
    throw error
  }
}

function tapeOf(kase: Case, after: State['after'], read: State['read']): Tape | undefined {
  const path = posix.join(posix.dirname(kase.file), kase.tape)
  return tapeIn(read(after.get(path)?.oid), path)
}

function tapeIn(bytes: Buffer, path: string): Tape | undefined {
  try {
    return bytes.length === 0 ? undefined : parseTape(bytes.toString('utf8'), path)
  } catch (error) {
    if (HarvestError.is(error)) return undefined
    throw error
  }
}

function reviewTapes({ after, before, changed, read }: State): readonly ReviewedTape[] {
  const isGoldenTape = ({ path, type }: IndexedFile): boolean =>
    type === 'file' && path.endsWith('.tape.jsonl') && !/(?:^|\/)(?:inbox|shared)\//.test(path)
  const all = [...after.values()].filter(isGoldenTape).flatMap(({ path, oid }) => {
    const tape = tapeIn(read(oid), path)
    return tape === undefined ? [] : [{ path, key: whatItIs(tape) }]
  })
  return changed.filter(isGoldenTape).map(({ path, oid }): ReviewedTape => {
    const bytes = read(oid)
    const tape = tapeIn(bytes, path)
    const own = tape === undefined ? undefined : whatItIs(tape)
    return {
      file: path,
      change: before.has(path) ? 'changed' : 'added',
      bytes: bytes.length,
      ...(tape === undefined ? {} : { digest: tapeDigest(tape) }),
      sameAs: all.filter((other) => other.path !== path && other.key === own).map((other) => other.path),
    }
  })
}

/** Agent, input, tool calls with their values, and outcome: of two tapes with the same, one adds nothing. */
function whatItIs({ header, events, close }: Tape): string {
  const calls = traceOf(events).layers.map((layer) => layer.map(({ name, args }) => [name, args]))
  return canonicalJson([
    header.agent,
    header.input ?? null,
    calls,
    (close?.outcome ?? null) as never,
    close?.input?.left ?? null,
    renderBaseline(traceOf(events)),
  ])
}

function snapshotOf({ after, before, changed, read }: State): Snapshot {
  const kindOf = (path: string): SnapshotFile['kind'] =>
    isCasePath(path) ? 'case' : path.endsWith('.tape.jsonl') ? 'tape' : 'other'
  const entry = ({ path, type, oid }: IndexedFile): SnapshotFile => ({
    path,
    kind: kindOf(path),
    type: type === 'submodule' ? 'other' : type,
    bytes: type === 'file' ? read(oid).length : 0,
  })
  const oids = new Map([...after.values(), ...changed].map(({ path, oid }) => [path, oid]))
  const present = new Set([...after.keys(), ...changed.map(({ path }) => path)])
  return {
    files: changed.map(entry),
    all: [...after.values()].map(entry),
    isStaged: true,
    before: [...before]
      .filter(([path]) => isCasePath(path))
      .map(([path, oid]) => ({ path, text: read(oid).toString('utf8') })),
    gone: [...before.keys()].filter((path) => !present.has(path)),
    read: ({ path }) => read(oids.get(path)),
    fromHere: (path) => path,
  }
}
