import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft } from '../draft.ts'
import { at, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/** A message, or the events of its stream. */
export function readAnthropic(value: JsonMap, draft: Draft): boolean {
  switch (at(value, 'type')) {
    case 'message':
      readMessage(value, draft)
      return true
    case 'message_start':
      readMessage(mapAt(value, 'message'), draft)
      return true
    case 'content_block_start':
      readBlock(at(value, 'content_block'), keyOf(value), draft)
      return true
    case 'content_block_delta':
      readDelta(at(value, 'delta'), keyOf(value), draft)
      return true
    case 'message_delta':
      readEnd(mapAt(value, 'delta'), draft)
      readUsage(at(value, 'usage'), draft)
      return true
    case 'content_block_stop':
    case 'message_stop':
    case 'ping':
      return true
    default: {
      // Token counting answers with the number alone.
      const counted = numberAt(value, 'input_tokens')
      if (counted !== undefined) draft.usage.inputTokens = counted
      return counted !== undefined || at(value, 'amazon-bedrock-invocationMetrics') !== undefined
    }
  }
}

function keyOf(event: JsonMap): string {
  return `${numberAt(event, 'index') ?? 0}`
}

function readMessage(message: JsonMap, draft: Draft): void {
  draft.model = textAt(message, 'model') ?? draft.model
  for (const [position, block] of listAt(message, 'content').entries()) readBlock(block, `${position}`, draft)
  readEnd(message, draft)
  readUsage(at(message, 'usage'), draft)
}

function readBlock(block: Json | undefined, key: string, draft: Draft): void {
  switch (at(block, 'type')) {
    case 'text':
      draft.text += textAt(block, 'text') ?? ''
      break
    case 'thinking':
      addReasoning(draft, key, textAt(block, 'thinking'))
      break
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const call = callAt(draft, key)
      call.id = textAt(block, 'id')
      call.name = textAt(block, 'name') ?? ''
      call.args = at(block, 'input')
      if (at(block, 'type') !== 'tool_use') call.builtIn = true
      break
    }
    default:
    // Hidden thinking, results of the provider's own tools, documents: neither text nor calls.
  }
}

function readDelta(delta: Json | undefined, key: string, draft: Draft): void {
  switch (at(delta, 'type')) {
    case 'text_delta':
      draft.text += textAt(delta, 'text') ?? ''
      break
    case 'thinking_delta':
      addReasoning(draft, key, textAt(delta, 'thinking'))
      break
    case 'input_json_delta':
      addArgs(callAt(draft, key), at(delta, 'partial_json'))
      break
    default:
      // Signatures and citations change neither text nor calls; other types are not known yet.
      if (!/^(signature|citations|compaction)/.test(textAt(delta, 'type') ?? '')) draft.unknownEvents++
  }
}

function readEnd(source: JsonMap, draft: Draft): void {
  draft.finish = textAt(source, 'stop_reason') ?? draft.finish
  if (draft.finish === 'refusal') {
    const details = at(source, 'stop_details')
    draft.refusal ??= textAt(details, 'explanation') ?? textAt(details, 'category') ?? 'refusal'
  }
}

export function readUsage(usage: Json | undefined, draft: Pick<Draft, 'usage'>): void {
  const fresh = numberAt(usage, 'input_tokens')
  const cached = numberAt(usage, 'cache_read_input_tokens')
  const written = numberAt(usage, 'cache_creation_input_tokens')
  // Anthropic counts what was read from and written to the cache beside the input, not in it.
  if (fresh !== undefined) draft.usage.inputTokens = fresh + (cached ?? 0) + (written ?? 0)
  draft.usage.cachedTokens = cached ?? draft.usage.cachedTokens
  draft.usage.cacheWriteTokens = written ?? draft.usage.cacheWriteTokens
  draft.usage.outputTokens = numberAt(usage, 'output_tokens') ?? draft.usage.outputTokens
  draft.usage.reasoningTokens =
    numberAt(at(usage, 'output_tokens_details'), 'thinking_tokens') ?? draft.usage.reasoningTokens
}
