import { type JsonMap } from '../../json/canonical.ts'
import { serverSentEvents } from '../../providers/index.ts'
import { type Decided, mapAt, type RecordedAnswer } from './types.ts'

/** A message, whole or as the events of its stream. */
export function writeAnthropic({ isStream, whole, events }: RecordedAnswer, decided: Decided): string {
  const stop_reason = decided.calls.length > 0 ? 'tool_use' : 'end_turn'
  const blocks: readonly JsonMap[] =
    decided.calls.length > 0
      ? decided.calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args }))
      : [{ type: 'text', text: decided.text }]
  if (!isStream) return JSON.stringify({ ...whole, content: blocks, stop_reason, stop_sequence: null })
  const last = events.find(({ type }) => type === 'message_delta')
  const start = events.find(({ type }) => type === 'message_start') ?? {
    type: 'message_start',
    message: { type: 'message', role: 'assistant', content: [] },
  }
  const written = [
    start,
    ...blocks.flatMap(blockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: mapAt(last, 'usage') },
    { type: 'message_stop' },
  ]
  return serverSentEvents(written, true)
}

function blockEvents(block: JsonMap, index: number): readonly JsonMap[] {
  const isText = block['type'] === 'text'
  const empty: JsonMap = isText ? { ...block, text: '' } : { ...block, input: {} }
  const delta: JsonMap = isText
    ? { type: 'text_delta', text: block['text'] ?? '' }
    : { type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }
  return [
    { type: 'content_block_start', index, content_block: empty },
    { type: 'content_block_delta', index, delta },
    { type: 'content_block_stop', index },
  ]
}
