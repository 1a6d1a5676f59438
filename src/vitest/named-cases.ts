import path from 'node:path'
import type { TestModule } from 'vitest/node'
import { isCaseModule } from './case-results.ts'
import { toPosix } from './posix.ts'
import { surveyRecordings } from './survey.ts'

/** A run that was asked for files by parts of their paths. */
export interface NamedRun {
  readonly names: readonly string[]
  /** Absolute. */
  readonly root: string
  /** Absolute folders of recordings, and whether their cases have a project in this run. */
  readonly folders: ReadonlyMap<string, boolean>
  readonly modules: readonly TestModule[]
  /** Absolute paths of the cases that were to run. */
  readonly queued: readonly string[]
}

/**
 * Cases that were asked for by name and did not run. A name that is only a part of their paths asks for tests as well: it found
 * nothing where no file of the run has it either. So does a name whose project was left out by name.
 */
export function namedNotRun({ names, root, folders, modules, queued }: NamedRun): readonly string[] {
  const files = [...queued, ...modules.map(({ moduleId }) => moduleId)]
  const skipped = modules.filter(isFilteredOut).map(({ moduleId }) => moduleId)
  const ran = new Set(files.filter((file) => !skipped.includes(file)))
  const cases = [...folders].flatMap(([folder, isHere]) =>
    surveyRecordings(folder).cases.map((file) => ({ file: path.join(folder, file), isHere })),
  )
  const found = names.flatMap((typed) => {
    const name = toPosix(typed).replace(/:\d+$/, '')
    const below = (file: string) => toPosix(path.relative(root, file))
    const has = (file: string) => below(file).includes(name) || toPosix(file) === toPosix(path.resolve(root, name))
    const isFound = files.some(has)
    return cases
      .filter(({ file, isHere }) => (isExact(below(file), name) && isHere) || (has(file) && !isFound))
      .map(({ file }) => file)
  })
  return [...new Set(found)].filter((file) => !ran.has(file))
}

/** A case goes by its path or its end, with or without the extension. */
function isExact(file: string, name: string): boolean {
  const bare = (text: string) => text.replace(/\.case\.ya?ml$/, '')
  return `/${bare(file)}`.endsWith(`/${bare(path.posix.normalize(name))}`)
}

/** An argument of the run skips all of it. */
function isFilteredOut(module: TestModule): boolean {
  const tests = isCaseModule(module) ? [...module.children.allTests()] : []
  return tests.length > 0 && tests.every((test) => test.meta().harvestFiltered === true)
}
