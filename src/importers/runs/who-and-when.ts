import type { Cursor } from '../cursor.ts'
import type { ForeignFormat } from '../document.ts'
import type { ForeignStep } from '../types.ts'
import { addressed } from './group-chat.ts'
import { label, outcome } from './marks.ts'
import { known, listOf } from './values.ts'

/**
 * Who&When and logs like it: what several agents said in turn, and which of them made the mistake.
 *
 * @see https://github.com/ag2ai/Agents_Failure_Attribution
 */
export const whoAndWhen: ForeignFormat = {
  name: 'who-and-when',
  recognises({ root }) {
    const [first] = listOf(root.at('history'))
    const isLabelled = ['mistake_agent', 'mistake_step', 'question_ID'].some((key) => root.at(key).isThere)
    return isLabelled && first?.at('content').isThere === true
  },
  read({ root }) {
    const name = root.at('question_ID').maybeText
    const correct = root.at('is_correct').isThere ? root.at('is_correct') : root.at('is_corrected')
    return {
      format: 'who-and-when',
      ...(name === undefined ? {} : { name }),
      exchanges: [],
      steps: [
        ...question(root),
        ...root.at('history').items.map((message) => messageOf(message)),
        ...outcome(known({ correct })),
        ...label(
          known({
            mistake_agent: root.at('mistake_agent'),
            mistake_step: root.at('mistake_step'),
            mistake_reason: root.at('mistake_reason'),
          }),
        ),
      ],
    }
  },
}

function question(root: Cursor): readonly ForeignStep[] {
  const text = root.at('question').maybeText
  return text === undefined ? [] : [{ kind: 'message', from: 'user', to: 'all', body: text }]
}

function messageOf(message: Cursor): ForeignStep {
  const { from, to } = addressed(message.at('role').maybeText ?? 'unknown')
  return {
    kind: 'message',
    from: message.at('name').maybeText ?? from,
    to,
    body: message.at('content').value ?? null,
  }
}
