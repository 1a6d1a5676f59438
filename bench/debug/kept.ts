import { spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
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

/** Milliseconds of stops in one run, and what a replay that waits at its end holds in memory. */
export interface StopFigures {
  readonly steps: number
  /** In a process that waited before step 1. */
  readonly spare: readonly number[]
  /** From a replay that waited near the step. */
  readonly near: readonly number[]
  readonly megabytes: number
}

const longModule = `${fileURLToPath(new URL('./long-agent.ts', import.meta.url))}#longAgent`
const refundModule = `${fileURLToPath(new URL('../../fixtures/debug/refund-agent.ts', import.meta.url))}#refundAgent`

/** Stops near the end of a run that asks a model and a tool in turn: from the beginning, and from a replay that is kept there. */
export async function longStops(dir: string, steps: number, rounds: number): Promise<StopFigures> {
  const recorder = createRecorder({ dir })
  const { base, close } = await modelOfRows(steps / 2)
  await recorder.run({ agent: 'long', id: 'long-run', input: { base } }, () => longAgent({ base }))
  close()
  return stops({ file: recorder.lastTape ?? '', module: longModule, step: steps - 1, isKept: true }, rounds)
}

/** A model on this machine that asks for one row after the other. */
async function modelOfRows(rows: number): Promise<{ readonly base: string; readonly close: () => void }> {
  let row = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      row++
      const call = {
        id: `call_${row}`,
        type: 'function',
        function: { name: 'look', arguments: JSON.stringify({ row }) },
      }
      const message =
        row > rows
          ? { role: 'assistant', content: 'All rows are seen.' }
          : { role: 'assistant', content: null, tool_calls: [call] }
      response.writeHead(200, { 'content-type': 'application/json' })
      const choice = { index: 0, message, finish_reason: row > rows ? 'stop' : 'tool_calls' }
      response.end(
        JSON.stringify({ model: 'gpt-5', choices: [choice], usage: { prompt_tokens: 400, completion_tokens: 9 } }),
      )
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { base, close: () => (server.closeAllConnections(), server.close()) }
}

/** Stops in the middle of the refund incident, a run of ten steps. */
export async function refundStops(dir: string, rounds: number): Promise<StopFigures> {
  const program = fileURLToPath(new URL('../../fixtures/debug/record-refund.ts', import.meta.url))
  const { status, stderr } = spawnSync(process.execPath, [program, dir, 'refund'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return stops({ file: join(dir, 'refund.tape.jsonl'), module: refundModule, step: 6, isKept: false }, rounds)
}

interface Stops {
  readonly file: string
  readonly module: string
  readonly step: number
  /** Replays are kept in a run that is so long. */
  readonly isKept: boolean
}

async function stops({ file, module, step, isKept }: Stops, rounds: number): Promise<StopFigures> {
  const { steps } = new DebugSession(readTape(file))
  const given = {
    args: [],
    rest: undefined,
    value: (name: string) => (name === 'module' ? module : undefined),
    values: () => [],
    has: () => false,
  }
  const launch = launchOf({ file, recordings: 'recordings' }, given)
  const session = new CodeSession(steps, launch)
  const [spare, near]: [number[], number[]] = [[], []]
  try {
    for (let round = 0; round < rounds; round++) {
      for (const [mode, list] of [['full', spare] as const, ...(isKept ? [['auto', near] as const] : [])]) {
        session.prepare()
        await session.prepared()
        if (isKept) await session.checkpointed()
        // Else the first row would be measured twice.
        if (mode === 'auto' && !session.checkpoints.some((at) => at === step || at === step - 1))
          throw new Error(`no replay is kept near step ${step}: ${session.checkpoints.join(' ')}`)
        const begin = performance.now()
        const stop = await session.enter(step, [], mode)
        list.push(performance.now() - begin)
        if ('why' in stop) throw new Error(`step ${step}: ${stop.why}`)
      }
    }
  } finally {
    session.close()
  }
  const child = await DebugChild.start(launch)
  await child.park(steps.at(-1)?.event.n ?? 0)
  const megabytes = bytesOf(child) / 2 ** 20
  child.close()
  return { steps: steps.length, spare, near, megabytes }
}

export function stopTable(all: readonly StopFigures[]): Table {
  const row = (what: string, steps: number, ms: readonly number[]): readonly string[] => {
    const [low, high] = spread(ms)
    return [`${steps}`, what, `${median(ms).toFixed(0)}`, `${low.toFixed(0)} … ${high.toFixed(0)}`]
  }
  return {
    title: '`code`, in a process that waited for it',
    columns: ['steps', 'it waited', 'median, ms', 'from … to, ms'],
    rows: all.flatMap(({ steps, spare, near }) => [
      row('before step 1', steps, spare),
      ...(near.length === 0 ? [] : [row('near the step', steps, near)]),
    ]),
  }
}

export function memoryTable(all: readonly StopFigures[]): Table {
  return {
    title: 'Memory of a replay that waits at its last step',
    columns: ['steps', 'MB'],
    rows: all.map(({ steps, megabytes }) => [`${steps}`, megabytes.toFixed(0)]),
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
