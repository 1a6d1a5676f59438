import type { Json } from '../../tape/types.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, without } from '../../json/canonical.ts'

/** The chunks of a chat completion: one for the speaker, one for the text, one for each call, one for the end. */
export function chatEvents(whole: JsonMap, asked: JsonMap): readonly JsonMap[] | undefined {
  const choices = listAt(whole, 'choices')
  if (choices.length === 0) return undefined
  const base = { ...without(whole, 'choices', 'usage'), object: 'chat.completion.chunk' }
  const chunk = (choice: JsonMap): JsonMap => ({ ...base, choices: [choice] })
  const said = choices.flatMap((choice, position) => {
    const index = numberAt(choice, 'index') ?? position
    const message = mapAt(choice, 'message')
    const [text, logprobs] = [at(message, 'content'), at(choice, 'logprobs')]
    const rest = Object.entries(without(message, 'content', 'tool_calls')).filter(([, value]) => value !== null)
    const hasText = text !== undefined && text !== null && text !== ''
    return [
      { index, delta: { role: 'assistant', content: null, ...Object.fromEntries(rest) }, finish_reason: null },
      ...(hasText ? [{ index, delta: { content: text }, logprobs: logprobs ?? null, finish_reason: null }] : []),
      ...listAt(message, 'tool_calls').map((call, nth) => ({
        index,
        delta: { tool_calls: [isMap(call) ? { index: nth, ...call } : call] },
        finish_reason: null,
      })),
      { index, delta: {}, finish_reason: at(choice, 'finish_reason') ?? null },
    ].map(chunk)
  })
  const usage = at(whole, 'usage')
  const isCounted = usage !== undefined && at(at(asked, 'stream_options'), 'include_usage') === true
  return isCounted ? [...said, { ...base, choices: [], usage }] : said
}

interface ChoiceDraft {
  message: Record<string, Json>
  calls: Map<number, Record<string, Json>>
  logprobs: Json
  finish: Json
}

/** The completion that chunks make; `undefined` where one of its choices has no end. */
export function chatWhole(events: readonly JsonMap[]): JsonMap | undefined {
  const choices = new Map<number, ChoiceDraft>()
  let usage: Json | undefined
  for (const event of events) {
    usage = at(event, 'usage') ?? usage
    for (const choice of listAt(event, 'choices')) {
      const delta = at(choice, 'delta')
      if (!isMap(delta)) return undefined
      const index = numberAt(choice, 'index') ?? 0
      const draft = choices.get(index) ?? { message: {}, calls: new Map(), logprobs: null, finish: null }
      choices.set(index, draft)
      addDelta(draft, delta)
      draft.logprobs = joined(draft.logprobs, at(choice, 'logprobs') ?? null)
      draft.finish = at(choice, 'finish_reason') ?? draft.finish
    }
  }
  const [first] = events
  const drafts = [...choices].sort(([a], [b]) => a - b)
  if (first === undefined || drafts.length === 0 || drafts.some(([, { finish }]) => finish === null)) return undefined
  return {
    ...without(first, 'choices', 'usage', 'obfuscation'),
    object: 'chat.completion',
    choices: drafts.map(([index, { message, calls, logprobs, finish }]) => ({
      index,
      message: {
        content: null,
        refusal: null,
        ...message,
        role: message['role'] ?? 'assistant',
        ...(calls.size === 0 ? {} : { tool_calls: [...calls].sort(([a], [b]) => a - b).map(([, call]) => call) }),
      },
      logprobs,
      finish_reason: finish,
    })),
    ...(usage === undefined || usage === null ? {} : { usage }),
  }
}

function addDelta({ message, calls }: ChoiceDraft, delta: JsonMap): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key === 'role') message[key] = value
    else if (key !== 'tool_calls') message[key] = joined(message[key] ?? null, value)
  }
  for (const [position, piece] of listAt(delta, 'tool_calls').entries()) {
    if (!isMap(piece)) continue
    const index = numberAt(piece, 'index') ?? position
    const call = calls.get(index) ?? {}
    calls.set(index, call)
    for (const [key, value] of Object.entries(piece)) {
      if (key === 'function' || key === 'custom') call[key] = withText(call[key], value)
      else if (key !== 'index' && value !== null && value !== '') call[key] = value
    }
  }
}

/** A call of a function with one more piece of its text; its name comes once. */
function withText(call: Json | undefined, piece: Json): Json {
  const before = isMap(call) ? call : {}
  if (!isMap(piece)) return before
  const text = ['arguments', 'input'].flatMap((key) => {
    const added = at(piece, key)
    return typeof added === 'string' ? [[key, `${String(at(before, key) ?? '')}${added}`] as const] : []
  })
  const name = at(piece, 'name')
  return { ...before, ...(typeof name === 'string' && name !== '' ? { name } : {}), ...Object.fromEntries(text) }
}

/** Texts and lists go on where they ended; members of a map each for itself. */
function joined(before: Json, more: Json): Json {
  if (more === null) return before
  if (typeof before === 'string' && typeof more === 'string') return before + more
  if (isList(before) && isList(more)) return [...before, ...more]
  if (!isMap(before) || !isMap(more)) return more
  const added = Object.entries(more).map(([key, value]) => [key, joined(at(before, key) ?? null, value)] as const)
  return { ...before, ...Object.fromEntries(added) }
}
