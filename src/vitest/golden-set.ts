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
    const elsewhere = existsSync(recordings) ? [] : casesBeside(recordings)
    return elsewhere.length === 0 ? nothing : { errors: [folderMissing(elsewhere, folder)], warnings: [] }
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
  const cwd = path.dirname(recordings)
  return existsSync(cwd) ? fs.globSync('*/golden/**/*.case.{yaml,yml}', { cwd }).map(toPosix).sort() : []
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
