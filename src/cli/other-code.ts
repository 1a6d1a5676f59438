import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { sameJson } from '../json/same.ts'
import { HarvestError } from '../errors/index.ts'
import type { Job } from '../jobs/index.ts'
import { runJobs } from '../jobs/run.ts'
import { acceptedPins, type CasePins, type ChangedFile, changedFilesSince } from '../provenance/index.ts'
import type { Json } from '../tape/index.ts'

/** The run whose code is asked about: its tape, and its agent or case. */
export interface CodeSubject extends Pick<Job, 'tape' | 'agent' | 'case'> {
  readonly caseId?: string | undefined
}

interface TypedSubject extends CodeSubject {
  /** Its agent was named on the command line. */
  readonly isTyped: boolean
}

/**
 * Files that changed since a run was recorded and that it depends on: what it loads and reads when it is replayed, the packages
 * that are installed, and anything that cannot be ruled out. Other files are other code only by name.
 *
 * @returns `undefined` when that cannot be said
 * @throws HarvestError `HARVEST_AGENT_UNKNOWN`: whoever mistyped the agent wants to know that first
 */
export async function changedDependencies(
  pins: CasePins,
  subject: TypedSubject,
): Promise<readonly string[] | undefined> {
  const { commit, dirty } = acceptedPins(pins)
  const isKnown = commit !== undefined && dirty !== true
  const changed = isKnown ? await changedFilesSince(process.cwd(), commit) : undefined
  const suspects = changed?.filter((file) => !isHarmless(file))
  if (suspects?.length === 0) return []
  if (suspects === undefined && !subject.isTyped) return undefined
  const used = await usedFiles(subject)
  return used && suspects?.filter((file) => dependsOn(file, used)).map(({ path }) => path)
}

/**
 * Which of earlier code differs from today's in nothing that a run depends on, as {@link changedDependencies} looks at it; and for
 * each the changed scripts that the run does not load, as absolute paths.
 *
 * @param root - the folder that their paths are seen from
 * @param changed - paths that are not as they were, for each
 */
export async function alikeCodes(
  changed: ReadonlyMap<string, readonly string[]>,
  subject: TypedSubject,
  root: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const suspects = new Map(
    [...changed].map(([code, paths]) => [
      code,
      paths.map((path): ChangedFile => ({ path, absolute: join(root, path) })).filter((file) => !isHarmless(file)),
    ]),
  )
  // Who reads a file that is no script is unknown: what is loaded says nothing of it.
  const open = [...suspects].filter(([, files]) => files.every(({ path }) => isScript(path)))
  const used = open.some(([, files]) => files.length > 0) ? await usedFiles(subject) : new Set<string>()
  if (used === undefined) return new Map()
  const alike = open.filter(([, files]) => !files.some((file) => dependsOn(file, used)))
  return new Map(alike.map(([code, files]) => [code, files.map(({ absolute }) => absolute)]))
}

/** Describes the project to people and machines that do not run it; the config of the tests is no part of the agent. */
const describing =
  /^(?:\.git(?:ignore|attributes|modules)|\.editorconfig|CODEOWNERS|(?:LICENSE|README|CHANGELOG|CONTRIBUTING|SECURITY)(?:\.\w+)?)$|^(?:vitest|vite)\.config\.[cm]?[jt]s$/
const describingFolder = /^(?:\.github|\.gitlab|\.vscode|\.idea|\.changeset|docs)\//

function isHarmless(file: ChangedFile): boolean {
  if (basename(file.path) === 'package.json') return isSameManifest(file)
  return describing.test(basename(file.path)) || describingFolder.test(file.path)
}

/** What of a manifest decides which code runs. */
const deciding = [
  'type',
  'dependencies',
  'optionalDependencies',
  'overrides',
  'resolutions',
  'imports',
  'exports',
  'main',
]

function isSameManifest({ absolute, before }: ChangedFile): boolean {
  if (before === undefined || !existsSync(absolute)) return false
  try {
    const [was, now] = [before, readFileSync(absolute, 'utf8')].map((text) => JSON.parse(text) as Record<string, Json>)
    return deciding.every((key) => sameJson(was?.[key] ?? null, now?.[key] ?? null))
  } catch (error) {
    // Half written: what it will say is unknown.
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** The files of a replay; `undefined` when it does not come about or loads more than a replay shows. */
async function usedFiles({ isTyped, caseId: _, ...subject }: TypedSubject): Promise<ReadonlySet<string> | undefined> {
  const [run] = await runJobs([{ ...subject, namesFiles: true }])
  if (isTyped && HarvestError.is(run, 'HARVEST_AGENT_UNKNOWN')) throw run
  if (run === undefined || HarvestError.is(run) || run.files === undefined) return undefined
  const files = run.files.filter((file) => existsSync(file)).map((file) => realpathSync(file))
  // What is imported later need not be imported in a replay.
  const isLazy = files.some((file) => isScript(file) && /\bimport\s*\(/.test(readFileSync(file, 'utf8')))
  return isLazy ? undefined : new Set(files)
}

function isScript(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file)
}

/**
 * A script that is not loaded is not run; of any other file it is unknown who reads it. One that git does not know may have been there
 * when the run was recorded: alone it makes no other code, and beside a changed file it makes none either, unless the run reads it.
 */
function dependsOn({ path, absolute, isUnknown }: ChangedFile, used: ReadonlySet<string>): boolean {
  if (!isScript(path) && isUnknown !== true) return true
  return used.has(existsSync(absolute) ? realpathSync(absolute) : absolute)
}
