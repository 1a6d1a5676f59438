import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Bar, Table } from '../kit/contract.ts'
import { figure, median, spread } from '../kit/measure.ts'
import { makeCases, makeTapes } from './make.ts'

interface Asked {
  readonly args: (round: number) => readonly string[]
  /** What the floor has to do of it, where it is measured: see `floor.mjs`. */
  readonly floor?: 'first' | 'show' | 'ls' | 'check'
  /** Seconds of the processor. */
  readonly atMost: number
}

/** Megabytes of a command at most. */
const memory = 150

const commands: Readonly<Record<string, Asked>> = {
  'show of a tape, before any list': { args: () => ['show', 'run-004242'], floor: 'first', atMost: 0.3 },
  ls: { args: () => ['ls'], floor: 'ls', atMost: 1 },
  'show of a tape': { args: () => ['show', 'run-004242'], floor: 'show', atMost: 0.3 },
  'show of a case': { args: () => ['show', 'case-004242'], floor: 'show', atMost: 0.3 },
  promote: { args: (n) => ['promote', `run-00${1_000 + n * 2}`, '--as', `promoted-${n}`, '--unverified'], atMost: 0.6 },
  check: { args: () => ['check'], floor: 'check', atMost: 6 },
}

const shortfall =
  'The files alone are the floor: a process with nothing of ours, measured in turn, that lists the folders and, for `show`, reads each case: an id may stand in any of them, and an index of cases would have to ask for the time of each, which takes two thirds of reading it. Before any list, no index says whose run a tape of the golden set is, and its first line is read, too. For `ls` it also asks for the time of every tape and gets every row of the index and the JSON in it; for `check` it reads every tape and case, parses and hashes each line and parses the YAML, but looks for no secret and compares nothing with a schema. The largest part of what comes on top for `show` is that Node loads our code, 25 files; for `ls` rows are proven intact, described and printed; for `check` it is the search for secrets. See docs/performance.md.'

/** Whole commands beside a large inbox and a large golden set: what each takes of the processor, its process and threads. */
export function measureCommands(
  scratch: string,
  rounds: number,
  progress: (line: string) => void,
): { readonly table: Table; readonly bars: readonly Bar[] } {
  const count = 10_000
  const cwd = join(scratch, 'commands')
  progress(`making ${count} tapes and ${count} cases`)
  makeTapes(join(cwd, 'recordings/inbox'), count)
  makeCases(join(cwd, 'recordings/golden'), count)
  const probe = join(scratch, 'probe.mjs')
  writeFileSync(
    probe,
    `import { writeFileSync } from 'node:fs'
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  writeFileSync(process.env.BENCH_SAID, JSON.stringify({ seconds: (userCPUTime + systemCPUTime) / 1e6, mb: maxRSS / 1024 }))
})`,
  )
  const rows: string[][] = []
  const bars: Bar[] = []
  const floorProgram = resolve(import.meta.dirname, 'floor.mjs')
  for (const [name, { args, floor, atMost }] of Object.entries(commands)) {
    const said: Said[] = []
    const least: number[] = []
    for (let round = -1; round < rounds; round++) {
      progress(`${name}, ${round + 1} of ${rounds}`)
      const one = run(cwd, probe, [resolve('dist/bin.js'), ...args(round + 1)])
      // The first one makes the index.
      if (round < 0) continue
      said.push(one)
      if (floor !== undefined) least.push(run(cwd, probe, [floorProgram, floor]).seconds)
    }
    const [seconds, mb] = [said.map((one) => one.seconds), said.map((one) => one.mb)]
    rows.push([name, figure(seconds), floor === undefined ? '' : figure(least), figure(mb, 0)])
    bars.push(
      {
        what: `${name} beside 10,000 tapes and 10,000 cases: seconds of the processor`,
        value: median(seconds),
        spread: spread(seconds),
        ...(floor === undefined ? {} : { parts: { 'the files alone': median(least) } }),
        limit: { atMost },
        shortfall,
      },
      { what: `${name}: MB of memory`, value: median(mb), spread: spread(mb), limit: { atMost: memory }, shortfall },
    )
  }
  const title = '10,000 tapes in the inbox and 10,000 cases'
  return { table: { title, columns: ['', 'processor, s', 'the files alone, s', 'memory at most, MB'], rows }, bars }
}

interface Said {
  readonly seconds: number
  readonly mb: number
}

/** @param args - a program and what it is called with */
function run(cwd: string, probe: string, args: readonly string[]): Said {
  const said = join(cwd, 'said.json')
  const { status, stderr } = spawnSync(process.execPath, ['--import', probe, ...args], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, BENCH_SAID: said },
    maxBuffer: 2 ** 28,
  })
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`)
  return JSON.parse(readFileSync(said, 'utf8')) as Said
}
