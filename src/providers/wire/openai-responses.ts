import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap, listAt, textAt } from '../../json/canonical.ts'

const ends: ReadonlySet<Json | undefined> = new Set(['completed', 'incomplete', 'failed'])

/** The events of a response: its items one after the other, the text of each in one piece, and the response once more. */
export function responsesEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  const status = textAt(whole, 'status') ?? ''
  // One that the provider is still at has no end to tell.
  if (!ends.has(status)) return undefined
  const begun = { ...whole, status: 'in_progress', output: [], usage: null }
  const events: readonly JsonMap[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...listAt(whole, 'output').flatMap((item, index) => (isMap(item) ? itemEvents(item, index) : [])),
    { type: `response.${status}`, response: whole },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function itemEvents(item: JsonMap, output_index: number): readonly JsonMap[] {
  const [empty, inner] = opened(item)
  const place = { output_index, item_id: at(item, 'id') ?? '' }
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...empty, ...('status' in item ? { status: 'in_progress' } : {}) },
    },
    ...inner.map((event) => ({ ...place, ...event })),
    { type: 'response.output_item.done', output_index, item },
  ]
}

/** An item as it begins, and what comes until it is complete. */
function opened(item: JsonMap): readonly [empty: JsonMap, inner: readonly JsonMap[]] {
  switch (at(item, 'type')) {
    case 'message':
      return [{ ...item, content: [] }, parts(item, 'content', 'content_index', 'content_part', contentNames)]
    case 'reasoning':
      return [
        { ...item, summary: [], ...('content' in item ? { content: [] } : {}) },
        [
          ...parts(item, 'summary', 'summary_index', 'reasoning_summary_part', {
            summary_text: ['reasoning_summary_text', 'text'],
          }),
          ...parts(item, 'content', 'content_index', 'content_part', { reasoning_text: ['reasoning_text', 'text'] }),
        ],
      ]
    case 'function_call':
      return [{ ...item, arguments: '' }, pieces('function_call_arguments', 'arguments', at(item, 'arguments'))]
    case 'custom_tool_call':
      return [{ ...item, input: '' }, pieces('custom_tool_call_input', 'input', at(item, 'input'))]
    default:
      return [item, []]
  }
}

/** What the events of a part are named after, and where its text stands, by the type of the part. */
type Names = Readonly<Record<string, readonly [event: string, field: string]>>
const contentNames: Names = { output_text: ['output_text', 'text'], refusal: ['refusal', 'refusal'] }

function parts(item: JsonMap, list: string, indexed: string, event: string, names: Names): readonly JsonMap[] {
  return listAt(item, list).flatMap((part, index) => {
    const [name, field] = names[textAt(part, 'type') ?? ''] ?? []
    const begun =
      !isMap(part) || field === undefined
        ? part
        : { ...part, [field]: '', ...('annotations' in part ? { annotations: [] } : {}) }
    const told = name === undefined || field === undefined ? [] : pieces(name, field, at(part, field))
    const [delta, done] = told
    const notes = listAt(part, 'annotations').map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      annotation_index,
      annotation,
    }))
    return [
      { type: `response.${event}.added`, part: begun },
      ...(delta === undefined ? [] : [name === 'output_text' ? { logprobs: [], ...delta } : delta]),
      ...notes,
      ...(done === undefined
        ? []
        : [name === 'output_text' ? { logprobs: at(part, 'logprobs') ?? [], ...done } : done]),
      { type: `response.${event}.done`, part },
    ].map((one) => ({ ...one, [indexed]: index }))
  })
}

function pieces(name: string, field: string, text: Json | undefined): readonly JsonMap[] {
  if (typeof text !== 'string') return []
  return [
    { type: `response.${name}.delta`, delta: text },
    { type: `response.${name}.done`, [field]: text },
  ]
}

/** The response, which the last event of its stream tells. */
export function responsesWhole(events: readonly JsonMap[]): JsonMap | undefined {
  const response = at(events.at(-1), 'response')
  return isMap(response) && ends.has(at(response, 'status')) ? response : undefined
}
