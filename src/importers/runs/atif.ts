import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import { readMessage } from '../messages.ts'
import type { ForeignRequest, ForeignStep, ForeignRecording } from '../types.ts'
import { usageIn } from '../usage.ts'
import { listOf, timeOf } from './values.ts'

/**
 * The Agent Trajectory Interchange Format, which harnesses of terminal benchmarks write: steps of the user, the system and
 * the agent, each with its tool calls and what was observed after them.
 *
 * @see https://www.harborframework.com/docs/agents/trajectory-format
 */
export const atif: ForeignFormat = {
  name: 'atif',
  recognises: (document) => isTrajectory(firstItem(document) ?? document.root),
  read: (document) => (document.root.isMap ? runOf(document.root) : listed(itemsAt(document), runOf)),
}

function isTrajectory(root: Cursor): boolean {
  const [first] = listOf(root.at('steps'))
  return (
    root.at('agent').isMap &&
    first?.at('step_id').isThere === true &&
    (first.at('source').isThere || first.at('message').isThere)
  )
}

function runOf(root: Cursor): ForeignRecording {
  const name = root.at('session_id').maybeText ?? root.at('trajectory_id').maybeText
  const asked = root.at('agent').at('model_name').maybeText
  return {
    format: 'atif',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: listed(root.at('steps').items, (step) => stepsOf(step, asked)).flat(),
  }
}

function stepsOf(step: Cursor, asked: string | undefined): readonly ForeignStep[] {
  // Some writers put who speaks, and when, into the message.
  const message = step.map.at('message')
  const at = timeOf(step.at('timestamp')) ?? timeOf(message.at('timestamp'))
  const when = at === undefined ? {} : { startedMs: at }
  const source = step.at('source').maybeText ?? message.at('role').maybeText ?? 'agent'
  const content = message.isMap ? message.at('content').value : message.value
  const results = listOf(step.at('observation').at('results'))
  if (source !== 'agent' && source !== 'assistant')
    return [
      ...(content === undefined
        ? []
        : [{ kind: 'message' as const, ...when, from: source, to: 'model', body: content }]),
      ...results.map((result) => observed(result, when)),
    ]
  const { text } = readMessage({ role: 'assistant', content })
  const answered = step.at('model_name').maybeText
  const calls = listOf(step.at('tool_calls')).map(requestOf)
  const { ran, rest } = joined(calls, results)
  return [
    {
      kind: 'model',
      ...when,
      ...(asked === undefined ? {} : { asked }),
      ...(answered === undefined ? {} : { answered }),
      ...(text === '' ? {} : { text }),
      toolCalls: calls,
      ...usageIn(step.at('metrics').value),
    },
    ...calls.map((call, index): ForeignStep => {
      const result = ran.get(index)
      return {
        kind: 'tool',
        ...when,
        name: call.name,
        args: call.args,
        ...(call.id === undefined ? {} : { callId: call.id }),
        group: String(step.at('step_id').value),
        ...(result === undefined ? {} : { result: contentOf(result) }),
      }
    }),
    ...rest.map((result) => observed(result, when)),
  ]
}

function requestOf(call: Cursor): ForeignRequest {
  const id = call.at('tool_call_id').maybeText ?? call.at('id').maybeText
  const name = call.at('function_name').isThere ? call.at('function_name') : call.at('name')
  return { ...(id === undefined ? {} : { id }), name: name.text, args: call.at('arguments').value ?? {} }
}

/**
 * Which result came of which call: by id; without ids in order, where there is one for each. A terminal shows what came of
 * several commands in one, and that belongs to none of them alone.
 */
function joined(
  calls: readonly ForeignRequest[],
  results: readonly Cursor[],
): { readonly ran: ReadonlyMap<number, Cursor>; readonly rest: readonly Cursor[] } {
  const hasIds = results.some((result) => result.at('source_call_id').isThere)
  const ran = new Map<number, Cursor>()
  const rest: Cursor[] = []
  for (const [index, result] of results.entries()) {
    const id = result.at('source_call_id').maybeText
    const own = hasIds ? calls.findIndex((call) => id !== undefined && call.id === id) : index
    const isPaired = hasIds ? own !== -1 : calls.length === results.length
    if (isPaired && !ran.has(own)) ran.set(own, result)
    else rest.push(result)
  }
  return { ran, rest }
}

function observed(result: Cursor, when: { readonly startedMs?: number }): ForeignStep {
  return { kind: 'message', ...when, from: 'tool', to: 'model', body: contentOf(result) }
}

/** What was seen; where a part of the run went to another agent, what the file says of it. */
function contentOf(result: Cursor): unknown {
  const content = result.at('content')
  return content.isThere ? content.value : (result.value ?? null)
}
