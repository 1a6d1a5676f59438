import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignDocument, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignStep, ForeignRecording } from '../types.ts'
import { readMessage } from '../messages.ts'
import { conversationSteps, type MessageFacts } from './conversation.ts'
import { isRole, responseItems } from './roles.ts'
import { listOf } from './values.ts'

/**
 * A conversation as a list of messages, in the shape of OpenAI, Anthropic, Gemini or LangChain, or of the items of OpenAI's
 * responses: alone, under `messages`, or one for each line, behind a first line about the session.
 */
export const chat: ForeignFormat = {
  name: 'chat',
  recognises(document) {
    const { root, isLines } = document
    const first = firstItem(document)
    if (first === undefined) return isConversation(root)
    return isConversation(first) || isMessages(isLines ? firstOf(document) : listOf(root))
  },
  read(document) {
    if (document.root.isMap) return conversationOf(document.root)
    const first = firstItem(document)
    if (first?.at('messages').isThere === true) return listed(itemsAt(document), conversationOf)
    const items = [...itemsAt(document)]
    const messages = document.isLines && isHead(items[0]) ? items.slice(1) : items
    return { format: 'chat', exchanges: [], steps: stepsOf(messages) }
  },
}

/** The first message on lines of their own, which something about the session may stand before. */
function firstOf(document: ForeignDocument): readonly Cursor[] {
  let head: Cursor | undefined
  for (const line of itemsAt(document)) {
    if (head === undefined && isHead(line)) head = line
    else return [line]
  }
  return []
}

/** Whether a line tells of the session and says nothing. */
function isHead(line: Cursor | undefined): boolean {
  if (line?.isMap !== true || isMessage(line)) return false
  return line.at('role').value === 'metadata' || (!line.at('role').isThere && !line.at('content').isThere)
}

/** Items of OpenAI's responses are parts of answers: those of the model that follow each other are of one. */
function stepsOf(messages: readonly Cursor[]): readonly ForeignStep[] {
  if (!messages.some((message) => isItem(message))) return conversationSteps(messages)
  let answer = 0
  let isAnswering = false
  return conversationSteps(messages, (message): MessageFacts => {
    const isOfModel = readMessage(message.value).role === 'assistant'
    if (isOfModel && !isAnswering) answer++
    isAnswering = isOfModel
    return isOfModel ? { response: String(answer) } : {}
  })
}

/** What stands beside the messages of a conversation and makes it nothing else: what models are trained with has these. */
const beside: ReadonlySet<string> = new Set([
  'messages',
  'tools',
  'functions',
  'parallel_tool_calls',
  'model',
  'id',
  'name',
  'metadata',
])

function isConversation(root: Cursor): boolean {
  return root.isMap && isMessages(listOf(root.at('messages'))) && root.members.every(([key]) => beside.has(key))
}

function isMessages(list: readonly Cursor[]): boolean {
  return list.length > 0 && list.every((message) => isMessage(message)) && !list.some((message) => isOfMini(message))
}

function isMessage(message: Cursor): boolean {
  if (isItem(message)) return true
  // LangChain has the word under `type`, and in some of its forms the message under `data`.
  const inner = message.at('data').isMap ? message.at('data') : message
  const hasContent = ['content', 'tool_calls', 'function_call', 'parts'].some(
    (key) => inner.at(key).value !== undefined,
  )
  return isRole(message.at('role').maybeText ?? message.at('type').maybeText) && hasContent
}

/** Like the items of OpenAI's responses, in the words of other agents. */
const items: ReadonlySet<string> = new Set([...responseItems, 'tool_use', 'tool_result'])

function isItem(message: Cursor): boolean {
  return items.has(message.at('type').maybeText ?? '') && !message.at('role').isThere
}

/** mini-swe-agent writes such lists as well, with its commands in the text. */
function isOfMini(message: Cursor): boolean {
  return /```mswea_bash_command\s*\n/.test(message.at('content').maybeText ?? '')
}

function conversationOf(talk: Cursor): ForeignRecording {
  const name = talk.at('name').maybeText ?? talk.at('id').maybeText
  return {
    format: 'chat',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: stepsOf(talk.at('messages').items),
  }
}
