import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rowId, type StackRow } from '../../fixtures/stacks/rows.ts'
import type { StackOutcome } from './outcome.ts'
import { type Canary, startWorld } from './world.ts'

const fixtures = resolve(import.meta.dirname, '../../fixtures/stacks')

/** Longest that a command of a row may take, before the row counts as hanging. */
const patienceMs = 180_000

/** npm waits for a registry, which is none of the row's. */
const installMs = 1_800_000

const config = `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'

export default defineConfig({
  plugins: [harvest({ agents: { stack: './src/agent.js#agent' } })],
  test: { include: ['test/**/*.test.js'] },
})
`
const record = `import { createRecorder } from 'vitest-harvest/record'

const recorder = createRecorder()
const { agent, through = (input, work) => work(input) } = await import('./agent.js')
const work = (input) => recorder.run({ agent: 'stack', input, id: 'recorded' }, () => agent(input))
const answer = await through(JSON.parse(process.env.STACK_INPUT), work)
console.log(JSON.stringify(answer))
process.exit(0)
`

/** The row went another way than a user may be led: it hung, was red for another reason, or was silently live. */
export class RowFailure extends Error {}

/** npm gave nothing that could be tried: says nothing of the row. */
export class NotInstalled extends Error {}

/**
 * Installs the row in a folder of its own, records it, promotes it with a canary in the provider's place, replays it, and breaks it.
 *
 * @param pinned - versions of an earlier run; without one of them npm chooses from the row's range
 */
export async function tryRow(
  row: StackRow,
  cache: string,
  pinned: Readonly<Record<string, string>>,
): Promise<StackOutcome> {
  const dir = join(cache, 'rows', rowId(row))
  const env = { ...environment(dir), ...row.env }
  await install(row, dir, pinned)
  layOut(row, dir)
  await prepare(row, dir)
  const packages = Object.fromEntries(row.install.map((spec) => [nameOf(spec), installedVersion(dir, nameOf(spec))]))
  const world = await startWorld(row)
  const recording = { ...env, STACK_INPUT: JSON.stringify(world.input), STACK_QUEUE: `${world.queue ?? ''}` }
  const recorded = await run(dir, 'node', ['src/record.js'], recording)
  await world.close()
  if (recorded.code !== 0) throw new RowFailure(`the agent does not run: ${recorded.text.slice(-1500)}`)
  const tape = readTape(join(dir, 'recordings/inbox'))
  const about = { stack: row.stack, packages, agent: row.agent, steps: tape.steps, unrecorded: tape.unrecorded }
  const write = row.write === undefined ? {} : { write: row.write }

  const canary = await world.canary()
  try {
    const promoted = await run(dir, 'vitest-harvest', ['promote', 'recorded', '--as', 'promoted'], env)
    if (row.refused !== undefined) {
      if (promoted.code === 0 || !promoted.text.includes(row.refused) || canary.reached() > 0) {
        throw new RowFailure(`not refused with ${row.refused}, or live: ${promoted.text}`)
      }
      const leaks = tape.steps === 0 ? { leaks: await letThrough(row, dir, env, canary) } : {}
      return { ...about, promotes: false, replays: false, canary: 0, refused: row.refused, ...leaks, ...write }
    }
    if (promoted.code !== 0) throw new RowFailure(`does not promote: ${promoted.text}`)
    const replayed = await run(dir, 'vitest', ['run'], env)
    if (replayed.code !== 0) throw new RowFailure(`does not replay: ${replayed.text}`)
    if (!/Escapes +0\n/.test(replayed.text)) throw new RowFailure(`replays with escapes: ${replayed.text}`)
    const red = await breakRow(row, dir, env)
    if (canary.reached() > 0) throw new RowFailure(`silently live: ${canary.reached()} requests reached the canary`)
    return { ...about, promotes: true, replays: true, canary: canary.reached(), red, ...write }
  } finally {
    await canary.close()
  }
}

/**
 * The sabotage: the add-ons of a refused row are allowed by name, as if nobody watched them load.
 *
 * @returns how many requests reached the canary then; none would mean that the canary proves nothing
 */
async function letThrough({ install: [spec = ''] }: StackRow, dir: string, env: NodeJS.ProcessEnv, canary: Canary) {
  const allowed = config.replace('harvest({', `harvest({ allow: ['add-on ${nameOf(spec)}'],`)
  writeFileSync(join(dir, 'vitest.config.js'), allowed)
  const promoted = await run(
    dir,
    'vitest-harvest',
    ['promote', 'recorded', '--as', 'let-through', '--accept-empty'],
    env,
  )
  if (canary.reached() === 0) throw new RowFailure(`the canary saw nothing of a live run: ${promoted.text}`)
  return canary.reached()
}

