import { type ForeignFormat, listed } from '../document.ts'
import { conversationSteps } from './conversation.ts'
import { listOf } from './values.ts'

/**
 * Snapshots of the Copilot SDK: conversations, each a run of its own. How they hang together the file does not say.
 *
 * @see https://github.com/github/copilot-sdk, test/harness
 */
export const copilot: ForeignFormat = {
  name: 'copilot-snapshot',
  recognises({ root }) {
    const list = root.at('conversations')
    return (
      Array.isArray(list.value) &&
      Array.isArray(root.at('models').value) &&
      listOf(list).every((talk) => Array.isArray(talk.at('messages').value))
    )
  },
  read({ root }) {
    const [model, other] = listOf(root.at('models'))
    // Of several models it is unknown which one answered.
    const answered = other === undefined ? model?.maybeText : undefined
    const facts = () => (answered === undefined ? {} : { model: { asked: answered } })
    const conversations = root.at('conversations').items
    let number = 0
    return listed(conversations, (talk) => ({
      format: 'copilot-snapshot',
      ...(conversations.length === 1 ? {} : { name: `conversation-${++number}` }),
      exchanges: [],
      steps: conversationSteps(talk.at('messages').items, facts),
    }))
  },
}
