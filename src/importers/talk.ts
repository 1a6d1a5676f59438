import { jsonOr } from './body.ts'
import type { ForeignRequest } from './types.ts'

/** One message of a conversation, in whatever words its provider or framework has. */
export interface Said {
  /** `system`, `developer`, `user`, `assistant`, `tool`, or the word of the file. */
  readonly role: string
  readonly text: string
  /** Calls it asks for. */
  readonly calls: readonly ForeignRequest[]
  /** Answers of tools it brings. */
  readonly results: readonly Brought[]
  /** Why the model stopped, where the message says so. */
  readonly finish?: string
  /** The text when it says it all, otherwise the message as recorded. */
  readonly body: unknown
}

/** The answer of a tool on its way to the model. */
export interface Brought {
  readonly id?: string
  readonly name?: string
  readonly value: unknown
}

/**
 * The messages of a conversation: a list of them, one alone, a map with a list in it, bare text, or the JSON of any of
 * these. Read are the words of OpenAI (chat, responses), Anthropic, Gemini, Bedrock, OpenTelemetry's `parts`,
 * OpenInference, LangChain and the Vercel AI SDK.
 */
export function readTalk(given: unknown): readonly Said[] {
  const value = jsonOr(given)
  if (value === undefined || value === null || value === '') return []
  // LangChain writes a list of conversations with one in it.
  if (Array.isArray(value))
    return value.flatMap((item) => (Array.isArray(item) ? item.flatMap(readTalk) : messageOf(item)))
  if (!isFields(value)) return [messageOf(value)]
  for (const key of ['messages', 'contents', 'generations', 'choices'] as const)
    if (Array.isArray(value[key])) return [...readSystem(value['system']), ...readTalk(value[key])]
  return [messageOf(value)]
}

function readSystem(system: unknown): readonly Said[] {
  if (system === undefined || system === null) return []
  return [messageOf({ role: 'system', content: system })]
}

type Fields = { readonly [key: string]: unknown }

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first of these members that is text. */
function textIn(fields: Fields, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** The first of these members that is there. */
function valueIn(fields: Fields, ...keys: readonly string[]): unknown {
  const key = keys.find((one) => Object.hasOwn(fields, one) && fields[one] !== undefined && fields[one] !== null)
  return key === undefined ? undefined : fields[key]
}

const roles: Readonly<Record<string, string>> = {
  human: 'user',
  HumanMessage: 'user',
  ai: 'assistant',
  AIMessage: 'assistant',
  AIMessageChunk: 'assistant',
  model: 'assistant',
  SystemMessage: 'system',
  ToolMessage: 'tool',
  function: 'tool',
  function_call: 'assistant',
  reasoning: 'assistant',
  function_call_output: 'tool',
  CHATBOT: 'assistant',
  USER: 'user',
}
const plainRoles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'human', 'ai'])

function roleOf(word: string): string {
  return Object.hasOwn(roles, word) ? roles[word]! : word
}

/** What a message is wrapped in: OpenInference's `message`, LangChain's `kwargs` and `data`, a choice, a generation. */
function unwrapped(fields: Fields, depth = 0): { readonly fields: Fields; readonly role?: string } {
  const inner = valueIn(fields, 'message', 'kwargs', 'data')
  if (!isFields(inner) || depth > 4) return { fields }
  const id = fields['id']
  const last: unknown = Array.isArray(id) ? id.at(-1) : textIn(fields, 'type')
  const found = unwrapped(inner, depth + 1)
  const finish = textIn(fields, 'finish_reason')
  const whole = finish === undefined ? found.fields : { finish_reason: finish, ...found.fields }
  return { fields: whole, ...((found.role ?? last) ? { role: found.role ?? String(last) } : {}) }
}

function messageOf(given: unknown): Said {
  if (!isFields(given)) {
    const text = typeof given === 'string' ? given : ''
    return { role: 'user', text, calls: [], results: [], body: given }
  }
  const names = Object.keys(given)
  const [only = ''] = names
  // A message as one member, named for who speaks.
  if (names.length === 1 && plainRoles.has(only)) return partsOf(given, roleOf(only), given[only], {})
  const { fields, role: wrapped } = unwrapped(given)
  const role = roleOf(textIn(fields, 'role') ?? wrapped ?? textIn(fields, 'type') ?? 'user')
  return partsOf(given, role, valueIn(fields, 'content', 'parts', 'text'), fields)
}

/** A message being put together of its parts. */
interface Parts {
  readonly texts: string[]
  readonly calls: ForeignRequest[]
  readonly results: Brought[]
  /** Whether there is more than texts. */
  hasMore: boolean
}

