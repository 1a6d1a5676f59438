import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { AcceptedChange } from '../cases/index.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import type { CaseAcceptance } from './channel.ts'
import { textHash, type Written, writeUpdates } from './write-updates.ts'

/**
 * Writes what a run accepted. A change that several cases have, or a hand-written test, is accepted once for all of them,
 * in the file of the recordings; a change of one case goes into the case.
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
  const known = new Set(forAll.map(({ key }) => key))
  const asked = acceptances.flatMap(({ file, entries }) => entries.map((entry) => ({ file, entry })))
  const byKey = [...Map.groupBy(asked, ({ entry }) => entry.key).values()]
  const isShared = (same: typeof asked): boolean => new Set(same.map(({ file }) => file)).size > 1 || !same[0]?.file
  const shared = byKey.filter((same) => isShared(same)).flatMap(([first]) => (first ? [first.entry] : []))
  const own = Map.groupBy(
    byKey.filter((same) => !isShared(same)).flatMap((same) => same),
    ({ file = '' }) => file,
  )
  const updates = [...own].map(([file, added]) => {
    const text = readFileSync(file, 'utf8')
    const accepted = together(
      parseCase(text, file).accepted ?? [],
      added.map(({ entry }) => entry),
    )
    const pins = acceptances.find((one) => one.file === file)?.pins
    const changes = { accepted, ...(pins !== undefined && { pins }) }
    return { file, before: textHash(text), text: updateCase(text, changes, file) }
  })
  const fresh = shared.filter(({ key }) => !known.has(key))
  if (fresh.length > 0) {
    // A project of hand-written tests need not have recordings of its own.
    mkdirSync(path.dirname(acceptedFile), { recursive: true })
    const text = readAcceptedText(acceptedFile)
    updates.push({
      file: acceptedFile,
      before: textHash(text ?? ''),
      text: writeAccepted(text, together(forAll, fresh), acceptedFile),
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
function readSound(file: string, read: (file: string) => readonly AcceptedChange[]): readonly AcceptedChange[] {
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

/** One entry a key, the newest. */
function together(before: readonly AcceptedChange[], added: readonly AcceptedChange[]): readonly AcceptedChange[] {
  const keys = new Set(added.map(({ key }) => key))
  return [...before.filter(({ key }) => !keys.has(key)), ...added]
}
