import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { openHome } from '../bench/vitest-scale/make.ts'
import { countHoles } from '../fixtures/loop/holes.ts'
import { type Loop, runProject, writeProject } from '../fixtures/loop/project.ts'
import { scriptOf } from '../fixtures/loop/script.ts'
import { spoilt } from '../fixtures/loop/wrong.ts'
import { HarvestError } from '../src/errors/index.ts'
import { importRecording } from '../src/importers/index.ts'
import { readModelCall } from '../src/providers/index.ts'
import { requireBuild } from './project.ts'
import { manifestRows } from './manifest.ts'

/**
 * Replays the recordings of a collection through real SDKs: every HTTP recording that has tool calls or several model
 * calls is imported, becomes a case, and `vitest run` drives a generic agent (`fixtures/loop`) through it, offline. A
 * case is green when the trace is the recorded one, arguments included.
 *
 * Prints every recording that is not green with its reason, then the counts by driver and host.
 *
 *     node scripts/replay-imported.ts ../shared/data [--only TEXT] [--install] [--wrong] [--keep]
 *
 * - `--only TEXT`: files with this text in their name
 * - `--install`: puts the SDKs of `fixtures/loop/sdks` there first, which no test of this repository needs
 * - `--wrong`: drives all that are green once more, telling a tool result, and then an argument, otherwise than recorded.
 *   Every such run has to be red; exit code 1 when one is not
 * - `--keep`: leaves the projects where they are, and says where
 */
const [folder = '../shared/data', ...words] = process.argv.slice(2)
const only = words.includes('--only') ? (words[words.indexOf('--only') + 1] ?? '') : ''
const manifest = join(folder, 'MANIFEST.jsonl')
const kinds = ['http-recording', 'drift-pair', 'perf-large']

/** A recording that is worth driving, and what came of it. */
interface Candidate extends Loop {
  /** Driver and host of each model that is asked. */
  readonly dialects: readonly string[]
  readonly isStream: boolean
  state: 'green' | 'failed' | 'not driveable'
  why: string
}

interface Row {
  readonly file: string
  readonly kind: string
  readonly fmt?: string
  /** How many calls of models somebody counted in it, and whether any had tool calls. */
  readonly n_llm?: number
  readonly tools?: boolean
}

if (!existsSync(manifest)) {
  console.log(`nothing to replay: there is no ${manifest}`)
  process.exit()
}
requireBuild()
if (words.includes('--install')) install()
const home = mkdtempSync(join(tmpdir(), 'vitest-harvest-loop-'))
try {
  await openHome(home)
  const candidates = collect()
  drive(candidates)
  report(candidates)
  if (words.includes('--wrong')) driveWrong(candidates.filter(({ state }) => state === 'green'))
} finally {
  if (words.includes('--keep')) console.log(`the projects are in ${home}`)
  else rmSync(home, { recursive: true, force: true })
}

function install(): void {
  const cwd = resolve(import.meta.dirname, '../fixtures/loop/sdks')
  const args = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund']
  const { status } = spawnSync('npm', args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`the SDKs in ${cwd} do not install`)
}

/** Everything that has a tool call or several calls of models in it. */
function collect(): readonly Candidate[] {
  const rows = manifestRows<Row>(folder)
    .filter(({ kind, fmt, file }) => kinds.includes(kind) && fmt !== undefined && file.includes(only))
    // Part of the collection is kept back for another check.
    .filter(({ file }) => existsSync(join(folder, file)))
  return rows.flatMap((row, index) => {
    try {
      return candidateOf(row, `loop-${`${index}`.padStart(4, '0')}`) ?? []
    } catch (error) {
      if (!HarvestError.is(error)) throw error
      console.log(`not imported: ${row.file}: ${error.code}\n`)
      return []
    }
  })
}

function candidateOf({ file, n_llm = 0, tools = false }: Row, id: string): Candidate | undefined {
  const imported = importRecording({ file, bytes: readFileSync(join(folder, file)), id, agent: 'loop' })
  const { facts, events } = imported
  if (!tools && n_llm < 2 && facts.modelCalls < 2 && facts.tools.length === 0) return undefined
  const script = scriptOf(events)
  const driven = script.turns.filter(({ driver }) => driver !== undefined)
  const dialects = [...new Set(driven.map(({ driver, url }) => `${driver} ${hostOf(url)}`))]
  const isStream = driven.some(({ url, body }) => {
    return /stream/i.test(new URL(url).pathname) || (body as { stream?: unknown }).stream === true
  })
  const lacking = lackingIn({ id, file, imported, script })
  const state = lacking === undefined ? 'green' : 'not driveable'
  return { id, file, imported, script, dialects, isStream, state, why: lacking ?? '' }
}

