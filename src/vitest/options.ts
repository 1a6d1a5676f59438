// Over 300 lines: half of it documents the options of the plugin.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { defaultProofDays } from '../cases/proof-days.ts'
import type { HarvestError } from '../errors/index.ts'
import {
  above0,
  anything,
  between0And1,
  checkOption,
  checkOptions,
  invalidOption,
  isFields,
  isNumber,
  oneOf,
  type OptionRule,
  type OptionShape,
  type OptionsOf,
  truth,
} from '../errors/options.ts'
import { checkDrift } from '../match/drift-option.ts'
import {
  type DriftClass,
  type DriftPolicy,
  type ReplayOptions,
  type MatchLevel,
  matchLevels,
  type ToolsMode,
} from '../match/types.ts'
import { type ConfineOption, type ConfineSetting, readConfine, type ReadsOption } from './confine-option.ts'
import { checkHosts, type SameHosts } from '../match/hosts-option.ts'
import { programsIssue } from '../recordings/programs.ts'
import { type Confinement, confinements } from '../seam/intercept/confine.ts'
import { type ArgsMode, argsModes, type TraceMode, traceModes } from '../trace/types.ts'
import { toPosix } from './posix.ts'

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
  /**
   * Escapes to let through, such as `socket 127.0.0.1:5432`; `*` matches anything. `state globalThis.metrics` lets forks have
   * what one run leaves there for the next. Default none.
   */
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
   * Whose code a replay runs, to be compared with its recording. Default `serve`: none. Names are a yes to what these
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
  checkOptions(harvestOptions, options, shape)
  const { agents = {}, recordings = 'recordings', isolate = 'module', pool = 'forks', inherit = true } = options
  const { timeout = 10_000, serve, drift, redacted, escapes, allow, hosts, match = {}, deps = [], tags = [] } = options
  const { accepted = {}, prove = {}, tools: bodies = 'serve', programs = {} } = options
  const { confine = 'seam', reads = 'all', report = 'red' } = options
  checkAgents(agents)
  const wrongProgram = programsIssue(programs)
  if (wrongProgram !== undefined) throw bad(wrongProgram.part, programs, wrongProgram.expected)
  checkIsolate(isolate)
  const confined = readConfine(confine, reads, agents)
  if ('issue' in confined) throw bad(...confined.issue)
  // Beside a confined thread its process would be free.
  if (confined.setting.how !== 'seam' && pool !== 'forks')
    throw bad('pool', pool, `'forks' with confine: '${confined.setting.how}'`)
  checkDrift(harvestOptions, drift)
  for (const [tool, rule] of Object.entries(match.tools ?? {})) checkToolRule(tool, rule)
  checkTools(bodies)
  checkHosts(harvestOptions, hosts)
  const { good = 0.9, bad: low = 0.5, maxDays = defaultProofDays } = prove
  if (low >= good) throw bad('prove.bad', low, 'a rate above 0 and below prove.good')
  const replay = {
    ...(drift !== undefined && { drift }),
    ...(redacted !== undefined && { redacted }),
    ...(escapes !== undefined && { escapes }),
    ...(allow !== undefined && { allow }),
    ...(hosts !== undefined && { hosts }),
    ...(serve !== undefined && { serve }),
  }
  const declared = tags.map((tag) => (typeof tag === 'string' ? { name: tag } : tag))
  const lasting = accepted.maxDays === undefined ? {} : { acceptedMaxDays: accepted.maxDays }
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
    prove: { good, bad: low, maxDays },
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

const agentShape = "a file and its export, such as './src/refund.ts#refundAgent'"
const isolateModes: readonly IsolateMode[] = ['module', 'worker', 'none']
const poolNames: readonly PoolName[] = ['forks', 'threads']
const harvestOptions: OptionsOf = { owner: 'harvest()', code: 'HARVEST_OPTION' }

