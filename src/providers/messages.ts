import { at, isMap, type JsonMap, listAt, textAt } from '../json/canonical.ts'
import type { Json } from '../tape/types.ts'
import type { ModelRequest } from './types.ts'

/** One message of a conversation, regardless of its dialect. */
export interface Message {
  /** The word of the dialect: `user`, `model`, `CHATBOT`; of an item without a role its type, such as `function`; `input` for bare text. */
  readonly role: string
  /** Who speaks: `system`, `developer`, `user`, `assistant` or `tool`; a role that is not one of these as it stands. */
  readonly speaker: string
  readonly parts: readonly MessagePart[]
}

/** One part of a message. Parts that no dialect we know has, pictures and files among them, are `other`. */
export type MessagePart =
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | ({ readonly kind: 'tool_call' } & AskedCall)
  | ({ readonly kind: 'tool_call_response' } & ToolResult)
  | { readonly kind: 'other'; readonly value: Json }

/** A tool call that a message asks for. */
export interface AskedCall {
  /** Id of the call, where the dialect has ids. */
  readonly id?: string
  readonly name: string
  /** As recorded: most dialects send the text of a JSON object, some the object. */
  readonly args: Json
}

/** What a tool answered, as the agent sent it to the model. */
export interface ToolResult {
  /** Id of the call, where the dialect has ids. */
  readonly id?: string
  /** Name of the tool, where the message or the call it answers tells it. */
  readonly name?: string
  readonly result: Json
}

/** Reads a message of any dialect: the forms exclude each other. Never throws. */
export function readMessage(message: Json): Message {
  return { role: roleOf(message), speaker: speakerOf(message), parts: partsOf(message) }
}

/** The calls among the parts of a message. */
export function callsOf({ parts }: Message): readonly AskedCall[] {
  return parts.flatMap((part) => (part.kind === 'tool_call' ? [part] : []))
}

/** The results among the parts of a message. */
export function resultsOf({ parts }: Message): readonly ToolResult[] {
  return parts.flatMap((part) => (part.kind === 'tool_call_response' ? [part] : []))
}

/** The tool results a request carries, in order, each with the name of its tool where a call before it tells. */
export function toolResultsIn({ messages }: ModelRequest): readonly ToolResult[] {
  const names = new Map<string, string>()
  return messages.flatMap((message) => {
    const read = readMessage(message)
    for (const { id, name } of callsOf(read)) if (id !== undefined) names.set(id, name)
    return resultsOf(read).map(({ id, name, result }) =>
      resultOf(id, name ?? (id === undefined ? undefined : names.get(id)), result),
    )
  })
}

/** The words of a message or of a part of one, wherever its dialect keeps them. */
export function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((text) => text !== '')
      .join('\n')
  if (!isMap(value)) return ''
  const said = textOf(value['content'] ?? value['parts'] ?? value['text'] ?? value['output']) || wordsOf(value)
  const kind = textAt(value, 'type') ?? ''
  // A picture or a file: that there was one.
  if (said === '' && /image|audio|file|document|video/.test(kind)) return `(${kind})`
  return said
}

/** The texts among the parts of a message: of a dialect that keeps them under other names. */
function wordsOf(message: Json): string {
  return partsOf(message)
    .flatMap((part) => (part.kind === 'text' ? [part.text] : []))
    .join('\n')
}

function roleOf(message: Json): string {
  return textAt(message, 'role') ?? textAt(message, 'type')?.replace(/_call(_output)?$/, '') ?? 'input'
}

function speakerOf(message: Json): string {
  const role = textAt(message, 'role')?.toLowerCase()
  if (role === 'model' || role === 'chatbot') return 'assistant'
  if (role === 'function') return 'tool'
  if (role !== undefined) return role
  const type = textAt(message, 'type') ?? ''
  if (type.endsWith('_call_output') || at(message, 'outputs') !== undefined) return 'tool'
  return type === 'reasoning' || type.endsWith('_call') ? 'assistant' : 'user'
}

function partsOf(message: Json): readonly MessagePart[] {
  if (typeof message === 'string') return [text(message)]
  if (!isMap(message)) return [{ kind: 'other', value: message }]
  const whole = wholeResult(message)
  if (whole !== undefined) return [whole]
  const type = textAt(message, 'type')
  const cohere = [...listAt(message, 'tool_results'), ...listAt(message, 'toolResults')].map((item) =>
    cohereResult(item),
  )
  // Items of a response that are no messages, and system prompts in blocks.
  if (textAt(message, 'role') === undefined && type !== undefined && type !== 'message')
    return [...cohere, partOf(message)]
  const said = at(message, 'content') ?? at(message, 'parts') ?? at(message, 'message') ?? at(message, 'text')
  const list: readonly Json[] = Array.isArray(said) ? (said as readonly Json[]) : said == null ? [] : [said]
  const legacy = at(message, 'function_call')
  const yandex = [
    ...listAt(at(message, 'toolCallList'), 'toolCalls'),
    ...listAt(at(message, 'toolResultList'), 'toolResults'),
  ]
  const calls = [...listAt(message, 'tool_calls'), ...listAt(message, 'toolCalls'), ...yandex]
  const parts = [...list, ...calls, ...(isMap(legacy) ? [legacy] : [])]
  const thought = textAt(message, 'reasoningContent')
  return [...cohere, ...(thought ? [reasoning(thought)] : []), ...parts.filter((part) => part !== '').map(partOf)]
}

