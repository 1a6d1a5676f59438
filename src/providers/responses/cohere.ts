import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft, plainText } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/** A chat answer of version 2 or 1, or the events of its stream. */
export function readCohere(value: JsonMap, draft: Draft): boolean {
  const type = textAt(value, 'type') ?? textAt(value, 'event_type')
  if (type === undefined) return readWhole(value, draft)
  const delta = mapAt(value, 'delta')
  const message = mapAt(delta, 'message')
  switch (type) {
    case 'content-start':
    case 'content-delta':
      draft.text += textAt(at(message, 'content'), 'text') ?? ''
      addReasoning(draft, `${numberAt(value, 'index') ?? 0}`, textAt(at(message, 'content'), 'thinking'))
      return true
    case 'tool-plan-delta':
      addReasoning(draft, 'plan', textAt(message, 'tool_plan'))
      return true
    case 'tool-call-start':
    case 'tool-call-delta':
      readCall(at(message, 'tool_calls'), `${numberAt(value, 'index') ?? 0}`, draft)
      return true
    case 'message-end':
      readWhole(delta, draft)
      return true
    case 'text-generation':
      draft.text += textAt(value, 'text') ?? ''
      return true
    case 'stream-end':
      // Version 1 says the whole answer again.
      draft.text = ''
      readWhole(mapAt(value, 'response'), draft)
      return true
    default:
      return /^(message-start|content-end|tool-call-end|citation-|debug|stream-start|search-|tool-calls-)/.test(type)
  }
}

function readWhole(value: JsonMap, draft: Draft): boolean {
  const message = at(value, 'message')
  draft.model = textAt(value, 'model') ?? draft.model
  draft.finish = textAt(value, 'finish_reason') ?? draft.finish
  readUsage(value, draft)
  if (isMap(message)) {
    draft.text += plainText(at(message, 'content'))
    for (const [position, part] of listAt(message, 'content').entries())
      addReasoning(draft, `${position}`, textAt(part, 'thinking'))
    addReasoning(draft, 'plan', textAt(message, 'tool_plan'))
    for (const [position, call] of listAt(message, 'tool_calls').entries()) readCall(call, `${position}`, draft)
    return true
  }
  draft.text += textAt(value, 'text') ?? ''
  for (const [position, source] of listAt(value, 'tool_calls').entries()) {
    const call = callAt(draft, `${position}`)
    call.name = textAt(source, 'name') ?? ''
    call.args = at(source, 'parameters')
  }
  return at(value, 'finish_reason') !== undefined || at(value, 'text') !== undefined
}

function readCall(source: Json | undefined, key: string, draft: Draft): void {
  const piece = isList(source) ? source[0] : source
  const call = callAt(draft, key)
  call.id = textAt(piece, 'id') ?? call.id
  call.name = textAt(at(piece, 'function'), 'name') ?? call.name
  addArgs(call, at(at(piece, 'function'), 'arguments'))
}

function readUsage(value: JsonMap, draft: Draft): void {
  const usage = isMap(at(value, 'usage')) ? mapAt(value, 'usage') : mapAt(value, 'meta')
  const tokens = isMap(at(usage, 'tokens')) ? mapAt(usage, 'tokens') : mapAt(usage, 'billed_units')
  draft.usage.inputTokens = numberAt(tokens, 'input_tokens') ?? draft.usage.inputTokens
  draft.usage.outputTokens = numberAt(tokens, 'output_tokens') ?? draft.usage.outputTokens
  draft.usage.cachedTokens = numberAt(usage, 'cached_tokens') ?? draft.usage.cachedTokens
}
