import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignStep, ForeignRecording } from '../types.ts'
import { outcome } from './marks.ts'
import { isSdkEvent, sdkSteps } from './openhands-sdk.ts'
import { known, listOf, timeOf } from './values.ts'
import { Waiting } from './waiting.ts'

/**
 * Events of OpenHands, of its first version or of its agent SDK: a list of actions and observations, or the records of an
 * evaluation with such a history each.
 *
 * @see https://docs.all-hands.dev, openhands/events
 */
export const openHands: ForeignFormat = {
  name: 'openhands',
  recognises(document) {
    const first = firstItem(document)
    const record = first ?? document.root
    return (
      isHistory(listOf(record.at('history'))) ||
      (first !== undefined && isHistory(document.isLines ? firstOf(document) : listOf(document.root)))
    )
  },
  read(document) {
    const { root } = document
    if (root.isMap) return recordOf(root)
    const first = firstItem(document)
    if (first?.at('history').isThere === true) return listed(itemsAt(document), recordOf)
    return { format: 'openhands', exchanges: [], steps: stepsOf([...itemsAt(document)]) }
  },
}

/** On lines, what the conversation is set to may come before anything happens. */
function firstOf(document: ForeignDocument): readonly Cursor[] {
  const few: Cursor[] = []
  for (const line of itemsAt(document)) if (few.push(line) === 5) break
  return few
}

function isHistory(events: readonly Cursor[]): boolean {
  return (
    events.slice(0, 5).some((event) => isAction(event) || isObservation(event) || isSdkEvent(event)) &&
    events.every(({ isMap, value }) => isMap || Array.isArray(value))
  )
}

/** SWE-agent notes its actions in messages, which have a role. */
function isAction(event: Cursor): boolean {
  const isEvent = ['source', 'args', 'is_confirmed', 'thought'].some((key) => event.at(key).isThere)
  return event.at('action').maybeText !== undefined && isEvent && !event.at('role').isThere
}

function isObservation(event: Cursor): boolean {
  return event.at('observation').maybeText !== undefined && event.at('content').isThere && !event.at('role').isThere
}

function recordOf(record: Cursor): ForeignRecording {
  const name = record.at('instance_id').maybeText
  // Once an action and its observation were a pair.
  const events = record.at('history').items.flatMap((event) => (Array.isArray(event.value) ? event.items : [event]))
  const instruction = record.at('instruction').maybeText
  const isTold = events.some((event) => event.at('source').value === 'user')
  return {
    format: 'openhands',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: [
      ...(instruction === undefined || isTold
        ? []
        : [{ kind: 'message' as const, from: 'user', to: 'agent', body: instruction }]),
      ...stepsOf(events),
      ...outcome(
        known({ success: record.at('success'), test_result: record.at('test_result'), error: record.at('error') }),
      ),
    ],
  }
}

/** Actions of the framework itself, which are no calls of a tool. */
const framework: ReadonlySet<string> = new Set([
  'message',
  'system',
  'change_agent_state',
  'recall',
  'null',
  'condensation',
])

function stepsOf(events: readonly Cursor[]): readonly ForeignStep[] {
  if (events.some((event) => isSdkEvent(event))) return sdkSteps(events)
  const steps: ForeignStep[] = []
  const open = new Waiting<{
    readonly id: string
    readonly name: string
    readonly at: number | undefined
    readonly index: number
  }>()
  for (const event of events) {
    const at = timeOf(event.at('timestamp'))
    const when = at === undefined ? {} : { startedMs: at }
    const action = event.at('action').maybeText
    const kind = event.at('observation').maybeText
    if (action !== undefined && !framework.has(action)) {
      const asked = event.at('tool_call_metadata')
      open.add({ id: String(event.at('id').value), name: '', at, index: steps.length })
      steps.push({ kind: 'tool', ...when, name: asked.at('function_name').maybeText ?? action, args: argsOf(event) })
    } else if (action !== undefined || kind === undefined) {
      const body =
        event.at('args').at('content').maybeText ?? event.at('content').maybeText ?? event.at('message').maybeText
      if (action === 'change_agent_state' || body === undefined) continue
      const from = event.at('source').maybeText ?? 'user'
      steps.push({
        kind: 'message',
        ...when,
        from: action === 'system' ? 'system' : from,
        to: from === 'agent' && action === 'message' ? 'user' : 'agent',
        body,
      })
    } else {
      const cause = event.at('cause')
      const asked = open.take(cause.isThere ? { id: String(cause.value) } : {})
      if (asked === undefined) continue
      const call = steps[asked.index]!
      const tookMs = at === undefined || asked.at === undefined || at < asked.at ? {} : { tookMs: at - asked.at }
      if (call.kind === 'tool') steps[asked.index] = { ...call, ...tookMs, ...resultOf(event, kind) }
    }
  }
  return steps
}

function argsOf(event: Cursor): unknown {
  const args = event.at('args').isMap ? event.at('args') : event
  const own: ReadonlySet<string> = new Set([
    'action',
    'id',
    'timestamp',
    'source',
    'message',
    'cause',
    'is_confirmed',
    'confirmation_state',
    'action_risk',
    'keep_prompt',
    'thought',
    'timeout',
    'tool_call_metadata',
    'llm_metrics',
    'kernel_init_code',
  ])
  return Object.fromEntries(args.members.filter(([key]) => !own.has(key)).map(([key, { value }]) => [key, value]))
}

function resultOf(event: Cursor, kind: string): { readonly result: unknown } | { readonly error: string } {
  const value = event.at('content').value ?? null
  return kind === 'error' && typeof value === 'string' ? { error: value } : { result: value }
}
