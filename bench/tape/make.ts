import type { Closing, TapeEvent, TapeHeader } from '../../src/tape/index.ts'
import { createTapeWriter, currentFlags, formatVersion } from '../../src/tape/index.ts'

/** A run of an agent that goes on and on: each turn asks a model, which streams, calls a tool, and reads the clock. */
export function makeTape(path: string, bytes: number, id = 'long-run'): void {
  using writer = createTapeWriter({ path, header: headerOf(id) })
  let turn = 0
  while (writer.bytes < bytes) for (const event of turnOf(turn++)) writer.append(event)
  writer.close(closing(turn))
}

/** What {@link makeTape} writes, as events. */
export function eventsOf(turns: number): TapeEvent[] {
  return Array.from({ length: turns }, (_, turn) => turnOf(turn)).flat()
}

export function headerOf(id: string): TapeHeader {
  return {
    harvest: formatVersion,
    id,
    agent: 'research',
    input: { question: 'Which orders are late, and why?' },
    startedAt: '2026-03-04T05:06:07.089Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
}

export function closing(turns: number): Closing {
  return { n: turns * 100, at: turns * 900, outcome: { status: 'returned', value: { turns } } }
}

/** Moments between two turns. */
const stride = 100
const chunksPerAnswer = 30

function turnOf(turn: number): readonly TapeEvent[] {
  const n = turn * stride
  const at = turn * 900
  const order = `A-${turn}`
  const model = 'invented-2'
  // The last ten turns are told again, as agents with a window do.
  const told = Array.from({ length: Math.min(turn, 10) }, (_, back) => [
    { role: 'assistant', content: sentence(turn - back) },
    { role: 'tool', tool_call_id: `call_${turn - back}`, content: JSON.stringify({ order, total: turn % 500 }) },
  ]).reverse()
  const messages = [{ role: 'system', content: sentence(0) }, ...told.flat(), { role: 'user', content: sentence(turn) }]
  const chunk = (index: number) => {
    const delta = { content: sentence(turn + index).slice(0, 18) }
    return `data: ${JSON.stringify({ id: `chatcmpl-${turn}`, object: 'chat.completion.chunk', model, choices: [{ index: 0, delta }] })}\n\n`
  }
  return [
    {
      kind: 'exchange',
      n,
      at,
      via: 'undici',
      method: 'POST',
      url: 'https://api.example/v1/chat/completions',
      request: {
        headers: [
          ['accept', 'application/json'],
          ['content-type', 'application/json'],
        ],
        body: JSON.stringify({ model, messages, stream: true }),
      },
      response: {
        moment: [n + 1, at + 100],
        status: 200,
        headers: [['content-type', 'text/event-stream']],
        chunks: Array.from({ length: chunksPerAnswer }, (_, index) => [n + 2 + index, at + 110 + index, chunk(index)]),
        end: [n + 2 + chunksPerAnswer, at + 150],
      },
    },
    { kind: 'draws', n: n + 50, at: at + 160, draws: [['now', 'openai', 1_795_270_199_117 + at]] },
    {
      kind: 'tool',
      n: n + 51,
      at: at + 160,
      site: 'src/research.ts:38:24',
      name: 'lookup_order',
      args: { order },
      settled: [n + 52, at + 400],
      result: { order, total: turn % 500, lines: [sentence(turn), sentence(turn + 1)] },
    },
  ]
}

const words =
  'order late parcel Berlin refund customer asked again two days carrier said weather then lost found'.split(' ')

function sentence(seed: number): string {
  return Array.from(
    { length: 24 },
    (_, index) => words[(seed * 7 + index * index * 3 + (seed % 5) * index) % words.length],
  ).join(' ')
}
