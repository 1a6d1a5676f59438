import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config'
import type { TestProject, Vitest } from 'vitest/node'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { filesOfJobs } from './job-module.ts'
import type { HarvestSettings } from './options.ts'
import { casesOf, isSelected, read } from './project-filter.ts'
import { fingerprintOf, goldenSetOf, goldenSets, isOwn, projectName, recordingsProjects } from './project.ts'

/** Name of the plugin that puts our project into Vitest. */
export const wireName = 'vitest-harvest:project'

/** A plugin of the root config carries its options where others can read them. */
export interface WireApi {
  readonly settings: HarvestSettings
}

/** Folders that are being injected: hooks of several projects run at the same time. */
const pending = new WeakMap<Vitest, Map<string, string>>()

/**
 * Whether the project that has this plugin needs a project for its cases, and which. A folder of recordings has one,
 * however many projects of a workspace see the plugin: those that extend a config see the plugin of that config.
 *
 * @throws HarvestError `HARVEST_PROJECT_CONFLICT` when two plugins have one folder and other options, or when a project
 *   of the user has the name of ours
 */
export function needsProject(vitest: Vitest, current: TestProject, settings: HarvestSettings): boolean {
  const folder = folderOf(current, settings)
  const options = fingerprintOf(settings)
  refuseName(vitest)
  const taken =
    goldenSets(vitest).find(({ recordings }) => recordings === folder)?.options ?? pending.get(vitest)?.get(folder)
  if (taken !== undefined && taken !== options) throw conflict(folder, vitest)
  if (taken !== undefined) return false
  // Without projects there is one config, and another folder is the one of another plugin in it.
  if (!hasProjects(vitest) && others(vitest).length > 0) throw second([...others(vitest), settings.recordings])
  // The plugin of a root config with projects has declared it, and `--project` left it out.
  return !(hasProjects(vitest) && isOfRoot(vitest, folder))
}

function others(vitest: Vitest): readonly string[] {
  const folders = [...goldenSets(vitest).map(({ recordings }) => recordings), ...(pending.get(vitest)?.keys() ?? [])]
  return folders.map((folder) => path.relative(vitest.config.root, folder))
}

/** Holds a folder until its project is there. */
export function hold(vitest: Vitest, current: TestProject, settings: HarvestSettings): Disposable {
  const held = pending.get(vitest) ?? new Map<string, string>()
  pending.set(vitest, held)
  const folder = folderOf(current, settings)
  held.set(folder, fingerprintOf(settings))
  return { [Symbol.dispose]: () => void held.delete(folder) }
}

export function hasProjects(vitest: Vitest): boolean {
  return (vitest.config.projects?.length ?? 0) > 0
}

/** Whether a project that only inherits the plugin has cases of its own. */
export function hasRecordings(current: TestProject, settings: HarvestSettings): boolean {
  return existsSync(folderOf(current, settings))
}

/**
 * The projects for the cases of one project of a workspace: they have the root, the config file and the inline options of
 * that project.
 *
 * @param plugins - those of ours that it needs
 */
export async function besideProjects(
  current: TestProject,
  settings: HarvestSettings,
  plugins: () => readonly Plugin[],
  isCovered: boolean,
): Promise<readonly TestProjectInlineConfiguration[]> {
  const name = current.name === '' ? projectName : casesOf(current.name)
  const all = recordingsProjects(settings, plugins, current.config.root, { name, isCovered })
  const { configFile, inlineConfig } = current.vite.config
  const inline: object = settings.inherit ? inlineConfig : {}
  const users = (
    await Promise.all([read(inline, 'plugins') ?? []].flat(Infinity).map(async (plugin) => plugin))
  ).filter(isUsers)
  const inlineTest = read(inline, 'test') ?? {}
  return all.map((own) => ({
    ...pick(inline, ['resolve', 'define', 'esbuild', 'oxc', 'ssr', 'css']),
    ...own,
    extends: settings.inherit && configFile !== undefined ? configFile : false,
    root: current.config.root,
    plugins: [...users, ...(own.plugins ?? [])],
    test: {
      ...pick(inlineTest, ['alias', 'env', 'server', 'deps']),
      ...own.test,
      setupFiles: [
        ...[read(inlineTest, 'setupFiles') ?? []].flat().map(String),
        ...[own.test?.setupFiles ?? []].flat(),
      ],
    },
  }))
}

