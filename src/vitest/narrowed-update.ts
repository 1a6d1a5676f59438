import { printedPath } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { beyond } from './exact-cases.ts'
import { ofTestNames } from './requested-mode.ts'
import type { UpdateChoice } from './update-mode.ts'

/** Files of one kind, cases or hand-written tests; absolute paths. */
export interface FilesOfRun {
  readonly ran: readonly string[]
  /** Whose new behaviour or changed questions the run would accept. */
  readonly accepting: readonly string[]
}

/** Files that one command names. More are named by their folder. */
const mostFiles = 20

/** How a run was narrowed. */
export interface Narrowing {
  /** Words that choose files, as Vitest was given them. */
  readonly names: readonly string[]
  /** Of the names of the tests that ran. */
  readonly pattern?: RegExp
  /** Arguments that the same run needs again, such as `--root`. */
  readonly again: readonly string[]
}

/**
 * Why a run that was narrowed to some files may not write what it accepts: it would be more than was named. Vitest looks for its
 * words in all of a path. The mode `new` writes what was never reviewed, as Vitest does with snapshots, and is not held back.
 */
export function narrowedUpdate(
  { mode, reason }: UpdateChoice,
  kinds: readonly FilesOfRun[],
  { names, pattern, again }: Narrowing,
): HarvestError | undefined {
  const all = [...new Set(kinds.flatMap(({ accepting }) => accepting))].sort()
  if (mode === 'none' || mode === 'new' || all.length === 0) return undefined
  const flags = [
    mode === 'all' ? '--update-recordings' : `--update-recordings=${mode}`,
    ...(reason === undefined ? [] : ['--reason', reason]),
    ...again,
  ]
  const command = (files: readonly string[]): string =>
    `npx vitest-harvest test ${[...files.map(printedPath), ...flags].map(shellWord).join(' ')}`
  const forAll = all.length > mostFiles ? [] : [`to update ${all.length === 1 ? 'it' : 'all of them'}: ${command(all)}`]
  if (pattern !== undefined) return ofTestNames(pattern, forAll.length > 0 ? forAll : [command(all.slice(0, 1))])
  if (names.length === 0) return undefined
  const unnamed = new Set(kinds.flatMap(({ accepting, ran }) => beyond(accepting, ran, names)))
  const more = all.filter((file) => unnamed.has(file))
  if (more.length === 0) return undefined
  const named = all.filter((file) => !unnamed.has(file))
  const [first] = more
  const isNamed = named.length > 0 && named.length <= mostFiles
  const one = isNamed ? `to update what was named: ${command(named)}` : `to update one: ${command([first ?? ''])}`
  return new HarvestError('HARVEST_UPDATE_PARTIAL', {
    what: 'Cannot update more than was named; nothing was written',
    where: {
      'given words': neutralLine(names.join(' '), 200),
      ...(named.length > 0 && { named: listed(named) }),
      'not named': listed(more),
    },
    why: 'Vitest looks for a word in all of a path. An update renews and accepts what was reviewed, file by file.',
    fix: [...(all.length === 1 ? [] : [one]), ...forAll],
  })
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, 10).map((file) => neutralLine(printedPath(file), 200))
  return [...shown, ...(files.length > shown.length ? [`and ${files.length - shown.length} more`] : [])].join('\n')
}
