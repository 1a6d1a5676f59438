import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft, plainText } from '../draft.ts'
import { at, isList, isMap, type JsonMap, numberAt, textAt } from '../../json/canonical.ts'

/**
 * What a conversation of Mistral's gets: its entries, or the events of their stream.
 *
 * @see https://docs.mistral.ai/api/endpoint/beta/conversations
 */
export function readConversations(value: JsonMap, draft: Draft): boolean {
  const entries = at(value, 'outputs')
  if (isList(entries)) {
    for (const [position, entry] of entries.entries()) readEntry(entry, `${position}`, draft)
    readUsage(at(value, 'usage'), draft)
    return true
  }
  const type = textAt(value, 'type') ?? ''
  switch (type) {
    case 'message.output.delta':
    case 'function.call.delta':
    case 'tool.execution.started':
    case 'tool.execution.delta':
    case 'tool.execution.done':
      readEntry(value, `${numberAt(value, 'output_index') ?? 0}`, draft)
      return true
    case 'conversation.response.done':
      readUsage(at(value, 'usage'), draft)
      return true
    case 'conversation.response.error':
      draft.error ??= `http_${numberAt(value, 'code') ?? 500}`
      return true
    default:
      return /^(conversation\.response\.started|agent\.handoff)/.test(type)
  }
}

/** An entry, or a piece of one: both have the same fields. */
function readEntry(entry: Json, key: string, draft: Draft): void {
  const type = textAt(entry, 'type') ?? ''
  draft.model = textAt(entry, 'model') ?? draft.model
  if (type.startsWith('message.output')) readContent(at(entry, 'content'), key, draft)
  else if (type.startsWith('function.call')) readCall(entry, key, textAt(entry, 'tool_call_id'), draft)
  else if (type.startsWith('tool.execution')) readCall(entry, key, textAt(entry, 'id'), draft)
}

/** Text, or parts; of a stream one part at a time. */
function readContent(content: Json | undefined, key: string, draft: Draft): void {
  const parts = isMap(content) ? [content] : content
  draft.text += plainText(parts)
  for (const part of isList(parts) ? parts : []) {
    if (at(part, 'type') === 'thinking') addReasoning(draft, key, plainText(at(part, 'thinking')))
  }
}

function readCall(entry: Json, key: string, id: string | undefined, draft: Draft): void {
  const call = callAt(draft, `${key} ${id ?? ''}`)
  call.id = id
  call.name = textAt(entry, 'name') ?? call.name
  addArgs(call, at(entry, 'arguments'))
  // What is executed rather than called the provider runs itself.
  if (textAt(entry, 'type')?.startsWith('tool.') === true) call.builtIn = true
}

function readUsage(usage: Json | undefined, draft: Draft): void {
  const prompt = numberAt(usage, 'prompt_tokens')
  // What the provider's tools brought is read too, and counted beside the prompt.
  if (prompt !== undefined) draft.usage.inputTokens = prompt + (numberAt(usage, 'connector_tokens') ?? 0)
  draft.usage.outputTokens = numberAt(usage, 'completion_tokens') ?? draft.usage.outputTokens
}
