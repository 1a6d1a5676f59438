import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, callAt, type Draft, plainText } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/**
 * A chat of OCI Generative AI: whole, or the events of its stream. What a model answers stands in `chatResponse` when it
 * comes whole, and bare in the events: choices in the format `GENERIC`, a text in `COHERE`, a message in `COHEREV2`.
 */
export function readOci(value: JsonMap, draft: Draft): boolean {
  const whole = at(value, 'chatResponse')
  draft.model = textAt(value, 'modelId') ?? draft.model
  if (isMap(whole)) return readAnswer(whole, draft)
  // The service tells its errors as a code and a message.
  const code = textAt(value, 'code')
  if (code !== undefined && typeof at(value, 'message') === 'string') {
    draft.error ??= /^\d+$/.test(code) ? `http_${code}` : code
    return true
  }
  return readAnswer(value, draft)
}

function readAnswer(answer: JsonMap, draft: Draft): boolean {
  readUsage(answer, draft)
  const choices = at(answer, 'choices')
  if (isList(choices)) {
    for (const [position, choice] of choices.entries()) readChoice(choice, numberAt(choice, 'index') ?? position, draft)
    return true
  }
  if (textAt(answer, 'errorMessage')) draft.error ??= textAt(answer, 'finishReason') ?? 'error'
  // The last event of the format `COHERE` says text and calls again.
  const isLast = at(answer, 'finishReason') !== undefined
  if (!isLast || draft.text === '') draft.text += textAt(answer, 'text') ?? ''
  if (isLast && isList(at(answer, 'toolCalls'))) draft.calls.clear()
  readChoice(answer, numberAt(answer, 'index') ?? 0, draft)
  return ['message', 'text', 'toolCalls', 'finishReason', 'usage'].some((key) => at(answer, key) !== undefined)
}

/** A choice, an event about one, or an answer that has no choices. */
function readChoice(choice: Json, index: number, draft: Draft): void {
  const message = at(choice, 'message')
  // Text is what the first choice says; the others are alternatives.
  if (index === 0) {
    draft.text += plainText(at(message, 'content'))
    addReasoning(draft, '', textAt(message, 'reasoningContent'))
    addReasoning(draft, 'plan', textAt(message, 'toolPlan'))
    for (const part of listAt(message, 'content')) addReasoning(draft, '', textAt(part, 'thinking'))
    const refusal = textAt(message, 'refusal')
    if (refusal) draft.refusal = (draft.refusal ?? '') + refusal
  }
  const calls = [...listAt(message, 'toolCalls'), ...listAt(choice, 'toolCalls')]
  for (const [position, call] of calls.entries()) readCall(call, index, position, draft)
  if (index === 0 || draft.finish === undefined) draft.finish = textAt(choice, 'finishReason') ?? draft.finish
}

/** One piece of a call: the first has its id and its name, the others go on with the last one begun. */
function readCall(piece: Json, choice: number, position: number, draft: Draft): void {
  const id = textAt(piece, 'id')
  const last = [...draft.calls.keys()].findLast((key) => key.startsWith(`${choice}:`))
  const inner = isMap(at(piece, 'function')) ? mapAt(piece, 'function') : piece
  const name = textAt(inner, 'name')
  const begins = id || name || last === undefined
  const call = callAt(draft, begins ? `${choice}:${id || `${draft.calls.size} ${position}`}` : last)
  call.id ??= id
  call.name ||= name ?? ''
  addArgs(call, at(inner, 'arguments') ?? at(inner, 'parameters'))
}

function readUsage(answer: JsonMap, draft: Draft): void {
  const usage = at(answer, 'usage')
  const { usage: counts } = draft
  counts.inputTokens = numberAt(usage, 'promptTokens') ?? counts.inputTokens
  counts.outputTokens = numberAt(usage, 'completionTokens') ?? counts.outputTokens
  counts.cachedTokens = numberAt(at(usage, 'promptTokensDetails'), 'cachedTokens') ?? counts.cachedTokens
  counts.reasoningTokens = numberAt(at(usage, 'completionTokensDetails'), 'reasoningTokens') ?? counts.reasoningTokens
}
