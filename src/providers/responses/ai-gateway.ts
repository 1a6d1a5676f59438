import type { Json } from '../../tape/types.ts'
import { addReasoning, callAt, type Draft } from '../draft.ts'
import { at, type JsonMap, listAt, numberAt, textAt } from '../../json/canonical.ts'

/** Parts that are neither text nor calls. */
const silent =
  /^(stream-start|text-start|text-end|reasoning-(start|end)|tool-input-end|tool-result|tool-approval|source|file|custom|ping|raw)/

/** What a language model of the AI SDK answers through a gateway: content parts, whole or streamed. */
export function readAiGateway(value: JsonMap, draft: Draft): boolean {
  const type = textAt(value, 'type')
  if (type !== undefined) return readPart(value, type, draft)
  for (const [position, part] of listAt(value, 'content').entries()) {
    if (at(part, 'type') === 'text') draft.text += textAt(part, 'text') ?? ''
    else if (at(part, 'type') === 'reasoning') addReasoning(draft, `${position}`, textAt(part, 'text'))
    else if (at(part, 'type') === 'tool-call') readCall(part, draft)
  }
  draft.model = textAt(at(value, 'response'), 'modelId') ?? draft.model
  readEnd(value, draft)
  return at(value, 'content') !== undefined
}

function readPart(part: JsonMap, type: string, draft: Draft): boolean {
  switch (type) {
    case 'text-delta':
      draft.text += textAt(part, 'delta') ?? textAt(part, 'textDelta') ?? ''
      return true
    case 'reasoning-delta':
      addReasoning(draft, textAt(part, 'id') ?? '', textAt(part, 'delta'))
      return true
    case 'tool-input-start': {
      const call = callAt(draft, textAt(part, 'id') ?? '')
      call.id = textAt(part, 'id')
      call.name = textAt(part, 'toolName') ?? ''
      call.builtIn = at(part, 'providerExecuted') === true
      return true
    }
    case 'tool-input-delta':
      callAt(draft, textAt(part, 'id') ?? '').text += textAt(part, 'delta') ?? ''
      return true
    case 'tool-call':
      readCall(part, draft)
      return true
    case 'response-metadata':
      draft.model = textAt(part, 'modelId') ?? draft.model
      return true
    case 'finish':
      readEnd(part, draft)
      return true
    default:
      return silent.test(type)
  }
}

/** The whole call: it says everything the pieces before it said. */
function readCall(part: Json, draft: Draft): void {
  const call = callAt(draft, textAt(part, 'toolCallId') ?? `${draft.calls.size}`)
  call.id = textAt(part, 'toolCallId')
  call.name = textAt(part, 'toolName') ?? ''
  const input = at(part, 'input') ?? at(part, 'args')
  call.text = typeof input === 'string' ? input : ''
  if (typeof input !== 'string') call.args = input
  call.builtIn = at(part, 'providerExecuted') === true
}

function readEnd(source: JsonMap, draft: Draft): void {
  const reason = at(source, 'finishReason')
  draft.finish = textAt(reason, 'unified') ?? (typeof reason === 'string' ? reason : draft.finish)
  const usage = at(source, 'usage')
  const [read, written] = [at(usage, 'inputTokens'), at(usage, 'outputTokens')]
  // Counts were plain numbers before version 3 of the protocol.
  draft.usage.inputTokens = typeof read === 'number' ? read : (numberAt(read, 'total') ?? draft.usage.inputTokens)
  draft.usage.outputTokens =
    typeof written === 'number' ? written : (numberAt(written, 'total') ?? draft.usage.outputTokens)
  draft.usage.cachedTokens =
    numberAt(read, 'cacheRead') ?? numberAt(usage, 'cachedInputTokens') ?? draft.usage.cachedTokens
  draft.usage.cacheWriteTokens = numberAt(read, 'cacheWrite') ?? draft.usage.cacheWriteTokens
  draft.usage.reasoningTokens =
    numberAt(written, 'reasoning') ?? numberAt(usage, 'reasoningTokens') ?? draft.usage.reasoningTokens
}
