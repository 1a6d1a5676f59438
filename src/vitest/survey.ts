import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { HarvestError } from '../errors/index.ts'
import { isCaseId, readHead } from './case-module.ts'
import { toPosix } from './options.ts'

/** What lies in the recordings folder, the inbox left out. Paths are relative to it, with `/`. */
export interface Survey {
  /** Whether there is anything at all. */
  readonly isEmpty: boolean
  readonly cases: readonly string[]
  /** Tapes that no case asserts anything about. */
  readonly obsolete: readonly string[]
  /** Ids that more than one case has, with the cases. */
  readonly duplicates: readonly { readonly id: string; readonly files: readonly string[] }[]
}

/** Looks through the recordings folder; reads the first lines of cases, and no tape. */
export function surveyRecordings(recordings: string): Survey {
  const files = listFiles(recordings)
  const cases = files.filter(isCaseId)
  const asserted = new Set<string>()
  const byId = new Map<string, string[]>()
  for (const file of cases) {
    const { id, tape } = readHead(readFileSync(path.join(recordings, file), 'utf8'))
    if (tape.value !== undefined) asserted.add(path.posix.join(path.posix.dirname(file), tape.value))
    if (id.value !== undefined) byId.set(id.value, [...(byId.get(id.value) ?? []), file])
  }
  return {
    isEmpty: files.length === 0,
    cases,
    obsolete: files.filter((file) => file.endsWith('.tape.jsonl') && !asserted.has(file)),
    duplicates: [...byId].filter(([, list]) => list.length > 1).map(([id, list]) => ({ id, files: list })),
  }
}

/** Errors of the folder as a whole, which no single case can show. */
export function surveyErrors(survey: Survey, folder: string): readonly HarvestError[] {
  return survey.duplicates.map(
    ({ id, files }) =>
      new HarvestError('HARVEST_CASE_DUPLICATE', {
        what: 'Two cases have the same id',
        where: { case: id, files: files.map((file) => `${folder}/${file}`).join('\n') },
        why: 'Commands name a case by its id; with two of them it would be chance which one is meant.',
        fix: ['give one of them another `case:`'],
      }),
  )
}

/** @see T14 in the host tests: with other include patterns Vitest leaves cases out without a word */
export function noCasesCollected(survey: Survey, folder: string): HarvestError {
  return new HarvestError('HARVEST_NO_CASES', {
    what: 'The recordings folder is there, but no case of it was run',
    where: { folder, cases: `${survey.cases.length} on disk, 0 collected` },
    why:
      survey.cases.length === 0
        ? 'Files of cases end in `.case.yaml`; there is none outside of the inbox.'
        : 'Something in the Vitest config keeps them out: `exclude`, `dir`, or a `recordings` option that names another folder.',
    fix: [
      survey.cases.length === 0
        ? 'promote a tape: npx harvest promote <tape>'
        : 'compare harvest({ recordings }) and test.exclude in vitest.config.ts with the folder',
    ],
  })
}

/** A golden tape without a case asserts nothing: somebody deleted the test and left the evidence. */
export function obsoleteTapes(obsolete: readonly string[], folder: string): HarvestError {
  const shown = obsolete.slice(0, 9).map((file) => `${folder}/${file}`)
  const more = obsolete.length - shown.length
  return new HarvestError('HARVEST_TAPE_OBSOLETE', {
    what: 'A tape in the golden set has no case',
    where: { tapes: [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n') },
    why: 'Nothing is asserted about it, so nothing would notice when the agent changes.',
    fix: ['write the case again: npx harvest promote <tape>', 'or delete the tape'],
  })
}

function listFiles(recordings: string): readonly string[] {
  if (!existsSync(recordings)) return []
  return readdirSync(recordings, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => toPosix(path.relative(recordings, path.join(entry.parentPath, entry.name))))
    .filter((file) => !file.startsWith('inbox/'))
    .sort()
}
