import { createHash } from 'node:crypto'
import path from 'node:path'
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config'
import type { TestProject, Vitest } from 'vitest/node'
import { casesBelow, folderOfCases } from './asked-folder.ts'
import type { GoldenSetProvided } from './channel.ts'
import { openCases, workerFlags } from './confined-workers.ts'
import { refuseUnsafeEntries } from './followed-links.ts'
import { jobModule } from './job-module.ts'
import type { HarvestSettings } from './options.ts'
import { ownPath } from '../own-files.ts'

/** Name of the project the plugin owns; `vitest --project recordings` runs the cases alone. */
export const projectName = 'recordings'

const setKey = 'vitest-harvest/set'

/** Whether a project is one of ours, no matter what it is called: a workspace has one for every package that has cases. */
export function isOwn(project: TestProject): boolean {
  return goldenSetOf(project.config) !== undefined
}

/** What our projects carry, and no other: the folder of their cases and the options they run with. */
export function goldenSetOf(test: object | undefined): GoldenSetProvided | undefined {
  const provided: unknown = test === undefined ? undefined : Reflect.get(test, 'provide')
  if (typeof provided !== 'object' || provided === null) return undefined
  return Reflect.get(provided, setKey) as GoldenSetProvided | undefined
}

/** A golden set that a run of Vitest has a project for. Absolute folders. */
export interface GoldenSetProject {
  readonly project: TestProject
  readonly root: string
  readonly recordings: string
  readonly options: string
  readonly deps: readonly string[]
}

/** The golden sets that this run of Vitest has a project for; those that `--project` leaves out are not among them. */
export function goldenSets(vitest: Vitest): readonly GoldenSetProject[] {
  return vitest.projects.flatMap((project) => {
    const set = goldenSetOf(project.config)
    const { root } = project.config
    return set === undefined || set.isApart
      ? []
      : [{ project, root, recordings: path.resolve(root, set.folder), options: set.options, deps: set.deps }]
  })
}

/** Whether a project runs cases of a golden set: its own, or the one for agents that are not confined. */
export function runsCasesOf(project: TestProject, set: GoldenSetProject): boolean {
  const own = goldenSetOf(project.config)
  return own !== undefined && path.resolve(project.config.root, own.folder) === set.recordings
}

/** Tells options apart; two plugins with the same options may share a folder. */
export function fingerprintOf(settings: HarvestSettings): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('hex').slice(0, 8)
}

/**
 * The project the cases run in. It is the plugin's own, so that no other `include` has to change: with
 * `test.projects` an added `include` is either ignored (Vitest 5) or runs every case once per project (Vitest 4).
 *
 * A second one runs the cases of agents that are not confined as the others are: flags of Node hold for a whole worker.
 *
 * @param root - absolute folder
 */
export function recordingsProjects(
  settings: HarvestSettings,
  plugins: () => readonly Plugin[],
  root: string,
  { name = projectName, isCovered = false }: { readonly name?: string; readonly isCovered?: boolean } = {},
): readonly TestProjectInlineConfiguration[] {
  refuseUnsafeEntries(root, path.resolve(root, settings.recordings))
  // A command forks, asks models and writes what came of it: its jobs are not confined.
  const { how } = jobModule() === undefined ? settings.confine : openSetting
  const apart = how === 'seam' ? [] : openCases(root, settings.recordings, settings.confine)
  const flags = workerFlags({ ...settings.confine, how }, root, isCovered)
  const main = recordingsProject(settings, plugins(), name, root, flags, {
    confine: how,
    ...(apart.length > 0 && { apart }),
  })
  if (apart.length === 0) return [main]
  return [
    main,
    recordingsProject(settings, plugins(), `${name} (seam)`, root, [], { confine: 'seam', apart, isApart: true }),
  ]
}

const openSetting = { how: 'seam' } as const

