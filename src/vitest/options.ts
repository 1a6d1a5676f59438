// Over 300 lines: half of it documents the options of the plugin.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { defaultProofDays } from '../cases/proof-days.ts'
import { HarvestError, nearestWord } from '../errors/index.ts'
import {
  type DriftClass,
  type DriftPolicy,
  driftClasses,
  driftPolicies,
  type ReplayOptions,
  type MatchLevel,
  matchLevels,
  type ToolsMode,
} from '../match/types.ts'
import { type ConfineOption, type ConfineSetting, readConfine, type ReadsOption } from './confine-option.ts'
import { hostsIssue, type SameHosts } from '../match/hosts-option.ts'
import { programsIssue } from '../recordings/programs.ts'
import { type Confinement, confinements } from '../seam/intercept/confine.ts'
import { type ArgsMode, argsModes, type TraceMode, traceModes } from '../trace/types.ts'

/** What `harvest()` in `vitest.config.ts` takes. Nothing but `agents` is needed. */
export interface HarvestOptions {
  /**
   * The agents that cases name: key → `'./src/refund.ts#refundAgent'`, a file (or package) and the name of its export.
   * Without `#` the default export is meant. Files are relative to Vitest's root.
   */
  readonly agents: Readonly<Record<string, string>>
  /**
   * Commands that `npx vitest-harvest replay` and `npx vitest-harvest replay --exact` run unasked when a tape names them, word for word:
   * `{ refund: ['node', 'src/refund.ts'] }`. A last `'*'` stands for plain words that begin with no dash. Default none.
   */
  readonly programs?: Readonly<Record<string, readonly string[]>>
  /** Folder of cases and tapes, relative to Vitest's root. Default `recordings`. */
  readonly recordings?: string
  /**
   * What every case gets fresh. `module` (default): the agent's modules, in a shared worker, about 2 ms a case.
   * `worker`: a worker of its own, about 250 ms a case, for agents that leave things in globals or in `node_modules`. `none`:
   * nothing; the cases of a worker share one copy of the agents, which must keep nothing between runs.
   */
  readonly isolate?: IsolateMode
  /**
   * How the processes are shut in which cases run. `seam` (default): this package refuses what goes around the seam. `watch`:
   * besides, what `strict` would refuse is listed. `strict`: besides, Node's permission model refuses native code, file writes
   * and more. `{ default: 'strict', agents: { images: 'seam' } }` leaves agents out. See docs/boundary.md.
   */
  readonly confine?: ConfineOption
  /** What cases may read under `confine: 'strict'`: everything (`all`, default), or the project and what it imports. */
  readonly reads?: ReadsOption
  /** Where cases run. Default `forks`. */
  readonly pool?: PoolName
  /** Tags that cases may carry besides `golden` and `incident`. */
  readonly tags?: readonly (string | TagOption)[]
  /** Whether cases see the root config's aliases, plugins and setup files. Default true. */
  readonly inherit?: boolean
  /**
   * What a difference that did not stop the replay means for the verdict, for all classes or by class. Default: `unproven`
   * for changed questions to models, `fail` for changed actions. See docs/replaying.md.
   */
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
  /**
   * Hosts that are the same as recorded ones: `{ 'https://recorded': ['https://now'] }`. A request to the one is a request to
   * the other in every case. Default none.
   */
  readonly hosts?: SameHosts
  /** How far a changed request may be from the recorded one and still be served. Default `reworded`. */
  readonly serve?: MatchLevel
  /** How long an accepted question counts: `{ maxDays: 90 }`. Default: for good. */
  readonly accepted?: { readonly maxDays?: number }
  /**
   * How `test --prove` decides: an agent that is right `good` of the time is as good as recorded (0.9), one that is right
   * `bad` of the time is not (0.5). A proof counts for `maxDays` (30).
   */
  readonly prove?: { readonly good?: number; readonly bad?: number; readonly maxDays?: number }
  /** How traces are compared where a case does not say: `{ trace: 'causal', args: 'keys' }`. */
  readonly match?: MatchSetting
  /**
   * Whose code a replay runs, to be compared with its recording. Default `serve`: nobody's. Names are a yes to what these
   * tools do; `run` alone needs one for each run. `live` and `mcp` let requests out, and are said here alone.
   */
  readonly tools?: ToolsMode
  /** Files the agents read without importing them (`['prompts/**']`): editing one re-runs the cases. Default none. */
  readonly deps?: readonly string[]
  /** Milliseconds a case may take. Default 10 000. */
  readonly timeout?: number
  /**
   * Whether a red or unproven case leaves a report in `.harvest/report/` and attaches it, 20 a run at most. `red` (default) or
   * `false`.
   */
  readonly report?: 'red' | false
}

