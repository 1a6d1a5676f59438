import type { Json } from '../../tape/types.ts'
import { at, isList, isMap, type JsonMap, listAt, mapAt, numberAt, parseJson, textAt } from '../../json/canonical.ts'

/** What a message tells at its end, beside its usage. */
const told = ['stop_reason', 'stop_sequence', 'stop_details', 'container', 'context_management'] as const

/** The events of a message: each block in one piece. */
export function anthropicEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  if (at(whole, 'type') !== 'message') return undefined
  const usage = mapAt(whole, 'usage')
  const end = told.flatMap((key) => (Object.hasOwn(whole, key) ? [[key, whole[key] ?? null] as const] : []))
  const begun = Object.fromEntries(end.map(([key]) => [key, null]))
  return [
    { type: 'message_start', message: { ...whole, ...begun, content: [], usage: { ...usage, output_tokens: 0 } } },
    ...listAt(whole, 'content').flatMap((block, index) => (isMap(block) ? blockEvents(block, index) : [])),
    { type: 'message_delta', delta: Object.fromEntries(end), usage },
    { type: 'message_stop' },
  ]
}

function blockEvents(block: JsonMap, index: number): readonly JsonMap[] {
  const [content_block, deltas] = opened(block)
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

/** A block as it begins, and what is added to it. What is not known has no pieces: it begins complete. */
function opened(block: JsonMap): readonly [empty: JsonMap, deltas: readonly JsonMap[]] {
  switch (at(block, 'type')) {
    case 'text': {
      const citations = at(block, 'citations')
      const empty = { ...block, text: '', ...(isList(citations) ? { citations: [] } : {}) }
      const text = { type: 'text_delta', text: at(block, 'text') ?? '' }
      return [empty, [text, ...listAt(block, 'citations').map((citation) => ({ type: 'citations_delta', citation }))]]
    }
    case 'thinking': {
      const [thinking, signature] = [at(block, 'thinking') ?? '', at(block, 'signature') ?? '']
      return [
        { ...block, thinking: '', signature: '' },
        [
          { type: 'thinking_delta', thinking },
          { type: 'signature_delta', signature },
        ],
      ]
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const partial_json = JSON.stringify(at(block, 'input') ?? {})
      return [{ ...block, input: {} }, [{ type: 'input_json_delta', partial_json }]]
    }
    default:
      return [block, []]
  }
}

/** The message that events make; `undefined` where it has no end, or a piece is of a kind not known. */
export function anthropicWhole(events: readonly JsonMap[]): JsonMap | undefined {
  let message: JsonMap | undefined
  let hasEnded = false
  const blocks = new Map<number, BlockDraft>()
  for (const event of events) {
    const index = numberAt(event, 'index') ?? 0
    switch (at(event, 'type')) {
      case 'message_start':
        message = mapAt(event, 'message')
        break
      case 'content_block_start':
        blocks.set(index, { block: { ...mapAt(event, 'content_block') }, json: '' })
        break
      case 'content_block_delta': {
        const draft = blocks.get(index)
        if (draft === undefined || !addDelta(draft, mapAt(event, 'delta'))) return undefined
        break
      }
      case 'message_delta':
        message = {
          ...message,
          ...mapAt(event, 'delta'),
          usage: { ...mapAt(message, 'usage'), ...mapAt(event, 'usage') },
        }
        break
      case 'message_stop':
        hasEnded = true
        break
      default:
    }
  }
  if (message === undefined || !hasEnded) return undefined
  const content = [...blocks].sort(([a], [b]) => a - b).map(([, draft]) => closed(draft))
  return content.includes(undefined) ? undefined : { ...message, content: content as readonly Json[] }
}

interface BlockDraft {
  readonly block: Record<string, Json>
  /** Input as it came in pieces. */
  json: string
}

function addDelta(draft: BlockDraft, delta: JsonMap): boolean {
  const { block } = draft
  const add = (key: string): void => void (block[key] = `${textAt(block, key) ?? ''}${textAt(delta, key) ?? ''}`)
  switch (at(delta, 'type')) {
    case 'text_delta':
      add('text')
      return true
    case 'thinking_delta':
      add('thinking')
      return true
    case 'signature_delta':
      add('signature')
      return true
    case 'citations_delta':
      block['citations'] = [...listAt(block, 'citations'), at(delta, 'citation') ?? null]
      return true
    case 'input_json_delta':
      draft.json += textAt(delta, 'partial_json') ?? ''
      return true
    default:
      return false
  }
}

function closed({ block, json }: BlockDraft): Json | undefined {
  if (json === '') return block
  const input = parseJson(json)
  return input === undefined ? undefined : { ...block, input }
}