/** What no SDK here can ask, if there is something. */
function lackingIn({ imported, script }: Loop): string | undefined {
  const exchanges = imported.events.filter((event) => event.kind === 'exchange')
  const open = exchanges.filter((_, index) => script.turns[index]?.driver === undefined)
  const model = open.find((event) => readModelCall(event) !== undefined)
  const missing = model ?? (open.length === exchanges.length ? open[0] : undefined)
  return missing && `no SDK here asks ${missing.method} ${missing.url.slice(0, 160)}`
}

function drive(candidates: readonly Candidate[]): void {
  const project = join(home, 'loop')
  const refused = writeProject(
    project,
    candidates.filter(({ state }) => state === 'green'),
  )
  const failed = runProject(project)
  for (const candidate of candidates) {
    const [no, red] = [refused.get(candidate.id), failed.get(candidate.id)]
    if (no !== undefined) Object.assign(candidate, { state: 'not driveable', why: no })
    else if (red !== undefined) Object.assign(candidate, { state: 'failed', why: red })
  }
}

function report(candidates: readonly Candidate[]): void {
  for (const { id, file, dialects, state, why } of candidates) {
    if (state === 'green') continue
    console.log(`${state}: ${id} ${dialects.join(', ')} ${file}`)
    console.log(`  ${why.split('\n').slice(0, 12).join('\n  ')}\n`)
  }
  const named = candidates.flatMap((one) => one.dialects.map((name) => ({ name, one })))
  print(Map.groupBy(named, ({ name }) => name))
  print(Map.groupBy(named, ({ name }) => name.split(' ')[0]!))
  print(new Map([['all', candidates.map((one) => ({ name: 'all', one }))]]))
  const green = candidates.filter(({ state }) => state === 'green')
  const count = (is: (one: Candidate) => boolean): number => green.filter(is).length
  const goesOn = ({ script }: Loop): boolean => script.turns.some(({ body }) => countHoles(body ?? null) > 0)
  console.log(
    `of ${green.length} green: ${count(({ isStream }) => isStream)} stream, ` +
      `${count(({ imported }) => imported.facts.tools.length > 0)} have tool calls, ` +
      `${count(goesOn)} go on from an answer, ${count(({ imported }) => imported.facts.modelCalls > 1)} have several calls`,
  )
}

function print(groups: ReadonlyMap<string, readonly { readonly one: Candidate }[]>): void {
  for (const [name, list] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const all = [...new Set(list.map(({ one }) => one))]
    const count = (wanted: Candidate['state']): number => all.filter(({ state }) => state === wanted).length
    const streams = all.filter(({ state, isStream }) => state === 'green' && isStream).length
    console.log(
      `${name.padEnd(58)} ${all.length} in all, ${count('green')} green (${streams} with a stream), ` +
        `${count('failed')} failed, ${count('not driveable')} not driveable`,
    )
  }
  console.log()
}

/** Drives loops that tell their model something else than recorded: all have to be red. */
function driveWrong(green: readonly Candidate[]): void {
  for (const kind of ['result', 'argument'] as const) {
    const project = join(home, `wrong-${kind}`)
    const wrong = green.flatMap((loop) => {
      const script = spoilt(loop.script, kind)
      return script === undefined ? [] : [{ ...loop, script }]
    })
    writeProject(project, wrong)
    const failed = runProject(project)
    const served = wrong.filter(({ id }) => !failed.has(id))
    console.log(`with a wrong ${kind}: ${wrong.length} loops, ${wrong.length - served.length} red`)
    for (const { id, file } of served) console.log(`  GREEN ${id} ${file}`)
    if (served.length > 0) process.exitCode = 1
  }
}

function hostOf(url: string): string {
  const regionless = new URL(url).hostname.replace(/\.[a-z]{2}(-[a-z]+)+-\d\./, '.*.')
  return regionless.replace(/^[^.]+\.(openai\.azure\.com|services\.ai\.azure\.com)$/, '*.$1')
}