/** @returns the code the broken agent is red with, when it is that of the row and its message names what was edited */
async function breakRow(row: StackRow, dir: string, env: NodeJS.ProcessEnv): Promise<string> {
  const source = readFileSync(join(dir, 'src/agent.js'), 'utf8')
  const [from, to] = row.breaks ?? (source.includes('getWeather') ? ['sunny', 'rainy'] : ['Tokyo', 'Kyoto'])
  const file = ['agent.js', 'stack.js']
    .map((name) => join(dir, 'src', name))
    .find((path) => readFileSync(path, 'utf8').includes(from))
  if (file === undefined) throw new RowFailure(`nothing to break: ${from} stands nowhere`)
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll(from, to))
  const { code, text } = await run(dir, 'vitest', ['run'], env)
  const want = row.red ?? 'HARVEST_UNPROVEN'
  const codes = [...new Set([...text.matchAll(/\((HARVEST_[A-Z_]+)\)/g)].map(([, one]) => one))]
  if (code === 0) throw new RowFailure('green although it is broken')
  if (codes.join() !== want || !text.includes(to)) {
    throw new RowFailure(`red for the wrong reason, not ${want} with “${to}”: ${text}`)
  }
  return want
}

/** Packages that fetch more than npm gave them; the engine of Prisma is never started, so any program will do. */
const offline = { ONNXRUNTIME_NODE_INSTALL: 'skip', PRISMA_SCHEMA_ENGINE_BINARY: process.execPath }

async function prepare({ prepare: [command, ...args] = [] }: StackRow, dir: string): Promise<void> {
  if (command === undefined) return
  const { code, text } = await run(dir, command, args, { ...environment(dir), ...offline })
  if (code !== 0) throw new RowFailure(`is not prepared: ${text}`)
}

async function install(row: StackRow, dir: string, pinned: Readonly<Record<string, string>>): Promise<void> {
  const wanted = row.install.map((spec) => {
    const version = pinned[nameOf(spec)]
    return version === undefined ? spec : `${nameOf(spec)}@${version}`
  })
  const stamp = join(dir, 'node_modules/.installed')
  if (existsSync(stamp) && [wanted.join(' '), row.install.join(' ')].includes(readFileSync(stamp, 'utf8'))) return
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{ "private": true, "type": "module" }\n')
  const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps', '--loglevel=error']
  // What is in the package is enough: nothing else is fetched.
  const installing = { ...process.env, ...offline }
  const { code, text } = await run(dir, 'npm', ['install', ...flags, ...wanted], installing, installMs)
  if (code !== 0) throw new NotInstalled(text)
  writeFileSync(stamp, wanted.join(' '))
}

function layOut({ agent }: StackRow, dir: string): void {
  for (const old of ['src', 'recordings', 'test']) rmSync(join(dir, old), { recursive: true, force: true })
  cpSync(join(fixtures, 'agents', `${agent}.js`), join(dir, 'src/agent.js'))
  for (const name of ['stack.js', 'mcp-server.js', 'fastmcp-server.js', 'claude-cli.js', 'schema.prisma'])
    cpSync(join(fixtures, 'agents', name), join(dir, 'src', name))
  writeFileSync(join(dir, 'src/record.js'), record)
  writeFileSync(join(dir, 'vitest.config.js'), config)
}

function readTape(inbox: string): { readonly steps: number; readonly unrecorded: readonly string[] } {
  const name = readdirSync(inbox).find((file) => file.endsWith('.tape.jsonl'))
  if (name === undefined) throw new RowFailure('no tape was written')
  const lines = readFileSync(join(inbox, name), 'utf8').trimEnd().split('\n')
  const events = lines.map(
    (line) =>
      JSON.parse(line) as { readonly kind?: string; readonly n?: number; readonly unrecorded?: readonly string[] },
  )
  const steps = events.filter(({ kind }) => kind === 'exchange' || kind === 'tool')
  return {
    steps: new Set(steps.map(({ n }) => n)).size,
    unrecorded: events.flatMap(({ unrecorded }) => unrecorded ?? []),
  }
}

function environment(dir: string): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '' } = process.env
  const bins = [join(dir, '../../node_modules/.bin'), resolve(import.meta.dirname, '../../node_modules/.bin'), PATH]
  return { PATH: bins.join(':'), HOME, NO_COLOR: '1', OPENAI_API_KEY: 'test-key', OPENAI_AGENTS_DISABLE_TRACING: '1' }
}

/** The name of a package in what npm is given. */
export function nameOf(spec: string): string {
  return spec.slice(0, spec.indexOf('@', 1))
}

function installedVersion(dir: string, name: string): string {
  return (JSON.parse(readFileSync(join(dir, 'node_modules', name, 'package.json'), 'utf8')) as { version: string })
    .version
}

async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  timeout = patienceMs,
) {
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout,
    killSignal: 'SIGKILL',
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const [code, signal] = await new Promise<[number | null, string | null]>((done, fail) => {
    child.once('error', fail)
    child.once('close', (...how) => done(how))
  })
  if (signal !== null) throw new RowFailure(`hangs: ${command} ${args.join(' ')} did not end. ${text.slice(-500)}`)
  return { code, text }
}
