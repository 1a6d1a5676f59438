import { createHash } from 'node:crypto'
import fs, { existsSync } from 'node:fs'
import path from 'node:path'
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config'
import { type TestProject, version as vitestVersion, type Vitest, type VitestPluginContext } from 'vitest/node'
import { acceptedFileName } from '../cases/accepted-name.ts'
import { ownPath } from '../own-files.ts'
import { version } from '../version.ts'
import { addReporters } from './add-reporters.ts'
import { agentsModule } from './agents-module-id.ts'
import { requireNode } from './require-node.ts'
import { isCaseId, withoutQuery } from './case-head.ts'
import { generateCaseModule, generatedMark, isNode } from './case-module.ts'
import type { HarvestProvided } from './channel.ts'
import { importFirst } from './import-first.ts'
import { generateAgentsModule, generateJobModule, jobModule } from './job-module.ts'
import { type HarvestOptions, type HarvestSettings, parseOptions, resolveAgent } from './options.ts'
import { toPosix } from './posix.ts'
import { findNoTests, selectsCasesOnly, standBack, standsIn, type StandIn } from './project-filter.ts'
import { fingerprintOf, goldenSetOf, goldenSets, isOwn, keepOwnLists, recordingsProjects } from './project.ts'
import { requestedMode } from './requested-mode.ts'
import { followMissingTapes } from './tapeless.ts'
import { askConsent, type ToolsChoice, toolsChoice } from './tools-choice.ts'
import { surveyTools } from './tools-survey.ts'
import { unattended } from './update-mode.ts'
import { approvalOf } from './update-reason.ts'
import {
  admit,
  besideProjects,
  hasProjects,
  hasRecordings,
  hold,
  mayRunJobs,
  needsProject,
  recordingsOfJobs,
  refuseSecond,
  type WireApi,
  wireName,
} from './workspace.ts'
import { guardYamlPlugins } from './yaml-guard.ts'

export type { AgentEntry, HarvestOptions, IsolateMode, MatchSetting, PoolName, TagOption } from './options.ts'

/**
 * The Vitest plugin: every `*.case.yaml` below `recordings/` becomes a test file that replays its tape.
 *
 * ```ts
 * export default defineConfig({ plugins: [harvest({ agents: { refund: './src/refund.ts#refundAgent' } })] })
 * ```
 *
 * Cases run in a project of their own, named `recordings`; the `include` of other projects is not touched.
 *
 * @throws HarvestError `HARVEST_OPTION` for an option or value that is not known
 * @throws Error in a Node below the oldest that is supported
 */
export function harvest(options: HarvestOptions): Plugin[] {
  requireNode(process.versions.node)
  const settings = parseOptions(options)
  return [wire(settings), cases(settings)]
}

/** Puts the project and the reporter into Vitest and tells the workers what they need. */
function wire(settings: HarvestSettings): Plugin<WireApi> {
  let isOfOwn = false
  let standIn: StandIn | undefined
  return {
    name: wireName,
    api: { settings },
    config(user) {
      const test: UserTest = user.test ?? {}
      // The config that our project extends.
      isOfOwn = goldenSetOf(test) !== undefined
      if (isOfOwn) return undefined
      standIn = standsIn(user)
      // In place: the label that is there may be an object, and would be joined with ours.
      if (standIn !== undefined) Object.assign((user.test ??= {}), { name: standIn.asked })
      if (test.projects === undefined)
        return selectsCasesOnly(test) ? { test: { projects: projects(settings, rootOf(user), test) } } : undefined
      refuseSecond(test.projects, settings)
      if (test.projects.some((one) => goldenSetOf(nested(one)) !== undefined)) return undefined
      // Projects of the user: ours is appended, and `--project recordings` finds it.
      return { test: { projects: projects(settings, rootOf(user), test) } }
    },
    async configureVitest(context) {
      const { vitest, project: current } = context
      if (standIn !== undefined && current.config.name === standIn.asked && !isOwn(current)) standBack(current, standIn)
      const isOurs = isOwn(current)
      const isMissing = !isOurs && needsProject(vitest, current, settings)
      const jobsIn = recordingsOfJobs(vitest)
      const mayRun = mayRunJobs(current, settings, jobsIn)
      const isInjecting =
        isMissing && (!hasProjects(vitest) || hasRecordings(current, settings)) && !hasJobs(vitest, jobsIn) && mayRun
      // Held before anything is waited for, so that no other project injects the same. Without `using`: a config that imports
      // the source is read by Node 22 as well.
      const held = isInjecting ? hold(vitest, current, settings) : undefined
      try {
        await configure(context, settings, { isInjecting, mayRunJobs: mayRun })
      } finally {
        held?.[Symbol.dispose]()
      }
    },
    transform(code, id) {
      if (/[\\/]node_modules[\\/]/.test(id)) return undefined
      const moved = importFirst(code, (text) => this.parse(text))
      return moved === undefined ? undefined : { code: moved, map: null }
    },
  }
}

