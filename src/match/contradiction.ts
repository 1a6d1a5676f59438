import { isMap } from '../json/canonical.ts'
import { type ModelRequest, type ModelResponse, toolNames } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'
import { own, parse } from './difference.ts'

/**
 * What the live request asks for that the recorded answer breaks: a tool that is not offered any more, a tool that has to
 * be called, JSON where the answer is not JSON. A model that obeys could not have given that answer, so it answers nothing.
 *
 * @returns what contradicts it, in words; `undefined` when nothing does
 */
export function contradiction(
  recorded: ModelRequest,
  live: ModelRequest,
  answer: ModelResponse | undefined,
):
  | { readonly kind: 'toolGone'; readonly tool: string }
  | { readonly kind: 'contradicted'; readonly how: string }
  | undefined {
  if (answer === undefined) return undefined
  const calls = answer.toolCalls.filter(({ builtIn }) => !builtIn).map(({ name }) => name)
  const gone = toolGone(recorded, live, calls)
  if (gone !== undefined) return { kind: 'toolGone', tool: gone }
  const how = brokenChoice(recorded, live, calls) ?? brokenFormat(recorded, live, answer, calls)
  return how === undefined ? undefined : { kind: 'contradicted', how }
}

/** A tool the recorded answer calls and the live request no longer offers: the agent would be asked to do what it cannot. */
function toolGone(recorded: ModelRequest, live: ModelRequest, calls: readonly string[]): string | undefined {
  const [before, now] = [new Set(recorded.tools.flatMap(toolNames)), new Set(live.tools.flatMap(toolNames))]
  return calls.find((name) => before.has(name) && !now.has(name))
}

function brokenChoice(recorded: ModelRequest, live: ModelRequest, calls: readonly string[]): string | undefined {
  const [before, now] = [choiceOf(recorded), choiceOf(live)]
  if (now === undefined || JSON.stringify(before) === JSON.stringify(now)) return undefined
  switch (now.kind) {
    case 'none':
      return calls.length > 0 ? `tools are forbidden, and the recorded answer calls ${calls[0]}` : undefined
    case 'any':
      return calls.length === 0 ? 'a tool has to be called, and the recorded answer calls none' : undefined
    case 'tool':
      return calls.includes(now.tool) ? undefined : `${now.tool} has to be called, and the recorded answer does not`
  }
}

type Choice = { readonly kind: 'none' } | { readonly kind: 'any' } | { readonly kind: 'tool'; readonly tool: string }

/** What a request says about calling tools, in the fields of every dialect; `undefined` when the model decides. */
function choiceOf(request: ModelRequest): Choice | undefined {
  const params = paramsOf(request)
  const config = own(params, 'toolConfig') ?? own(params, 'tool_config')
  const gemini = member(config, 'functionCallingConfig') ?? member(config, 'function_calling_config')
  const choice = own(params, 'tool_choice') ?? own(params, 'toolChoice') ?? member(config, 'toolChoice') ?? gemini
  const word = typeof choice === 'string' ? choice : (member(choice, 'type') ?? member(choice, 'mode'))
  const named =
    member(choice, 'name') ??
    member(choice, 'functionName') ??
    member(member(choice, 'function'), 'name') ??
    member(member(choice, 'tool'), 'name')
  if (typeof named === 'string') return { kind: 'tool', tool: named }
  if (isMap(member(choice, 'any'))) return { kind: 'any' }
  switch (typeof word === 'string' ? word.toLowerCase() : '') {
    case 'none':
      return { kind: 'none' }
    case 'any':
    case 'required':
      return { kind: 'any' }
    default:
      return undefined
  }
}

/** A format of JSON that was not asked for before, and an answer that is no JSON. */
function brokenFormat(
  recorded: ModelRequest,
  live: ModelRequest,
  { text }: ModelResponse,
  calls: readonly string[],
): string | undefined {
  if (!wantsJson(live) || wantsJson(recorded) || calls.length > 0 || text === '') return undefined
  return parse(text) === undefined ? 'JSON is requested, and the recorded answer is not JSON' : undefined
}

function wantsJson(request: ModelRequest): boolean {
  const params = paramsOf(request)
  const format =
    own(params, 'response_format') ??
    own(params, 'responseFormat') ??
    member(own(params, 'text'), 'format') ??
    own(params, 'format')
  const generation = own(params, 'generationConfig') ?? own(params, 'generation_config')
  const named = typeof format === 'string' ? format : member(format, 'type')
  const type = typeof named === 'string' ? named.toLowerCase() : undefined
  const mime = member(generation, 'responseMimeType') ?? member(generation, 'response_mime_type')
  // Yandex says it with fields of their own.
  if (own(params, 'jsonObject') === true || own(params, 'jsonSchema') !== undefined) return true
  return type === 'json_object' || type === 'json_schema' || type === 'json' || mime === 'application/json'
}

/** OCI keeps them one level down. */
function paramsOf({ params }: ModelRequest): ModelRequest['params'] {
  const inner = own(params, 'chatRequest')
  return isMap(inner) ? inner : params
}

function member(value: Json | undefined, key: string): Json | undefined {
  return isMap(value) ? own(value, key) : undefined
}
