import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { formerTapesIn } from '../cases/former-tapes.ts'
import { hasPragma } from '../cases/pragma.ts'
import { sharedFolder } from '../tape/shared-read.ts'
import { isCaseId, readHead } from './case-head.ts'
import { toPosix } from './posix.ts'

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
    const text = readFileSync(path.join(recordings, file), 'utf8')
    const { id, tape } = readHead(text)
    for (const name of [...(tape.value === undefined ? [] : [tape.value]), ...formerTapesIn(text)])
      asserted.add(path.posix.join(path.posix.dirname(file), name))
    if (id.value !== undefined) byId.set(id.value, [...(byId.get(id.value) ?? []), file])
  }
  return {
    isEmpty: files.length === 0,
    cases,
    // What a process keeps serves all cases.
    obsolete: files.filter(
      (file) => file.endsWith('.tape.jsonl') && !asserted.has(file) && path.posix.dirname(file) !== sharedFolder,
    ),
    duplicates: [...byId].filter(([, list]) => list.length > 1).map(([id, list]) => ({ id, files: list })),
  }
}

/** Errors of ids that more than one case has. Parses the cases concerned, and no others. */
export async function duplicateErrors(survey: Survey, recordings: string): Promise<readonly HarvestError[]> {
  if (survey.duplicates.length === 0) return []
  // The config process parses YAML for this message only.
  const { findDuplicateIds, loadCase } = await import('../cases/index.ts')
  const files = survey.duplicates.flatMap((duplicate) => duplicate.files)
  const cases = files.flatMap((file) => {
    try {
      return [loadCase(path.join(recordings, file))]
    } catch (error) {
      // Its own test is red for what is wrong with it.
      if (HarvestError.is(error)) return []
      throw error
    }
  })
  return findDuplicateIds(cases).map(({ error }) => error)
}

/** Text in a case that Vitest itself obeys, found before the run: afterwards the workers are gone that could tell. */
export function pragmaErrors(files: readonly string[]): readonly HarvestError[] {
  return files.flatMap((file) => {
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
    const line = lines.findIndex(hasPragma)
    return line < 0 ? [] : [pragmaError(`${file}:${line + 1}`)]
  })
}

function pragmaError(place: string): HarvestError {
  return new HarvestError('HARVEST_CASE_PRAGMA', {
    what: 'A case contains text that Vitest reads as a directive',
    where: { case: place },
    why: 'Vitest reads directives such as @vitest-environment anywhere in a test file, cases included.',
    fix: ['put the text in double quotes and write the @ as \\x40: "\\x40vitest-environment"'],
  })
}

/** With other include patterns Vitest leaves cases out without a word, and the run is green. */
export function noCasesCollected(survey: Survey, folder: string): HarvestError {
  return new HarvestError('HARVEST_NO_CASES', {
    what: 'No case of the recordings folder ran',
    where: { folder, cases: `${survey.cases.length} on disk, 0 collected` },
    why:
      survey.cases.length === 0
        ? 'Case files end in `.case.yaml`; no such file is outside the inbox.'
        : 'The Vitest config excludes them: `exclude`, `dir`, or `recordings` with another folder.',
    fix: [
      survey.cases.length === 0
        ? "promote a tape: npx vitest-harvest promote '<tape>' --as '<id>'"
        : 'compare harvest({ recordings }) and test.exclude in vitest.config.ts with the folder',
    ],
  })
}

/** The folder of the option is not there, and cases lie beside it or beside the `root`. */
export function folderMissing(elsewhere: readonly string[], folder: string): HarvestError {
  return new HarvestError('HARVEST_NO_CASES', {
    what: 'The recordings folder does not exist, but other folders have cases',
    where: { folder, cases: listed(elsewhere, '') },
    why: 'None of these cases was run.',
    fix: [
      'correct harvest({ recordings }) in vitest.config.ts',
      'or its `root`: the folder of recordings and the agents are looked for below it',
    ],
  })
}

/** Cases that lie there and are no test: each would go on to be green for ever. */
export function notCollected(left: readonly string[], folder: string): HarvestError {
  return new HarvestError('HARVEST_CASE_NOT_COLLECTED', {
    what: 'A case in the recordings folder was not run',
    where: { cases: listed(left, folder) },
    why: 'The Vitest config or arguments exclude it, or the report of a shard is missing.',
    fix: [
      'compare test.exclude in vitest.config.ts with the name of the case',
      'after shards: look in their logs for a worker that ended',
    ],
  })
}

/** Cases that the run was asked for by name, and left out for another reason. */
export function namedCases(left: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_CASE_NOT_COLLECTED', {
    what: 'A case that was asked for by name did not run',
    where: { cases: listed(left, '') },
    why: 'The Vitest config or another argument of this run leaves it out.',
    fix: [
      'compare test.exclude in vitest.config.ts with the name of the case',
      'run it without --project, -t and --tags-filter',
    ],
  })
}

/**
 * Cases that Vitest took for tests and did not run.
 *
 * @param note - what the one who skipped says
 */
export function skippedCases(skipped: readonly string[], folder: string, note: string | undefined): HarvestError {
  return new HarvestError('HARVEST_CASE_NOT_COLLECTED', {
    what: 'A case was skipped',
    where: { cases: listed(skipped, folder), ...(note !== undefined && { note }) },
    why: 'A set-up file or the Vitest config skips it in every run, and a case that does not run proves nothing.',
    fix: [
      'look for skip() and .only in the files of test.setupFiles: no case needs a key or a network',
      'look for test.testNamePattern and test.tagsFilter in vitest.config.ts; as arguments they hold for one run: -t, --tags-filter',
    ],
  })
}

/** A golden tape without a case asserts nothing: someone deleted the test and left the evidence. */
export function obsoleteTapes(obsolete: readonly string[], folder: string): HarvestError {
  return new HarvestError('HARVEST_TAPE_OBSOLETE', {
    what: 'A tape in the golden set has no case',
    where: { tapes: listed(obsolete, folder) },
    why: 'Without a case, changes of the agent go unnoticed.',
    fix: ["write the case again: npx vitest-harvest promote '<tape>' --as '<id>'", 'or delete the tape'],
  })
}

function listed(files: readonly string[], folder: string): string {
  const shown = files.slice(0, 9).map((file) => neutralLine(folder === '' ? file : `${folder}/${file}`))
  const more = files.length - shown.length
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

function listFiles(recordings: string): readonly string[] {
  if (!existsSync(recordings)) return []
  return readdirSync(recordings, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
    .map((entry) => toPosix(path.relative(recordings, path.join(entry.parentPath, entry.name))))
    .filter((file) => !file.startsWith('inbox/'))
    .sort()
}