/** `--project=billing` asks for the cases of billing as well: Vitest filters what is injected, by a name that was not typed. */
export function admit(vitest: Vitest, added: readonly TestProjectInlineConfiguration[]): void {
  const asked = vitest.config.project
  if (asked.every((pattern) => pattern.startsWith('!'))) return
  for (const { test } of added) {
    const name = String(test?.name)
    if (!isSelected(name, asked)) asked.push(name)
  }
}

/**
 * The recordings that the jobs of a command are about, of those that a plugin in this run has: their agents are asked, and those of
 * another package have the same names. `undefined`: the files lie in none.
 */
export function recordingsOfJobs(vitest: Vitest): string | undefined {
  const files = filesOfJobs()
  if (files.length === 0) return undefined
  const all = [...recordingsFolders(vitest).keys()]
  return all
    .filter((folder) => files.some((file) => file.startsWith(folder + path.sep)))
    .sort((a, b) => b.length - a.length)[0]
}

/** The folders of recordings that plugins of this run name, and whether it has a project for their cases. Absolute. */
export function recordingsFolders(vitest: Vitest): ReadonlyMap<string, boolean> {
  const folders = [vitest, ...vitest.projects].flatMap(({ config, vite }) =>
    vite.config.plugins.flatMap(({ name, api }) =>
      name === wireName ? [path.resolve(config.root, (api as WireApi).settings.recordings)] : [],
    ),
  )
  const here = goldenSets(vitest).map(({ recordings }) => recordings)
  return new Map([...folders, ...here].map((folder) => [folder, here.includes(folder)]))
}

/**
 * Whether the jobs of a command, if any, are about the recordings of a project.
 *
 * @param jobsIn - {@link recordingsOfJobs}
 */
export function mayRunJobs(current: TestProject, settings: HarvestSettings, jobsIn: string | undefined): boolean {
  return jobsIn === undefined || jobsIn === folderOf(current, settings)
}

function folderOf(current: TestProject, { recordings }: HarvestSettings): string {
  return path.resolve(current.config.root, recordings)
}

function isOfRoot(vitest: Vitest, folder: string): boolean {
  const wires = vitest.vite.config.plugins.filter(({ name }) => name === wireName)
  return wires.some(({ api }) => {
    const { settings } = api as WireApi
    return path.resolve(vitest.config.root, settings.recordings) === folder
  })
}

function refuseName(vitest: Vitest): void {
  const taken = vitest.projects.find((project) => project.name === projectName && !isOwn(project))
  if (taken === undefined) return
  throw new HarvestError('HARVEST_PROJECT_CONFLICT', {
    what: `A Vitest project has the reserved name \`${projectName}\``,
    where: { root: taken.config.root },
    why: 'harvest() runs its cases in a project of this name.',
    fix: [`give your project another name in the Vitest config: test: { name: 'unit' }`],
  })
}

function conflict(folder: string, vitest: Vitest): HarvestError {
  return new HarvestError('HARVEST_PROJECT_CONFLICT', {
    what: 'Two harvest() plugins share a recordings folder but have different options',
    where: { folder: neutralLine(path.relative(vitest.config.root, folder) || '.', 300) },
    why: 'Each case runs once, so it is unclear which options apply.',
    fix: [
      'keep one harvest() with the agents of both',
      "or give each its own folder: harvest({ recordings: 'recordings-of-billing', … })",
    ],
  })
}

/** A second harvest() in the same config. */
export function refuseSecond(projects: readonly unknown[], settings: HarvestSettings): void {
  for (const project of projects) {
    const set = goldenSetOf(read(project, 'test') as object | undefined)
    if (set === undefined || set.options === fingerprintOf(settings)) continue
    throw second([set.folder, settings.recordings])
  }
}

function second(folders: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_PROJECT_CONFLICT', {
    what: 'One Vitest config has two harvest() plugins with different options',
    where: { folders: neutralLine(folders.join(', '), 300) },
    why: "A config has one project for cases, so the second plugin's cases would not run.",
    fix: ['keep one harvest() with the agents of both', 'or move one into a project of test.projects'],
  })
}

function isUsers(plugin: unknown): plugin is Plugin {
  const name = read(plugin, 'name')
  return typeof name === 'string' && !/^(?:vitest|vite|vitest-harvest):/.test(name)
}

function pick(from: unknown, keys: readonly string[]): object {
  return Object.fromEntries(keys.flatMap((key) => (read(from, key) === undefined ? [] : [[key, read(from, key)]])))
}
