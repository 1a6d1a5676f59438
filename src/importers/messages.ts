// Over 300 lines: the words of all frameworks, which exclude each other.
import { jsonOr } from './body.ts'
import { isFields } from './meaning.ts'
import type { ForeignRequest } from './types.ts'

/** One message of a conversation, in any words its provider or framework has. */
export interface ConversationMessage {
  /** `system`, `developer`, `user`, `assistant`, `tool`, or the word of the file. */
  readonly role: string
  readonly text: string
  /** Calls it asks for. */
  readonly calls: readonly ForeignRequest[]
  /** Answers of tools it brings. */
  readonly results: readonly ImportedToolResult[]
  /** Why the model stopped, where the message says so. */
  readonly finish?: string
  /** The text when it says it all, otherwise the message as recorded. */
  readonly body: unknown
}

/** The answer of a tool on its way to the model. */
export interface ImportedToolResult {
  readonly id?: string
  readonly name?: string
  readonly value: unknown
  /** What went wrong, where the message says that something did. */
  readonly error?: string
}

/**
 * The messages of a conversation: a list of them, one alone, a map with a list in it, bare text, or the JSON of any of
 * these. Read are the words of OpenAI (chat, responses), Anthropic, Gemini, Bedrock, OpenTelemetry's `parts`,
 * OpenInference, LangChain, the Vercel AI SDK, and of agents that write their own: AgentDojo, goose, Inspect, pi.
 */
export function readMessages(given: unknown): readonly ConversationMessage[] {
  const value = jsonOr(given)
  if (value === undefined || value === null || value === '') return []
  // LangChain writes a list of conversations with one in it.
  if (Array.isArray(value))
    return value.flatMap((item) => (Array.isArray(item) ? item.flatMap(readMessages) : readMessage(item)))
  if (!isFields(value)) return [readMessage(value)]
  for (const key of lists)
    if (Array.isArray(value[key]))
      return [
        ...readSystem(valueIn(value, 'system', 'instructions', 'system_instruction')),
        ...readMessages(value[key]),
      ]
  return [readMessage(value)]
}

/** Members that hold a conversation, or the answers of a model. */
const lists = ['messages', 'contents', 'generations', 'choices', 'candidates', 'output', 'input', 'prompts'] as const

function readSystem(system: unknown): readonly ConversationMessage[] {
  if (system === undefined || system === null) return []
  return [readMessage({ role: 'system', content: system })]
}

type Fields = { readonly [key: string]: unknown }

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
  toolResult: 'tool',
  function: 'tool',
  function_call: 'assistant',
  reasoning: 'assistant',
  tool_use: 'assistant',
  tool_call: 'assistant',
  output_text: 'assistant',
  AI: 'assistant',
  text: 'user',
  function_call_output: 'tool',
  custom_tool_call: 'assistant',
  custom_tool_call_output: 'tool',
  local_shell_call: 'assistant',
  local_shell_call_output: 'tool',
  CHATBOT: 'assistant',
  USER: 'user',
}
const plainRoles: ReadonlySet<string> = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'human', 'ai'])

function roleOf(word: string): string {
  return Object.hasOwn(roles, word) ? roles[word]! : word
}

/** What a message is wrapped in: OpenInference's `message`, LangChain's `kwargs` and `data`, a choice, a generation. */
function unwrapped(fields: Fields, depth = 0): { readonly fields: Fields; readonly role?: string } {
  const inner = innerOf(fields)
  if (inner === undefined || depth > 4) return { fields }
  const id = fields['id']
  const last: unknown = Array.isArray(id) ? id.at(-1) : textIn(fields, 'type')
  const found = unwrapped(inner, depth + 1)
  const finish = textIn(fields, 'finish_reason')
  const whole = finish === undefined ? found.fields : { finish_reason: finish, ...found.fields }
  return { fields: whole, ...((found.role ?? last) ? { role: found.role ?? String(last) } : {}) }
}

function innerOf(fields: Fields): Fields | undefined {
  const inner = valueIn(fields, 'message', 'kwargs', 'data')
  if (isFields(inner)) return inner
  const { content, output } = fields
  if (isFields(content) && Array.isArray(content['parts'])) return content
  return isFields(output) && (isFields(output['message']) || isFields(output['kwargs'])) ? output : undefined
}

/** As {@link readTalk}, of one message. */
export function readMessage(given: unknown): ConversationMessage {
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
  if (callIn(fields) !== undefined || resultIn(fields) !== undefined) return partsOf(given, role, [fields], {})
  const content = valueIn(fields, 'content', 'contents', 'parts', 'text', 'output', 'output_text', 'prompt', 'input')
  return partsOf(given, role, content, fields)
}

/** A message being put together of its parts. */
interface Parts {
  readonly texts: string[]
  readonly calls: ForeignRequest[]
  readonly results: ImportedToolResult[]
  /** Whether there is more than texts. */
  hasMore: boolean
}

