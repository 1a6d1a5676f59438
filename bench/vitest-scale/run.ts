import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const vitest = resolve('node_modules/vitest/vitest.mjs')

/** What a whole command took, with all the processes it started. */
export interface Cost {
  readonly wallMs: number
  readonly cpuMs: number
}

/** Runs all tests of a project; throws when not every one of them passed. */
export function runTests(folder: string, count: number, { isCold = true, args = [] as readonly string[] } = {}): Cost {
  if (isCold) forgetCaches(folder)
  const begin = performance.now()
  const { status, stdout, stderr } = spawnSync('sh', shell([process.execPath, vitest, 'run', ...args]), {
    cwd: folder,
    encoding: 'utf8',
    env: environment(),
    maxBuffer: 2 ** 28,
  })
  const wallMs = performance.now() - begin
  const passed = Number(/Tests\s+(\d+) passed \(\d+\)/.exec(stdout)?.[1])
  if (status !== 0 || (count > 0 && passed !== count)) throw new Error(`${folder}: ${stdout.slice(-2_000)}${stderr}`)
  return { wallMs, cpuMs: cpuIn(stderr) }
}

/** `times` tells what a shell's children used, and theirs; Node only knows of itself. */
function shell(command: readonly string[]): readonly string[] {
  return ['-c', '"$@"; code=$?; times >&2; exit $code', 'sh', ...command]
}

/** The last line: user and system time of the children, `0m1.230s 0m0.450s`. */
function cpuIn(stderr: string): number {
  const found = [...stderr.matchAll(/(\d+)m([\d.]+)s/g)].slice(-2)
  return found.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1_000, 0)
}

/** What Vitest keeps of transformed modules between runs. */
function forgetCaches(folder: string): void {
  for (const cache of ['.vitest-cache', '.vite', '.vitest']) {
    for (const at of [folder, join(folder, '..')])
      rmSync(join(at, 'node_modules', cache), { recursive: true, force: true })
  }
}

/** Runs the shards of a project one after the other; the names of the tests each of them ran. */
export function runShards(folder: string, shards: number): readonly (Cost & { readonly names: readonly string[] })[] {
  return Array.from({ length: shards }, (_, index) => {
    const dir = mkdtempSync(join(folder, '.shard-'))
    const file = join(dir, 'result.json')
    const args = [`--shard=${index + 1}/${shards}`, '--reporter=json', `--outputFile=${file}`]
    const cost = runTests(folder, 0, { args })
    const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as Report
    rmSync(dir, { recursive: true })
    const names = testResults.flatMap(({ assertionResults }) => assertionResults.map(({ fullName }) => fullName))
    return { ...cost, names }
  })
}

interface Report {
  readonly testResults: readonly { readonly assertionResults: readonly { readonly fullName: string }[] }[]
}

/** A Vitest that watches. */
export interface Watch extends Disposable {
  /** Milliseconds from an edit until the run it caused is over; throws when it was another number of tests. */
  after(edit: () => void, count: number): Promise<number>
}

/** Starts watching and waits for the first run. */
export async function watch(folder: string, count: number): Promise<Watch> {
  forgetCaches(folder)
  const child = spawn(process.execPath, [vitest, '--watch'], { cwd: folder, env: environment() })
  const idle = listen(child)
  await idle(count)
  return {
    async after(edit, expected) {
      const begin = performance.now()
      edit()
      await idle(expected)
      return performance.now() - begin
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  }
}

function listen(child: ChildProcess): (count: number) => Promise<void> {
  let seen = ''
  let check: () => void = () => undefined
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      seen += stripVTControlCharacters(String(chunk))
      check()
    })
  }
  const done = /Tests\s+(.+)\n[^]*press h to show help/
  return (count) =>
    new Promise((resolve, reject) => {
      const guard = setTimeout(() => reject(new Error(`it never came to its end: ${seen.slice(-2_000)}`)), 300_000)
      check = () => {
        const found = done.exec(seen)
        if (found === null) return
        clearTimeout(guard)
        seen = ''
        if (found[1]?.startsWith(`${count} passed (${count})`) === true) resolve()
        else reject(new Error(`not ${count} tests: ${found[1]}`))
      }
      check()
    })
}

/** Nothing of the run this bench is part of, and no CI. */
function environment(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR !== undefined && { TMPDIR }), NO_COLOR: '1' }
}
