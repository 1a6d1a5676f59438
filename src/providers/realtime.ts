import { at, isMap, type JsonMap, listAt, parseJson, textAt, without } from '../json/canonical.ts'
import type { ExchangeEvent, Json, PushEvent } from '../tape/types.ts'
import type { Dialect, ModelRequest, ToolCall } from './types.ts'

/** Dialects that are spoken over a WebSocket, a message at a time. */
export type RealtimeDialect = Extract<Dialect, 'openai-realtime' | 'gemini-live'>

/** The dialect of what a client says, from the path and the message. */
export function realtimeDialect(path: string, body: JsonMap): RealtimeDialect | undefined {
  if (/\/realtime$/.test(path) && textAt(body, 'type') !== undefined) return 'openai-realtime'
  return /BidiGenerateContent(Constrained)?$/.test(path) ? 'gemini-live' : undefined
}

/** A message of the client taken apart. Each kind of message asks another thing: its kind stands among the messages. */
export function realtimeParts(dialect: RealtimeDialect, body: JsonMap): Omit<ModelRequest, 'dialect'> {
  return dialect === 'openai-realtime' ? openai(body) : gemini(body)
}

/** `session.update`, `conversation.item.create`, `response.create`, `input_audio_buffer.append`, … */
function openai(body: JsonMap): Omit<ModelRequest, 'dialect'> {
  const type = textAt(body, 'type') ?? ''
  const key = isMap(at(body, 'session')) ? 'session' : 'response'
  const given = at(body, key)
  const about: JsonMap = isMap(given) ? given : {}
  const item = at(body, 'item')
  const audio = at(body, 'audio')
  const rest = without(about, 'instructions', 'tools', 'model', 'input')
  return {
    model: textAt(about, 'model') ?? '',
    instructions: present(at(about, 'instructions')),
    messages: [{ type: `realtime ${type}` }, ...present(item), ...present(audio), ...listAt(about, 'input')],
    tools: listAt(about, 'tools'),
    params: { ...without(body, 'type', key, 'item', 'audio'), ...(Object.keys(rest).length > 0 && { [key]: rest }) },
  }
}

/** `setup`, `clientContent`, `realtimeInput`, `toolResponse`. */
function gemini(body: JsonMap): Omit<ModelRequest, 'dialect'> {
  const [kind = ''] = Object.keys(body)
  const setup = own(body, 'setup')
  const content = own(body, 'clientContent', 'client_content')
  const input = at(body, 'realtimeInput') ?? at(body, 'realtime_input')
  const replies = listAt(own(body, 'toolResponse', 'tool_response'), 'functionResponses')
  const rest = without(setup, 'model', 'systemInstruction', 'system_instruction', 'tools')
  return {
    model: textAt(setup, 'model') ?? '',
    instructions: present(at(setup, 'systemInstruction') ?? at(setup, 'system_instruction')),
    messages: [
      { type: `live ${kind}` },
      ...listAt(content, 'turns'),
      ...present(input),
      ...replies.map((reply) => ({ parts: [{ functionResponse: reply }] })),
    ],
    tools: listAt(setup, 'tools'),
    params: { ...rest, ...without(content, 'turns') },
  }
}

function own(body: JsonMap, ...names: readonly string[]): JsonMap {
  const found = names.map((name) => at(body, name)).find((value) => isMap(value))
  return isMap(found) ? found : {}
}

function present(value: Json | undefined): readonly Json[] {
  return value === undefined ? [] : [value]
}

/**
 * The tools a model asks for in a message it sends over a WebSocket. OpenAI tells of a call several times: taken is the item that is
 * done.
 */
export function pushedToolCalls({ url, text, frame }: PushEvent): readonly ToolCall[] {
  if (frame !== undefined && frame !== 'binary') return []
  const body = parseJson(frame === 'binary' ? Buffer.from(text, 'base64').toString('utf8') : text)
  if (!isMap(body)) return []
  if (url.startsWith('stdio:')) return commandLineCalls(body)
  const type = textAt(body, 'type')
  const item = at(body, 'item')
  if (type === 'response.output_item.done' && textAt(item, 'type') === 'function_call')
    return call(textAt(item, 'call_id'), textAt(item, 'name'), argumentsIn(textAt(item, 'arguments')))
  if (type !== undefined) return []
  const calls = listAt(own(body, 'toolCall', 'tool_call'), 'functionCalls')
  return calls.flatMap((one) => call(textAt(one, 'id'), textAt(one, 'name'), at(one, 'args') ?? {}))
}

/** Claude Code says the messages of its model; Codex each item that is done, with its kind for a name. */
function commandLineCalls(body: JsonMap): readonly ToolCall[] {
  const type = textAt(body, 'type')
  if (type === 'assistant')
    return listAt(own(body, 'message'), 'content')
      .filter((part) => at(part, 'type') === 'tool_use')
      .flatMap((part) => call(textAt(part, 'id'), textAt(part, 'name'), at(part, 'input') ?? {}))
  const item = own(body, 'item')
  const kind = textAt(item, 'type')
  if (type !== 'item.completed' || kind === undefined || !done.has(kind)) return []
  const name = kind === 'mcp_tool_call' ? textAt(item, 'tool') : kind
  const args = kind === 'mcp_tool_call' ? (at(item, 'arguments') ?? {}) : without(item, 'id', 'type', ...outcomes)
  return call(textAt(item, 'id'), name, args)
}

const done: ReadonlySet<string> = new Set(['command_execution', 'file_change', 'mcp_tool_call', 'web_search'])
const outcomes = ['aggregated_output', 'exit_code', 'status', 'result', 'error']

function argumentsIn(text: string | undefined): Json {
  return text === undefined ? {} : (parseJson(text) ?? text)
}

function call(id: string | undefined, name: string | undefined, args: Json): readonly ToolCall[] {
  return name === undefined ? [] : [{ ...(id === undefined ? {} : { id }), name, args }]
}

/** An exchange that stands for a message which asks for tools: it came by itself, and is complete. */
export function exchangeOfPush({ n, at: when, url }: PushEvent): ExchangeEvent {
  return {
    kind: 'exchange',
    n,
    at: when,
    via: 'websocket',
    method: 'PUSH',
    url,
    request: { headers: [] },
    response: { moment: [n, when], status: 101, headers: [], chunks: [], end: [n, when] },
  }
}
