import type { Json } from '../../tape/types.ts'
import { addArgs, callAt, type Draft } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, textAt } from '../../json/canonical.ts'

/**
 * A chat of Yandex Cloud: whole, or the lines of its stream. Each line says all again that was said before it.
 *
 * @see https://yandex.cloud/en/docs/foundation-models/text-generation/api-ref/TextGeneration/completion
 */
export function readYandex(value: JsonMap, draft: Draft): boolean {
  // Over HTTP the answer of the service is wrapped once more.
  const answer = isMap(at(value, 'result')) ? mapAt(value, 'result') : value
  const alternatives = at(answer, 'alternatives')
  if (!isList(alternatives)) return false
  readUsage(mapAt(answer, 'usage'), draft)
  // Text is what the first one says; the calls of all are read.
  const [first] = alternatives
  draft.text = textAt(at(first, 'message'), 'text') ?? ''
  const status = textAt(first, 'status')
  if (status !== undefined && !/_PARTIAL$/.test(status)) draft.finish = status
  draft.calls.clear()
  for (const [index, alternative] of alternatives.entries()) readCalls(at(alternative, 'message'), index, draft)
  return true
}

function readCalls(message: Json | undefined, alternative: number, draft: Draft): void {
  for (const [position, item] of listAt(at(message, 'toolCallList'), 'toolCalls').entries()) {
    const called = at(item, 'functionCall')
    const call = callAt(draft, `${alternative}:${position}`)
    call.name = textAt(called, 'name') ?? ''
    addArgs(call, at(called, 'arguments'))
  }
}

function readUsage(usage: JsonMap, draft: Draft): void {
  const counts = draft.usage
  counts.inputTokens = count(at(usage, 'inputTextTokens')) ?? counts.inputTokens
  counts.outputTokens = count(at(usage, 'completionTokens')) ?? counts.outputTokens
  const reasoning = count(at(at(usage, 'completionTokensDetails'), 'reasoningTokens'))
  counts.reasoningTokens = reasoning ?? counts.reasoningTokens
}

/** JSON of protocol buffers writes large whole numbers as text. */
function count(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}