function partsOf(given: unknown, role: string, content: unknown, fields: Fields): ConversationMessage {
  const parts: Parts = { texts: [], calls: [], results: [], hasMore: false }
  const calls = valueIn(fields, 'tool_calls', 'toolCalls', 'function_call', 'tools')
  for (const call of Array.isArray(calls) ? calls : calls === undefined ? [] : [calls]) addCall(call, parts)
  if (role === 'tool' && ![content].flat().some((part) => resultIn(part) !== undefined)) {
    const value = jsonOr(content ?? valueIn(fields, 'output', 'result', 'response') ?? null)
    parts.results.push({
      ...named(
        'id',
        textIn(fields, 'tool_call_id', 'toolCallId', 'call_id', 'id') ?? firstText(fields['tool_call_ids']),
      ),
      ...named('name', textIn(fields, 'name', 'tool_name', 'toolName', 'function')),
      value,
      ...named('error', errorIn(fields, value)),
    })
  } else addContent(content, parts)
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
  // As a part, and not beside the content of a message: Gemini's client for Python writes its calls so.
  const call = callIn(part) ?? (isFields(part['function_call']) ? requestOf(part['function_call']) : undefined)
  if (call !== undefined) {
    parts.calls.push(call)
    return
  }
  const kind = textIn(part, 'type') ?? 'text'
  const inner = isFields(part['message_content']) ? part['message_content'] : part
  const text =
    part['thought'] === true || /thinking|reasoning/.test(kind) ? undefined : textIn(inner, 'text', 'content', 'value')
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
  'toolCall',
  'function_call',
  'function',
  'mcp_tool_use',
  'custom_tool_call',
])

/** A call that a part asks for. */
function callIn(part: Fields): ForeignRequest | undefined {
  const inner = valueIn(part, 'functionCall', 'toolUse', 'tool_call', 'toolCall')
  if (isFields(inner)) return requestOf(isFields(inner['value']) ? { id: part['id'], ...inner['value'] } : inner)
  if (Object.hasOwn(part, 'tool.name')) return requestOf(part)
  // The Vercel AI SDK's own lists say no type.
  if (isCallOfSdk(part))
    return Object.hasOwn(part, 'result') || Object.hasOwn(part, 'output') ? undefined : requestOf(part)
  const type = textIn(part, 'type') ?? ''
  // The shell of OpenAI has no name but that of its item.
  if (type === 'local_shell_call') return requestOf({ ...part, name: 'local_shell', arguments: part['action'] })
  return callKinds.has(type) ? requestOf(part) : undefined
}

function isCallOfSdk(part: Fields): boolean {
  return typeof part['toolCallId'] === 'string' && typeof part['toolName'] === 'string'
}

/**
 * A call in any words: `function.name`, `name`, `toolName`, `tool_name`, `tool.name` and so on.
 *
 * @returns `undefined` when it has no name
 */
function requestOf(fields: Fields): ForeignRequest | undefined {
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
  'custom_tool_call_output',
  'local_shell_call_output',
  'mcp_tool_result',
])

/** The answer of a tool that a part brings. */
function resultIn(part: unknown): ImportedToolResult | undefined {
  if (!isFields(part)) return undefined
  const inner = valueIn(part, 'functionResponse', 'function_response', 'toolResult')
  const fields = isFields(inner)
    ? inner
    : resultKinds.has(textIn(part, 'type') ?? '') || isAnswerOfSdk(part)
      ? part
      : undefined
  if (fields === undefined) return undefined
  const id = textIn(fields, 'tool_use_id', 'toolUseId', 'toolCallId', 'call_id', 'id', 'tool_call_id', 'tool_id')
  const value = jsonOr(valueIn(fields, 'response', 'result', 'output', 'content', 'value') ?? null)
  return {
    ...named('id', id ?? textIn(part, 'id')),
    ...named('name', textIn(fields, 'toolName', 'name', 'tool_name')),
    value,
    ...named('error', errorIn(fields, value)),
  }
}

/** An error beside an answer, or the answer itself where it is marked as one. */
function errorIn(fields: Fields, value: unknown): string | undefined {
  const { error } = fields
  const told = typeof error === 'string' ? error : isFields(error) ? textIn(error, 'message') : undefined
  if (told !== undefined && told !== '') return told
  const isMarked = error === true || fields['isError'] === true || fields['is_error'] === true
  if (!isMarked && fields['status'] !== 'error') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function firstText(list: unknown): string | undefined {
  const first: unknown = Array.isArray(list) ? list[0] : undefined
  return typeof first === 'string' ? first : undefined
}

function isAnswerOfSdk(part: Fields): boolean {
  return isCallOfSdk(part) && (Object.hasOwn(part, 'result') || Object.hasOwn(part, 'output'))
}

/** What a tool answered, as frameworks have it: `output` alone, and of LangChain's message to the model what it says. */
export function toolAnswer(given: unknown): {
  readonly result: unknown
  readonly callId?: string
  readonly name?: string
} {
  const outputs = jsonOr(given)
  if (!isFields(outputs)) return { result: outputs }
  const isAlone = Object.keys(outputs).length === 1 && Object.hasOwn(outputs, 'output')
  const output = isAlone ? outputs['output'] : outputs
  const message = isFields(output) && isFields(output['kwargs']) ? output['kwargs'] : output
  const callId = isFields(message) ? textIn(message, 'tool_call_id') : undefined
  if (!isFields(message) || callId === undefined) return { result: output }
  return { result: message['content'], callId, ...named('name', textIn(message, 'name')) }
}
