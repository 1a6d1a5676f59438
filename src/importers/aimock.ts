import { jsonOr } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, listed } from './document.ts'
import type { ForeignStep } from './types.ts'

/** aimock, once llmock. */
export const aimock: ForeignFormat = {
  name: 'aimock',
  recognises({ root, items }) {
    const list = root.at('fixtures')
    const [first] = items === undefined || !Array.isArray(list.value) ? [list.first] : items()
    return first?.at('match').isMap === true && first.at('response').isMap
  },
  read(document) {
    const path = document.root.at('fixtures').isThere ? ['fixtures'] : []
    return { format: 'aimock', exchanges: [], steps: listed(itemsAt(document, ...path), stepsOf).flat() }
  },
}

/**
 * One fixture: whoever asks for something gets a text, or calls of tools. There is no request and no byte of an answer
 * in it, and nobody says that a model was asked.
 *
 * @see https://github.com/CopilotKit/aimock
 */
function stepsOf(fixture: Cursor): readonly ForeignStep[] {
  const response = fixture.at('response').map
  const asked = fixture.at('match').at('userMessage').maybeText
  const answered = response.at('content').maybeText
  const calls = response.at('toolCalls').isThere ? response.at('toolCalls').items : []
  return [
    ...(asked === undefined ? [] : [{ kind: 'message' as const, from: 'user', to: 'model', body: asked }]),
    ...calls.map((call) => ({
      kind: 'tool' as const,
      name: call.at('name').text,
      args: jsonOr(call.at('arguments').value ?? {}),
    })),
    ...(answered === undefined ? [] : [{ kind: 'message' as const, from: 'model', to: 'user', body: answered }]),
  ]
}