/** Settles how the cases of a run are run and reported, and adds their project where it is missing. */
async function configure(
  { vitest, project: current, injectTestProjects }: VitestPluginContext,
  settings: HarvestSettings,
  { isInjecting, mayRunJobs: mayRun }: { readonly isInjecting: boolean; readonly mayRunJobs: boolean },
): Promise<void> {
  const choice = requestedMode(vitest, process.env)
  const { mode: update, reason, accept } = choice
  const approval = reason === undefined ? {} : { approval: await approvalOf(reason, current.config.root) }
  const tools = await toolsOnce(vitest, current, settings)
  const updates = {
    update,
    tools,
    isWatched: vitest.config.watch,
    ...approval,
    ...(accept !== undefined && { accept }),
  }
  // A run for a command has no cases to sum up, and writes none.
  if (jobModule() === undefined) addReporters(vitest, choice)
  if (vitest.config.watch) followDeletedTapes(vitest)
  if (vitest.config.changed) followMissingTapes(vitest)
  provide(current, settings, updates)
  if (jobModule() !== undefined && !(isOwn(current) && mayRun)) findNoTests(current)
  if (!isInjecting) return
  const added = hasProjects(vitest)
    ? await besideProjects(current, settings, () => [cases(settings)], isCovered(current.config))
    : projects(settings, current.config.root, current.config)
  if (hasProjects(vitest)) admit(vitest, added)
  // configureVitest is not called for injected projects.
  for (const injected of await injectTestProjects([...added])) provide(injected, settings, updates)
}

const choices = new WeakMap<Vitest, Promise<ToolsChoice>>()

/** One question for one run of Vitest, however many projects it has. */
function toolsOnce(vitest: Vitest, { config }: TestProject, settings: HarvestSettings): Promise<ToolsChoice> {
  const known = choices.get(vitest)
  if (known !== undefined) return known
  const choice = chooseTools(path.resolve(config.root, settings.recordings), settings)
  choices.set(vitest, choice)
  return choice
}

/** Where there is no one to ask, each case that would run tools is refused by itself. */
async function chooseTools(recordings: string, { tools }: HarvestSettings): Promise<ToolsChoice> {
  const choice = toolsChoice(process.env)
  const { stdin, stderr } = process
  if (!stdin.isTTY || !stderr.isTTY || unattended(process.env) !== undefined) return choice
  const open = await surveyTools(recordings, choice, tools)
  return open.length === 0 ? choice : { ...choice, yes: await askConsent(open, stdin, stderr) }
}

const followed = new WeakSet<object>()

/** A case reads its tape when it runs, so Vitest knows no module of it that could be gone. */
function followDeletedTapes({ vite: { watcher } }: Vitest): void {
  if (followed.has(watcher)) return
  followed.add(watcher)
  // Before Vitest hears of it: from then on it takes the file for known.
  watcher.prependListener('unlink', (file: string) => {
    if (file.endsWith('.tape.jsonl')) watcher.emit('change', file)
  })
}

interface UserTest {
  readonly coverage?: unknown
  readonly project?: unknown
  readonly name?: unknown
  readonly projects?: readonly unknown[]
}

/** A command runs its jobs once: in the project of the recordings they are about, or else in the first of ours. */
function hasJobs(vitest: Vitest, jobsIn: string | undefined): boolean {
  if (jobModule() === undefined) return false
  return goldenSets(vitest).some(({ recordings }) => jobsIn === undefined || recordings === jobsIn)
}

function nested(project: unknown): object | undefined {
  if (typeof project !== 'object' || project === null || !('test' in project)) return undefined
  return typeof project.test === 'object' && project.test !== null ? project.test : undefined
}

