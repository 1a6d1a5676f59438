import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap, listAt, mapAt, numberAt, textAt, without } from '../../json/canonical.ts'

/** The events of a chat answer of version 2. */
export function cohereEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  const message = at(whole, 'message')
  if (!isMap(message)) return undefined
  const plan = textAt(message, 'tool_plan')
  const event = (type: string, inner: JsonMap, index?: number): JsonMap => ({
    type,
    ...(index === undefined ? {} : { index }),
    delta: { message: inner },
  })
  return [
    {
      type: 'message-start',
      id: at(whole, 'id') ?? null,
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    ...(plan === undefined ? [] : [event('tool-plan-delta', { tool_plan: plan })]),
    ...listAt(message, 'content').flatMap((part, index) => {
      const field = at(part, 'type') === 'thinking' ? 'thinking' : 'text'
      return [
        event('content-start', { content: { type: field, [field]: '' } }, index),
        event('content-delta', { content: { [field]: at(part, field) ?? '' } }, index),
        { type: 'content-end', index },
      ]
    }),
    ...listAt(message, 'tool_calls').flatMap((call, index) => {
      const fn = mapAt(call, 'function')
      const begun = isMap(call) ? { ...call, function: { ...fn, arguments: '' } } : call
      return [
        event('tool-call-start', { tool_calls: begun }, index),
        event('tool-call-delta', { tool_calls: { function: { arguments: at(fn, 'arguments') ?? '' } } }, index),
        { type: 'tool-call-end', index },
      ]
    }),
    ...listAt(message, 'citations').flatMap((citation, index) => [
      event('citation-start', { citations: citation }, index),
      { type: 'citation-end', index },
    ]),
    { type: 'message-end', id: at(whole, 'id') ?? null, delta: without(whole, 'id', 'message') },
  ]
}

/** The answer that events make; `undefined` where it has no end. */
export function cohereWhole(events: readonly JsonMap[]): JsonMap | undefined {
  let [id, end, plan]: [Json, JsonMap | undefined, string] = [null, undefined, '']
  const parts = new Map<number, Record<string, Json>>()
  const calls = new Map<number, JsonMap>()
  const citations: Json[] = []
  for (const event of events) {
    const index = numberAt(event, 'index') ?? 0
    const message = mapAt(mapAt(event, 'delta'), 'message')
    switch (at(event, 'type')) {
      case 'message-start':
        id = at(event, 'id') ?? null
        break
      case 'tool-plan-delta':
        plan += textAt(message, 'tool_plan') ?? ''
        break
      case 'content-start':
        parts.set(index, { ...mapAt(message, 'content') })
        break
      case 'content-delta': {
        const part = parts.get(index) ?? { type: 'text' }
        parts.set(index, part)
        for (const [key, value] of Object.entries(mapAt(message, 'content'))) {
          if (key !== 'type') part[key] = `${textAt(part, key) ?? ''}${String(value)}`
        }
        break
      }
      case 'tool-call-start':
        calls.set(index, mapAt(message, 'tool_calls'))
        break
      case 'tool-call-delta': {
        const call = calls.get(index) ?? {}
        const fn = mapAt(call, 'function')
        const added = textAt(mapAt(mapAt(message, 'tool_calls'), 'function'), 'arguments') ?? ''
        calls.set(index, { ...call, function: { ...fn, arguments: `${textAt(fn, 'arguments') ?? ''}${added}` } })
        break
      }
      case 'citation-start':
        citations.push(at(message, 'citations') ?? null)
        break
      case 'message-end':
        end = mapAt(event, 'delta')
        break
      default:
    }
  }
  if (end === undefined) return undefined
  return {
    id,
    message: {
      role: 'assistant',
      ...(plan === '' ? {} : { tool_plan: plan }),
      ...(parts.size === 0 ? {} : { content: [...parts.values()] }),
      ...(calls.size === 0 ? {} : { tool_calls: [...calls.values()] }),
      ...(citations.length === 0 ? {} : { citations }),
    },
    ...end,
  }
}
