import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap, listAt, mapAt, textAt } from '../../json/canonical.ts'

/** The lines of a chat answer: one for what is said, one for the end. */
export function ollamaEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  const message = at(whole, 'message')
  if (!isMap(message) || at(whole, 'done') !== true) return undefined
  const { model = null, created_at = null } = whole
  return [
    { model, created_at, message, done: false },
    { ...whole, message: { role: at(message, 'role') ?? 'assistant', content: '' } },
  ]
}

/** The answer that lines make; `undefined` where the last one does not say that it is. */
export function ollamaWhole(events: readonly JsonMap[]): JsonMap | undefined {
  const last = events.at(-1)
  if (last === undefined || at(last, 'done') !== true) return undefined
  const message: Record<string, Json> = { role: 'assistant', content: '' }
  for (const event of events) {
    const piece = mapAt(event, 'message')
    for (const key of ['content', 'thinking'] as const) {
      const text = textAt(piece, key)
      if (text !== undefined) message[key] = `${textAt(message, key) ?? ''}${text}`
    }
    const calls = listAt(piece, 'tool_calls')
    if (calls.length > 0) message['tool_calls'] = [...listAt(message, 'tool_calls'), ...calls]
  }
  return { ...last, message }
}
