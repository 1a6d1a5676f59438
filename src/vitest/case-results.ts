import path from 'node:path'
import type { TestCase, TestModule } from 'vitest/node'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { lineDiff } from '../errors/line-diff.ts'
import { neutralLines } from './neutral-lines.ts'
import { toPosix } from './posix.ts'
import { isOwn, projectName } from './project.ts'
import type { LostCase } from './running-cases.ts'
import type { CaseError, CaseResult, FileLine } from './summary.ts'

/**
 * What became of the cases of a run, from what Vitest keeps of each test and nothing else: it is the same when reports
 * of runs elsewhere are merged.
 *
 * @param updated - absolute paths of the cases that were rewritten; `undefined` when only their runs know
 * @param lost - cases whose worker ended while they ran
 */
export function caseResults(
  modules: readonly TestModule[],
  updated: ReadonlySet<string> | undefined,
  lost: readonly LostCase[] = [],
): readonly CaseResult[] {
  const nameOf = namesWithin(modules)
  const errors = new Map(lost.map(({ test, error }) => [test.id, error]))
  return modules.filter(isCaseModule).flatMap((module) => {
    const tests = [...module.children.allTests()]
    const found = tests.flatMap((test) => resultOf(test, module, updated, errors.get(test.id), nameOf(test)) ?? [])
    return found.length === 0 ? notCollected(module) : found
  })
}

export function isCaseModule({ project }: TestModule): boolean {
  return isOwn(project)
}

/**
 * What a summary calls a case or a hand-written test. Packages of a workspace may have the same names: theirs begin with the
 * project, as Vitest's own lines do; those of the root stay plain.
 */
export function namesWithin(modules: readonly TestModule[]): (test: TestCase) => string {
  const projects = new Map<string, Set<string>>()
  for (const module of modules)
    for (const test of module.children.allTests()) {
      const name = plainName(test)
      projects.set(name, (projects.get(name) ?? new Set()).add(module.project.name))
    }
  return (test) => {
    const name = plainName(test)
    const project = test.project.name
    const isOther = project !== '' && project !== projectName
    return isOther && (projects.get(name)?.size ?? 0) > 1 ? `|${neutralLine(project)}| ${name}` : name
  }
}

/** The suite has the name of the case, see generateCaseModule. */
function plainName(test: TestCase): string {
  const { harvest } = test.meta()
  if (harvest === undefined) return test.fullName
  return test.parent.type === 'suite' ? test.parent.name : harvest.case
}

function resultOf(
  test: TestCase,
  module: TestModule,
  updated: ReadonlySet<string> | undefined,
  lost: HarvestError | undefined,
  name: string,
): CaseResult | undefined {
  const report = test.meta().harvest
  if (report === undefined) return undefined
  const { state, errors } = test.result()
  const isUpdated = updated === undefined ? report.updated !== undefined : updated.has(module.moduleId)
  if (lost !== undefined) {
    const failure = { message: neutralLines(lost.message), place: { file: module.moduleId, line: 1, column: 1 } }
    return { name, state: 'failed', report: { ...report, code: lost.code }, failure }
  }
  return {
    name,
    state,
    report,
    isUpdated,
    ...(state === 'failed' && { failure: failureOf(errors, module, report.code) }),
  }
}

/** A case whose test could not even be made. */
function notCollected(module: TestModule): readonly CaseResult[] {
  if (module.state() !== 'failed') return []
  const name = neutralLine(toPosix(module.relativeModuleId), 300)
  return [{ name, state: 'failed', report: { case: name }, failure: failureOf(module.errors(), module) }]
}

function failureOf(errors: readonly object[] | undefined, { moduleId }: TestModule, code?: string): CaseError {
  const [error] = errors ?? []
  const message: unknown = error === undefined ? undefined : Reflect.get(error, 'message')
  const frames: unknown = error === undefined ? undefined : Reflect.get(error, 'stacks')
  const known = Array.isArray(frames) ? frames.filter(isFrame) : []
  const site = known.find(({ file }) => path.resolve(file) !== path.resolve(moduleId))
  return {
    message: neutralLines(typeof message === 'string' ? message : 'no error was reported'),
    place: known.find((frame) => frame !== site) ?? { file: moduleId, line: 1, column: 1 },
    ...(site !== undefined && { site }),
    ...(code === 'HARVEST_OUTCOME' && outcomeDiff(error)),
  }
}

/** Expected and received of an outcome. The message has them of nothing else: a trace is in it, line by line. */
function outcomeDiff(error: object | undefined): { readonly diff?: string } {
  const [expected, actual] = ['expected', 'actual'].map((name): unknown => error && Reflect.get(error, name))
  if (typeof expected !== 'string' || typeof actual !== 'string') return {}
  return { diff: neutralLines(lineDiff(expected, actual)) }
}

function isFrame(value: unknown): value is FileLine {
  return typeof value === 'object' && value !== null && 'file' in value && 'line' in value && 'column' in value
}

/** Absolute paths of the cases of which a test ran, or could not be collected. */
export function casesRun(modules: readonly TestModule[]): readonly string[] {
  return modules
    .filter((module) => isCaseModule(module))
    .filter(({ children }) => {
      const tests = [...children.allTests()]
      return tests.length === 0 || tests.some((test) => test.result().state !== 'skipped')
    })
    .map(({ moduleId }) => moduleId)
}
