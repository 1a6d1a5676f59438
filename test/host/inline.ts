import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { describe, it } from 'vitest'
import { linkTree } from '../../scripts/link-tree.ts'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { built } from '../support/built.ts'
import { runWarm } from '../support/warm.ts'

/** The Vitest versions the package promises to work with. */
export type Lane = 5 | 4

/**
 * Registers a test of what is our own code on every lane for one of them; on the other there is none, and so none that is
 * skipped. `npm run test:lanes` runs it on both.
 */
export function onLane(lane: Lane, only: Lane): (name: string, ...how: HowToRun) => void {
  const isHere = lane === only || process.env['HARVEST_EVERY_LANE'] === '1'
  return (name, ...how) => {
    const [options, run] = how.length === 2 ? how : [{}, ...how]
    if (isHere) it(name, options, run)
  }
}

type Run = () => Promise<void> | void
type HowToRun = [run: Run] | [options: { readonly tags?: 'thorough' }, run: Run]

/** Describes for every version what runs of Vitest do: `%i` in the name is the version. The older one is thorough. */
export function describeLanes(
  name: string,
  suite: (lane: Lane) => void,
  options: { readonly concurrent?: true } = {},
): void {
  describe(name.replace('%i', '5'), options, () => suite(5))
  describe(name.replace('%i', '4'), { ...options, tags: 'thorough' }, () => suite(4))
}

const repository = path.resolve(import.meta.dirname, '../..')
const vitestOf: Readonly<Record<Lane, string>> = {
  5: path.join(repository, 'node_modules/vitest'),
  4: path.join(repository, 'lanes/vitest-4/node_modules/vitest'),
}

/** Where the commands are below `node_modules`. */
const entries = {
  vitest: 'vitest/vitest.mjs',
  'vitest-harvest': 'vitest-harvest/dist/vitest/run-vitest.js',
  harvest: 'vitest-harvest/dist/cli/main.js',
}

/** A folder in which projects find `vitest` of one lane and a real copy of the built package. */
export interface Home extends Disposable {
  readonly lane: Lane
  /** Writes a project: file → text. */
  project(name: string, files: Readonly<Record<string, string>>): InlineProject
}

export interface RunResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** Both, without colours. */
  readonly output: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** `vitest` itself (default), or a command of ours in front of it. */
  readonly bin?: keyof typeof entries
  /** User and group it runs as. */
  readonly uid?: number
  /** Folder below the project's. Default: its own. */
  readonly cwd?: string
}

export interface InlineProject {
  readonly folder: string
  run(args: readonly string[], options?: RunOptions): Promise<RunResult>
  /** Runs a file of the project with Node. */
  start(file: string): Promise<RunResult>
  watch(args: readonly string[], options?: RunOptions): Watching
  write(file: string, text: string): void
  read(file: string): string
  /** Absolute path of a command, to be run by Node. */
  bin(name: keyof typeof entries): string
  /** Files below `folder` whose text matches. */
  search(folder: string, text: RegExp): readonly string[]
  /** Digest of every file outside of node_modules and .vitest, with its name. */
  hash(): string
}