/** A message that is the result of one tool and nothing else. */
function wholeResult(message: JsonMap): MessagePart | undefined {
  const role = at(message, 'role')
  if (role === 'function' || (role === 'tool' && !listAt(message, 'content').some(isResultPart))) {
    // Cohere version 1 puts a list of results in one message of the role TOOL; here the content is the result.
    const name = textAt(message, 'name') ?? textAt(message, 'tool_name')
    return result(textAt(message, 'tool_call_id'), name, at(message, 'content'))
  }
  const type = textAt(message, 'type') ?? ''
  const ociCall = textAt(message, 'toolCallId')
  if (role === 'TOOL' && ociCall !== undefined) return result(ociCall, undefined, at(message, 'content'))
  // Outputs handed to a run of an assistant have no type; the results of Gemini's interactions name call and function.
  const [output, id] = [at(message, 'output'), textAt(message, 'tool_call_id')]
  if (output !== undefined && id !== undefined) return result(id, undefined, output)
  if (type === 'function.result') return result(id, undefined, at(message, 'result'))
  if (type === 'function_result')
    return result(textAt(message, 'call_id'), textAt(message, 'name'), at(message, 'result'))
  const handed = at(message, 'functionResult') ?? at(message, 'apiResult')
  if (isMap(handed)) return agentResult(handed)
  if (type.endsWith('_call_output'))
    return result(textAt(message, 'call_id'), textAt(message, 'name'), at(message, 'output'))
  return isMap(at(message, 'call')) && at(message, 'outputs') !== undefined ? cohereResult(message) : undefined
}

/** What the caller of a Bedrock agent answers for a tool it was handed back; named as the agent's call is. */
function agentResult(handed: Json): MessagePart {
  const api = `${textAt(handed, 'httpMethod') ?? ''} ${textAt(handed, 'apiPath') ?? ''}`.trim()
  const name = textAt(handed, 'function') ?? (api === '' ? undefined : api)
  return result(undefined, name, at(handed, 'responseBody'))
}

function cohereResult(item: Json): MessagePart {
  return result(undefined, textAt(at(item, 'call'), 'name'), at(item, 'outputs'))
}

function partOf(part: Json): MessagePart {
  if (typeof part === 'string') return text(part)
  if (!isMap(part)) return { kind: 'other', value: part }
  return callPart(part) ?? resultPart(part) ?? spokenPart(part) ?? { kind: 'other', value: part }
}

function callPart(part: JsonMap): MessagePart | undefined {
  const type = typeOf(part) ?? ''
  const inner =
    at(part, 'function') ??
    at(part, 'custom') ??
    at(part, 'functionCall') ??
    at(part, 'function_call') ??
    at(part, 'toolUse')
  const isCall = /^(function|tool_use|tool-call|tool_call|function_call|custom_tool_call)$/.test(type)
  const call = isMap(inner) ? inner : isCall || isBareCall(part) ? part : undefined
  if (call === undefined) return undefined
  const name = textAt(call, 'name') ?? textAt(call, 'toolName')
  if (name === undefined) return undefined
  const id =
    textAt(call, 'call_id') ??
    textAt(part, 'id') ??
    textAt(call, 'toolUseId') ??
    textAt(call, 'toolCallId') ??
    textAt(call, 'id')
  const args = at(call, 'arguments') ?? at(call, 'args') ?? at(call, 'input') ?? at(call, 'parameters') ?? null
  return { kind: 'tool_call', ...(id === undefined ? {} : { id }), name, args }
}

/** A name and its arguments alone: a call of the first chat completions, and of Cohere. */
function isBareCall(part: JsonMap): boolean {
  const hasArgs = at(part, 'arguments') !== undefined || at(part, 'parameters') !== undefined
  return at(part, 'type') === undefined && typeof at(part, 'name') === 'string' && hasArgs
}

function resultPart(part: JsonMap): MessagePart | undefined {
  const inner =
    at(part, 'functionResponse') ??
    at(part, 'function_response') ??
    at(part, 'toolResult') ??
    at(part, 'functionResult')
  if (isMap(inner)) {
    const id = textAt(inner, 'id') ?? textAt(inner, 'toolUseId')
    return result(id, textAt(inner, 'name'), at(inner, 'response') ?? at(inner, 'content'))
  }
  if (!isResultPart(part)) return undefined
  const id = textAt(part, 'tool_use_id') ?? textAt(part, 'call_id') ?? textAt(part, 'toolCallId')
  return result(id, textAt(part, 'toolName'), at(part, 'output') ?? at(part, 'content') ?? at(part, 'result'))
}

function isResultPart(part: Json): boolean {
  return /^(tool_result|tool-result|\w+_call_output)$/.test(textAt(part, 'type') ?? '')
}

function spokenPart(part: JsonMap): MessagePart | undefined {
  const type = typeOf(part) ?? 'text'
  const said = at(part, 'text') ?? at(part, 'thinking')
  if (typeof said !== 'string') return undefined
  if (/^(text|input_text|output_text)$/.test(type) && at(part, 'thought') !== true) return text(said)
  return /^(thinking|reasoning|text)$/.test(type) ? reasoning(said) : undefined
}

/** OCI writes its types in capitals. */
function typeOf(part: JsonMap): string | undefined {
  return textAt(part, 'type')?.toLowerCase()
}

function reasoning(said: string): MessagePart {
  return { kind: 'reasoning', text: said }
}

function text(said: string): MessagePart {
  return { kind: 'text', text: said }
}

function result(id: string | undefined, name: string | undefined, value: Json | undefined): MessagePart {
  return { kind: 'tool_call_response', ...resultOf(id, name, value ?? null) }
}

function resultOf(id: string | undefined, name: string | undefined, value: Json): ToolResult {
  return { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }), result: value }
}