function recordingsProject(
  settings: HarvestSettings,
  plugins: readonly Plugin[],
  name: string,
  root: string,
  flags: readonly string[],
  confined: Pick<GoldenSetProvided, 'confine' | 'apart' | 'isApart'>,
): TestProjectInlineConfiguration {
  const set: GoldenSetProvided = {
    folder: settings.recordings,
    options: fingerprintOf(settings),
    deps: settings.deps,
    ...confined,
  }
  return {
    extends: settings.inherit,
    plugins: [...plugins],
    test: {
      name,
      provide: { [setKey]: set },
      ...ownLists(settings, root, set),
      ...(flags.length > 0 && { execArgv: [...flags] }),
      // What a root config may say for its own tests, and what must not reach an agent that runs in Node.
      environment: 'node',
      browser: { enabled: false },
      typecheck: { enabled: false },
      expect: { requireAssertions: false },
      globals: false,
      retry: 0,
      sequence: { concurrent: false },
      pool: settings.pool,
      isolate: settings.isolate === 'worker',
      // Off, Node would load the case file itself and know no `.yaml`.
      experimental: { viteModuleRunner: true },
      tags: [
        { name: 'golden', description: 'a promoted recording' },
        { name: 'incident', description: 'a recording of a run that went wrong' },
        ...settings.tags,
      ],
      setupFiles: [ownPath('vitest/setup')],
    },
  }
}

/**
 * Takes back what `extends: true` mixed into the lists of our project: it joins lists, so that the root's `include` would
 * run the user's tests a second time here, and its `globalSetup` would start the user's servers twice.
 *
 * @param config - the project's config while it is being resolved; changed in place, a returned one would be joined again
 */
export function keepOwnLists(config: { test?: object; readonly root?: string }, settings: HarvestSettings): void {
  const { test } = config
  if (test === undefined || goldenSetOf(test)?.options !== fingerprintOf(settings)) return
  const { exclude, ...lists } = ownLists(settings, path.resolve(config.root ?? '.'), goldenSetOf(test))
  // The root's `exclude` holds for cases as well.
  const excluded = [Reflect.get(test, 'exclude') as unknown].flat().filter((one) => typeof one === 'string')
  Reflect.set(test, 'exclude', [...new Set([...excluded, ...exclude])])
  Object.assign(test, lists, { benchmark: { include: [] } })
  // Ours goes first: what a set-up file of the root replaces, it replaces over what a replay stands on.
  const files = [Reflect.get(test, 'setupFiles') as unknown].flat().filter((file) => typeof file === 'string')
  const own = ownPath('vitest/setup')
  Reflect.set(test, 'setupFiles', [own, ...files.filter((file) => file !== own)])
  // One of the user's keeps its place: then Vitest imports the modules that the plugin makes of cases. A command runs none.
  const hasCases = jobModule() === undefined
  if (hasCases && Reflect.get(test, 'runner') === undefined) Reflect.set(test, 'runner', ownPath('vitest/runner'))
  // `dir` says where the root looks for its tests; cases lie elsewhere. What `--dir` says is in the lists.
  Reflect.deleteProperty(test, 'dir')
}

interface OwnLists {
  readonly include: string[]
  readonly exclude: string[]
  readonly includeSource: string[]
  readonly globalSetup: string[]
}

function ownLists(
  { recordings }: HarvestSettings,
  root: string,
  { apart = [], isApart }: Partial<GoldenSetProvided> = {},
): OwnLists {
  const jobs = jobModule()
  const own = () => casesBelow(folderOfCases(), { root, recordings, ...(isApart && { cases: apart }) })
  return {
    include: jobs === undefined ? [...own()] : [jobs],
    // In the inbox are no cases.
    exclude: ['**/node_modules/**', '**/.git/**', `${recordings}/inbox/**`, ...(isApart ? [] : apart)],
    includeSource: [],
    // It asks git for what only cases say.
    globalSetup: jobs === undefined ? [ownPath('vitest/global-setup')] : [],
  }
}
