import {
  type CallEvent,
  currentFlags,
  type ExchangeEvent,
  type Json,
  parseTape,
  serializeTape,
  type Tape,
  type TapeEvent,
} from '../../src/tape/index.ts'

/** A tape that was written and read again. */
export function tapeOf(events: readonly TapeEvent[], returned: unknown = 'done', input: unknown = {}): Tape {
  const header = {
    harvest: 1,
    id: 'run',
    agent: 'agent',
    input: input as never,
    startedAt: '2026-01-02T03:04:05.000Z',
    recorder: 'vitest-harvest/0.1.0',
    flags: currentFlags,
    pins: { node: '24.21.0' },
  }
  const last = events.at(-1)?.n ?? 0
  const close = { n: last + 100, at: last + 100, outcome: { status: 'returned' as const, value: returned as never } }
  return parseTape(serializeTape(header, events, close), 'run')
}

/** As many requests to a service, one after the other, each answered with a little JSON. */
export function requests(count: number): readonly TapeEvent[] {
  return Array.from({ length: count }, (_, i): TapeEvent => {
    const n = i * 10
    return {
      kind: 'exchange',
      n: n + 1,
      at: n,
      via: 'undici',
      method: 'GET',
      url: `http://127.0.0.1:45998/items/${i}`,
      request: { headers: [] },
      response: {
        moment: [n + 2, n + 2],
        status: 200,
        headers: [['content-type', 'application/json']],
        chunks: [[n + 3, n + 3, JSON.stringify({ id: `A-${i}`, price: 25 + i })]],
        end: [n + 4, n + 3],
      },
    }
  })
}

/** A wrapped tool that answered 5 ms later. */
export function toolCall(n: number, name: string, args: Json, result: Json, more: Partial<CallEvent> = {}): CallEvent {
  return { kind: 'tool', n, at: n, name, args, settled: [n + 5, n + 5], result, ...more }
}

/** A chat completion in JSON that calls a tool. */
export function chatCall(n: number, { tool, args }: { readonly tool: string; readonly args: Json }): ExchangeEvent {
  const call = { id: 'call_1', type: 'function', function: { name: tool, arguments: JSON.stringify(args) } }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const body = { model: 'gpt-x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
  return chat(n, 'application/json', [JSON.stringify(body)])
}

/** A chat completion that was streamed. */
export function chatStream(n: number, words: readonly string[]): ExchangeEvent {
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ model: 'gpt-x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return chat(n, 'text/event-stream', [
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ])
}

function chat(n: number, type: string, pieces: readonly string[]): ExchangeEvent {
  return {
    kind: 'exchange',
    n,
    at: n,
    via: 'undici',
    method: 'POST',
    url: 'https://api.openai.com/v1/chat/completions',
    request: {
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ model: 'gpt-x', messages: [{ role: 'user', content: `Question ${n}` }] }),
    },
    response: {
      moment: [n + 1, n + 1],
      status: 200,
      headers: [['content-type', type]],
      chunks: pieces.map((piece, i) => [n + 2 + i, n + 2, piece] as const),
      end: [n + 8, n + 3],
    },
  }
}
