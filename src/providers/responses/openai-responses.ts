import type { Json } from '../../tape/types.ts'
import { addReasoning, type ModelCallDraft, callAt, type Draft } from '../draft.ts'
import { at, isMap, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/** Event families that say nothing the final items do not say again. */
const silent =
  /^(keepalive|ping|response\.(created|queued|in_progress|content_part\.|reasoning_|output_text\.|refusal\.|function_call_arguments\.|custom_tool_call_input\.|mcp_|file_search_call\.|web_search_call\.|code_interpreter_call\.|image_generation_call\.|shell_call|apply_patch_call|audio\.|compaction\.))/

/** A response object, or the events of its stream. */
export function readResponses(value: JsonMap, draft: Draft): boolean {
  const type = textAt(value, 'type') ?? ''
  if (at(value, 'object') === 'response' || (type === '' && at(value, 'output') !== undefined)) {
    readWhole(value, draft)
    return true
  }
  switch (type) {
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
      readWhole(mapAt(value, 'response'), draft)
      return true
    case 'response.created':
    case 'response.in_progress':
      draft.model ??= textAt(at(value, 'response'), 'model')
      draft.keptAs ??= textAt(at(value, 'response'), 'id')
      return true
    case 'response.output_item.added':
    case 'response.output_item.done':
      readItem(at(value, 'item'), positionOf(value), draft, type.endsWith('done') && draft.text === '')
      return true
    case 'response.output_text.delta':
      draft.text += textAt(value, 'delta') ?? ''
      return true
    case 'response.refusal.delta':
      draft.refusal = (draft.refusal ?? '') + (textAt(value, 'delta') ?? '')
      return true
    case 'response.reasoning_summary_text.delta':
    case 'response.reasoning_text.delta':
      addReasoning(draft, `${positionOf(value)}:${blockOf(value, type)}`, textAt(value, 'delta'))
      return true
    case 'response.function_call_arguments.delta':
    case 'response.custom_tool_call_input.delta':
      callAt(draft, positionOf(value)).text += textAt(value, 'delta') ?? ''
      return true
    case 'response.function_call_arguments.done':
      setText(callAt(draft, positionOf(value)), textAt(value, 'arguments'))
      return true
    case 'response.custom_tool_call_input.done':
      setText(callAt(draft, positionOf(value)), textAt(value, 'input'))
      return true
    default:
      return silent.test(type) || at(value, 'object') === 'response.input_tokens'
  }
}

function positionOf(event: JsonMap): string {
  return `${numberAt(event, 'output_index') ?? textAt(event, 'item_id') ?? ''}`
}

/** Summaries before the reasoning itself, as in a whole item. */
function blockOf(event: JsonMap, type: string): string {
  return type.includes('summary')
    ? `summary ${numberAt(event, 'summary_index') ?? 0}`
    : `${numberAt(event, 'content_index') ?? 0}`
}

/** The whole response says everything again: what the deltas added is replaced where it has an output. */
function readWhole(response: JsonMap, draft: Draft): void {
  draft.model = textAt(response, 'model') ?? draft.model
  if (at(response, 'object') === 'response') draft.keptAs = textAt(response, 'id') ?? draft.keptAs
  const output = listAt(response, 'output')
  if (output.length > 0) {
    draft.text = ''
    draft.refusal = undefined
    draft.reasoning = undefined
    draft.calls.clear()
    for (const [position, item] of output.entries()) readItem(item, `${position}`, draft, true)
  }
  draft.finish = textAt(at(response, 'incomplete_details'), 'reason') ?? textAt(response, 'status') ?? draft.finish
  const error = at(response, 'error')
  if (isMap(error)) draft.error = textAt(error, 'code') ?? textAt(error, 'type') ?? 'error'
  const usage = at(response, 'usage')
  draft.usage.inputTokens = numberAt(usage, 'input_tokens') ?? draft.usage.inputTokens
  draft.usage.outputTokens = numberAt(usage, 'output_tokens') ?? draft.usage.outputTokens
  const details = at(usage, 'input_tokens_details')
  draft.usage.cachedTokens = numberAt(details, 'cached_tokens') ?? draft.usage.cachedTokens
  draft.usage.cacheWriteTokens = numberAt(details, 'cache_write_tokens') ?? draft.usage.cacheWriteTokens
  draft.usage.reasoningTokens =
    numberAt(at(usage, 'output_tokens_details'), 'reasoning_tokens') ?? draft.usage.reasoningTokens
}

function readItem(item: Json | undefined, key: string, draft: Draft, withText: boolean): void {
  const type = textAt(item, 'type') ?? ''
  if (type === 'message') {
    if (withText) readMessage(item, draft)
    return
  }
  if (type === 'reasoning') readReasoning(item, key, draft)
  if (!type.endsWith('_call')) return
  const call = callAt(draft, key)
  // Calls the agent is to run carry the id its output must name; those the provider ran have none.
  call.id = textAt(item, 'call_id') ?? textAt(item, 'id') ?? call.id
  if (textAt(item, 'call_id') === undefined && type !== 'function_call') call.builtIn = true
  call.name = textAt(item, 'name') ?? type.replace(/_call$/, '')
  if (type === 'custom_tool_call') call.freeText = true
  const text = textAt(item, 'arguments') ?? textAt(item, 'input')
  if (text !== undefined) setText(call, text)
  else call.args = at(item, 'action') ?? at(item, 'operation') ?? argsOfBuiltIn(item)
}

/** A finished item says again what its pieces said. */
function readReasoning(item: Json | undefined, key: string, draft: Draft): void {
  for (const [i, part] of listAt(item, 'summary').entries()) setReasoning(draft, `${key}:summary ${i}`, part)
  for (const [i, part] of listAt(item, 'content').entries()) setReasoning(draft, `${key}:${i}`, part)
}

function setReasoning(draft: Draft, key: string, part: Json): void {
  const text = textAt(part, 'text')
  if (text === undefined) return
  draft.reasoning ??= new Map()
  draft.reasoning.set(key, text)
}

/** What a tool of the provider was asked: what is not about the call itself. */
function argsOfBuiltIn(item: Json | undefined): Json {
  const about = ['id', 'type', 'status', 'call_id', 'name', 'results', 'outputs', 'result', 'arguments', 'input']
  return isMap(item) ? Object.fromEntries(Object.entries(item).filter(([key]) => !about.includes(key))) : {}
}

function readMessage(item: Json | undefined, draft: Draft): void {
  for (const part of listAt(item, 'content')) {
    if (at(part, 'type') === 'refusal') draft.refusal = (draft.refusal ?? '') + (textAt(part, 'refusal') ?? '')
    else draft.text += textAt(part, 'text') ?? ''
  }
}

function setText(call: ModelCallDraft, text: string | undefined): void {
  if (text !== undefined) call.text = text
}
