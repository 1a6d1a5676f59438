import { jsonOr } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, listed } from './document.ts'
import { defined } from './meaning.ts'
import { tookOf } from './requests.ts'
import { usageIn } from './usage.ts'
import type { ForeignModelCall, ForeignRequest, ForeignStep } from './types.ts'

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
 * and no byte of an answer in it. One that was recorded names the model that was asked; one that was written by hand mostly
 * does not.
 *
 * @see https://github.com/CopilotKit/aimock, src/types.ts
 */
function stepsOf(fixture: Cursor): readonly ForeignStep[] {
  const response = fixture.at('response').map
  const question = fixture.at('match').at('userMessage').maybeText
  const asked = fixture.at('match').at('model').maybeText
  const blocks = response.at('blocks').isThere ? response.at('blocks').items : []
  const said = blocks.length > 0 ? blocks.map(blockOf) : answerOf(response)
  if (asked !== undefined) return [modelCall(fixture, { asked, question, said })]
  return [
    ...(question === undefined ? [] : [{ kind: 'message' as const, from: 'user', to: 'model', body: question }]),
    ...said.map(
      (piece): ForeignStep =>
        typeof piece === 'string'
          ? { kind: 'message', from: 'model', to: 'user', body: piece }
          : { kind: 'tool', ...piece },
    ),
  ]
}

/** A text, or a call that was asked for. */
type Piece = string | ForeignRequest

/** One piece of an answer whose pieces are listed in their order. */
function blockOf(block: Cursor): Piece {
  return block.at('type').maybeText === 'toolCall' ? requestOf(block) : (block.at('text').maybeText ?? '')
}

/** An answer without an order: aimock streams its text first. */
function answerOf(response: Cursor): readonly Piece[] {
  const text = response.at('content').maybeText
  const calls = response.at('toolCalls').isThere ? response.at('toolCalls').items : []
  return [...(text === undefined ? [] : [text]), ...calls.map(requestOf)]
}

interface Fixture {
  readonly asked: string
  readonly question: string | undefined
  readonly said: readonly Piece[]
}

function modelCall(fixture: Cursor, { asked, question, said }: Fixture): ForeignModelCall {
  const response = fixture.at('response')
  const error = response.at('error').at('message').maybeText
  const tookMs = tookOf(fixture.at('recordedTimings').at('totalDurationMs').maybeNumber)
  const texts = said.filter((piece) => typeof piece === 'string')
  const text = texts.length === 0 ? undefined : texts.join('\n')
  return {
    kind: 'model',
    asked,
    ...(question === undefined ? {} : { messages: [{ role: 'user', content: question }] }),
    toolCalls: said.filter((piece) => typeof piece !== 'string'),
    ...usageIn(response.at('usage').value),
    ...defined({ text, error, tookMs }),
  }
}

function requestOf(call: Cursor): ForeignRequest {
  const id = call.at('id').maybeText
  return {
    ...(id === undefined ? {} : { id }),
    name: call.at('name').text,
    args: jsonOr(call.at('arguments').value ?? {}),
  }
}
