import { isMap, type JsonMap, parseJson, textAt } from '../../json/canonical.ts'
import { type MessagePart, type ModelResponse, readMessage } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'

/** A message as the GenAI conventions have it. */
export interface GenAiMessage {
  readonly role: string
  readonly parts: readonly JsonMap[]
}

/**
 * The conversation of a request, regardless of its dialect. Parts the conventions have no word for stay as they are, with
 * their own `type`.
 *
 * @see https://github.com/open-telemetry/semantic-conventions-genai, model/gen-ai/gen-ai-input-messages.json
 */
export function inputMessages(messages: readonly Json[]): readonly GenAiMessage[] {
  return messages.map((message) => {
    const { speaker, parts } = readMessage(message)
    // Some dialects send results in the name of the user.
    const isResult = parts.length > 0 && parts.every(({ kind }) => kind === 'tool_call_response')
    return { role: isResult ? 'tool' : speaker, parts: parts.map(genAiPart) }
  })
}

/** System prompts and developer messages as a list of parts. */
export function instructionParts(instructions: readonly Json[]): readonly JsonMap[] {
  return instructions.flatMap((one) => readMessage(one).parts.map(genAiPart))
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

function genAiPart(part: MessagePart): JsonMap {
  switch (part.kind) {
    case 'text':
      return textPart(part.text)
    case 'reasoning':
      return { type: 'reasoning', content: part.text }
    case 'tool_call':
      return { type: 'tool_call', ...idOf(part.id), name: part.name, arguments: parsed(part.args) }
    case 'tool_call_response':
      return { type: 'tool_call_response', ...idOf(part.id), response: part.result }
    case 'other':
      return isMap(part.value)
        ? { ...part.value, type: textAt(part.value, 'type') ?? 'value' }
        : { type: 'value', value: part.value }
    default:
      return part satisfies never
  }
}

function textPart(content: string): JsonMap {
  return { type: 'text', content }
}

function idOf(id: string | undefined): { readonly id?: string } {
  return id === undefined ? {} : { id }
}

/** Most dialects send arguments as the text of their JSON; what is not JSON stays text. */
function parsed(args: Json): Json {
  if (typeof args !== 'string') return args
  const value = parseJson(args)
  return isMap(value) ? value : args
}
