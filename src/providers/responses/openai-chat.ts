import type { Json } from '../../tape/types.ts'
import { addArgs, addReasoning, type ModelCallDraft, callAt, type Draft, plainText } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, textAt } from '../../json/canonical.ts'

/**
 * Chat completions, whole or in chunks; Ollama's own chat, whose lines hold one `message`; and what Cloudflare's Workers AI
 * answers: a text and calls side by side, as the `result` of its API where they come whole.
 */
export function readChat(value: JsonMap, draft: Draft): boolean {
  const result = at(value, 'result')
  return readAnswer(isMap(result) && typeof at(value, 'success') === 'boolean' ? result : value, draft)
}

function readAnswer(value: JsonMap, draft: Draft): boolean {
  draft.model = textAt(value, 'model') ?? draft.model
  readUsage(value, draft)
  const choices = at(value, 'choices')
  if (isList(choices)) {
    for (const [position, choice] of choices.entries()) readChoice(choice, numberAt(choice, 'index') ?? position, draft)
    return true
  }
  const message = at(value, 'message')
  if (!isMap(message))
    return (
      readSideBySide(value, draft) ||
      readCompletion(value, draft) ||
      (isMap(at(value, 'usage')) && draft.usage.inputTokens !== undefined) ||
      /^chat\.completion/.test(textAt(value, 'object') ?? '')
    )
  readMessage(message, 0, draft)
  draft.finish = textAt(value, 'done_reason') ?? draft.finish
  return true
}

/** A text, or the value it was asked to be, beside calls; `false` where there are no calls and no such value. */
function readSideBySide(value: JsonMap, draft: Draft): boolean {
  const [said, calls] = [at(value, 'response'), listAt(value, 'tool_calls')]
  if (said === undefined || (calls.length === 0 && !isMap(said))) return false
  draft.text += typeof said === 'string' ? said : isMap(said) ? jsonOf(said) : ''
  for (const [position, piece] of calls.entries()) readPiece(piece, position, 0, draft)
  return true
}

function jsonOf(value: JsonMap): string {
  try {
    return JSON.stringify(value)
  } catch {
    // Deeper than a stack: no model was asked for that, and the bytes are on the tape.
    return ''
  }
}

/** Legacy completions, which Mistral answers as chats; and what text models on Bedrock and Ollama's `generate` answer. */
export function readCompletion(value: JsonMap, draft: Draft): boolean {
  draft.model = textAt(value, 'model') ?? draft.model
  readUsage(value, draft)
  const token = at(value, 'token')
  // Text generation of Hugging Face: a token each, and the whole text once more beside the last one.
  if (isMap(token)) {
    draft.text += at(token, 'special') === true ? '' : (textAt(token, 'text') ?? '')
    draft.finish = textAt(at(value, 'details'), 'finish_reason') ?? draft.finish
    draft.usage.outputTokens = numberAt(at(value, 'details'), 'generated_tokens') ?? draft.usage.outputTokens
    return true
  }
  addReasoning(draft, '', textAt(value, 'thinking'))
  const choices = choiceKeys.flatMap((key) => listAt(value, key))
  const whole = wholeKeys.find((key) => typeof at(value, key) === 'string')
  if (whole !== undefined) draft.text += at(value, whole)
  for (const [position, choice] of choices.entries()) {
    if (isMap(at(choice, 'delta')) || isMap(at(choice, 'message'))) {
      readChoice(choice, numberAt(choice, 'index') ?? position, draft)
      continue
    }
    if ((numberAt(choice, 'index') ?? 0) === 0) draft.text += choiceText(choice)
    draft.finish = finishOf(choice) ?? draft.finish
    draft.usage.outputTokens =
      numberAt(choice, 'generated_token_count') ?? numberAt(choice, 'tokenCount') ?? draft.usage.outputTokens
    draft.usage.inputTokens = numberAt(choice, 'input_token_count') ?? draft.usage.inputTokens
  }
  draft.finish = finishOf(value) ?? textAt(value, 'done_reason') ?? draft.finish
  return (
    whole !== undefined ||
    at(value, 'type') === 'ping' ||
    metricsOf(value) !== undefined ||
    draft.finish !== undefined ||
    choiceKeys.some((key) => isList(at(value, key)))
  )
}

function choiceText(choice: Json): string {
  const keys = ['text', 'outputText', 'generated_text']
  return keys.map((key) => textAt(choice, key)).find((text) => text) ?? textAt(at(choice, 'data'), 'text') ?? ''
}

/** What Bedrock adds to the last event of every model it streams. */
function metricsOf(value: Json): Json | undefined {
  return at(value, 'amazon-bedrock-invocationMetrics')
}

