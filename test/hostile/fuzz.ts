import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { compileCache } from '../../fixtures/child/compile-cache.ts'

/** What should not have happened, and on which line of which mutant. */
export interface Find {
  readonly line: string
  readonly what: string
}

export interface Fuzzed {
  readonly finds: readonly Find[]
  /** Command lines that were run. */
  readonly lines: number
}

/**
 * Runs every command on mutants of tapes and cases and says what started a program, opened a socket, hung, crashed or
 * touched a file beside the project.
 *
 * @param options.main - the entry of the installed command: `dist/cli/main.js` of the package
 * @param options.hangMs - how long one line may take
 */
export async function fuzzCommands(options: {
  readonly main: string
  readonly first: number
  readonly mutants: number
  readonly hangMs: number
  /** Each mutant meets every so manieth line, the next one the lines beside them. Default 1: all. */
  readonly share?: number
  readonly onFind?: (find: Find) => void
  readonly onProgress?: (seed: string, lines: number) => void
}): Promise<Fuzzed> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-fuzz-')))
  const project = join(base, 'project')
  const finds: Find[] = []
  let lines = 0
  try {
    for (const name of ['project', 'canary', 'home', 'tmp']) mkdirSync(join(base, name))
    writeFileSync(join(project, 'package.json'), '{ "private": true }')
    writeFileSync(join(base, 'canary/secret'), 'a secret\n')
    const before = treeOf(base)
    const end = options.first + options.mutants
    // A line that hangs or ends its process is told, and the next mutant goes on.
    for (let seed = options.first; seed < end; ) {
      const count = Math.min(end - seed, mutantsOfProcess)
      const last = await runChild(base, options.main, [seed, count, options.share ?? 1], options.hangMs, {
        find: (find) => {
          finds.push(find)
          options.onFind?.(find)
        },
        begin: (line) => {
          lines++
          options.onProgress?.(line, lines)
        },
      })
      seed = last === undefined ? seed + count : last + 1
    }
    const after = treeOf(base)
    for (const [path, digest] of after)
      if (before.get(path) !== digest) finds.push({ line: 'all', what: `${path} was made or changed` })
    for (const path of before.keys()) if (!after.has(path)) finds.push({ line: 'all', what: `${path} is gone` })
    return { finds, lines }
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** A process keeps each evaluation of the entry: so many, and the next one goes on. */
const mutantsOfProcess = 200

/** @returns the mutant at which the process had to be ended; `undefined` when all were run */
async function runChild(
  base: string,
  main: string,
  numbers: readonly [first: number, count: number, share: number],
  hangMs: number,
  told: { readonly find: (find: Find) => void; readonly begin: (line: string) => void },
): Promise<number | undefined> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'fuzz.child.ts'), join(base, 'project'), main, ...numbers.map(String)],
    {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: {
        HOME: join(base, 'home'),
        TMPDIR: join(base, 'tmp'),
        PATH: '/nowhere',
        NO_COLOR: '1',
        CI: '1',
        ...compileCache,
      },
    },
  )
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)))
  let line = ''
  let isDone = false
  let isHanging = false
  // On a busy machine a line waits for others: so long of the processor is a hang, or many times as long by the clock.
  const watch = (mostMs: number, since = cpuMsOf(child.pid), turns = 0): NodeJS.Timeout =>
    setTimeout(() => {
      if (cpuMsOf(child.pid) - since < mostMs && turns < patience) return void (timer = watch(mostMs, since, turns + 1))
      isHanging = true
      told.find({ line, what: `took longer than ${mostMs} ms` })
      child.kill('SIGKILL')
    }, hangMs)
  // Loading all of it takes a moment.
  let timer = watch(12 * hangMs)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  for await (const text of createInterface({ input: child.stdio[3] as Readable })) {
    const [word, at, what] = JSON.parse(text) as [string, string, string]
    clearTimeout(timer)
    line = at
    if (word === 'done') isDone = true
    else if (word === 'find') told.find({ line: at, what })
    else told.begin(at)
    timer = watch(hangMs)
  }
  await ended
  clearTimeout(timer)
  if (isDone) return undefined
  if (!isHanging) told.find({ line, what: `ended its process: ${errors}` })
  return line === '' ? numbers[0] + numbers[1] : Number(line.split(' ', 1)[0])
}

/** Waits by the clock: neighbours may leave a process, and the git it waits for, little of the processor. */
const patience = 60

/** What a process has used of the processor; where no file says so, the time that has passed. */
function cpuMsOf(pid = 0): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    // User and system time in hundredths of a second, of the children that ended too.
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
  } catch {
    return performance.now()
  }
}

/** Every file beside the project by its digest; what is in the folder for temporary files has to be gone. */
function treeOf(base: string): ReadonlyMap<string, string> {
  const files = readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.startsWith(join(base, 'project')))
  return new Map(files.map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]))
}
