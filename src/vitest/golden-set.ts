import fs, { existsSync } from 'node:fs'
import path from 'node:path'
import type { TestModule } from 'vitest/node'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { isCaseModule } from './case-results.ts'
import { toPosix } from './posix.ts'
import type { CaseResult, SummaryLine } from './summary.ts'
import {
  duplicateErrors,
  folderMissing,
  noCasesCollected,
  notCollected,
  obsoleteTapes,
  skippedCases,
  surveyRecordings,
} from './survey.ts'
import { unattended } from './update-mode.ts'

/** What a run was asked for: all tests, a part of them, the part of a shard, or the reports of runs elsewhere. */
export type Scope = 'all' | 'part' | 'shard' | 'merge'

export interface Looked {
  /** What makes the run red. */
  readonly errors: readonly HarvestError[]
  /** What is reported on a developer's machine and is an error in CI. */
  readonly warnings: readonly SummaryLine[]
}

/** The run that is over. */
export interface EndedRun {
  readonly scope: Scope
  readonly modules: readonly TestModule[]
  /** Absolute paths of the cases that were to run, also of those that a worker did not come to. */
  readonly queued: readonly string[]
  readonly results: readonly CaseResult[]
  /** Absolute folders. */
  readonly root: string
  readonly recordings: string
  /** A path as people read it. */
  readonly shown: (file: string) => string
  /** Whether the folder was there when the run began: tests may have recorded since. */
  readonly wasThere: boolean
  /** Of the project; absolute. */
  readonly configFile?: string | undefined
  /** Folders of the other golden sets of the run; absolute. */
  readonly others: readonly string[]
  /** Whether files were asked for by name: then to skip one is no answer. */
  readonly isNamed?: boolean
}

/**
 * Looks at the golden set as a whole, for what no case can notice of itself: two cases with one id, a tape without its
 * case, a case that was not run.
 */
export async function lookAtGoldenSet(run: EndedRun): Promise<Looked> {
  const { scope, modules, queued, results, root, recordings, shown } = run
  const isQueued = (file: string) => queued.includes(path.join(recordings, file))
  const ran = modules.some(isCaseModule) || queued.some((file) => file.startsWith(recordings + path.sep))
  // Merged reports have all cases, unless one of the runs was asked for a part of them.
  const isWhole = scope === 'all' || (scope === 'merge' && ran && !results.some(({ report }) => report.isPart))
  if (!ran && !isWhole) return nothing
  const survey = surveyRecordings(recordings)
  const folder = shown(recordings)
  if (!ran && survey.isEmpty) {
    const elsewhere = existsSync(recordings) ? [] : [...casesBeside(recordings), ...casesAbove(run)]
    if (elsewhere.length > 0) return { errors: [folderMissing(elsewhere.map(shown), folder)], warnings: [] }
    const isAlone = unattended(process.env) !== undefined
    if (!run.wasThere)
      return { errors: [], warnings: isAlone ? [['Recordings', `no case: there is no ${folder}`]] : [] }
    return isAlone
      ? { errors: [noCasesCollected(survey, folder)], warnings: [] }
      : { errors: [], warnings: [['Recordings', `no case in ${folder}; CI fails on it`]] }
  }
  const errors = [...(await duplicateErrors(survey, recordings)), ...(ran ? [] : [noCasesCollected(survey, folder)])]
  const below = toPosix(path.relative(root, recordings))
  const left = isWhole && ran ? notAmong(modules, survey.cases, below).filter((file) => !isQueued(file)) : []
  const { obsolete } = survey
  const skipped = modules.filter(isSkipped)
  const skips =
    skipped.length === 0 ? [] : [skippedCases(skipped.map(pathOf), shown(root), skipped.flatMap(notesOf).at(0))]
  if (unattended(process.env) === undefined) {
    return {
      errors: [...errors, ...(run.isNamed ? skips : [])],
      warnings: [
        ...warning('Not run', left, 'case(s) the config keeps out'),
        ...(run.isNamed
          ? []
          : warning('Not run', skipped.map(pathOf), 'case(s) that a set-up file or the config skips')),
        ...warning('Obsolete', obsolete, 'tape(s) without a case'),
      ],
    }
  }
  return {
    errors: [
      ...errors,
      ...(left.length > 0 ? [notCollected(left, folder)] : []),
      ...skips,
      ...(obsolete.length > 0 ? [obsoleteTapes(obsolete, folder)] : []),
    ],
    warnings: [],
  }
}

/** Cases in folders beside one that is not there: its name may be a slip. */
function casesBeside(recordings: string): readonly string[] {
  return casesIn(path.dirname(recordings), '*/golden')
}

/** Cases that lie beside the `root` of a config: in the folder of the config, and up to that of the package. */
function casesAbove({ root, recordings, configFile, others }: EndedRun): readonly string[] {
  const starts = [root, ...(configFile === undefined ? [] : [path.dirname(configFile)])]
  const folders = starts.flatMap(upToPackage).map((folder) => path.resolve(folder, path.relative(root, recordings)))
  return [...new Set(folders)]
    .filter((folder) => !others.includes(folder))
    .flatMap((folder) => casesIn(folder, 'golden'))
}

/** A folder and those above it, up to the one of its package; the folder alone where there is no package. */
function upToPackage(folder: string): readonly string[] {
  const above = [folder]
  for (let at = folder; ; at = path.dirname(at)) {
    if (at !== folder) above.push(at)
    if (['package.json', '.git'].some((name) => existsSync(path.join(at, name)))) return above
    if (path.dirname(at) === at) return [folder]
  }
}

/** Absolute paths. */
function casesIn(cwd: string, below: string): readonly string[] {
  if (!existsSync(cwd)) return []
  return fs
    .globSync(`${below}/**/*.case.{yaml,yml}`, { cwd })
    .map((file) => path.join(cwd, file))
    .sort()
}

const nothing: Looked = { errors: [], warnings: [] }

/** Skipped by what holds for every run: a set-up file, the config. An argument of this run has marked its tests. */
function isSkipped(module: TestModule): boolean {
  const tests = isCaseModule(module) ? [...module.children.allTests()] : []
  return (
    tests.length > 0 &&
    tests.every((test) => test.result().state === 'skipped' && test.meta().harvestFiltered === undefined)
  )
}

function pathOf({ relativeModuleId }: TestModule): string {
  return toPosix(relativeModuleId)
}

/** What the one who skipped says. */
function notesOf({ children }: TestModule): readonly string[] {
  return [...children.allTests()].flatMap((test) => {
    const result = test.result()
    return result.state === 'skipped' && result.note !== undefined ? [neutralLine(result.note, 200)] : []
  })
}

/** By the path below the root: reports from elsewhere have other absolute paths. */
function notAmong(modules: readonly TestModule[], cases: readonly string[], folder: string): readonly string[] {
  const collected = new Set(modules.filter(isCaseModule).map(pathOf))
  return cases.filter((file) => !collected.has(path.posix.join(folder, file)))
}

function warning(label: string, files: readonly string[], what: string): readonly SummaryLine[] {
  return files.length === 0 ? [] : [[label, `${files.length} ${what}; CI fails on them`]]
}
