import path from 'node:path'
import { printedPath } from '../errors/here.ts'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { isWithin } from './asked-folder.ts'
import { beyond, realPath } from './exact-cases.ts'
import { mostFiles, type UpdateChoice } from './update-mode.ts'

/** Files of one kind, cases or hand-written tests; absolute paths. */
export interface FilesOfRun {
  readonly ran: readonly string[]
  /** Whose new behaviour or changed questions the run would accept. */
  readonly accepting: readonly string[]
}

/** How a run was narrowed. */
export interface Narrowing {
  /** Words that choose files, as Vitest was given them. */
  readonly names: readonly string[]
  /** The folder of `--dir`, as typed. */
  readonly dir?: string
  /** Absolute root, which that folder is below. */
  readonly root: string
  /** Options that choose tests without naming files, as they are typed: `--shard=1/2`. */
  readonly chosenBy: readonly string[]
  /** Arguments that the same run needs again, such as `--root`. */
  readonly again: readonly string[]
}

/**
 * Why a run that was narrowed may not write what it accepts: it would be more than was named. Files, folders and projects name
 * something; every other option chooses by what happens to be so today. The mode `new` writes what was never reviewed, as Vitest
 * does with snapshots, and is not held back.
 */
export function narrowedUpdate(
  choice: UpdateChoice,
  kinds: readonly FilesOfRun[],
  narrowing: Narrowing,
): HarvestError | undefined {
  const { names, dir, root, chosenBy, again } = narrowing
  const all = [...new Set(kinds.flatMap(({ accepting }) => accepting))].sort()
  if (choice.mode === 'none' || choice.mode === 'new' || all.length === 0) return undefined
  const command = (files: readonly string[]): string => updateCommand(choice, files, again)
  const forAll = all.length > mostFiles ? [] : [`to update ${all.length === 1 ? 'it' : 'all of them'}: ${command(all)}`]
  const forOne = (file: string): string => `to update one: ${command([file])}`
  const given = [...names, ...(dir === undefined ? [] : ['--dir', dir])]
  const [option] = chosenBy
  if (option !== undefined)
    return new HarvestError('HARVEST_UPDATE_PARTIAL', {
      what: `Cannot update recordings with ${neutralLine(option, 60)}; nothing was written`,
      where: {
        ...(chosenBy.length > 1 && { given: neutralLine(chosenBy.join(' '), 200) }),
        'to be written': listed(all),
      },
      why: 'An update writes what is named by files, folders or projects. This option names none of them.',
      fix: [
        ...(forAll.length > 0 ? forAll : [forOne(all[0] ?? '')]),
        `or without the option: ${updateCommand(choice, [], [...given, ...again])}`,
      ],
    })
  if (given.length === 0) return undefined
  const folder = dir === undefined ? undefined : realPath(path.resolve(root, dir))
  const unnamed = new Set([
    ...(names.length === 0 ? [] : kinds.flatMap(({ accepting, ran }) => beyond(accepting, ran, names))),
    ...all.filter((file) => folder !== undefined && !isWithin(realPath(file), folder)),
  ])
  const more = all.filter((file) => unnamed.has(file))
  if (more.length === 0) return undefined
  const named = all.filter((file) => !unnamed.has(file))
  const isNamed = named.length > 0 && named.length <= mostFiles
  const one = isNamed ? `to update what was named: ${command(named)}` : forOne(more[0] ?? '')
  return new HarvestError('HARVEST_UPDATE_PARTIAL', {
    what: 'Cannot update more than was named; nothing was written',
    where: {
      'given words': neutralLine(given.join(' '), 200),
      ...(named.length > 0 && { named: listed(named) }),
      'not named': listed(more),
    },
    why:
      names.length === 0
        ? 'These lie outside of the folder of `--dir`, which is that of the tests.'
        : 'Vitest looks for a word in all of a path. An update renews and accepts what was reviewed, file by file.',
    fix: [...(all.length === 1 ? [] : [one]), ...forAll],
  })
}

/**
 * The command that updates files, as its mode and its reason have to be typed.
 *
 * @param again - arguments behind them
 */
export function updateCommand(
  { mode, reason }: UpdateChoice,
  files: readonly string[],
  again: readonly string[],
): string {
  const words = [
    ...files.map(printedPath),
    mode === 'all' ? '--update-recordings' : `--update-recordings=${mode}`,
    ...(reason === undefined ? [] : ['--reason', reason]),
    ...again,
  ]
  return `npx vitest-harvest test ${words.map(shellWord).join(' ')}`
}

/** Files one below the other, safe to print; the first ten. */
export function listed(files: readonly string[]): string {
  const shown = files.slice(0, 10).map((file) => neutralLine(printedPath(file), 200))
  return [...shown, ...(files.length > shown.length ? [`and ${files.length - shown.length} more`] : [])].join('\n')
}
