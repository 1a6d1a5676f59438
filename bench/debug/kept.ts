import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { launchOf } from '../../src/cli/debug/launch.ts'
import { bytesOf } from '../../src/debug/code/checkpoints.ts'
import { DebugChild } from '../../src/debug/code/child.ts'
import { CodeSession, DebugSession } from '../../src/debug/index.ts'
import { createRecorder } from '../../src/record/index.ts'
import { readTape } from '../../src/tape/index.ts'
import type { Table } from '../kit/contract.ts'
import { median, spread } from '../kit/measure.ts'
import { longAgent } from './long-agent.ts'

/** Milliseconds of stops near the end of a long run, and what a kept replay holds. */
export interface KeptFigures {
  readonly steps: number
  readonly full: readonly number[]
  readonly near: readonly number[]
  readonly megabytes: number
}

const agent = `${fileURLToPath(new URL('./long-agent.ts', import.meta.url))}#longAgent`

/** Stops near the end of a run of so many steps, from the beginning and from a replay that is kept there. */
export async function keptReplays(dir: string, rows: number, rounds: number): Promise<KeptFigures> {
  const recorder = createRecorder({ dir })
  await recorder.run({ agent: 'long', id: 'long-run', input: { rows } }, () => longAgent({ rows }))
  const file = recorder.lastTape ?? ''
  const { steps } = new DebugSession(readTape(file))
  const given = {
    args: [],
    rest: undefined,
    value: (name: string) => (name === 'module' ? agent : undefined),
    values: () => [],
    has: () => false,
  }
  const launch = launchOf({ file }, given)
  const session = new CodeSession(steps, launch)
  const [full, near]: [number[], number[]] = [[], []]
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [mode, list] of [
        ['full', full],
        ['auto', near],
      ] as const) {
        await session.checkpointed()
        const begin = performance.now()
        const stop = await session.enter(rows - 1, [], mode)
        list.push(performance.now() - begin)
        if ('why' in stop) throw new Error(`step ${rows - 1}: ${stop.why}`)
      }
    }
  } finally {
    session.close()
  }
  const child = await DebugChild.start(launch)
  await child.park(steps.at(-1)?.event.n ?? 0)
  const megabytes = bytesOf(child) / 2 ** 20
  child.close()
  return { steps: steps.length, full, near, megabytes }
}

export function keptTable({ steps, full, near, megabytes }: KeptFigures): Table {
  const row = (what: string, all: readonly number[]): readonly string[] => {
    const [low, high] = spread(all)
    return [what, `${median(all).toFixed(0)}`, `${low.toFixed(0)} … ${high.toFixed(0)}`]
  }
  return {
    title: `\`code\` at the last but one of ${steps} steps; a replay that is kept there holds ${megabytes.toFixed(0)} MB`,
    columns: ['from', 'median, ms', 'from … to, ms'],
    rows: [row('the beginning, in a spare process', full), row('a replay that is kept near', near)],
  }
}

/** Milliseconds of answers of the server for coding agents. */
export async function askServer(tape: string, rounds: number): Promise<ReadonlyMap<string, readonly number[]>> {
  const program = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
  const server = spawn(process.execPath, [program, 'debug', '--mcp'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  let id = 0
  const call = async (name: string, args: object): Promise<number> => {
    const begin = performance.now()
    const params = { name, arguments: args }
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params })}\n`)
    const { value } = (await lines.next()) as { readonly value: string }
    if (!value.includes('"isError":false')) throw new Error(`${name}: ${value}`)
    return performance.now() - begin
  }
  const asked = new Map<string, number[]>([
    ['open_tape', [await call('open_tape', { tape })]],
    ['find', []],
    ['diff', []],
    ['inspect', []],
  ])
  for (let round = 0; round < rounds; round++) {
    asked.get('find')?.push(await call('find', { rule: 'look(i > 50)' }))
    asked.get('diff')?.push(await call('diff', { from: 1 + round, to: 60 }))
    asked.get('inspect')?.push(await call('inspect', { step: 1 + round }))
  }
  server.stdin.end()
  return asked
}

export function servedTable(asked: ReadonlyMap<string, readonly number[]>): Table {
  return {
    title: 'Answers to a coding agent (`--mcp`), a tape of 100 steps',
    columns: ['tool', 'median, ms', 'from … to, ms'],
    rows: [...asked].map(([name, all]) => {
      const [low, high] = spread(all)
      return [name, median(all).toFixed(1), `${low.toFixed(1)} … ${high.toFixed(1)}`]
    }),
  }
}
