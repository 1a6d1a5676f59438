import { at, isMap, type JsonMap, listAt, parseJson, textAt } from '../../json/canonical.ts'
import type { ModelResponse } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'

/** A message as the GenAI conventions have it. */
export interface GenAiMessage {
  readonly role: string
  readonly parts: readonly JsonMap[]
}

/**
 * The conversation of a request, whatever its dialect. Parts the conventions have no word for stay as they are, with
 * their own `type`.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai, model/gen-ai/gen-ai-input-messages.json
 */
export function inputMessages(messages: readonly Json[]): readonly GenAiMessage[] {
  return messages.map((message) => {
    const parts = partsOf(message)
    const role = roleOf(message)
    // Some dialects send results in the name of the user.
    const isResult = parts.length > 0 && parts.every(({ type }) => type === 'tool_call_response')
    return { role: isResult ? 'tool' : role, parts }
  })
}

/** System prompts and developer messages as a list of parts. */
export function instructionParts(instructions: readonly Json[]): readonly JsonMap[] {
  return instructions.flatMap(partsOf)
}

/** What a model answered, as the one message it is. */
export function outputMessages({ text, toolCalls, refusal, finish }: ModelResponse): readonly JsonMap[] {
  const parts = [
    ...(text === '' ? [] : [textPart(text)]),
    ...(refusal === undefined ? [] : [{ type: 'refusal', content: refusal }]),
    ...toolCalls.map(({ id, name, args, builtIn }) =>
      builtIn === true
        ? { type: 'server_tool_call', ...idOf(id), name, server_tool_call: { type: name, arguments: args } }
        : { type: 'tool_call', ...idOf(id), name, arguments: args },
    ),
  ]
  return [{ role: 'assistant', parts, ...(finish === undefined ? {} : { finish_reason: finish }) }]
}

function roleOf(message: Json): string {
  const role = textAt(message, 'role')?.toLowerCase()
  if (role === 'model' || role === 'chatbot') return 'assistant'
  if (role === 'function') return 'tool'
  if (role !== undefined) return role
  const type = textAt(message, 'type') ?? ''
  if (type.endsWith('_call_output') || at(message, 'outputs') !== undefined) return 'tool'
  return type === 'reasoning' || type.endsWith('_call') ? 'assistant' : 'user'
}

function partsOf(message: Json): readonly JsonMap[] {
  if (typeof message === 'string') return [textPart(message)]
  if (!isMap(message)) return [{ type: 'value', value: message }]
  const role = textAt(message, 'role')
  const type = textAt(message, 'type')
  if (role === 'function' || (role === 'tool' && !listAt(message, 'content').some(isResultPart)))
    return [responsePart(textAt(message, 'tool_call_id'), at(message, 'content') ?? null)]
  // Items of a response that are no messages, and system prompts in blocks.
  if (role === undefined && type !== undefined && type !== 'message') return [partOf(message)]
  if (isMap(at(message, 'call'))) return [responsePart(undefined, at(message, 'outputs') ?? null)]
  const said = at(message, 'content') ?? at(message, 'parts') ?? at(message, 'message') ?? at(message, 'text')
  const list: readonly Json[] = Array.isArray(said) ? (said as readonly Json[]) : said == null ? [] : [said]
  const calls = listAt(message, 'tool_calls')
  const legacy = at(message, 'function_call')
  return [...list, ...calls, ...(isMap(legacy) ? [legacy] : [])].filter((part) => part !== '').map(partOf)
}

/** One part of a message, in any dialect's form: the forms exclude each other. */
function partOf(part: Json): JsonMap {
  if (typeof part === 'string') return textPart(part)
  if (!isMap(part)) return { type: 'value', value: part }
  return callPart(part) ?? resultPart(part) ?? spokenPart(part) ?? { ...part, type: textAt(part, 'type') ?? 'value' }
}

function callPart(part: JsonMap): JsonMap | undefined {
  const type = textAt(part, 'type') ?? ''
  const inner = at(part, 'function') ?? at(part, 'functionCall') ?? at(part, 'function_call') ?? at(part, 'toolUse')
  const isCall = /^(function|tool_use|tool-call|tool_call|function_call|custom_tool_call)$/.test(type)
  const call = isMap(inner) ? inner : isCall || isBareCall(part) ? part : undefined
  const name = textAt(call, 'name') ?? textAt(call, 'toolName')
  if (call === undefined || name === undefined) return undefined
  const id = textAt(call, 'call_id') ?? textAt(part, 'id') ?? textAt(call, 'toolUseId') ?? textAt(call, 'toolCallId')
  const args = at(call, 'arguments') ?? at(call, 'args') ?? at(call, 'input') ?? at(call, 'parameters') ?? null
  return { type: 'tool_call', ...idOf(id ?? textAt(call, 'id')), name, arguments: parsed(args) }
}

/** A name and its arguments alone: a call of the first chat completions, and of Cohere. */
function isBareCall(part: JsonMap): boolean {
  const hasArgs = at(part, 'arguments') !== undefined || at(part, 'parameters') !== undefined
  return at(part, 'type') === undefined && typeof at(part, 'name') === 'string' && hasArgs
}

function resultPart(part: JsonMap): JsonMap | undefined {
  const inner = at(part, 'functionResponse') ?? at(part, 'function_response') ?? at(part, 'toolResult')
  if (isMap(inner)) {
    const id = textAt(inner, 'id') ?? textAt(inner, 'toolUseId')
    return responsePart(id, at(inner, 'response') ?? at(inner, 'content') ?? null)
  }
  if (!isResultPart(part)) return undefined
  const id = textAt(part, 'tool_use_id') ?? textAt(part, 'call_id') ?? textAt(part, 'toolCallId')
  return responsePart(id, at(part, 'output') ?? at(part, 'content') ?? at(part, 'result') ?? null)
}

function isResultPart(part: Json): boolean {
  return /^(tool_result|tool-result|\w+_call_output)$/.test(textAt(part, 'type') ?? '')
}

function spokenPart(part: JsonMap): JsonMap | undefined {
  const type = textAt(part, 'type') ?? 'text'
  const text = at(part, 'text') ?? at(part, 'thinking')
  if (typeof text === 'string' && /^(text|input_text|output_text)$/.test(type) && at(part, 'thought') !== true)
    return textPart(text)
  if (typeof text === 'string' && /^(thinking|reasoning|text)$/.test(type)) return { type: 'reasoning', content: text }
  return undefined
}

function textPart(content: string): JsonMap {
  return { type: 'text', content }
}

function responsePart(id: string | undefined, response: Json): JsonMap {
  return { type: 'tool_call_response', ...idOf(id), response }
}

function idOf(id: string | undefined): { readonly id?: string } {
  return id === undefined ? {} : { id }
}

/** Most dialects send arguments as the text of their JSON; what is none stays text. */
function parsed(args: Json): Json {
  if (typeof args !== 'string') return args
  const value = parseJson(args)
  return isMap(value) ? value : args
}
