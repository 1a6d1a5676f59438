import fs, { statSync } from 'node:fs'
import path from 'node:path'
import { neutralLine } from '../errors/index.ts'
import { toPosix } from './posix.ts'
import type { GoldenSetProject } from './project.ts'
import type { CaseResult, SummaryLine } from './summary.ts'

/** Files that cases read and Vitest does not follow, and what to put into `deps`. */
export function unfollowed(set: GoldenSetProject, results: readonly CaseResult[]): readonly SummaryLine[] {
  const reads = new Map<string, number>()
  for (const { report } of results) for (const file of report.reads ?? []) reads.set(file, (reads.get(file) ?? 0) + 1)
  if (reads.size === 0) return []
  const deps = set.deps.length === 0 ? [] : fs.globSync([...set.deps], { cwd: set.root })
  const followed = new Set(deps.map((file) => toPosix(path.relative(set.root, path.resolve(set.root, file)))))
  const recordings = toPosix(path.relative(set.root, set.recordings))
  const left = [...reads].filter(([file]) => {
    const isFile = statSync(path.join(set.root, file), { throwIfNoEntry: false })?.isFile() === true
    return isFile && !followed.has(file) && !file.startsWith(`${recordings}/`)
  })
  const [first] = left
  if (first === undefined) return []
  const lines = left.slice(0, 9).map(([file, count], at): SummaryLine => {
    const cases = `${count} case${count === 1 ? '' : 's'}`
    return [at === 0 ? 'Read' : '', `${neutralLine(file, 300)} (${cases})`]
  })
  const more = left.length > 9 ? [['', `and ${left.length - 9} more`] as const] : []
  const shown = left.slice(0, 3).map(([file]) => `'${neutralLine(file, 300)}'`)
  return [
    ...lines,
    ...more,
    ['', 'watch mode, --changed and related do not follow files that an agent reads by itself'],
    ['', `to follow them: harvest({ deps: [${shown.join(', ')}${left.length > 3 ? ', …' : ''}] })`],
  ]
}
