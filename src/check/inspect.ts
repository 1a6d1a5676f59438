// Over 300 lines: the list of checks of a file, in their order.
import { isUtf8 } from 'node:buffer'
import { basename, posix } from 'node:path'
import { findDuplicateIds, formerTapesIn, parseCase } from '../cases/index.ts'
import { firstBadLine } from '../cases/text.ts'
import type { Case } from '../cases/types.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { toRestore } from '../errors/usual-steps.ts'
import { sizeText } from '../errors/size.ts'
import { createRedactor, isCredential, type Redactor, type RedactorOptions } from '../privacy/index.ts'
import { ignoreInbox } from '../recordings/ignore-inbox.ts'
import { refuseUnfinished } from '../recordings/promotable.ts'
import { readForSecrets, secretFound, type SecretFound } from '../recordings/secrets.ts'
import { toAllow } from '../recordings/to-allow.ts'
import { sharedFolder } from '../tape/index.ts'
import { readCap, type Snapshot, type SnapshotFile } from './snapshot.ts'

/** One thing found. */
export interface CheckFinding {
  /** A warning does not stop a commit. */
  readonly level: 'error' | 'warning'
  readonly code: string
  readonly file: string
  /** 1-based. */
  readonly line?: number
  readonly what: string
  /** More lines: every mistake of a case, every place of a secret. */
  readonly detail: readonly string[]
  readonly fix: readonly string[]
}

export interface InspectOptions {
  /** Bytes a tape may have. */
  readonly maxSize: number
  /** Kinds that are allowed here. */
  readonly allow: readonly string[]
  readonly progress: (done: number) => void
}

interface Inspecting extends InspectOptions {
  /** One for all files but tapes: what a name tells in a tape is looked for in that one alone. */
  readonly redactor: Redactor
  /** The same for all of them: what is made of them takes as long as reading a small tape. */
  readonly rules: RedactorOptions
}

/** A tape of more bytes is worth a word. */
const largeTape = 1024 * 1024
/** Bytes a case may have is a matter of `cases`; of more than these, people read only the beginning. */
const largeCase = 64 * 1024

/**
 * Looks at every file of a snapshot: what it is, how large, whether it can be read, what it hides, and whether its
 * other half is there.
 *
 * @returns what was found, in order of files
 */
export function inspect(snapshot: Snapshot, given: InspectOptions): readonly CheckFinding[] {
  const cases = new Map<string, CaseHead>()
  const rules = { off: given.allow }
  const options = { ...given, rules, redactor: createRedactor(rules, { keys: true }) }
  const found: CheckFinding[] = []
  for (const [index, file] of snapshot.files.entries()) {
    options.progress(index + 1)
    found.push(...inspectFile(file, snapshot, options, cases), ...inspectName(file, options))
  }
  for (const file of snapshot.all)
    if (file.kind === 'case' && file.type === 'file' && !cases.has(file.path))
      cases.set(file.path, headOf(file, snapshot.read(file).toString('utf8')))
  return [...found, ...pairs(snapshot, cases), ...duplicates(snapshot, cases)].sort((a, b) =>
    a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) : a.file < b.file ? -1 : 1,
  )
}

/** What is kept of a case when its file was looked at: thousands of whole ones take much memory. */
interface CaseHead {
  /** As it was parsed, or as its lines say. */
  readonly id?: { readonly value: string; readonly line: number; readonly isParsed: boolean }
  readonly tape: { readonly path: string; readonly line: number } | undefined
  /** Paths of the tapes it had before. */
  readonly former: readonly string[]
}

function headOf({ path }: SnapshotFile, text: string, parsed?: Case): CaseHead {
  const plain = parsed === undefined ? topLevel('case', text) : { value: parsed.id, line: parsed.lines.case }
  return {
    ...(plain && { id: { ...plain, isParsed: parsed !== undefined } }),
    tape: tapeNamedIn(path, text),
    former: formerTapesIn(text).map((name) => posix.join(posix.dirname(path), name)),
  }
}

function inspectFile(
  file: SnapshotFile,
  snapshot: Snapshot,
  options: Inspecting,
  cases: Map<string, CaseHead>,
): readonly CheckFinding[] {
  if (file.type !== 'file') return [notAFile(file)]
  const isInbox = snapshot.isStaged && file.kind !== 'case' && /(?:^|\/)inbox\//.test(file.path)
  if (isInbox) return [inInbox(file, snapshot)]
  const size = inspectSize(file, options.maxSize)
  if (size.some(({ level }) => level === 'error')) return size
  const bytes = snapshot.read(file)
  if (file.kind === 'tape') return [...size, ...inspectTape(file, bytes, options)]
  if (file.kind === 'case') return [...size, ...inspectCase(file, bytes, options, cases)]
  return [...size, ...inspectText(file, bytes.toString('utf8'), options)]
}

