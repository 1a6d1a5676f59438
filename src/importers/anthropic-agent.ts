import type { Cursor } from './cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from './document.ts'
import { timeOf } from './moments.ts'
import { readMessages } from './messages.ts'
import { usageOf } from './usage.ts'
import type { ForeignCall, ForeignMessage, ForeignModelCall, ForeignStep } from './types.ts'

/**
 * Events of a session of Anthropic's managed agents: a list, `data` of its API, or one for each line, alone or behind the
 * name of the method that brought it.
 *
 * @see https://docs.claude.com/en/api/beta/sessions/events
 */
export const anthropicAgent: ForeignFormat = {
  name: 'anthropic-agent',
  recognises(document) {
    let looked = 0
    for (const event of eventsIn(document)) {
      if (isEvent(event)) return true
      // Requests of the client stand before the first one.
      if (++looked === 10) return false
    }
    return false
  },
  read: (document) => ({ format: 'anthropic-agent', exchanges: [], steps: stepsOf(eventsIn(document)) }),
}

function* eventsIn(document: ForeignDocument): Generator<Cursor, undefined> {
  const { root, isLines } = document
  const isList = isLines || Array.isArray(root.value)
  const list = isList ? root : root.at('data')
  if (!isLines && !Array.isArray(list.value)) return undefined
  if (isList && firstItem(document) === undefined) return undefined
  for (const item of isList ? itemsAt(document) : list.items) {
    const [method, event] = Array.isArray(item.value) ? item.items : []
    yield method?.maybeText === undefined || event === undefined ? item : event
  }
  return undefined
}

function isEvent(event: Cursor): boolean {
  const type = event.at('type').maybeText ?? ''
  return /^(user|agent|session|span)\.[a-z_]+$/.test(type) && event.at('id').isThere
}

type Draft<T> = { -readonly [K in keyof T]: T[K] }

function stepsOf(events: Iterable<Cursor>): readonly ForeignStep[] {
  const steps: ForeignStep[] = []
  const calls = new Map<string, Draft<ForeignCall>>()
  const requests = new Map<string, Draft<ForeignModelCall>>()
  const seen = new Set<string>()
  let model: Draft<ForeignModelCall> | undefined
  for (const event of events) {
    const id = event.at('id').maybeText
    // A stream that is opened again begins from the start.
    if (!isEvent(event) || id === undefined || seen.has(id)) continue
    seen.add(id)
    const at = timeOf(event.at('processed_at'))
    const started = at === undefined ? {} : { startedMs: at }
    switch (event.at('type').text) {
      case 'user.message':
        steps.push({
          kind: 'message',
          from: 'user',
          to: 'model',
          body: textOf(event),
          ...started,
        } satisfies ForeignMessage)
        break
      case 'span.model_request_start':
        model = { kind: 'model', toolCalls: [], ...started }
        requests.set(id, model)
        steps.push(model)
        break
      case 'span.model_request_end': {
        const request = requests.get(event.at('model_request_start_id').maybeText ?? '')
        if (request === undefined) break
        endAt(request, at)
        request.usage = usageOf(event.at('model_usage').value)
        if (event.at('is_error').value === true) request.error = 'error'
        break
      }
      case 'agent.message':
        if (model === undefined)
          steps.push({ kind: 'message', from: 'model', to: 'user', body: textOf(event), ...started })
        else model.text = [model.text, textOf(event)].filter((text) => text !== undefined && text !== '').join('\n')
        break
      case 'agent.tool_use':
      case 'agent.mcp_tool_use':
      case 'agent.custom_tool_use': {
        const name = event.at('name').text
        const args = event.at('input').value ?? {}
        if (model !== undefined) model.toolCalls = [...model.toolCalls, { id, name, args }]
        const call: Draft<ForeignCall> = { kind: 'tool', name, args, callId: id, ...started }
        calls.set(id, call)
        steps.push(call)
        break
      }
      case 'agent.tool_result':
      case 'agent.mcp_tool_result':
      case 'user.custom_tool_result': {
        const names = ['tool_use_id', 'mcp_tool_use_id', 'custom_tool_use_id']
        const call = calls.get(names.map((name) => event.at(name).maybeText).find((one) => one !== undefined) ?? '')
        if (call === undefined) break
        endAt(call, at)
        if (event.at('is_error').value === true) call.error = textOf(event)
        else call.result = textOf(event) || event.at('content').value
        break
      }
    }
  }
  return steps
}

function endAt(step: Draft<ForeignCall> | Draft<ForeignModelCall>, at: number | undefined): void {
  if (at !== undefined && step.startedMs !== undefined) step.tookMs = Math.max(0, at - step.startedMs)
}

function textOf(event: Cursor): string {
  return readMessages([{ role: 'user', content: event.at('content').value }])
    .map(({ text }) => text)
    .join('\n')
}
