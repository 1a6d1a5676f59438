import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft, plainText } from '../draft.ts'
import { at, isMap, type JsonMap, listAt, numberAt, textAt } from '../../json/canonical.ts'

/** A Converse answer, or the events of its stream as `{ [event type]: payload }`. */
export function readConverse(value: JsonMap, draft: Draft): boolean {
  const message = at(at(value, 'output'), 'message')
  if (isMap(message)) {
    for (const [position, block] of listAt(message, 'content').entries()) readBlock(block, `${position}`, draft)
    draft.finish = textAt(value, 'stopReason') ?? draft.finish
    readUsage(at(value, 'usage'), draft)
    return true
  }
  const start = at(value, 'contentBlockStart')
  const delta = at(value, 'contentBlockDelta')
  const metadata = at(value, 'metadata')
  if (isMap(start)) readBlock(at(start, 'start'), keyOf(start), draft)
  if (isMap(delta)) readDelta(at(delta, 'delta'), keyOf(delta), draft)
  if (isMap(metadata)) readUsage(at(metadata, 'usage'), draft)
  draft.finish = textAt(at(value, 'messageStop'), 'stopReason') ?? draft.finish
  return [
    'messageStart',
    'contentBlockStart',
    'contentBlockDelta',
    'contentBlockStop',
    'messageStop',
    'metadata',
    'amazon-bedrock-invocationMetrics',
  ].some((key) => at(value, key) !== undefined)
}

function keyOf(event: JsonMap): string {
  return `${numberAt(event, 'contentBlockIndex') ?? 0}`
}

function readBlock(block: Json | undefined, key: string, draft: Draft): void {
  draft.text += textAt(block, 'text') ?? ''
  // What is said with citations stands inside, beside them.
  draft.text += plainText(at(at(block, 'citationsContent'), 'content'))
  addReasoning(draft, key, textAt(at(at(block, 'reasoningContent'), 'reasoningText'), 'text'))
  const use = at(block, 'toolUse')
  if (!isMap(use)) return
  const call = callAt(draft, key)
  call.id = textAt(use, 'toolUseId')
  call.name = textAt(use, 'name') ?? ''
  call.args = at(use, 'input')
  if (at(use, 'type') === 'server_tool_use') call.builtIn = true
}

function readDelta(delta: Json | undefined, key: string, draft: Draft): void {
  draft.text += textAt(delta, 'text') ?? ''
  addReasoning(draft, key, textAt(at(delta, 'reasoningContent'), 'text'))
  const use = at(delta, 'toolUse')
  if (isMap(use)) addArgs(callAt(draft, key), at(use, 'input'))
}

function readUsage(usage: Json | undefined, draft: Draft): void {
  const fresh = numberAt(usage, 'inputTokens')
  const cached = numberAt(usage, 'cacheReadInputTokens') ?? numberAt(usage, 'cacheReadInputTokenCount')
  const written = numberAt(usage, 'cacheWriteInputTokens') ?? numberAt(usage, 'cacheWriteInputTokenCount')
  // What was read from and written to the cache is counted beside the input, not in it.
  if (fresh !== undefined) draft.usage.inputTokens = fresh + (cached ?? 0) + (written ?? 0)
  draft.usage.cachedTokens = cached ?? draft.usage.cachedTokens
  draft.usage.cacheWriteTokens = written ?? draft.usage.cacheWriteTokens
  draft.usage.outputTokens = numberAt(usage, 'outputTokens') ?? draft.usage.outputTokens
}