/** Where text models put their alternatives: OpenAI, Mistral and Titan on Bedrock, Cohere, AI21. */
const choiceKeys = ['choices', 'outputs', 'results', 'generations', 'completions'] as const

/** Where they put one whole answer or piece: Claude 2, Llama, Ollama, Titan, Cohere, Writer, Hugging Face. */
const wholeKeys = ['completion', 'generation', 'response', 'outputText', 'text', 'value', 'generated_text'] as const

function finishOf(value: Json): string | undefined {
  return ['finish_reason', 'stop_reason', 'completionReason'].map((key) => textAt(value, key)).find((reason) => reason)
}

function readChoice(choice: Json, index: number, draft: Draft): void {
  const delta = at(choice, 'delta')
  const message = at(choice, 'message')
  if (isMap(delta) && (saysSomething(delta) || draft.text !== '')) readMessage(delta, index, draft)
  // Perplexity sends both: in a stream the message so far beside each delta, whole an empty delta beside the message.
  else if (isMap(message)) readMessage(message, index, draft)
  // OpenRouter says here that the provider behind it failed.
  const failed = at(choice, 'error')
  if (isMap(failed)) draft.error ??= `http_${numberAt(failed, 'code') ?? 500}`
  // Text is what the first choice says; with `n` > 1 the others are alternatives.
  if (index === 0 || draft.finish === undefined) draft.finish = finishOf(choice) ?? draft.finish
}

function saysSomething(delta: JsonMap): boolean {
  return Object.entries(delta).some(([key, value]) => key !== 'role' && value !== '' && value !== null)
}

function readMessage(message: JsonMap, choice: number, draft: Draft): void {
  if (choice === 0) {
    draft.text += plainText(at(message, 'content'))
    addReasoning(draft, '', thoughtIn(message))
    const refusal = textAt(message, 'refusal')
    if (refusal !== undefined) draft.refusal = (draft.refusal ?? '') + refusal
  }
  for (const [position, piece] of listAt(message, 'tool_calls').entries()) readPiece(piece, position, choice, draft)
  const legacy = at(message, 'function_call')
  if (isMap(legacy)) addPiece(callAt(draft, `${choice}:function_call`), legacy)
  // Groq's compound models run tools themselves and tell which.
  for (const [position, tool] of listAt(message, 'executed_tools').entries()) {
    const call = callAt(draft, `${choice}:executed:${numberAt(tool, 'index') ?? position}`)
    call.name = textAt(tool, 'type') ?? call.name
    call.args = textAt(tool, 'arguments') ?? call.args
    call.builtIn = true
  }
}

/**
 * What a message says of its reasoning. Which key it stands under: DeepSeek, xAI, Moonshot, vLLM; Groq, OpenRouter,
 * Cerebras, Together; Ollama. Snowflake has details alone, Mistral parts of the content.
 */
function thoughtIn(message: JsonMap): string | undefined {
  const told = textAt(message, 'reasoning_content') ?? textAt(message, 'reasoning') ?? textAt(message, 'thinking')
  if (told !== undefined) return told
  if (!isList(at(message, 'content')) && !isList(at(message, 'reasoning_details'))) return undefined
  const details = listAt(message, 'reasoning_details').map((one) => textAt(one, 'text') ?? textAt(one, 'summary') ?? '')
  const thoughts = listAt(message, 'content').map((part) => {
    const thought = at(part, 'thinking')
    return typeof thought === 'string' ? thought : plainText(thought)
  })
  return [...details, ...thoughts].join('') || undefined
}

/** One piece of a call: distinguished by index; by id where servers leave the index out or repeat it. */
function readPiece(piece: Json, position: number, choice: number, draft: Draft): void {
  const id = textAt(piece, 'id')
  const index = numberAt(piece, 'index')
  let key = `${choice}:${index ?? (id === undefined ? lastKey(piece, draft, choice, position) : `id ${id}`)}`
  const known = draft.calls.get(key)
  // Gemini's OpenAI endpoint gives every parallel call the index 0, each with its own id.
  if (known !== undefined && id !== undefined && known.id !== undefined && known.id !== id) key = `${key} ${id}`
  const call = callAt(draft, key)
  call.id ??= id
  const custom = at(piece, 'custom')
  // Some servers send the other kind too, with every field empty.
  if (textAt(custom, 'name') !== undefined || call.freeText) {
    call.freeText = true
    call.name = call.name || (textAt(custom, 'name') ?? '')
    call.text += textAt(custom, 'input') ?? ''
  } else addPiece(call, functionOf(piece))
}

