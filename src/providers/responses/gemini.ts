import type { Json } from '../../tape/types.ts'
import { addReasoning, callAt, type Draft } from '../draft.ts'
import { at, isList, isMap, type JsonMap, listAt, numberAt, textAt } from '../../json/canonical.ts'

/** A `GenerateContentResponse`, whole or one of a stream; Code Assist wraps it as `response`. */
export function readGemini(value: JsonMap, draft: Draft): boolean {
  const wrapped = at(value, 'response')
  return readAnswer(isMap(wrapped) && at(value, 'candidates') === undefined ? wrapped : value, draft)
}

function readAnswer(value: JsonMap, draft: Draft): boolean {
  draft.model = textAt(value, 'modelVersion') ?? draft.model
  const [candidate] = listAt(value, 'candidates')
  for (const part of listAt(at(candidate, 'content'), 'parts')) readPart(part, draft)
  draft.finish = textAt(candidate, 'finishReason') ?? draft.finish
  const blocked = textAt(at(value, 'promptFeedback'), 'blockReason')
  if (blocked !== undefined) draft.refusal = blocked
  readUsage(at(value, 'usageMetadata'), draft)
  const counted = numberAt(value, 'totalTokens')
  if (counted !== undefined) draft.usage.inputTokens = counted
  return ['candidates', 'usageMetadata', 'promptFeedback', 'totalTokens', 'embedding', 'embeddings'].some(
    (key) => at(value, key) !== undefined,
  )
}

function readPart(part: Json, draft: Draft): void {
  const call = at(part, 'functionCall')
  const code = at(part, 'executableCode')
  if (isMap(call)) readCall(call, draft)
  else if (isMap(code)) {
    const run = callAt(draft, `code ${draft.calls.size}`)
    run.name = 'code_execution'
    run.args = code
    run.builtIn = true
  } else if (at(part, 'thought') === true) addReasoning(draft, '', textAt(part, 'text'))
  else draft.text += textAt(part, 'text') ?? ''
}

/** Calls come whole, unless arguments are streamed: then pieces follow until one says that none will. */
function readCall(source: JsonMap, draft: Draft): void {
  const open = [...draft.calls.entries()].find(([key]) => key.startsWith('open '))?.[0]
  const more = at(source, 'willContinue') === true
  const key = open ?? (more ? `open ${draft.calls.size}` : `call ${draft.calls.size}`)
  const call = callAt(draft, key)
  call.id = textAt(source, 'id') ?? call.id
  call.name = textAt(source, 'name') ?? call.name
  const args = at(source, 'args')
  if (args !== undefined) call.args = args
  for (const piece of listAt(source, 'partialArgs')) call.args = withPiece(call.args, piece)
  if (open === undefined || more) return
  draft.calls.delete(open)
  draft.calls.set(`call ${open.slice('open '.length)}`, call)
}

/** Arguments with one more piece at its path, such as `$.items[0].name`; text is added to text. */
function withPiece(args: Json | undefined, piece: Json): Json {
  const path = [...(textAt(piece, 'jsonPath') ?? '$').matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g)].map(
    ([, name, index, quoted]) => (index === undefined ? (name ?? quoted ?? '') : Number(index)),
  )
  const text = at(piece, 'stringValue')
  const value = text ?? at(piece, 'numberValue') ?? at(piece, 'boolValue') ?? null
  return path.length === 0 ? (args ?? {}) : put(args, path, value)
}

function put(into: Json | undefined, [step, ...rest]: readonly (string | number)[], value: Json): Json {
  if (step === undefined) return typeof value === 'string' && typeof into === 'string' ? into + value : value
  if (typeof step === 'number') {
    const list = isList(into) ? [...into] : []
    // An index that leaves a gap is written at the end: a tape must not make us allocate.
    const place = Math.min(step, list.length)
    list[place] = put(list[place], rest, value)
    return list
  }
  const map = isMap(into) ? into : {}
  return Object.fromEntries([...Object.entries(map), [step, put(at(map, step), rest, value)]])
}

function readUsage(usage: Json | undefined, draft: Draft): void {
  const { usage: counts } = draft
  const prompt = numberAt(usage, 'promptTokenCount')
  // What the provider's own tools brought is read too, and counted beside the prompt.
  if (prompt !== undefined) counts.inputTokens = prompt + (numberAt(usage, 'toolUsePromptTokenCount') ?? 0)
  const answered = numberAt(usage, 'candidatesTokenCount')
  const thought = numberAt(usage, 'thoughtsTokenCount')
  if (answered !== undefined || thought !== undefined) counts.outputTokens = (answered ?? 0) + (thought ?? 0)
  counts.cachedTokens = numberAt(usage, 'cachedContentTokenCount') ?? counts.cachedTokens
  counts.reasoningTokens = thought ?? counts.reasoningTokens
}
