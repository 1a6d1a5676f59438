import { type JsonMap } from '../../json/canonical.ts'
import { serverSentEvents } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'
import { type Decided, type RecordedAnswer } from './types.ts'

/** A chat completion, whole or in chunks. */
export function writeChat({ isStream, whole, events, isDone }: RecordedAnswer, decided: Decided): string {
  const finish = decided.calls.length > 0 ? 'tool_calls' : 'stop'
  if (!isStream) {
    const message = { role: 'assistant', content: content(decided), refusal: null, ...toolCalls(decided) }
    return JSON.stringify({ ...whole, choices: [{ index: 0, message, logprobs: null, finish_reason: finish }] })
  }
  const { usage: _usage, ...base } = whole
  const chunk = (delta: JsonMap, finish_reason: string | null = null): JsonMap => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const usage = events.filter(({ choices }) => Array.isArray(choices) && choices.length === 0)
  const written = [
    chunk({ role: 'assistant', content: content(decided) }),
    ...toolDeltas(decided).map((call) => chunk({ tool_calls: [call] })),
    chunk({}, finish),
    ...usage,
  ]
  return serverSentEvents(written, false, isDone)
}

function content({ text, calls }: Decided): string | null {
  return calls.length > 0 ? null : text
}

function toolCalls({ calls }: Decided): JsonMap {
  if (calls.length === 0) return {}
  return {
    tool_calls: calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    })),
  }
}

function toolDeltas({ calls }: Decided): readonly Json[] {
  return calls.map(({ id, name, args }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
}