/** The function a piece is about. Some of Workers AI's models have its fields in the piece itself. */
function functionOf(piece: Json): JsonMap {
  const inner = at(piece, 'function')
  return isMap(inner) || !isMap(piece) ? mapAt(piece, 'function') : piece
}

/** A piece with neither index nor id goes on with the call before it, unless it is a whole one or begins one in a whole message. */
function lastKey(piece: Json, draft: Draft, choice: number, position: number): string {
  const last = [...draft.calls.keys()].findLast((key) => key.startsWith(`${choice}:`))
  // Arguments that are a value come whole: each line of Ollama has another call.
  const isWhole = isMap(at(functionOf(piece), 'arguments'))
  return isWhole || position > 0 || last === undefined
    ? `position ${draft.calls.size}`
    : last.slice(`${choice}:`.length)
}

function addPiece(call: ModelCallDraft, source: JsonMap): void {
  call.name = call.name || (textAt(source, 'name') ?? '')
  addArgs(call, at(source, 'arguments'))
}

export function readUsage(value: JsonMap, draft: Pick<Draft, 'usage'>): void {
  const told = at(value, 'usage') ?? at(at(value, 'x_groq'), 'usage')
  const timings = timingsOf(value)
  // All chunks of a stream but the last: there are thousands, and there is nowhere else to look.
  const isBare = !isMap(told) && timings === undefined && metricsOf(value) === undefined
  if (isBare && at(value, 'object') === 'chat.completion.chunk') return
  const usage = isMap(told) ? told : mapAt(at(value, 'x_groq'), 'usage')
  const { usage: counts } = draft
  const billed = at(at(value, 'meta'), 'billed_units')
  const details = at(usage, 'prompt_tokens_details')
  counts.inputTokens =
    numberAt(usage, 'prompt_tokens') ??
    numberAt(usage, 'input_tokens') ??
    numberAt(value, 'prompt_eval_count') ??
    numberAt(value, 'prompt_token_count') ??
    numberAt(value, 'inputTextTokenCount') ??
    numberAt(billed, 'input_tokens') ??
    timings?.input ??
    counts.inputTokens ??
    numberAt(metricsOf(value), 'inputTokenCount')
  counts.reasoningTokens =
    numberAt(at(usage, 'completion_tokens_details'), 'reasoning_tokens') ??
    numberAt(usage, 'reasoning_tokens') ??
    counts.reasoningTokens
  counts.outputTokens =
    writtenOf(usage, counts.reasoningTokens) ??
    numberAt(usage, 'output_tokens') ??
    numberAt(value, 'eval_count') ??
    numberAt(value, 'generation_token_count') ??
    numberAt(value, 'totalOutputTextTokenCount') ??
    numberAt(billed, 'output_tokens') ??
    timings?.output ??
    counts.outputTokens ??
    numberAt(metricsOf(value), 'outputTokenCount')
  counts.cachedTokens =
    numberAt(details, 'cached_tokens') ??
    numberAt(usage, 'prompt_cache_hit_tokens') ??
    numberAt(usage, 'cached_tokens') ??
    numberAt(usage, 'num_cached_tokens') ??
    timings?.cached ??
    counts.cachedTokens
  counts.cacheWriteTokens =
    numberAt(details, 'cache_write_tokens') ??
    numberAt(details, 'cache_creation_input_tokens') ??
    numberAt(usage, 'cache_creation_input_tokens') ??
    counts.cacheWriteTokens
}

/**
 * What llama.cpp tells of its work: tokens it read again, took from its cache, and wrote. Those of versions that do not tell of
 * the cache are not all that was read.
 */
function timingsOf(
  value: JsonMap,
): { readonly input: number; readonly output: number; readonly cached: number } | undefined {
  const timings = at(value, 'timings')
  if (!isMap(timings)) return undefined
  const [read, cached, output] = ['prompt_n', 'cache_n', 'predicted_n'].map((key) => numberAt(timings, key))
  if (read === undefined || cached === undefined || output === undefined) return undefined
  return { input: read + cached, output, cached }
}

/** What was written: xAI counts reasoning beside the completion, which the total gives away; all others in it. */
function writtenOf(usage: JsonMap, reasoning = 0): number | undefined {
  const completion = numberAt(usage, 'completion_tokens')
  if (completion === undefined || reasoning === 0) return completion
  const isBeside = numberAt(usage, 'total_tokens') === (numberAt(usage, 'prompt_tokens') ?? 0) + completion + reasoning
  return isBeside ? completion + reasoning : completion
}
