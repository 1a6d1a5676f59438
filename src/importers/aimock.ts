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
 * One fixture: whoever asks for something gets a text, calls of tools, or both in an order of their own. There is no request
 * and no byte of an answer in it, and nobody says that a model was asked.
 *
 * @see https://github.com/CopilotKit/aimock, src/types.ts
 */
function stepsOf(fixture: Cursor): readonly ForeignStep[] {
  const response = fixture.at('response').map
  const asked = fixture.at('match').at('userMessage').maybeText
  const blocks = response.at('blocks').isThere ? response.at('blocks').items : []
  return [
    ...(asked === undefined ? [] : [{ kind: 'message' as const, from: 'user', to: 'model', body: asked }]),
    ...(blocks.length > 0 ? blocks.flatMap(blockOf) : answerOf(response)),
  ]
}

/** One piece of an answer whose pieces are listed in their order. */
function blockOf(block: Cursor): readonly ForeignStep[] {
  return block.at('type').maybeText === 'toolCall' ? [callOf(block)] : saidIn(block.at('text'))
}

/** An answer without an order: aimock streams its text first. */
function answerOf(response: Cursor): readonly ForeignStep[] {
  const calls = response.at('toolCalls').isThere ? response.at('toolCalls').items : []
  return [...saidIn(response.at('content')), ...calls.map(callOf)]
}

function saidIn(text: Cursor): readonly ForeignStep[] {
  return text.maybeText === undefined ? [] : [{ kind: 'message', from: 'model', to: 'user', body: text.maybeText }]
}

function callOf(call: Cursor): ForeignStep {
  return { kind: 'tool', name: call.at('name').text, args: jsonOr(call.at('arguments').value ?? {}) }
}
