import { type JsonMap } from '../../json/canonical.ts'
import { serverSentEvents } from '../../providers/index.ts'
import { type Decided, mapAt, type RecordedAnswer } from './types.ts'

/** A response object, or the events of its stream. */
export function writeResponses({ isStream, whole, events }: RecordedAnswer, decided: Decided): string {
  const last = events.findLast(({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)))
  const recorded = isStream ? { ...mapAt(whole, 'response'), ...mapAt(last, 'response') } : whole
  const id = String(recorded['id'] ?? 'resp')
  const output = itemsOf(decided, id)
  const response: JsonMap = { ...recorded, status: 'completed', error: null, incomplete_details: null, output }
  if (!isStream) return JSON.stringify(response)
  const open = { ...response, status: 'in_progress', output: [] }
  const written: readonly JsonMap[] = [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    ...output.flatMap(itemEvents),
    { type: 'response.completed', response },
  ]
  return serverSentEvents(
    written.map((event, sequence_number) => ({ ...event, sequence_number })),
    true,
  )
}

function itemsOf({ text, calls }: Decided, id: string): readonly JsonMap[] {
  if (calls.length > 0)
    return calls.map(({ id: call_id, name, args }, i) => ({
      type: 'function_call',
      id: `fc_${i + 1}_${id}`,
      call_id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    }))
  const content = [{ type: 'output_text', text, annotations: [] }]
  return [{ type: 'message', id: `msg_1_${id}`, role: 'assistant', status: 'completed', content }]
}

function itemEvents(item: JsonMap, output_index: number): readonly JsonMap[] {
  const at = { item_id: item['id'] ?? '', output_index }
  const added = { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } }
  const done = { type: 'response.output_item.done', output_index, item }
  if (item['type'] === 'function_call') {
    const text = item['arguments'] ?? ''
    return [
      { ...added, item: { ...added.item, arguments: '' } },
      { type: 'response.function_call_arguments.delta', ...at, delta: text },
      { type: 'response.function_call_arguments.done', ...at, arguments: text },
      done,
    ]
  }
  const [part = {}] = item['content'] as readonly JsonMap[]
  const text = part['text'] ?? ''
  const of = { ...at, content_index: 0 }
  return [
    { ...added, item: { ...added.item, content: [] } },
    { type: 'response.content_part.added', ...of, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...of, delta: text },
    { type: 'response.output_text.done', ...of, text },
    { type: 'response.content_part.done', ...of, part },
    done,
  ]
}
