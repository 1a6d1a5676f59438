import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { AcceptedChange, SharedAcceptance } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import type { CaseAcceptance, ReviewedChange } from './channel.ts'
import { textHash, type Written, writeUpdates } from './write-updates.ts'

/**
 * Writes what a run accepted. A change that several cases have, or a hand-written test, is accepted once for all of them,
 * in the file of the recordings; a change of one case goes into the case. At which steps it was reviewed is written where that
 * is not every step that could have it.
 */
export async function writeAcceptances(acceptances: readonly CaseAcceptance[]): Promise<Written> {
  const bySet = [...Map.groupBy(acceptances, ({ acceptedFile }) => acceptedFile)]
  const written = await Promise.all(bySet.map(([file, own]) => writeTogether(own, file)))
  return {
    written: written.flatMap((one) => one.written),
    skipped: written.flatMap((one) => one.skipped),
  }
}

/** @param acceptedFile - it is made when it is needed */
async function writeTogether(acceptances: readonly CaseAcceptance[], acceptedFile: string): Promise<Written> {
  // Only a run that accepts something pays for YAML.
  const { parseCase, readAcceptedFile, readAcceptedText, updateCase, writeAccepted } = await import('../cases/index.ts')
  const forAll = readAcceptedFile(acceptedFile)
  const asked = acceptances.flatMap(({ file, name, entries }) => entries.map((entry) => ({ file, name, entry })))
  const byKey = [...Map.groupBy(asked, ({ entry }) => entry.key).values()]
  const isOwn = (one: Reviewed): boolean => one.entry.hasOwnSteps === true
  const isShared = (same: readonly Reviewed[]): boolean =>
    new Set(same.map(({ file }) => file)).size > 1 || same[0]?.file === undefined
  const parted = byKey.map((same) => {
    const others = same.filter((one) => !isOwn(one))
    return isShared(others) ? { shared: others, own: same.filter(isOwn) } : { shared: [], own: same }
  })
  const shared = parted.map((one) => one.shared).filter(({ length }) => length > 0)
  const own = Map.groupBy(
    parted.flatMap((one) => one.own),
    ({ file = '' }) => file,
  )
  const updates = [...own].map(([file, added]) => {
    const text = readFileSync(file, 'utf8')
    const accepted = together(parseCase(text, file).accepted ?? [], ownEntries(added, forAll))
    const pins = acceptances.find((one) => one.file === file)?.pins
    const changes = { accepted, ...(pins !== undefined && { pins }) }
    return { file, before: textHash(text), text: updateCase(text, changes, file) }
  })
  if (shared.length > 0) {
    // A project of hand-written tests need not have recordings of its own.
    mkdirSync(path.dirname(acceptedFile), { recursive: true })
    const text = readAcceptedText(acceptedFile)
    updates.push({
      file: acceptedFile,
      before: textHash(text ?? ''),
      text: writeAccepted(text, shared.reduce(withShared, forAll), acceptedFile),
    })
  }
  return writeUpdates(updates)
}

/**
 * What these files accept and that is not asked any more: the parts that changed, with their keys.
 *
 * @param asked - keys of all changes that a whole run met
 */
export async function obsoleteAcceptances(
  asked: ReadonlySet<string>,
  files: readonly string[],
): Promise<readonly string[]> {
  if (files.length === 0) return []
  const { readAcceptedFile } = await import('../cases/index.ts')
  const left = files.flatMap((file) => readSound(file, readAcceptedFile)).filter(({ key }) => !asked.has(key))
  return left.map(({ what, key }) => `${neutralLine(what, 60)} ${key}`)
}

/** Nothing of a file with a mistake: each case that ran says what is wrong with it. */
function readSound(file: string, read: (file: string) => readonly SharedAcceptance[]): readonly SharedAcceptance[] {
  try {
    return read(file)
  } catch (error) {
    if (HarvestError.is(error)) return []
    throw error
  }
}

/**
 * Takes acceptances out of the file for all cases that are not asked any more.
 *
 * @param asked - keys of all changes that a whole run met
 */
export async function forgetAcceptances(asked: ReadonlySet<string>, acceptedFile: string): Promise<Written> {
  const { readAcceptedFile, readAcceptedText, writeAccepted } = await import('../cases/index.ts')
  const before = readAcceptedFile(acceptedFile)
  const left = before.filter(({ key }) => asked.has(key))
  if (left.length === before.length) return { written: [], skipped: [] }
  const text = readAcceptedText(acceptedFile) ?? ''
  return writeUpdates([{ file: acceptedFile, before: textHash(text), text: writeAccepted(text, left, acceptedFile) }])
}

/** A change, and who asked it. */
interface Reviewed {
  readonly file: string | undefined
  readonly name: string
  readonly entry: ReviewedChange
}

/** What a case accepts from now on: of each change one entry, no matter how often the case ran. */
function ownEntries(added: readonly Reviewed[], forAll: readonly SharedAcceptance[]): readonly AcceptedChange[] {
  return [...Map.groupBy(added, ({ entry }) => entry.key).values()].flatMap((same) => {
    const [first] = same
    if (first === undefined) return []
    const isNamed = forAll.some(({ key, steps = {} }) => key === first.entry.key && Object.hasOwn(steps, first.name))
    return [entryOf(first.entry, isEverywhere(same) && !isNamed ? undefined : stepsOf(same))]
  })
}

/** The entries for all cases with one more change. What was reviewed for others, at their steps, stays as it is. */
function withShared(forAll: readonly SharedAcceptance[], same: readonly Reviewed[]): readonly SharedAcceptance[] {
  const [first] = same
  if (first === undefined) return forAll
  const byName = Map.groupBy(same, ({ name }) => name)
  const others = forAll.flatMap((entry): SharedAcceptance[] => {
    if (entry.key !== first.entry.key) return [entry]
    const left = Object.entries(entry.steps ?? {}).filter(([name]) => !byName.has(name))
    return left.length === 0 ? [] : [{ ...entry, steps: Object.fromEntries(left) }]
  })
  const isForAll =
    others.every(({ key }) => key !== first.entry.key) && [...byName.values()].every((own) => isEverywhere(own))
  const steps = Object.fromEntries([...byName].sort(byFirst).map(([name, own]) => [name, stepsOf(own)]))
  return [...others, entryOf(first.entry, isForAll ? undefined : steps)]
}

function byFirst([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}

function isEverywhere(same: readonly Reviewed[]): boolean {
  return same.some(({ entry }) => entry.isEverywhere)
}

function stepsOf(same: readonly Reviewed[]): readonly number[] {
  return [...new Set(same.flatMap(({ entry }) => entry.steps))].sort((a, b) => a - b)
}

/** As a file has it, the steps beside the words. */
function entryOf<Steps>(entry: ReviewedChange, steps: Steps | undefined) {
  const { key, what, was, now, words, reason, by, at } = entry
  return {
    key,
    what,
    was,
    now,
    words,
    ...(steps !== undefined && { steps }),
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
    ...(at !== undefined && { at }),
  }
}

/** One entry a key, the newest. */
function together(before: readonly AcceptedChange[], added: readonly AcceptedChange[]): readonly AcceptedChange[] {
  const keys = new Set(added.map(({ key }) => key))
  return [...before.filter(({ key }) => !keys.has(key)), ...added]
}
