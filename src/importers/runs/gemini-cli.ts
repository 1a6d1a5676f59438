import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt } from '../document.ts'
import { isFields } from '../meaning.ts'
import { type ImportedToolResult, readMessage, type ConversationMessage } from '../messages.ts'
import type { ForeignRecording } from '../types.ts'
import { usageOf } from '../usage.ts'
import { type MessageFacts, saidSteps } from './conversation.ts'
import { listOf, timeOf } from './values.ts'

/**
 * Sessions of gemini-cli: a map with its messages, or a line about the session and then a message for each line.
 *
 * @see https://github.com/google-gemini/gemini-cli, packages/core/src/services/chatRecordingService.ts
 */
export const geminiCli: ForeignFormat = {
  name: 'gemini-cli',
  recognises(document) {
    const head = document.isLines ? firstItem(document) : document.root
    if (head?.at('sessionId').isThere !== true || head.at('type').isThere) return false
    if (document.isLines) return ['projectHash', 'startTime', 'kind'].some((key) => head.at(key).isThere)
    return listOf(head.at('messages')).some((message) => message.at('type').value === 'gemini')
  },
  read: (document) => sessionOf(document),
}

function sessionOf(document: ForeignDocument): ForeignRecording {
  const lines = document.isLines ? [...itemsAt(document)] : document.root.at('messages').items
  const head = document.isLines ? lines[0]! : document.root
  const startedMs = timeOf(head.at('startTime'))
  return {
    format: 'gemini-cli',
    name: head.at('sessionId').text,
    exchanges: [],
    steps: saidSteps(latest(lines).flatMap((message) => told(message))),
    ...(startedMs === undefined ? {} : { startedMs }),
  }
}

/** What was said, each at its first place: a message is written again once its calls came back. */
function latest(lines: readonly Cursor[]): readonly Cursor[] {
  const messages = new Map<unknown, Cursor>()
  for (const line of lines) {
    const type = line.at('type').value
    if (type === 'user' || type === 'gemini') messages.set(line.at('id').value ?? line, line)
  }
  return [...messages.values()]
}

function told(message: Cursor): readonly (readonly [ConversationMessage, MessageFacts])[] {
  const at = timeOf(message.at('timestamp'))
  const when = at === undefined ? {} : { at }
  const content = message.at('content').value
  if (message.at('type').value === 'user') {
    const said = readMessage({ role: 'user', content })
    // What its tools answered stands in the calls, and is here once more for the model.
    return said.results.length > 0 ? [] : [[said, when]]
  }
  const calls = listOf(message.at('toolCalls'))
  const said = readMessage({ role: 'assistant', content, tool_calls: calls.map(({ value }) => value) })
  const model = message.at('model').maybeText
  const usage = usageOf(message.at('tokens').value)
  return [
    [said, { ...when, model: { ...(model === undefined ? {} : { answered: model }), usage } }],
    ...calls.flatMap((call) => answersOf(call)),
  ]
}

function answersOf(call: Cursor): readonly (readonly [ConversationMessage, MessageFacts])[] {
  const result = call.at('result')
  const hasFailed = ['error', 'cancelled'].includes(call.at('status').maybeText ?? '')
  if (!result.isThere && !hasFailed) return []
  const id = call.at('id').maybeText
  const [answer] = readMessage({ role: 'tool', content: result.value }).results
  const value = answer?.value ?? null
  const error = isFields(value) && typeof value['error'] === 'string' ? value['error'] : JSON.stringify(value)
  const answered: ImportedToolResult = {
    ...(id === undefined ? {} : { id }),
    name: call.at('name').text,
    value,
    ...(hasFailed ? { error } : {}),
  }
  const at = timeOf(call.at('timestamp'))
  return [
    [{ role: 'tool', text: '', calls: [], results: [answered], body: value }, at === undefined ? {} : { at }] as const,
  ]
}
