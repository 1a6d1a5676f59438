/*
 * How long `harvest ls` takes with many tapes: npx node bench/ls/run.ts [count]
 * Prints a table; README.md in this folder says what is measured. Needs a built dist/.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { queryTapes, type TapeQuery } from '../../src/store/index.ts'
import { makeTapes } from './make.ts'

/** What is asked, under the options that ask it. */
const questions: readonly (readonly [string, TapeQuery])[] = [
  ['newest 50', {}],
  ['--agent', { filter: { agent: 'refund' } }],
  ['--outcome threw --tool', { filter: { outcome: 'threw', tool: 'charge_card' } }],
  ['--outcome truncated', { filter: { outcome: 'truncated' } }],
  ['--model --commit', { filter: { model: 'invented-1', commit: '4f2a00' } }],
  ['--min-cost --sort cost', { filter: { minCostUsd: 0.002 }, sort: 'cost' }],
  ['--since --until', { filter: { since: Date.UTC(2026, 0, 2), until: Date.UTC(2026, 0, 3) } }],
  ['--kept --class --sort duration', { filter: { kept: 'error', retention: 'incident' }, sort: 'duration' }],
  ['no such agent', { filter: { agent: 'refnd' } }],
]

const count = Number(process.argv[2] ?? 100_000)
const folder = mkdtempSync(join(tmpdir(), 'harvest-bench-'))
const recordings = join(folder, 'recordings')
const cli = resolve('dist/cli/main.js')

try {
  const [made] = await timed(() => makeTapes(join(recordings, 'inbox'), count))
  writeFileSync(join(recordings, 'prices.json'), JSON.stringify({ 'invented-*': { input: 1, output: 10 } }))
  print(`${count.toLocaleString('en')} tapes made`, made)
  // Folders that changed a moment ago are not trusted: nobody would wait for that in production.
  await setTimeout(3_000)
  await index()
  await ask()
  wholeCommand()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** Reads every tape into an index, twice: the second time after it was deleted. */
async function index(): Promise<void> {
  for (const name of ['index', 'index made anew']) {
    rmSync(join(recordings, 'inbox/.index'), { recursive: true, force: true })
    const memory: number[] = []
    const onProgress = (done: number): void => {
      if (done % 1_000 === 0) memory.push(process.memoryUsage().rss / 1e6)
    }
    const [wall, cpu] = await timed(() => queryTapes(recordings, { limit: 1 }, onProgress))
    const half = Math.max(...memory.slice(0, Math.ceil(memory.length / 2)))
    print(name, wall, cpu, `peak ${half.toFixed(0)} MB up to the middle, ${Math.max(...memory).toFixed(0)} MB in all`)
  }
  const files = readdirSync(join(recordings, 'inbox/.index')).map(
    (file) => statSync(join(recordings, 'inbox/.index', file)).size,
  )
  const size = files.reduce((sum, bytes) => sum + bytes, 0)
  console.log(`  on disk: ${(size / 1e6).toFixed(0)} MB, ${Math.round(size / count)} bytes per tape`)
  // The index came into the inbox: its time changed once.
  await setTimeout(3_000)
  const [wall, cpu] = await timed(() => queryTapes(recordings, { limit: 50 }))
  print('ls when the inbox has changed', wall, cpu)
}

/** Each question 15 times in this process; the median, and the slowest. */
async function ask(): Promise<void> {
  for (const [name, query] of questions) {
    const walls: number[] = []
    const cpus: number[] = []
    let found = 0
    for (let n = 0; n < 15; n++) {
      const [wall, cpu] = await timed(async () => {
        const { tapes, more } = await queryTapes(recordings, { ...query, limit: 50 })
        found = tapes.length + more
      })
      walls.push(wall)
      cpus.push(cpu)
    }
    print(`ls ${name}`, median(walls), median(cpus), `slowest ${Math.max(...walls).toFixed(0)} ms, finds ${found}`)
  }
}

/** The whole command, beside the one that only prints its help: in turn, so that both meet the same machine. */
function wholeCommand(): void {
  const run = (...args: readonly string[]): number => {
    const begin = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return performance.now() - begin
  }
  const help: number[] = []
  const ls: number[] = []
  for (let n = 0; n < 9; n++) {
    help.push(run('--help'))
    ls.push(run('ls', '--agent', 'refund', '--outcome', 'returned', '--limit', '50'))
  }
  print('harvest --help, the whole command', median(help))
  print(
    'harvest ls --agent …, the whole command',
    median(ls),
    undefined,
    `${(median(ls) / median(help)).toFixed(2)} times --help`,
  )
}

/** Milliseconds by the clock, and of processor time of this process. */
async function timed(run: () => unknown): Promise<readonly [wall: number, cpu: number]> {
  const cpu = process.cpuUsage()
  const begin = performance.now()
  await run()
  const wall = performance.now() - begin
  const { user, system } = process.cpuUsage(cpu)
  return [wall, (user + system) / 1_000]
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN
}

function print(what: string, wall: number, cpu?: number, more = ''): void {
  const time = (ms: number): string => (ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`)
  const used = cpu === undefined ? '' : `${time(cpu)} cpu`
  console.log(`${what.padEnd(42)}${time(wall).padStart(9)}${used.padStart(13)}  ${more}`.trimEnd())
}
