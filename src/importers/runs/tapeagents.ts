import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignCall, ForeignStep, ForeignRecording } from '../types.ts'
import { readMessage } from '../messages.ts'
import { outcome } from './marks.ts'
import { listOf } from './values.ts'
import { Waiting } from './waiting.ts'

/**
 * Tapes of TapeAgents: steps by kind. Actions are calls, the observation behind them is what came of it.
 *
 * @see https://github.com/ServiceNow/TapeAgents, tapeagents/core.py
 */
export const tapeAgents: ForeignFormat = {
  name: 'tapeagents',
  recognises: (document) => isTape(firstItem(document) ?? document.root),
  read: (document) => (document.root.isMap ? tapeOf(document.root) : listed(itemsAt(document), tapeOf)),
}

function isTape(root: Cursor): boolean {
  const [first] = listOf(root.at('steps'))
  return root.at('metadata').isMap && first?.at('kind').isThere === true && first.at('metadata').isThere
}

function tapeOf(tape: Cursor): ForeignRecording {
  const metadata = tape.at('metadata')
  const name = metadata.at('id').maybeText
  const before = tape.at('context').at('steps')
  const steps = [...listOf(before), ...tape.at('steps').items]
  const { result, error } = { result: metadata.at('result'), error: metadata.at('error') }
  const hasResult = result.isThere && JSON.stringify(result.value) !== '{}'
  return {
    format: 'tapeagents',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: [
      ...stepsOf(steps),
      ...outcome({ ...(hasResult ? { result: result.value } : {}), ...(error.isThere ? { error: error.value } : {}) }),
    ],
  }
}

function stepsOf(list: readonly Cursor[]): readonly ForeignStep[] {
  const steps: ForeignStep[] = []
  const open = new Waiting<ForeignCall & { readonly index: number }>()
  const ask = (call: ForeignCall): void => {
    open.add({ ...call, index: steps.length })
    steps.push(call)
  }
  for (const step of list) {
    const kind = step.at('kind').text
    const agent = step.at('metadata').at('agent').maybeText
    const by = agent === undefined || agent === '' ? 'agent' : agent
    if (kind === 'tool' || /_(observation|result)$/.test(kind)) {
      const asked = open.take({})
      if (asked === undefined) steps.push({ kind: 'message', from: kind, to: 'agent', body: valueOf(step) })
      else {
        const { index, ...call } = asked
        steps[index] = { ...call, result: valueOf(step) }
      }
    } else if (kind === 'assistant' && listOf(step.at('tool_calls')).length > 0) {
      for (const { name, args } of readMessage({ ...(step.value as object), role: 'assistant' }).calls)
        ask({ kind: 'tool', name, args, group: `${steps.length}` })
    } else if (kind === 'user' || kind === 'system' || kind === 'task')
      steps.push({ kind: 'message', from: kind === 'task' ? 'user' : kind, to: 'agent', body: valueOf(step) })
    else if (spoken.has(kind)) steps.push({ kind: 'message', from: by, to: toOf(step, kind), body: valueOf(step) })
    else if (kind.endsWith('_action') || kind === 'execute_code') ask({ kind: 'tool', name: kind, args: valueOf(step) })
    // Thoughts and the bookkeeping of nodes are no calls; they stay readable.
    else if (kind.endsWith('_thought') || bookkeeping.has(kind))
      steps.push({ kind: 'mark', name: kind, data: valueOf(step) })
    else steps.push({ kind: 'message', from: by, to: 'caller', body: { [kind]: valueOf(step) } })
  }
  return steps
}

/** Steps that tell a framework what comes next. */
const bookkeeping: ReadonlySet<string> = new Set(['set_next_node', 'select_agent', 'pass', 'final_step', 'stop'])

/** What agents say to each other. */
const spoken: ReadonlySet<string> = new Set(['assistant', 'call', 'respond', 'broadcast'])

function toOf(step: Cursor, kind: string): string {
  const to =
    step.at('agent_name').maybeText ??
    (Array.isArray(step.at('to').value)
      ? listOf(step.at('to'))
          .map(({ maybeText }) => maybeText)
          .join(', ')
      : undefined)
  return to ?? (kind === 'assistant' ? 'user' : 'caller')
}

/** What a step says, without what the framework notes about it. */
function valueOf(step: Cursor): unknown {
  const fields = step.members.filter(([key]) => key !== 'kind' && key !== 'metadata' && key !== 'tool_call_id')
  const [only] = fields
  if (fields.length === 1 && only !== undefined && ['content', 'task', 'text'].includes(only[0])) return only[1].value
  return Object.fromEntries(fields.map(([key, { value }]) => [key, value]))
}
