import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { Recording } from '../types.ts'
import { conversationSteps } from './conversation.ts'
import { isRole } from './roles.ts'
import { listOf } from './values.ts'

/**
 * A conversation as a list of messages, in the shape of OpenAI, Anthropic or Gemini: alone, under `messages`, or one for
 * each line.
 */
export const chat: ForeignFormat = {
  name: 'chat',
  recognises(document) {
    const { root, isLines } = document
    const first = firstItem(document)
    if (first === undefined) return isConversation(root)
    return isConversation(first) || isMessages(isLines ? [first] : listOf(root))
  },
  read(document) {
    if (document.root.isMap) return talkOf(document.root)
    const first = firstItem(document)
    if (first?.at('messages').isThere === true) return listed(itemsAt(document), talkOf)
    return { format: 'chat', exchanges: [], steps: conversationSteps(itemsAt(document)) }
  },
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
  const hasContent = ['content', 'tool_calls', 'function_call', 'parts'].some(
    (key) => message.at(key).value !== undefined,
  )
  return isRole(message.at('role').maybeText) && hasContent
}

/** mini-swe-agent writes such lists as well, with its commands in the text. */
function isOfMini(message: Cursor): boolean {
  return /```mswea_bash_command\s*\n/.test(message.at('content').maybeText ?? '')
}

function talkOf(talk: Cursor): Recording {
  const name = talk.at('name').maybeText ?? talk.at('id').maybeText
  return {
    format: 'chat',
    ...(name === undefined ? {} : { name }),
    exchanges: [],
    steps: conversationSteps(talk.at('messages').items),
  }
}