/** With `inherit: false` nothing of the root comes along, so the project brings both plugins. */
function projects(settings: HarvestSettings, root: string, test: UserTest): TestProjectInlineConfiguration[] {
  const plugins = () => [...(settings.inherit ? [] : [wire(settings)]), cases(settings)]
  return [...recordingsProjects(settings, plugins, root, { isCovered: isCovered(test) })]
}

function rootOf({ root = '.' }: { readonly root?: string }): string {
  return path.resolve(root)
}

/** Vitest 4 does not tell plugins what stands on its command line. */
function isCovered({ coverage }: UserTest): boolean {
  const isAsked = process.argv.some((word) => /^--coverage(?:\.enabled)?(?:=true)?$/.test(word))
  return isAsked || (typeof coverage === 'object' && coverage !== null && Reflect.get(coverage, 'enabled') === true)
}

function provide(
  to: TestProject,
  settings: HarvestSettings,
  updates: Omit<HarvestProvided, 'settings' | 'root' | 'acceptedFile' | 'setVariables'>,
): void {
  const { agents, isolate, replay, match, tools, timeoutMs, acceptedMaxDays, prove, report } = settings
  const maxDays = acceptedMaxDays === undefined ? {} : { acceptedMaxDays }
  const { root, env = {} } = to.config
  const setVariables = Object.keys(env)
  const provided: HarvestProvided = {
    settings: { agents, isolate, replay, match, tools, timeoutMs, prove, report, ...maxDays },
    root,
    ...(setVariables.length === 0 ? {} : { setVariables }),
    acceptedFile: path.resolve(root, settings.recordings, acceptedFileName),
    ...updates,
  }
  to.provide('vitest-harvest', provided)
}

/** Turns cases into test modules. */
function cases(settings: HarvestSettings): Plugin {
  let root = process.cwd()
  const findDeps = () => {
    const found = settings.deps.length === 0 ? [] : fs.globSync([...settings.deps], { cwd: root })
    return found.map((file) => toPosix(path.resolve(root, file))).sort()
  }
  const agents = () => Object.entries(settings.agents).map(([name, entry]) => resolveAgent(name, entry, root))
  let deps: readonly string[] = []
  // Whether this is the project of these options.
  let isOurs = false
  const plugin: Plugin = {
    name: cachedName(settings, deps),
    enforce: 'pre',
    config(config: { test?: object; readonly root?: string }) {
      keepOwnLists(config, settings)
    },
    configResolved(config) {
      root = config.root
      isOurs = goldenSetOf(config.test)?.options === fingerprintOf(settings)
      deps = findDeps()
      plugin.name = cachedName(settings, deps)
      guardYamlPlugins(config.plugins as unknown as { name: string }[], isCaseId)
    },
    resolveId(id) {
      return id === agentsModule ? id : undefined
    },
    load(id) {
      if (isOurs && id === agentsModule) return generateAgentsModule(agents())
      if (id === jobModule()) return generateJobModule(agents(), ownPath('vitest/job-runtime'))
      return isNode(id, deps) ? { code: 'export {}', map: { mappings: '' } } : undefined
    },
    transform(code, id) {
      // `extends: true` runs the user's harvest() next to ours, and a workspace may have several.
      if (!isOurs || !isCaseId(id) || code.startsWith(generatedMark)) return undefined
      const { tape, ...module } = generateCaseModule(code, withoutQuery(id), {
        recordings: path.resolve(root, settings.recordings),
        runtime: ownPath('vitest/runtime'),
        deps,
        importsTapes: isBefore5,
        agent: (key) => agents().find(({ name }) => name === key),
        exists: existsSync,
      })
      // The case runs again when its tape changes, and once a missing one is there.
      if (tape !== undefined) this.addWatchFile(tape)
      return module
    },
  }
  return plugin
}

// Up to there `related` and `--changed` know imports only, not the files that a plugin watches.
const isBefore5 = Number.parseInt(vitestVersion, 10) < 5

/** Vitest's module cache is keyed by the names of plugins, not by their code: what decides our output is in the name. */
function cachedName(settings: HarvestSettings, deps: readonly string[]): string {
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([settings, deps, isBefore5]))
    .digest('hex')
    .slice(0, 8)
  return `vitest-harvest:cases@${version}+${fingerprint}`
}