function inspectSize({ path, kind, bytes }: SnapshotFile, maxSize: number): readonly CheckFinding[] {
  const most = kind === 'tape' ? Math.min(maxSize, readCap) : readCap
  const isTooLarge = bytes > most
  if (!isTooLarge && bytes <= (kind === 'case' ? largeCase : largeTape)) return []
  const finding = { code: 'HARVEST_CHECK_SIZE', file: path, detail: [] }
  const size = sizeText(bytes)
  if (!isTooLarge) return [{ ...finding, level: 'warning', what: `This ${kindName(kind)} has ${size}`, fix: [] }]
  return [
    {
      ...finding,
      level: 'error',
      what: `This ${kindName(kind)} has ${size}: the limit is ${sizeText(most)}`,
      fix: [
        'promote a shorter run with the same failure',
        ...(bytes <= readCap ? [`or allow it: --max-size ${shellWord(bytes)}`] : []),
      ],
    },
  ]
}

function inspectTape(file: SnapshotFile, bytes: Buffer, options: Inspecting): readonly CheckFinding[] {
  const text = bytes.toString('utf8')
  try {
    // The tape must not say what is looked for in it: of its own rules only the names count that promise more secrets.
    const { tape, search } = readForSecrets(text, file.path, ({ redact }) =>
      createRedactor(redact?.keys === undefined ? options.rules : { ...options.rules, keys: redact.keys }, {
        keys: true,
      }),
    )
    refuseUnfinished(tape, true)
    const { found = [], unsearched = [] } = Object.groupBy(search(), ({ kind }) =>
      kind === undefined ? 'unsearched' : 'found',
    )
    return [...secrets(file, found, options.allow), ...notSearched(file, unsearched)]
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return [findingOf(file, error, 'tape'), ...inspectText(file, text, options)]
  }
}

function inspectCase(
  file: SnapshotFile,
  bytes: Buffer,
  options: Inspecting,
  cases: Map<string, CaseHead>,
): readonly CheckFinding[] {
  const text = bytes.toString('utf8')
  const encoding = isUtf8(bytes) ? [] : [notUtf8(file, bytes)]
  try {
    const kase = parseCase(text, file.path)
    cases.set(file.path, headOf(file, text, kase))
    return [...encoding, ...inspectText(file, text, options, new Set(Object.values(kase.constants ?? {})))]
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    return [findingOf(file, error, 'case'), ...encoding, ...inspectText(file, text, options)]
  }
}

function notUtf8({ path: file }: SnapshotFile, bytes: Buffer): CheckFinding {
  return {
    level: 'error',
    code: 'HARVEST_CASE_ENCODING',
    file,
    line: firstBadLine(bytes),
    what: 'The case file is not UTF-8 text',
    detail: [],
    fix: ['save it as UTF-8'],
  }
}

/**
 * Text read line by line, for the number of the line, and whole, for what goes over several lines.
 *
 * @param constants - values that stand in the source as they are; a credential is never one, no matter what the case says
 */
function inspectText(
  file: SnapshotFile,
  text: string,
  { redactor, allow }: Inspecting,
  constants: ReadonlySet<string> = new Set(),
): readonly CheckFinding[] {
  const found = redactor.scan(text)
  if (found.length === 0) return []
  const starts = [...text.matchAll(/^/gm)].map(({ index }) => index)
  const places = found.flatMap(({ kind, index, length }) => {
    if (constants.has(text.slice(index, index + length)) && !isCredential(kind)) return []
    const line = starts.findLastIndex((start) => start <= index) + 1
    // Who accepted a change is written there by name and address, as in a commit.
    if (kind === 'email' && /^\s*(?:- )?by: /.test(text.slice(starts[line - 1]))) return []
    return [secretFound(`line ${line}`, kind)]
  })
  return secrets(file, [...new Map(places.map((one) => [one.place, one])).values()], allow)
}

function inspectName(file: SnapshotFile, { redactor, allow }: Inspecting): readonly CheckFinding[] {
  const found = redactor.scan(file.path).map(({ kind }) => secretFound('name of the file', kind))
  // Not as a whole command: it may name the file.
  const fix = [
    'give the file another name',
    ...toAllow(found, allow).map((allowing) => `if it is a false positive, add ${allowing} to the command`),
  ]
  return secrets(file, found, allow).map((finding) => ({ ...finding, fix }))
}

