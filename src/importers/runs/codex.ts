import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt } from '../document.ts'
import { readMessage, type ConversationMessage } from '../messages.ts'
import { usageOf } from '../usage.ts'
import type { ForeignUsage, ForeignRecording } from '../types.ts'
import { type MessageFacts, saidSteps } from './conversation.ts'
import { responseItems } from './roles.ts'
import { timeOf } from './values.ts'

/**
 * Sessions of Codex: JSON Lines, each with what the model read or wrote as an item of OpenAI's responses, alone in
 * older ones, and as the `payload` of a line in newer ones.
 *
 * @see https://github.com/openai/codex, codex-rs/protocol/src/protocol.rs (RolloutLine)
 */
export const codex: ForeignFormat = {
  name: 'codex',
  recognises(document) {
    if (!document.isLines) return false
    const first = firstItem(document)
    if (first === undefined) return false
    if (first.at('type').value === 'session_meta') return first.at('payload').isMap
    if (first.at('type').value === 'response_item') return isItem(first.at('payload'))
    return isOldHead(first)
  },
  read: (document) => sessionOf([...itemsAt(document)]),
}

/** What older sessions begin with. */
function isOldHead(line: Cursor): boolean {
  const isHead = line.at('id').isThere && line.at('timestamp').isThere && !line.at('type').isThere
  return isHead && ['instructions', 'git'].some((key) => Object.hasOwn(line.value as object, key))
}

function isItem(item: Cursor): boolean {
  const type = item.at('type').maybeText ?? ''
  return type === 'message' || responseItems.has(type)
}

/** An item, and which answer of the model it is a part of: none for what others say. */
interface Part {
  readonly said: ConversationMessage
  readonly at: number | undefined
  readonly answer?: number
  readonly model: string | undefined
}

function sessionOf(lines: readonly Cursor[]): ForeignRecording {
  const parts: Part[] = []
  const usage = new Map<number, ForeignUsage>()
  let answer = 0
  let isAnswering = false
  let model: string | undefined
  for (const line of lines) {
    const type = line.at('type').maybeText
    const payload = line.at('payload')
    const item = type === 'response_item' ? payload : line
    if (type === 'turn_context') model = payload.at('model').maybeText ?? model
    else if (type === 'event_msg') {
      // Written once an answer is complete.
      const used = payload.at('type').value === 'token_count' ? payload.at('info').at('last_token_usage') : undefined
      if (used?.isMap !== true || answer === 0) continue
      usage.set(answer, usageOf(used.value))
      isAnswering = false
    } else if (isItem(item)) {
      const said = readMessage(item.value)
      const isOfModel = said.role === 'assistant'
      if (isOfModel && !isAnswering) answer++
      isAnswering = isOfModel
      parts.push({ said, at: timeOf(line.at('timestamp')), ...(isOfModel ? { answer } : {}), model })
    }
  }
  const head = lines[0]
  const name = head?.at('payload').at('id').maybeText ?? head?.at('id').maybeText
  const startedMs = head === undefined ? undefined : timeOf(head.at('timestamp'))
  return {
    format: 'codex',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: saidSteps(parts.map((part) => [part.said, factsOf(part, usage)] as const)),
    ...(startedMs === undefined ? {} : { startedMs }),
  }
}

function factsOf({ at, answer, model }: Part, usages: ReadonlyMap<number, ForeignUsage>): MessageFacts {
  const when = at === undefined ? {} : { at }
  if (answer === undefined) return when
  const usage = usages.get(answer)
  return {
    ...when,
    response: String(answer),
    model: { ...(model === undefined ? {} : { asked: model }), ...(usage === undefined ? {} : { usage }) },
  }
}