export type IsolateMode = 'module' | 'worker' | 'none'
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
  readonly programs: Readonly<Record<string, readonly string[]>>
  readonly recordings: string
  readonly isolate: IsolateMode
  readonly confine: ConfineSetting
  readonly pool: PoolName
  readonly tags: readonly TagOption[]
  readonly inherit: boolean
  readonly replay: Pick<ReplayOptions, 'drift' | 'redacted' | 'escapes' | 'allow' | 'hosts' | 'serve'>
  readonly match: MatchSetting
  readonly tools: ToolsMode
  readonly deps: readonly string[]
  readonly timeoutMs: number
  readonly report: 'red' | false
  readonly prove: { readonly good: number; readonly bad: number; readonly maxDays: number }
  /** Absent: accepted questions stay accepted. */
  readonly acceptedMaxDays?: number
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
  const { timeout = 10_000, serve, drift, redacted, escapes, allow, hosts, match = {}, deps = [], tags = [] } = options
  const { accepted = {}, prove = {}, tools: bodies = 'serve', programs = {} } = options
  const { confine = 'seam', reads = 'all', report = 'red' } = options
  checkAgents(agents)
  const wrongProgram = programsIssue(programs)
  if (wrongProgram !== undefined) throw badOption(wrongProgram.part, String(programs), [wrongProgram.expected])
  if (typeof recordings !== 'string' || recordings === '') throw badOption('recordings', `${recordings}`, ['a folder'])
  checkIsolate(isolate)
  oneOf('pool', pool, poolNames)
  const confined = readConfine(confine, reads, agents)
  if ('issue' in confined) throw badOption(...confined.issue)
  // Beside a confined thread its process would be free.
  if (confined.setting.how !== 'seam' && pool !== 'forks')
    throw badOption('pool', `${pool} with confine: '${confined.setting.how}'`, ['forks'])
  oneOf('inherit', inherit, [true, false])
  oneOf('report', report, ['red', false])
  if (serve !== undefined) oneOf('serve', serve, matchLevels)
  if (redacted !== undefined) oneOf('redacted', redacted, ['report', 'fail'])
  if (escapes !== undefined) oneOf('escapes', escapes, ['error', 'report'])
  checkDrift(drift)
  const acceptedMaxDays = maxDaysOf(accepted)
  checkMatch(match)
  checkTools(bodies)
  checkList('allow', allow ?? [])
  const wrongHosts = hosts === undefined ? undefined : hostsIssue(hosts)
  if (wrongHosts !== undefined) throw badOption('hosts', wrongHosts.part, [wrongHosts.expected])
  checkList('deps', deps)
  // A longer timer would fire at once.
  if (!Number.isFinite(timeout) || timeout <= 0 || timeout > 2_147_483_647)
    throw badOption('timeout', String(timeout), ['milliseconds above 0, at most 2147483647'])
  const replay = {
    ...(drift !== undefined && { drift }),
    ...(redacted !== undefined && { redacted }),
    ...(escapes !== undefined && { escapes }),
    ...(allow !== undefined && { allow }),
    ...(hosts !== undefined && { hosts }),
    ...(serve !== undefined && { serve }),
  }
  const declared = tags.map((tag) => (typeof tag === 'string' ? { name: tag } : tag))
  const lasting = acceptedMaxDays === undefined ? {} : { acceptedMaxDays }
  return {
    agents,
    programs,
    recordings,
    isolate,
    confine: confined.setting,
    pool,
    tags: declared,
    inherit,
    replay,
    match,
    tools: bodies,
    deps,
    timeoutMs: timeout,
    report,
    prove: proveOf(prove),
    ...lasting,
  }
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