function secrets(
  { path: file, kind }: SnapshotFile,
  found: readonly SecretFound[],
  allow: readonly string[],
): readonly CheckFinding[] {
  const [first] = found
  if (first === undefined) return []
  const line = /^line (\d+):/.exec(first.place)?.[1]
  return [
    {
      level: 'error',
      code: 'HARVEST_CHECK_SECRET',
      file,
      ...(line === undefined ? {} : { line: Number(line) }),
      what: `This ${kindName(kind)} holds what looks like a secret`,
      detail: firstOf(found),
      fix: [
        kind === 'tape' ? 'record the run again: the recorder removes secrets before it writes' : 'remove it',
        ...toAllow(found, allow).map((allowing) => `if it is a false positive: ${allowing}`),
      ],
    },
  ]
}

function firstOf(found: readonly SecretFound[]): readonly string[] {
  const more = found.length - 12
  return [...found.slice(0, 12).map(({ place }) => place), ...(more > 0 ? [`… and ${more} more`] : [])]
}

/** What could not be looked into is not known to be clean. */
function notSearched({ path: file }: SnapshotFile, places: readonly SecretFound[]): readonly CheckFinding[] {
  if (places.length === 0) return []
  return [
    {
      level: 'error',
      code: 'HARVEST_CHECK_UNSEARCHED',
      file,
      what: 'Could not search all of this tape for secrets',
      detail: firstOf(places),
      fix: ['record the run again with an encoding that can be searched: accept-encoding: gzip'],
    },
  ]
}

/** Cases whose tape is not there, and tapes nothing is asserted about. */
function pairs(snapshot: Snapshot, cases: ReadonlyMap<string, CaseHead>): readonly CheckFinding[] {
  const { files, all, before, gone } = snapshot
  const heads = all.flatMap((file) => {
    const head = cases.get(file.path)
    return head === undefined ? [] : [{ ...head, file }]
  })
  const chosen = new Set(files.map(({ path }) => path))
  const present = new Set(all.map(({ path }) => path))
  const asserted = new Set(heads.flatMap(({ tape, former }) => [tape?.path, ...former]))
  const lost = heads.flatMap(({ file, tape }) => {
    if (tape === undefined || present.has(tape.path)) return []
    return chosen.has(file.path) || gone.includes(tape.path) ? [tapeMissing(file, tape, snapshot)] : []
  })
  const given = new Set(before.map(({ path, text }) => tapeNamedIn(path, text)?.path))
  const idle = all.filter(
    ({ path, kind, type }) =>
      kind === 'tape' &&
      type === 'file' &&
      isGolden(path) &&
      !asserted.has(path) &&
      (chosen.has(path) || given.has(path)),
  )
  return [...lost, ...idle.map((file) => caseMissing(file, snapshot))]
}

/** Ids are compared in the golden set of one folder of recordings. */
function duplicates(snapshot: Snapshot, cases: ReadonlyMap<string, CaseHead>): readonly CheckFinding[] {
  const named = [...cases].flatMap(([file, { id }]) => (id === undefined ? [] : [{ file, id }]))
  const parsed = new Set(named.flatMap(({ file, id }) => (id.isParsed ? [file] : [])))
  // Those that were parsed first. Only what is compared and shown; the case itself is not judged.
  const all = [...named.filter(({ id }) => id.isParsed), ...named.filter(({ id }) => !id.isParsed)].map(
    ({ file, id }) => ({ id: id.value, file, lines: { case: id.line } }) as Case,
  )
  const bySet = Map.groupBy(all, ({ file }) => goldenSetOf(file))
  return [...bySet.values()].flatMap(findDuplicateIds).flatMap(({ cases: same, error }) =>
    same
      .filter(({ file }) => parsed.has(file))
      .slice(0, 1)
      .map(({ file, lines }): CheckFinding => {
        const places = Object.values(error.facts.where ?? {})
        return {
          level: 'error',
          code: error.code,
          file,
          line: lines.case,
          what: error.facts.what,
          detail: places.filter((place) => !place.startsWith(`${file}:`)),
          fix: error.facts.fix ?? [],
        }
      }),
  )
}

