import { spawnSync } from 'node:child_process'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { groupTapes, queryTapes, type TapeQuery } from '../../src/recordings/index.ts'
import type { Bench, Table } from '../kit/contract.ts'
import { figure, inTurn, median, ratios, timed } from '../kit/measure.ts'
import { measureCommands } from './commands.ts'
import { makeTapes } from './make.ts'

const bench: Bench = {
  question: 'How long does `harvest ls` take with many tapes?',
  async run({ isQuick, scratch, progress }) {
    const count = isQuick ? 10_000 : 100_000
    const recordings = join(scratch, 'recordings')
    progress(`making ${count} tapes`)
    makeTapes(join(recordings, 'inbox'), count)
    writeFileSync(join(recordings, 'prices.json'), JSON.stringify({ 'invented-*': { input: 1, output: 10 } }))
    // Folders that changed a moment ago are not trusted: nobody would wait for that in production.
    await setTimeout(3_000)
    const indexed = await index(recordings, count, progress)
    progress('asking')
    const asked = await ask(recordings)
    const whole = await wholeCommand(scratch, isQuick ? 3 : 9)
    const { table, bars } = measureCommands(scratch, isQuick ? 1 : 5, progress)
    return { tables: [indexed, asked, whole, table], bars }
  },
}
export default bench

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
  ['--text', { filter: { text: 'A-4242' } }],
  ['--text, in most tapes', { filter: { text: 'broken' } }],
  ["--call 'lookup_order(order=A-4242)'", { filter: { call: 'lookup_order(order=A-4242)' } }],
  ["--call 'call(order=A-4242)'", { filter: { call: 'call(order=A-4242)' } }],
  ["--call 'refund() preceded by audit()'", { filter: { call: 'refund() preceded by audit()' } }],
  ['no such agent', { filter: { agent: 'refnd' } }],
]

/** What is asked for groups of runs that decided the same and ended alike. */
const groupings: readonly (readonly [string, Omit<TapeQuery, 'sort'>])[] = [
  ['--group', {}],
  ['--group --outcome threw', { filter: { outcome: 'threw' } }],
]

/** Reads every tape into an index, twice: the second time after it was deleted. */
async function index(recordings: string, count: number, progress: (line: string) => void): Promise<Table> {
  const rows: string[][] = []
  for (const name of ['index', 'index made anew']) {
    rmSync(join(recordings, 'inbox/.index'), { recursive: true, force: true })
    const memory: number[] = []
    const { wallMs, cpuMs } = await timed(() =>
      queryTapes(recordings, { limit: 1 }, (done) => {
        if (done % 1_000 !== 0) return
        memory.push(process.memoryUsage().rss / 1e6)
        progress(`${name}: ${done} of ${count}`)
      }),
    )
    const half = Math.max(...memory.slice(0, Math.ceil(memory.length / 2)))
    rows.push([name, time(wallMs), time(cpuMs), `${half.toFixed(0)} MB`, `${Math.max(...memory).toFixed(0)} MB`])
  }
  const folder = join(recordings, 'inbox/.index')
  const size = readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0)
  // The index came into the inbox: its time changed once.
  await setTimeout(3_000)
  const { wallMs, cpuMs } = await timed(() => queryTapes(recordings, { limit: 50 }))
  rows.push(['ls when the inbox has changed', time(wallMs), time(cpuMs), '', ''])
  return {
    title: `${count.toLocaleString('en')} tapes; the index takes ${Math.round(size / count)} bytes per tape`,
    columns: ['', 'by the clock', 'processor', 'peak up to the middle', 'peak in all'],
    rows,
  }
}

/** Each question 15 times in this process; the median, and the slowest. */
async function ask(recordings: string): Promise<Table> {
  const rows: string[][] = []
  const add = async (name: string, count: () => Promise<string>): Promise<void> => {
    const walls: number[] = []
    let found = ''
    for (let n = 0; n < 15; n++) {
      const { wallMs } = await timed(async () => {
        found = await count()
      })
      walls.push(wallMs)
    }
    rows.push([`ls ${name}`, time(median(walls)), time(Math.max(...walls)), found])
  }
  for (const [name, query] of questions)
    await add(name, async () => {
      const { tapes, more } = await queryTapes(recordings, { ...query, limit: 50 })
      return `${tapes.length + more}`
    })
  for (const [name, query] of groupings)
    await add(name, async () => {
      const { groups, more } = await groupTapes(recordings, { ...query, limit: 50 })
      return `${groups.length + more} groups of ${groups.reduce((sum, { count }) => sum + count, 0)}`
    })
  return { title: 'One question, in a process that runs', columns: ['', 'median', 'slowest', 'finds'], rows }
}

/** The whole command, beside the one that only prints its help. */
async function wholeCommand(folder: string, rounds: number): Promise<Table> {
  const cli = resolve('dist/cli/main.js')
  const run = async (...args: readonly string[]): Promise<number> => {
    const begin = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(stderr)
    return performance.now() - begin
  }
  const figures = await inTurn(
    { help: () => run('--help'), ls: () => run('ls', '--agent', 'refund', '--outcome', 'returned', '--limit', '50') },
    rounds,
  )
  return {
    title: 'The whole command',
    columns: ['`harvest ls --agent …` ÷ `harvest --help`'],
    rows: [[figure(ratios(figures, 'ls', 'help'))]],
  }
}

function time(ms: number): string {
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`
}
