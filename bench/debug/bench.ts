import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DebugSession, openingLines } from '../../src/debug/index.ts'
import { currentFlags, readTape, serializeTape, type TapeEvent } from '../../src/tape/index.ts'
import type { Bar, Bench, Table } from '../kit/contract.ts'
import { median, spread } from '../kit/measure.ts'
import { askServer, longStops, memoryTable, refundStops, servedTable, stopTable } from './kept.ts'
import { agents, pairs, recordAgents, stopAll, type StopRow } from './stops.ts'

const bench: Bench = {
  question: 'How long does the debugger take, and does it disturb the replay?',
  async run({ isQuick, scratch, progress }) {
    const opened = [10, 100, isQuick ? 500 : 5_000].map((steps) => {
      progress(`opening ${steps} steps`)
      return [steps, openings(join(scratch, `${steps}.tape.jsonl`), steps, isQuick ? 3 : 11)] as const
    })
    progress('stops in ten steps')
    const short = await refundStops(scratch, isQuick ? 2 : 11)
    progress('stops in a long run')
    const [steps, rounds] = isQuick ? [1_000, 2] : [5_000, 5]
    const long = await longStops(scratch, steps, rounds)
    progress('answers to a coding agent')
    const served = await askServer(join(scratch, '100.tape.jsonl'), isQuick ? 5 : 25)
    const recorded = await recordAgents(isQuick ? agents.slice(0, 2) : agents)
    const rows = await stopAll(recorded, pairs(recorded, isQuick ? 6 : 500), progress)
    const disturbed = rows.filter(({ isDisturbed }) => isDisturbed)
    const right = rows.filter(({ wrong }) => wrong === undefined)
    return {
      tables: [
        openingTable(opened),
        randomTable(rows),
        stopTable([short, long]),
        memoryTable([short, long]),
        servedTable(served),
      ],
      bars: [
        {
          what: 'stops in the right function, at the right line, with the right variables ÷ all',
          value: right.length / rows.length,
          parts: { stops: rows.length },
          limit: { atLeast: 0.998 },
        },
        {
          what: 'stops that disturb the replay ÷ stops',
          value: disturbed.length / rows.length,
          parts: { stops: rows.length },
          limit: { atMost: 0 },
        },
        {
          what: '`code` from a replay that is kept near the end of a long run ÷ from the beginning',
          value: median(long.near) / median(long.spare),
          limit: { atMost: 0.5 },
        },
        msBar('`code` in a spare process, a run of 10 steps', short.spare, 100),
        msBar(`\`code\` from a replay that is kept near, ${long.steps} steps`, long.near, 150),
        ...opened.map(([steps, all]) =>
          msBar(
            `opening ${steps} steps`,
            all.map(({ whole }) => whole),
            openingLimits[steps] ?? 300,
          ),
        ),
        ...(['find', 'diff'] as const).map((tool) => msBar(`\`${tool}\` of the server`, served.get(tool) ?? [], 10)),
        {
          what: 'opening the longest tape ÷ reading it',
          value: median(opened.at(-1)?.[1].map(({ whole, read }) => whole / read) ?? []),
          limit: { atMost: 5 },
        },
      ],
      remarks: [
        'A stop at a random step pays for the start of its process and the modules of the agent: a spare process, which waits at a prompt, pays before.',
        'What is right is told by a replay without a debugger, whose code says before each statement which one it is and how its variables are.',
        'One stop in ten of an agent is left for two statements, gone back to and left again: the statements have to be the same ones.',
      ],
    }
  },
}
export default bench

/** Milliseconds from the file to the first screen, by the number of steps. */
const openingLimits: Readonly<Record<number, number>> = { 10: 10, 100: 20 }

function msBar(what: string, ms: readonly number[], atMost: number): Bar {
  return { what: `${what}, ms`, value: median(ms), spread: spread(ms), limit: { atMost } }
}

interface Opening {
  readonly read: number
  readonly whole: number
}

/** Milliseconds from the file to the first screen, and those of reading alone. */
function openings(file: string, steps: number, rounds: number): readonly Opening[] {
  writeFileSync(file, longTape(steps))
  return Array.from({ length: rounds }, () => {
    const begin = performance.now()
    const tape = readTape(file)
    const read = performance.now() - begin
    openingLines(new DebugSession(tape))
    return { read, whole: performance.now() - begin }
  })
}

/** A run that asks a model and a tool in turn, with the last twenty messages in each request. */
function longTape(steps: number): string {
  const messages: object[] = [{ role: 'user', content: 'Look at every row.' }]
  const events = Array.from({ length: steps }, (_, i): TapeEvent => {
    const [n, at] = [i * 10, i * 5]
    if (i % 2 === 1) {
      const result = { i, seen: `row ${i} `.repeat(4) }
      messages.push({ role: 'tool', tool_call_id: `c${i - 1}`, content: JSON.stringify(result) })
      return { kind: 'tool', n, at, name: 'look', args: { i }, settled: [n + 1, at + 1], result }
    }
    const call = { id: `c${i}`, type: 'function', function: { name: 'look', arguments: JSON.stringify({ i: i + 1 }) } }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    const body = JSON.stringify({ model: 'gpt-x', messages: messages.slice(-20) })
    messages.push(message)
    const answer = { model: 'gpt-x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    return {
      kind: 'exchange',
      n,
      at,
      via: 'undici',
      method: 'POST',
      url: 'http://127.0.0.1:9/v1/chat/completions',
      request: { headers: [], body },
      response: {
        moment: [n + 1, at + 2],
        status: 200,
        headers: [],
        chunks: [[n + 2, at + 2, JSON.stringify(answer)]],
        end: [n + 3, at + 2],
      },
    }
  })
  const header = {
    harvest: 1,
    id: 'long',
    agent: 'agent',
    input: {},
    startedAt: '2026-01-02T03:04:05.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
  const close = { n: steps * 10 + 1, at: steps * 5, outcome: { status: 'returned' as const, value: 'done' } }
  return serializeTape(header, events, close)
}

function openingTable(opened: readonly (readonly [number, readonly Opening[]])[]): Table {
  return {
    title: 'From the file to the first screen',
    columns: ['steps', 'median, ms', 'from … to, ms', 'of it reading the tape, ms'],
    rows: opened.map(([steps, all]) => {
      const [low, high] = spread(all.map(({ whole }) => whole))
      const [whole, read] = [all.map((one) => one.whole), all.map((one) => one.read)].map(median)
      return [`${steps}`, (whole ?? 0).toFixed(1), `${low.toFixed(1)} … ${high.toFixed(1)}`, (read ?? 0).toFixed(1)]
    }),
  }
}

function randomTable(rows: readonly StopRow[]): Table {
  return {
    title: '`code` at a random step, the start of the process included',
    columns: ['agent', 'stops', 'right', 'median, ms'],
    rows: [...Map.groupBy(rows, ({ agent }) => agent)].map(([agent, all]) => {
      const right = all.filter(({ wrong }) => wrong === undefined).length
      return [agent, `${all.length}`, `${right}`, median(all.map(({ ms }) => ms)).toFixed(0)]
    }),
  }
}
