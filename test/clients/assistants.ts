import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../../src/tape/types.ts'

type Fields = { readonly [key: string]: Json }

/** A service on loopback that keeps threads, runs and responses, and has to be polled for them. */
export interface Assistants {
  /** Base address for a client. */
  readonly base: string
  close(): void
}

const model = 'm-5'
const usage = { prompt_tokens: 40, completion_tokens: 9, total_tokens: 49 }

/** What a run of an assistant asks for: two tools at once. */
export const calls: readonly Fields[] = [
  { id: 'call_1', type: 'function', function: { name: 'lookup_order', arguments: '{"order":"A-17"}' } },
  { id: 'call_2', type: 'function', function: { name: 'stock', arguments: '{"item":"lamp"}' } },
]
export const text = 'Your lamp is on its way【4:0†terms】.'

const asked: Fields = { required_action: { type: 'submit_tool_outputs', submit_tool_outputs: { tool_calls: calls } } }

/** What each look at the run finds, before its tools have answered and after. */
const looks: Readonly<Record<'asked' | 'told', readonly Fields[]>> = {
  asked: [{ status: 'queued' }, { status: 'in_progress' }, { status: 'requires_action', ...asked }],
  told: [{ status: 'queued' }, { status: 'in_progress' }, { status: 'completed', usage }],
}

/**
 * Starts it. One run and one response at a time: each look at them finds the next state.
 *
 * @see https://platform.openai.com/docs/api-reference/runs and https://platform.openai.com/docs/guides/background
 */
export async function startAssistants(): Promise<Assistants> {
  let states: Fields[] = []
  let answers: Fields[] = []
  const next = (list: Fields[]): Fields => (list.length > 1 ? list.shift()! : list[0]!)
  const answerTo = (method: string, path: string, body: Fields): Json | readonly Fields[] => {
    if (path === '/v1/threads') return { id: 'thread_1', object: 'thread', created_at: 1, metadata: {} }
    if (path.endsWith('/messages')) return method === 'POST' ? { id: 'msg_0', object: 'thread.message', ...body } : said
    if (path.endsWith('/steps')) return steps
    if (path.endsWith('/runs'))
      return body['stream'] === true ? askedInPieces : run((states = [...looks.asked]).shift()!)
    if (path.endsWith('/submit_tool_outputs'))
      return body['stream'] === true ? toldInPieces : run((states = [...looks.told]).shift()!)
    if (path === '/v1/responses') return response((answers = [...background]).shift()!)
    return path.startsWith('/v1/responses/') ? response(next(answers)) : run(next(states))
  }
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString()
      const { pathname } = new URL(request.url ?? '', 'http://localhost')
      const answer = answerTo(request.method ?? '', pathname, (body === '' ? {} : JSON.parse(body)) as Fields)
      const isStream = Array.isArray(answer)
      const type = isStream ? 'text/event-stream' : 'application/json'
      reply.writeHead(200, { 'content-type': type, 'openai-poll-after-ms': '3' })
      reply.end(isStream ? events(answer as readonly Fields[]) : JSON.stringify(answer))
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

function run(state: Fields): Fields {
  const about = { object: 'thread.run', created_at: 2, assistant_id: 'asst_1', thread_id: 'thread_1', model }
  const tools = [{ type: 'function', function: { name: 'never_called' } }]
  return { id: 'run_1', ...about, tools, required_action: null, last_error: null, usage: null, ...state }
}

function step(id: string, created_at: number, status: string, tool_calls: readonly Fields[]): Fields {
  const details = { type: 'tool_calls', step_details: { type: 'tool_calls', tool_calls } }
  return { id, object: 'thread.run.step', created_at, run_id: 'run_1', thread_id: 'thread_1', status, ...details }
}

const answered = step(
  'step_1',
  3,
  'completed',
  calls.map((call) => ({ ...call, function: { ...(call['function'] as Fields), output: 'done' } })),
)
const own: readonly Fields[] = [
  {
    id: 'call_3',
    type: 'code_interpreter',
    code_interpreter: { input: '6 * 7', outputs: [{ type: 'logs', logs: '42' }] },
  },
  {
    id: 'call_4',
    type: 'file_search',
    file_search: { ranking_options: { ranker: 'auto', score_threshold: 0 }, results: [] },
  },
]

/** The newest stand first. */
const steps: Json = { object: 'list', data: [step('step_2', 4, 'completed', own), answered], has_more: false }

function message(id: string, created_at: number, rest: Fields): Fields {
  return { id, object: 'thread.message', created_at, thread_id: 'thread_1', ...rest }
}

function part(value: string): Json {
  const annotations = [{ type: 'file_citation', text: '【4:0†terms】', file_citation: { file_id: 'file_1' } }]
  return [{ type: 'text', text: { value, annotations } }]
}

const spoken = message('msg_3', 5, { role: 'assistant', run_id: 'run_1', status: 'completed', content: part(text) })
const said: Json = {
  object: 'list',
  data: [
    spoken,
    message('msg_2', 2, { role: 'user', run_id: null, content: part('Where is my lamp?') }),
    message('msg_1', 1, { role: 'assistant', run_id: 'run_0', status: 'completed', content: part('Hello.') }),
  ],
  has_more: false,
}

const delta = (tool_calls: readonly Fields[]): Fields => ({
  event: 'thread.run.step.delta',
  data: { id: 'step_1', object: 'thread.run.step.delta', delta: { step_details: { type: 'tool_calls', tool_calls } } },
})

const askedInPieces: readonly Fields[] = [
  { event: 'thread.run.created', data: run({ status: 'queued' }) },
  { event: 'thread.run.in_progress', data: run({ status: 'in_progress' }) },
  { event: 'thread.run.step.created', data: step('step_1', 3, 'in_progress', []) },
  delta(calls.map((call, index) => ({ index, ...call, function: { ...(call['function'] as Fields), arguments: '' } }))),
  ...calls.map((call, index) =>
    delta([
      { index, type: 'function', function: { arguments: (call['function'] as { arguments: string }).arguments } },
    ]),
  ),
  { event: 'thread.run.requires_action', data: run({ status: 'requires_action', ...asked }) },
]

/** The step that waited is told again, with what its tools answered. */
const toldInPieces: readonly Fields[] = [
  { event: 'thread.run.step.completed', data: answered },
  { event: 'thread.run.in_progress', data: run({ status: 'in_progress' }) },
  {
    event: 'thread.message.created',
    data: { ...spoken, status: 'in_progress', content: [] },
  },
  ...[text.slice(0, 9), text.slice(9)].map((value) => ({
    event: 'thread.message.delta',
    data: {
      id: 'msg_3',
      object: 'thread.message.delta',
      delta: { content: [{ index: 0, type: 'text', text: { value } }] },
    },
  })),
  { event: 'thread.message.completed', data: spoken },
  { event: 'thread.run.completed', data: run({ status: 'completed', usage }) },
]

function events(list: readonly Fields[]): string {
  return `${list.map(({ event, data }) => `event: ${event as string}\ndata: ${JSON.stringify(data)}\n\n`).join('')}event: done\ndata: [DONE]\n\n`
}

function response(state: Fields): Fields {
  return { id: 'resp_1', object: 'response', created_at: 1, background: true, model, output: [], error: null, ...state }
}

const background: readonly Fields[] = [
  { status: 'queued' },
  { status: 'in_progress' },
  {
    status: 'completed',
    output: [
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'lookup_order', arguments: '{"order":"A-17"}' },
    ],
    usage: { input_tokens: 40, output_tokens: 9, total_tokens: 49 },
  },
]