const bad = (name: string, given: unknown, expected: string, meant?: string): HarvestError =>
  invalidOption(harvestOptions, name, given, expected, meant)

const texts: OptionRule = {
  expected: 'a list of texts',
  fits: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
}
const days: OptionRule = { ...above0, expected: 'days above 0' }

/** What is `anything` here is looked at below. */
const shape: OptionShape = {
  agents: { expected: agentShape, fits: isFields },
  programs: anything,
  recordings: { expected: 'a folder', fits: (value: unknown) => typeof value === 'string' && value !== '' },
  isolate: anything,
  confine: anything,
  reads: anything,
  pool: oneOf(poolNames),
  tags: anything,
  inherit: truth,
  drift: anything,
  redacted: oneOf(['report', 'fail']),
  escapes: oneOf(['error', 'report']),
  allow: texts,
  hosts: anything,
  serve: oneOf(matchLevels),
  accepted: { maxDays: days },
  prove: { good: between0And1, bad: between0And1, maxDays: days },
  match: { trace: oneOf(traceModes), args: oneOf(argsModes), tools: anything },
  tools: anything,
  deps: texts,
  // A longer timer would fire at once.
  timeout: {
    expected: 'milliseconds above 0, at most 2147483647',
    fits: (value: unknown) => isNumber(value) && value > 0 && value <= 2_147_483_647,
  },
  report: oneOf(['red', false]),
} satisfies Readonly<Record<keyof HarvestOptions, unknown>>

function splitEntry(entry: string): readonly [file: string, exported: string] {
  const hash = entry.lastIndexOf('#')
  return hash > 0 ? [entry.slice(0, hash), entry.slice(hash + 1)] : [entry, 'default']
}

function checkAgents(agents: object): void {
  for (const [name, entry] of Object.entries(agents) as [string, unknown][])
    if (typeof entry !== 'string' || entry === '' || entry.startsWith('#') || entry.endsWith('#'))
      throw bad(`agents.${name}`, entry, agentShape)
}

function checkToolRule(tool: string, rule: unknown): void {
  // Cases run in workers, and a function cannot be sent there.
  if (typeof rule === 'function') {
    const expected = 'a mode or { args: [keys] } here, or a function in toMatchTrace(expected, options)'
    throw bad(`match.tools.${tool}`, 'a function', expected)
  }
  const args = isFields(rule) ? (rule as { readonly args?: unknown }).args : rule
  if (!Array.isArray(args)) checkOption(harvestOptions, `match.tools.${tool}`, args, oneOf(argsModes))
}

function checkTools(mode: unknown): void {
  if (!isFields(mode)) {
    const words = oneOf(['serve', 'run'])
    return checkOption(harvestOptions, 'tools', mode, { ...words, expected: `${words.expected} or { run: [names] }` })
  }
  checkOptions(harvestOptions, mode, toolsShape, 'tools.')
  const { live = [], mcp = {} } = mode as { readonly live?: readonly string[]; readonly mcp?: object }
  for (const url of live) checkOption(harvestOptions, 'tools.live', url, webAddress)
  for (const [from, to] of Object.entries(mcp)) {
    checkOption(harvestOptions, 'tools.mcp', from, webAddress)
    checkOption(harvestOptions, `tools.mcp['${from}']`, to, webAddress)
  }
}

const toolsShape: OptionShape = {
  run: texts,
  live: texts,
  mcp: { expected: '{ recorded URL: URL to ask }', fits: isFields },
}
const webAddress: OptionRule = {
  expected: 'a URL such as https://staging.example',
  fits: (url) => typeof url === 'string' && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
}

/** Many look for it there. */
function checkIsolate(isolate: unknown): void {
  if (!confinements.includes(isolate as Confinement))
    return checkOption(harvestOptions, 'isolate', isolate, oneOf(isolateModes))
  throw bad('isolate', isolate, isolateModes.join(', '), `confine: '${String(isolate)}'`)
}