/** The value of a plain top-level key, without parsing the rest: thousands of cases may lie around the one to judge. */
function topLevel(name: 'case' | 'tape', text: string): { readonly value: string; readonly line: number } | undefined {
  const found = topLevelKeys[name].exec(text)
  if (found === null) return undefined
  return { value: found[2] ?? '', line: text.slice(0, found.index).split('\n').length }
}

function lineOfKey(name: string): RegExp {
  return new RegExp(String.raw`^${name}:[ \t]+(["']?)([A-Za-z0-9][A-Za-z0-9._-]*)\1[ \t]*(?:#.*)?\r?$`, 'm')
}

const topLevelKeys = { case: lineOfKey('case'), tape: lineOfKey('tape') }

function tapeNamedIn(path: string, text: string): { readonly path: string; readonly line: number } | undefined {
  const tape = topLevel('tape', text)
  return tape && { path: posix.join(posix.dirname(path), tape.value), line: tape.line }
}

function isGolden(path: string): boolean {
  return !/(?:^|\/)inbox\//.test(path) && !isShared(path)
}

/** A tape of what a process fetches once: it serves all cases, and has none of its own. */
export function isShared(path: string): boolean {
  const { dir, base } = posix.parse(path)
  return posix.basename(dir) === sharedFolder && base.endsWith('.tape.jsonl') && !/(?:^|\/)golden\//.test(path)
}

function goldenSetOf(path: string): string {
  return /^(?:.*\/)?(?=golden\/)/.exec(path)?.[0] ?? `${posix.dirname(path)}/`
}

function findingOf({ path: file }: SnapshotFile, { code, facts }: HarvestError, label: string): CheckFinding {
  const line = /:(\d+)(?::\d+)?$/.exec(facts.where?.[label] ?? '')?.[1]
  const rows = Object.entries(facts.where ?? {}).filter(([name]) => name !== label)
  return {
    level: 'error',
    code,
    file,
    ...(line === undefined ? {} : { line: Number(line) }),
    what: facts.what,
    detail: [...rows.map(([name, value]) => `${name}: ${value}`), ...(facts.detail?.split('\n') ?? [])],
    fix: facts.fix ?? [],
  }
}

function tapeMissing(
  { path: file }: SnapshotFile,
  tape: { readonly path: string; readonly line: number },
  { isStaged, fromHere }: Snapshot,
): CheckFinding {
  return {
    level: 'error',
    code: 'HARVEST_CASE_TAPE_MISSING',
    file,
    line: tape.line,
    what: `The tape of this case is not ${isStaged ? 'in the commit' : 'there'}: ${basename(tape.path)}`,
    detail: [],
    fix: isStaged
      ? [`to commit it too: git add ${shellWord(fromHere(tape.path))}`]
      : [...toRestore(tape.path, fromHere(tape.path)), 'if the tape was renamed, write its new name into the case'],
  }
}

function caseMissing({ path: file }: SnapshotFile, { isStaged, fromHere }: Snapshot): CheckFinding {
  return {
    level: 'error',
    code: 'HARVEST_TAPE_OBSOLETE',
    file,
    what: `No case ${isStaged ? 'in the commit ' : ''}asserts anything about this tape`,
    detail: [],
    fix: [
      isStaged ? 'git add its case' : "write the case again: npx vitest-harvest promote '<tape>' --as '<id>'",
      ...(isStaged ? [`or unstage the tape: git rm --cached ${shellWord(fromHere(file))}`] : []),
    ],
  }
}

function notAFile({ path: file, type }: SnapshotFile): CheckFinding {
  const what = type === 'link' ? 'a symbolic link' : type === 'conflict' ? 'an unsolved conflict' : 'not a file'
  return {
    level: 'error',
    code: 'HARVEST_CHECK_LINK',
    file,
    what: `This is ${what}: its content was not reviewed`,
    detail: [],
    fix: [type === 'conflict' ? 'resolve the conflict again, then git add it' : 'replace it with the file itself'],
  }
}

function inInbox({ path: file }: SnapshotFile, { fromHere }: Snapshot): CheckFinding {
  const [, recordings = '.'] = /^(?:(.*)\/)?inbox\//.exec(file) ?? []
  return {
    level: 'error',
    code: 'HARVEST_CHECK_INBOX',
    file,
    what: 'A file of the inbox is staged: fresh tapes are not committed',
    detail: [],
    fix: [
      `to unstage it: git rm --cached ${shellWord(fromHere(file))}`,
      `to ignore the inbox: ${ignoreInbox(fromHere(recordings))}`,
    ],
  }
}

function kindName(kind: SnapshotFile['kind']): string {
  return kind === 'other' ? 'file' : kind
}
