import { existsSync } from 'node:fs'
import path from 'node:path'
import { HarvestError } from '../errors/index.ts'
import {
  type DriftClass,
  type DriftPolicy,
  driftClasses,
  type ReplayOptions,
  type ServeRung,
  serveRungs,
} from '../replay/types.ts'
import { type ArgsMode, argsModes, type TraceMode, traceModes } from '../trace/types.ts'

/** What `harvest()` in `vitest.config.ts` takes. Nothing but `agents` is needed. */
export interface HarvestOptions {
  /**
   * The agents that cases name: key → `'./src/refund.ts#refundAgent'`, a file (or package) and the name of its export.
   * Without `#` the default export is meant. Files are relative to Vitest's root.
   */
  readonly agents: Readonly<Record<string, string>>
  /** Folder of cases and tapes, relative to Vitest's root. Default `recordings`. */
  readonly recordings?: string
  /**
   * What every case gets fresh. `module` (default): the agent's modules, in a shared worker, about 2 ms a case.
   * `worker`: a worker of its own, about 250 ms a case, for agents that leave things in globals or in `node_modules`.
   */
  readonly isolate?: IsolateMode
  /** Where cases run. Default `forks`. */
  readonly pool?: PoolName
  /** Tags that cases may carry besides `golden` and `incident`. */
  readonly tags?: readonly (string | TagOption)[]
  /** Whether cases see the root config's aliases, plugins and setup files. Default true. */
  readonly inherit?: boolean
  /** What to do with a difference that did not stop the replay, for all classes or by class. Default `report`. */
  readonly drift?: DriftPolicy | Readonly<Partial<Record<DriftClass, DriftPolicy>>>
  /**
   * What to do where an agent brings a value the tape has a placeholder for and the two cannot be compared: `report` (default)
   * or `fail`.
   */
  readonly redacted?: 'report' | 'fail'
  /** Whether reaching for the world around the seam fails a case. Default `error`. */
  readonly escapes?: 'error' | 'report'
  /** Escapes to let through, such as `socket 127.0.0.1:5432`; `*` matches anything. Default none. */
  readonly allow?: readonly string[]
  /** How far a changed request may be from the recorded one and still be served. Default `reworded`. */
  readonly serve?: ServeRung
  /** How traces are compared where a case does not say: `{ trace: 'causal', args: 'keys' }`. */
  readonly match?: MatchSetting
  /** Files the agents read without importing them (`['prompts/**']`): editing one re-runs the cases. Default none. */
  readonly deps?: readonly string[]
  /** Milliseconds a case may take. Default 10 000. */
  readonly timeout?: number
}

export type IsolateMode = 'module' | 'worker'
export type PoolName = 'forks' | 'threads'

/** A tag as Vitest's `test.tags` declares it. */
export interface TagOption {
  readonly name: string
  readonly description?: string
  readonly timeout?: number
}

/** Match options that can cross to a worker: no functions. */
export interface MatchSetting {
  readonly trace?: TraceMode
  readonly args?: ArgsMode
  readonly tools?: Readonly<Record<string, ArgsMode | { readonly args: ArgsMode | readonly string[] }>>
}

/** An agent the way the generated module imports it. */
export interface AgentEntry {
  readonly name: string
  /** Absolute path, or a specifier when it is not a file of the project. */
  readonly module: string
  /** `default` or the name of the export. */
  readonly export: string
}

/** Options after their defaults, checked. */
export interface HarvestSettings {
  readonly agents: Readonly<Record<string, string>>
  readonly recordings: string
  readonly isolate: IsolateMode
  readonly pool: PoolName
  readonly tags: readonly TagOption[]
  readonly inherit: boolean
  readonly replay: Pick<ReplayOptions, 'drift' | 'redacted' | 'escapes' | 'allow' | 'serve'>
  readonly match: MatchSetting
  readonly deps: readonly string[]
  readonly timeoutMs: number
}

/**
 * Checks the options of `harvest()` and fills in the defaults.
 *
 * @throws HarvestError `HARVEST_OPTION` for an option or value that is not known: a typo must not become a default
 */