function partsOf(given: unknown, role: string, content: unknown, fields: Fields): Said {
  const parts: Parts = { texts: [], calls: [], results: [], hasMore: false }
  const calls = valueIn(fields, 'tool_calls', 'toolCalls', 'function_call', 'tools')
  for (const call of Array.isArray(calls) ? calls : calls === undefined ? [] : [calls]) addCall(call, parts)
  const own = callIn(fields)
  if (own !== undefined && content === undefined) parts.calls.push(own)
  if (role === 'tool' && !(Array.isArray(content) && content.some((part) => resultIn(part) !== undefined)))
    parts.results.push({
      ...named('id', textIn(fields, 'tool_call_id', 'toolCallId', 'call_id', 'id')),
      ...named('name', textIn(fields, 'name', 'tool_name', 'toolName')),
      value: jsonOr(content ?? valueIn(fields, 'output', 'result', 'response') ?? null),
    })
  else addContent(content, parts)
  const text = parts.texts.join('\n')
  const isPlain = !parts.hasMore && parts.calls.length + parts.results.length === 0 && text !== ''
  const finish = textIn(fields, 'finish_reason', 'finishReason', 'stop_reason')
  return {
    role,
    text,
    calls: parts.calls,
    results: parts.results,
    ...(finish === undefined ? {} : { finish }),
    body: isPlain ? text : given,
  }
}

function named<K extends string>(key: K, value: string | undefined): { readonly [name in K]?: string } {
  return (value === undefined ? {} : { [key]: value }) as { readonly [name in K]?: string }
}

function addContent(content: unknown, parts: Parts): void {
  if (content === undefined || content === null) return
  if (typeof content === 'string') {
    if (content !== '') parts.texts.push(content)
    return
  }
  for (const part of Array.isArray(content) ? content : [content]) addPart(part, parts)
}

function addPart(part: unknown, parts: Parts): void {
  if (typeof part === 'string') {
    parts.texts.push(part)
    return
  }
  if (!isFields(part)) {
    parts.hasMore ||= part !== null
    return
  }
  const result = resultIn(part)
  if (result !== undefined) {
    parts.results.push(result)
    return
  }
  const call = callIn(part)
  if (call !== undefined) {
    parts.calls.push(call)
    return
  }
  const kind = textIn(part, 'type') ?? 'text'
  const inner = isFields(part['message_content']) ? part['message_content'] : part
  const text = /thinking|reasoning/.test(kind) ? undefined : textIn(inner, 'text', 'content', 'value')
  if (text === undefined) parts.hasMore = true
  else parts.texts.push(text)
}

function addCall(given: unknown, parts: Parts): void {
  const inner = isFields(given) && isFields(given['tool_call']) ? given['tool_call'] : given
  const call = isFields(inner) ? requestOf(inner) : undefined
  if (call === undefined) parts.hasMore = true
  else parts.calls.push(call)
}

const callKinds: ReadonlySet<string> = new Set([
  'tool_use',
  'tool_call',
  'tool-call',
  'function_call',
  'function',
  'mcp_tool_use',
])

/** A call that a part asks for. */
function callIn(part: Fields): ForeignRequest | undefined {
  const inner = valueIn(part, 'functionCall', 'function_call', 'toolUse', 'tool_call')
  if (isFields(inner)) return requestOf(inner)
  return callKinds.has(textIn(part, 'type') ?? '') ? requestOf(part) : undefined
}

/**
 * A call in whatever words: `function.name`, `name`, `toolName`, `tool_name`, `tool.name` and so on.
 *
 * @returns `undefined` when it has no name
 */
export function requestOf(fields: Fields): ForeignRequest | undefined {
  const inner = isFields(fields['function']) ? fields['function'] : fields
  const name =
    textIn(inner, 'name', 'toolName', 'tool_name', 'tool.name') ?? textIn(fields, 'function', 'function_name')
  if (name === undefined) return undefined
  const id = textIn(fields, 'call_id', 'id', 'toolCallId', 'toolUseId', 'tool_call_id', 'tool_id', 'tool_use_id')
  const args = valueIn(inner, 'arguments', 'args', 'input', 'parameters', 'tool_arguments', 'tool.args', 'toolArgs')
  return { ...named('id', id), name, args: args === '' ? {} : jsonOr(args) }
}

const resultKinds: ReadonlySet<string> = new Set([
  'tool_result',
  'tool-result',
  'tool_call_response',
  'function_call_output',
  'mcp_tool_result',
])

/** The answer of a tool that a part brings. */
function resultIn(part: unknown): Brought | undefined {
  if (!isFields(part)) return undefined
  const inner = valueIn(part, 'functionResponse', 'function_response', 'toolResult')
  const fields = isFields(inner) ? inner : resultKinds.has(textIn(part, 'type') ?? '') ? part : undefined
  if (fields === undefined) return undefined
  return {
    ...named('id', textIn(fields, 'tool_use_id', 'toolUseId', 'toolCallId', 'call_id', 'id', 'tool_call_id')),
    ...named('name', textIn(fields, 'toolName', 'name', 'tool_name')),
    value: jsonOr(valueIn(fields, 'response', 'result', 'output', 'content') ?? null),
  }
}
