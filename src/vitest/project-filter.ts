import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { flagValues } from './flag-values.ts'
import { projectName } from './project.ts'

/**
 * Whether `--project` asks for the cases and not for the only project there is. Vitest applies it before a project can
 * be injected, and would find none.
 */
export function selectsCasesOnly(test: { readonly name?: unknown; readonly project?: unknown }): boolean {
  // Vitest 4 does not tell plugins what stands on its command line.
  const asked = [test.project ?? projectFlags(process.argv)].flat().map(String)
  const name = read(test.name, 'label') ?? test.name ?? ''
  return asked.length > 0 && isSelected(projectName, asked) && !isSelected(String(name), asked)
}

/** The project for the cases of a project of a workspace. */
export function casesOf(name: string): string {
  return `${name} (${projectName})`
}

/** A config of a project, as its `config` hooks see it. */
interface ProjectConfig {
  readonly configFile?: unknown
  readonly plugins?: unknown
  readonly test?: { readonly name?: unknown; readonly projects?: unknown; readonly browser?: unknown }
}

/** A project that goes by the name of the one for its cases until that one is there. */
export interface StandIn {
  readonly name: string
  readonly asked: string
}

/**
 * `--project="billing (recordings)"` names a project that only billing can add, and Vitest would leave billing out before it
 * could: what a project has to be called to come through, where the flag asks for its cases and not for itself.
 */
export function standsIn({ configFile, plugins, test = {} }: ProjectConfig): StandIn | undefined {
  const asked = projectFlags(process.argv)
  const wanted = asked.filter((pattern) => !pattern.startsWith('!'))
  if (wanted.length === 0 || !isProject(plugins) || read(test.browser, 'enabled') === true) return undefined
  const name =
    read(test.name, 'label') ?? test.name ?? (test.projects === undefined ? nameOfFolder(configFile) : undefined)
  if (typeof name !== 'string' || name === '' || isSelected(name, wanted)) return undefined
  const left = asked.filter((pattern) => pattern.startsWith('!'))
  return isSelected(name, left) && isSelected(casesOf(name), asked) ? { name, asked: casesOf(name) } : undefined
}

/** Vitest resolves the config of a project with plugins of its own, which the config of the root does not have. */
function isProject(plugins: unknown): boolean {
  const all = Array.isArray(plugins) ? (plugins.flat(Infinity) as unknown[]) : []
  return all.some((plugin) => /^vitest:project\b/.test(String(read(plugin, 'name'))))
}

/** As Vitest calls a project without a name: by its package, or else by its folder. */
function nameOfFolder(configFile: unknown): string | undefined {
  if (typeof configFile !== 'string') return undefined
  const folder = path.dirname(path.resolve(configFile))
  const manifest = path.join(folder, 'package.json')
  const name = existsSync(manifest) ? read(JSON.parse(readFileSync(manifest, 'utf8')), 'name') : undefined
  return typeof name === 'string' && name !== '' ? name : path.basename(folder)
}

function projectFlags(argv: readonly string[]): readonly string[] {
  return flagValues(argv, ['--project'])
}

/** As Vitest reads `--project`: `*` matches anything, `!` leaves out. */
export function isSelected(name: string, asked: readonly string[]): boolean {
  const matches = (pattern: string) => new RegExp(`^${pattern.split('*').map(escaped).join('.*')}$`, 'i').test(name)
  if (asked.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1)))) return false
  const wanted = asked.filter((pattern) => !pattern.startsWith('!'))
  return wanted.length === 0 || wanted.some(matches)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** From here on the name is free for the project of the cases, and the tests of this one were not asked for. */
export function standBack(current: TestProject, { name }: StandIn): void {
  Object.assign(current.config, { name })
  Object.assign(current.config.typecheck, { enabled: false })
  findNoTests(current)
}

/** The user's tests do not run for a command: their project, which may be large, is not searched for them. */
export function findNoTests({ config }: TestProject): void {
  Object.assign(config, { include: [], includeSource: [] })
}

export function read(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (Reflect.get(value, key) as unknown) : undefined
}