export function parseOptions(options: HarvestOptions): HarvestSettings {
  const given: { readonly [name: string]: unknown } = { ...options }
  const unknown = Object.keys(given).find((name) => !optionNames.includes(name))
  if (unknown !== undefined) throw badOption(unknown, 'not an option of harvest()', optionNames)
  const { agents = {}, recordings = 'recordings', isolate = 'module', pool = 'forks', inherit = true } = options
  const { timeout = 10_000, serve, drift, redacted, escapes, allow, match = {}, deps = [], tags = [] } = options
  checkAgents(agents)
  if (typeof recordings !== 'string' || recordings === '') throw badOption('recordings', `${recordings}`, ['a folder'])
  oneOf('isolate', isolate, isolateModes)
  oneOf('pool', pool, poolNames)
  oneOf('inherit', inherit, [true, false])
  if (serve !== undefined) oneOf('serve', serve, serveRungs)
  if (redacted !== undefined) oneOf('redacted', redacted, ['report', 'fail'])
  if (escapes !== undefined) oneOf('escapes', escapes, ['error', 'report'])
  checkDrift(drift)
  checkMatch(match)
  checkList('allow', allow ?? [])
  checkList('deps', deps)
  if (!Number.isFinite(timeout) || timeout <= 0) throw badOption('timeout', String(timeout), ['milliseconds above 0'])
  const replay = {
    ...(drift !== undefined && { drift }),
    ...(redacted !== undefined && { redacted }),
    ...(escapes !== undefined && { escapes }),
    ...(allow !== undefined && { allow }),
    ...(serve !== undefined && { serve }),
  }
  const declared = tags.map((tag) => (typeof tag === 'string' ? { name: tag } : tag))
  return { agents, recordings, isolate, pool, tags: declared, inherit, replay, match, deps, timeoutMs: timeout }
}

/** Takes `'./src/refund.ts#refundAgent'` apart; a file of the project becomes an absolute path with `/`. */
export function resolveAgent(name: string, entry: string, root: string): AgentEntry {
  const [file, exported] = splitEntry(entry)
  const absolute = path.resolve(root, file)
  // 'src/refund.ts' without './' is a slip everybody makes; a package of that name does not exist then.
  const isFile = /^\.{0,2}[/\\]/.test(file) || path.isAbsolute(file) || existsSync(absolute)
  return { name, module: isFile ? toPosix(absolute) : file, export: exported }
}

/** Import specifiers have `/` on every system. */
export function toPosix(file: string): string {
  return path.sep === '/' ? file : file.split(path.sep).join('/')
}

const isolateModes: readonly IsolateMode[] = ['module', 'worker']
const poolNames: readonly PoolName[] = ['forks', 'threads']
const driftPolicies: readonly DriftPolicy[] = ['ignore', 'report', 'fail']
const optionNames: readonly string[] = [
  'agents',
  'recordings',
  'isolate',
  'pool',
  'tags',
  'inherit',
  'drift',
  'redacted',
  'escapes',
  'allow',
  'serve',
  'match',
  'deps',
  'timeout',
] satisfies readonly (keyof HarvestOptions)[]

function splitEntry(entry: string): readonly [file: string, exported: string] {
  const hash = entry.lastIndexOf('#')
  return hash > 0 ? [entry.slice(0, hash), entry.slice(hash + 1)] : [entry, 'default']
}

function checkAgents(agents: unknown): void {
  if (typeof agents !== 'object' || agents === null || Array.isArray(agents)) {
    throw badOption('agents', String(agents), [agentShape])
  }
  for (const [name, entry] of Object.entries(agents)) {
    if (typeof entry !== 'string' || entry === '' || entry.startsWith('#') || entry.endsWith('#')) {
      throw badOption(`agents.${name}`, String(entry), [agentShape])
    }
  }
}

const agentShape = "a file and its export, such as './src/refund.ts#refundAgent'"

function checkDrift(drift: HarvestOptions['drift']): void {
  if (drift === undefined) return
  if (typeof drift === 'string') return oneOf('drift', drift, driftPolicies)
  for (const [name, policy] of Object.entries(drift)) {
    oneOf('drift', name, driftClasses)
    oneOf(`drift.${name}`, policy, driftPolicies)
  }
}

function checkMatch(match: MatchSetting): void {
  const unknown = Object.keys(match).find((name) => !['trace', 'args', 'tools'].includes(name))
  if (unknown !== undefined) throw badOption(`match.${unknown}`, 'not a match option', ['trace', 'args', 'tools'])
  if (match.trace !== undefined) oneOf('match.trace', match.trace, traceModes)
  if (match.args !== undefined) oneOf('match.args', match.args, argsModes)
  for (const [tool, rule] of Object.entries(match.tools ?? {})) {
    // Cases run in workers, and a function cannot be sent there.
    if (typeof rule === 'function') {
      const forms = ['a mode or { args: [keys] } here', 'a function in toMatchTrace(expected, options)']
      throw badOption(`match.tools.${tool}`, 'a function', forms)
    }
    const args = typeof rule === 'string' ? rule : rule.args
    if (!Array.isArray(args)) oneOf(`match.tools.${tool}`, args, argsModes)
  }
}

function checkList(name: string, list: unknown): void {
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
    throw badOption(name, String(list), ['a list of texts'])
  }
}

function oneOf(name: string, value: unknown, known: readonly unknown[]): void {
  if (!known.includes(value)) throw badOption(name, String(value), known.map(String))
}

function badOption(name: string, value: string, known: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_OPTION', {
    what: 'harvest() in the Vitest config was given something it does not know',
    where: { option: name, value, known: known.join(', ') },
    fix: ['correct the option in vitest.config.ts'],
  })
}