/** A Vitest in watch mode. */
export interface Watching extends AsyncDisposable {
  /** What it printed since the last call, once a run is over and all of `texts` is in it; fails after 13 minutes. */
  untilIdle(...texts: readonly string[]): Promise<string>
  /** What it printed since the last call, once `text` is in it. */
  until(text: string): Promise<string>
  /** Ends it; its exit code, or `null` when the signal did. */
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/**
 * Lays the built package out as npm would, once per lane: through a symbolic link, Node would find the
 * repository's own Vitest instead of the lane's. `others` are packages a user has beside it.
 */
export function openHome(lane: Lane, others: readonly string[] = []): Home {
  const folder = mkdtempSync(path.join(tmpdir(), `vitest-harvest-host-${lane}-`))
  const modules = path.join(folder, 'node_modules')
  const own = path.join(modules, 'vitest-harvest')
  mkdirSync(own, { recursive: true })
  linkTree(path.dirname(built('bin.js')), path.join(own, 'dist'))
  copyFileSync(path.resolve(built('bin.js'), '../../package.json'), path.join(own, 'package.json'))
  link(vitestOf[lane], path.join(modules, 'vitest'))
  for (const name of [...dependencies(), 'vite', ...others])
    link(path.join(repository, 'node_modules', name), path.join(modules, name))
  return {
    lane,
    project: (name, files) => createProject(path.join(folder, name), modules, files),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function dependencies(): readonly string[] {
  const manifest = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8')) as { dependencies: object }
  return Object.keys(manifest.dependencies)
}

function link(target: string, at: string): void {
  mkdirSync(path.dirname(at), { recursive: true })
  symlinkSync(target, at, 'junction')
}

function createProject(folder: string, modules: string, files: Readonly<Record<string, string>>): InlineProject {
  const write = (file: string, text: string) => {
    const target = path.join(folder, file)
    mkdirSync(path.dirname(target), { recursive: true })
    writeFileSync(target, text)
  }
  for (const [file, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) write(file, text)
  const start = (args: readonly string[], { env, bin = 'vitest', uid, cwd = '.' }: RunOptions = {}) => {
    return spawn(process.execPath, [path.join(modules, entries[bin]), ...args], {
      cwd: path.join(folder, cwd),
      env: { ...cleanEnvironment(), ...env },
      ...(uid === undefined ? {} : { uid, gid: uid }),
    })
  }
  return {
    folder,
    bin: (name) => path.join(modules, entries[name]),
    write,
    read: (file) => readFileSync(path.join(folder, file), 'utf8'),
    search: (below, text) =>
      filesIn(path.join(folder, below)).filter((file) =>
        text.test(readFileSync(path.join(folder, below, file), 'utf8')),
      ),
    run: (args, options = {}) => {
      const { env, bin = 'vitest', uid, cwd = '.' } = options
      if (uid !== undefined) return finished(start(args, options))
      return warm([path.join(modules, entries[bin]), ...args], {
        cwd: path.join(folder, cwd),
        env: { ...cleanEnvironment(), ...env },
      })
    },
    start: (file) => finished(spawn(process.execPath, [file], { cwd: folder, env: cleanEnvironment() })),
    watch: (args, options) => watching(start(args, options)),
    hash: () => hashTree(folder),
  }
}

/** Nothing of the Vitest that runs these tests, nor of the CI or editor it runs in. */
function cleanEnvironment(): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR = '/tmp', SystemRoot } = process.env
  return { PATH, HOME, TMPDIR, NO_COLOR: '1', ...compileCache, ...(SystemRoot !== undefined && { SystemRoot }) }
}

/** In a process that ran others before: to load Vitest is half of what a run of few cases costs. */
async function warm(args: readonly string[], options: Parameters<typeof runWarm>[1]): Promise<RunResult> {
  const { code, stdout, stderr } = await runWarm(args, options)
  return {
    code,
    stdout: String(stdout),
    stderr: String(stderr),
    output: stripVTControlCharacters(String(stdout) + String(stderr)),
  }
}

async function finished(child: ChildProcess): Promise<RunResult> {
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk) => (stdout += String(chunk)))
  child.stderr?.on('data', (chunk) => (stderr += String(chunk)))
  const { promise, resolve } = Promise.withResolvers<number | null>()
  // A test of this suite may be wrong, and Vitest then wait for ever.
  const guard = setTimeout(() => child.kill('SIGKILL'), 840_000)
  child.once('close', resolve)
  const code = await promise
  clearTimeout(guard)
  return { code, stdout, stderr, output: stripVTControlCharacters(stdout + stderr) }
}

function watching(child: ChildProcess): Watching {
  let seen = ''
  const waiting = new Set<() => void>()
  const take = (chunk: unknown) => {
    seen += stripVTControlCharacters(String(chunk))
    for (const check of waiting) check()
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  // What goes to stderr may come before or after what goes to stdout.
  const until = async (...texts: readonly string[]): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const guard = setTimeout(
      () => reject(new Error(`never printed ${JSON.stringify(texts)}; printed\n${seen}`)),
      780_000,
    )
    const check = () => {
      const ends = texts.map((text) => (seen.includes(text) ? seen.indexOf(text) + text.length : Number.NaN))
      const end = Math.max(...ends)
      if (Number.isNaN(end)) return
      const told = seen.slice(0, end)
      seen = seen.slice(end)
      resolve(told)
    }
    waiting.add(check)
    check()
    return promise.finally(() => {
      clearTimeout(guard)
      waiting.delete(check)
    })
  }
  const stop = async (signal: NodeJS.Signals): Promise<number | null> => {
    const closed = new Promise<number | null>((resolve) => child.once('close', resolve))
    child.kill(signal)
    const guard = setTimeout(() => child.kill('SIGKILL'), 60_000)
    return closed.finally(() => clearTimeout(guard))
  }
  return {
    until: (text) => until(text),
    untilIdle: (...texts) => until('press h to show help', ...texts),
    stop,
    async [Symbol.asyncDispose]() {
      await stop('SIGTERM')
    },
  }
}

function hashTree(folder: string): string {
  const names = filesIn(folder).filter((name) => !/^(?:node_modules|\.vitest|\.harvest)\b/.test(name))
  const hash = createHash('sha256')
  for (const name of names)
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(path.join(folder, name)))
  return `${names.length} files ${hash.digest('hex')}`
}

function filesIn(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .sort()
}