const isolateModes: readonly IsolateMode[] = ['module', 'worker', 'none']
const poolNames: readonly PoolName[] = ['forks', 'threads']
const optionNames: readonly string[] = [
  'agents',
  'programs',
  'recordings',
  'isolate',
  'confine',
  'reads',
  'pool',
  'tags',
  'inherit',
  'drift',
  'redacted',
  'escapes',
  'allow',
  'hosts',
  'serve',
  'accepted',
  'prove',
  'match',
  'tools',
  'deps',
  'timeout',
  'report',
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

function maxDaysOf(accepted: unknown): number | undefined {
  const known = ['maxDays']
  if (typeof accepted !== 'object' || accepted === null)
    throw badOption('accepted', String(accepted), ['{ maxDays: 90 }'])
  const unknown = Object.keys(accepted).find((name) => !known.includes(name))
  if (unknown !== undefined) throw badOption(`accepted.${unknown}`, 'not an option of accepted', known)
  const { maxDays } = accepted as { readonly maxDays?: unknown }
  if (maxDays === undefined) return undefined
  if (typeof maxDays === 'number' && Number.isFinite(maxDays) && maxDays > 0) return maxDays
  throw badOption('accepted.maxDays', String(maxDays), ['days above 0'])
}

function proveOf(prove: unknown): HarvestSettings['prove'] {
  const known = ['good', 'bad', 'maxDays']
  if (typeof prove !== 'object' || prove === null) throw badOption('prove', String(prove), ['{ good: 0.9, bad: 0.5 }'])
  const unknown = Object.keys(prove).find((name) => !known.includes(name))
  if (unknown !== undefined) throw badOption(`prove.${unknown}`, 'not an option of prove', known)
  const given = prove as { readonly [name: string]: unknown }
  const { good = 0.9, bad = 0.5, maxDays = defaultProofDays } = given
  const isRate = (rate: unknown): rate is number => typeof rate === 'number' && rate > 0 && rate < 1
  if (!isRate(good)) throw badOption('prove.good', String(good), ['a rate between 0 and 1'])
  if (!isRate(bad) || bad >= good) throw badOption('prove.bad', String(bad), ['a rate above 0 and below prove.good'])
  if (typeof maxDays !== 'number' || !Number.isFinite(maxDays) || maxDays <= 0)
    throw badOption('prove.maxDays', String(maxDays), ['days above 0'])
  return { good, bad, maxDays }
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

function checkTools(mode: unknown): void {
  if (typeof mode !== 'object' || mode === null) return oneOf('tools', mode, ['serve', 'run', '{ run: [names] }'])
  const unknown = Object.keys(mode).find((name) => !['run', 'live', 'mcp'].includes(name))
  if (unknown !== undefined) throw badOption(`tools.${unknown}`, 'not a tools option', ['run', 'live', 'mcp'])
  const { run = [], live = [], mcp = {} } = mode as { readonly [name: string]: unknown }
  checkList('tools.run', run)
  checkList('tools.live', live)
  for (const url of live as readonly string[]) checkUrl('tools.live', url)
  if (typeof mcp !== 'object' || mcp === null)
    throw badOption('tools.mcp', String(mcp), ['{ recorded URL: URL to ask }'])
  for (const [from, to] of Object.entries(mcp)) {
    checkUrl('tools.mcp', from)
    checkUrl(`tools.mcp['${from}']`, to)
  }
}

/** Many look for it there. */
function checkIsolate(isolate: unknown): void {
  if (!confinements.includes(isolate as Confinement)) return oneOf('isolate', isolate, isolateModes)
  throw badOption('isolate', String(isolate), isolateModes, `did you mean confine: '${String(isolate)}'?`)
}

function checkUrl(name: string, url: unknown): void {
  const isHttp = typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
  if (!isHttp) throw badOption(name, String(url), ['a URL such as https://staging.example'])
}

function checkList(name: string, list: unknown): void {
  if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
    throw badOption(name, String(list), ['a list of texts'])
  }
}

function oneOf(name: string, value: unknown, known: readonly unknown[]): void {
  if (!known.includes(value)) throw badOption(name, String(value), known.map(String))
}

function badOption(name: string, value: string, known: readonly string[], hint?: string): HarvestError {
  const word = nearestWord(name, known)
  const meant = hint ?? (word === undefined ? undefined : `did you mean ${word}?`)
  return new HarvestError('HARVEST_OPTION', {
    what: `Invalid option in harvest(): ${name}`,
    where: { option: name, value, expected: known.join(', ') },
    fix: [`correct it in the Vitest config${meant === undefined ? '' : `: ${meant}`}`],
  })
}
