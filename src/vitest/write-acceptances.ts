import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { AcceptedChange } from '../cases/index.ts'
import type { CaseAcceptance } from './channel.ts'
import { textHash, type Written, writeUpdates } from './write-updates.ts'

/**
 * Writes what a run accepted. A change that several cases have, or a hand-written test, is accepted once for all of them,
 * in the file of the recordings; a change of one case goes into the case.
 *
 * @param acceptedFile - absolute path of the file for all cases; it is made when it is needed
 */
export async function writeAcceptances(acceptances: readonly CaseAcceptance[], acceptedFile: string): Promise<Written> {
  if (acceptances.length === 0) return { written: [], skipped: [] }
  // Only a run that accepts something pays for YAML.
  const { parseCase, readAcceptedFile, updateCase, writeAccepted } = await import('../cases/index.ts')
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
    return { file, before: textHash(text), text: updateCase(text, { accepted }, file) }
  })
  const fresh = shared.filter(({ key }) => !known.has(key))
  if (fresh.length > 0) {
    // A project of hand-written tests need not have recordings of its own.
    mkdirSync(path.dirname(acceptedFile), { recursive: true })
    const text = existsSync(acceptedFile) ? readFileSync(acceptedFile, 'utf8') : undefined
    updates.push({
      file: acceptedFile,
      before: textHash(text ?? ''),
      text: writeAccepted(text, together(forAll, fresh), acceptedFile),
    })
  }
  return writeUpdates(updates)
}

/**
 * Takes acceptances out of the file for all cases that nobody asks any more.
 *
 * @param asked - keys of all changes that a whole run met
 */
export async function forgetAcceptances(asked: ReadonlySet<string>, acceptedFile: string): Promise<Written> {
  const { readAcceptedFile, writeAccepted } = await import('../cases/index.ts')
  const before = readAcceptedFile(acceptedFile)
  const left = before.filter(({ key }) => asked.has(key))
  if (left.length === before.length) return { written: [], skipped: [] }
  const text = readFileSync(acceptedFile, 'utf8')
  return writeUpdates([{ file: acceptedFile, before: textHash(text), text: writeAccepted(text, left, acceptedFile) }])
}

/** One entry a key, the newest. */
function together(before: readonly AcceptedChange[], added: readonly AcceptedChange[]): readonly AcceptedChange[] {
  const keys = new Set(added.map(({ key }) => key))
  return [...before.filter(({ key }) => !keys.has(key)), ...added]
}
