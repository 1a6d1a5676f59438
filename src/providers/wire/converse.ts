import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap, listAt, mapAt, numberAt, parseJson, textAt, without } from '../../json/canonical.ts'

/** The events of a Converse answer, `{ [event type]: payload }`; `undefined` where a block has no pieces that are known. */
export function converseEvents(whole: JsonMap): readonly JsonMap[] | undefined {
  const message = at(at(whole, 'output'), 'message')
  if (!isMap(message)) return undefined
  const blocks = listAt(message, 'content').map(blockEvents)
  if (blocks.includes(undefined)) return undefined
  const additional = at(whole, 'additionalModelResponseFields')
  return [
    { messageStart: { role: at(message, 'role') ?? 'assistant' } },
    ...blocks.flatMap((events) => events ?? []),
    {
      messageStop: {
        stopReason: at(whole, 'stopReason') ?? null,
        ...(additional === undefined ? {} : { additionalModelResponseFields: additional }),
      },
    },
    { metadata: without(whole, 'output', 'stopReason', 'additionalModelResponseFields') },
  ]
}

function blockEvents(block: Json, contentBlockIndex: number): readonly JsonMap[] | undefined {
  const deltas = deltasOf(block)
  if (deltas === undefined) return undefined
  const use = at(block, 'toolUse')
  const start = isMap(use)
    ? [{ contentBlockStart: { contentBlockIndex, start: { toolUse: without(use, 'input') } } }]
    : []
  return [
    ...start,
    ...deltas.map((delta) => ({ contentBlockDelta: { contentBlockIndex, delta } })),
    { contentBlockStop: { contentBlockIndex } },
  ]
}

function deltasOf(block: Json): readonly JsonMap[] | undefined {
  const [text, use, thought] = [at(block, 'text'), at(block, 'toolUse'), at(block, 'reasoningContent')]
  if (text !== undefined) return [{ text }]
  if (isMap(use)) return [{ toolUse: { input: JSON.stringify(at(use, 'input') ?? {}) } }]
  const hidden = at(thought, 'redactedContent')
  if (hidden !== undefined) return [{ reasoningContent: { redactedContent: hidden } }]
  const told = at(thought, 'reasoningText')
  if (!isMap(told)) return undefined
  return Object.entries(told).map(([key, value]) => ({ reasoningContent: { [key]: value } }))
}

/** The answer that events make; `undefined` where it has no end. */
export function converseWhole(events: readonly JsonMap[]): JsonMap | undefined {
  const blocks = new Map<number, Record<string, Json>>()
  const inputs = new Map<number, string>()
  let role: Json = 'assistant'
  let stop: JsonMap | undefined
  let metadata: JsonMap | undefined
  for (const event of events) {
    role = at(at(event, 'messageStart'), 'role') ?? role
    if (isMap(at(event, 'messageStop'))) stop = mapAt(event, 'messageStop')
    if (isMap(at(event, 'metadata'))) metadata = mapAt(event, 'metadata')
    const start = at(event, 'contentBlockStart')
    if (isMap(start)) blocks.set(numberAt(start, 'contentBlockIndex') ?? 0, { ...mapAt(start, 'start') })
    const delta = at(event, 'contentBlockDelta')
    if (!isMap(delta)) continue
    const index = numberAt(delta, 'contentBlockIndex') ?? 0
    const block = blocks.get(index) ?? {}
    blocks.set(index, block)
    const input = at(at(at(delta, 'delta'), 'toolUse'), 'input')
    if (typeof input === 'string') inputs.set(index, (inputs.get(index) ?? '') + input)
    else if (!addDelta(block, mapAt(delta, 'delta'))) return undefined
  }
  // Usage comes last, behind the stop.
  if (stop === undefined || metadata === undefined) return undefined
  const content: Json[] = []
  for (const [index, block] of [...blocks].sort(([a], [b]) => a - b)) {
    const use = at(block, 'toolUse')
    const text = inputs.get(index) ?? ''
    const input = text === '' ? {} : parseJson(text)
    if (isMap(use) && input === undefined) return undefined
    content.push(isMap(use) ? { toolUse: { ...use, input: input ?? {} } } : block)
  }
  return { output: { message: { role, content } }, ...without(stop, 'p'), ...without(metadata, 'p') }
}

function addDelta(block: Record<string, Json>, delta: JsonMap): boolean {
  const [text, thought] = [at(delta, 'text'), at(delta, 'reasoningContent')]
  if (typeof text === 'string') {
    block['text'] = `${textAt(block, 'text') ?? ''}${text}`
    return true
  }
  if (!isMap(thought)) return false
  const hidden = at(thought, 'redactedContent')
  if (hidden !== undefined) block['reasoningContent'] = { redactedContent: hidden }
  else {
    const before = mapAt(mapAt(block, 'reasoningContent'), 'reasoningText')
    const added = Object.entries(thought).map(
      ([key, value]) => [key, `${textAt(before, key) ?? ''}${String(value)}`] as const,
    )
    block['reasoningContent'] = { reasoningText: { ...before, ...Object.fromEntries(added) } }
  }
  return true
}
