import { jsonOr } from './body.ts'
import type { Cursor } from './cursor.ts'
import { type ForeignFormat, itemsAt, listed } from './document.ts'
import { defined, usageOf } from './meaning.ts'
import { tookOf } from './requests.ts'
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
 * One fixture: whoever asks for something gets a text, or calls of tools. There is no request and no byte of an answer
 * in it. One that was recorded names the model that was asked; one that was written by hand mostly does not.
 *
 * @see https://github.com/CopilotKit/aimock, src/types.ts
 */
function stepsOf(fixture: Cursor): readonly ForeignStep[] {
  const response = fixture.at('response').map
  const question = fixture.at('match').at('userMessage').maybeText
  const answer = response.at('content').maybeText
  const calls = response.at('toolCalls').isThere ? response.at('toolCalls').items.map(requestOf) : []
  const asked = fixture.at('match').at('model').maybeText
  if (asked !== undefined) return [modelCall(fixture, { asked, question, answer, calls })]
  return [
    ...(question === undefined ? [] : [{ kind: 'message' as const, from: 'user', to: 'model', body: question }]),
    ...calls.map((call) => ({ kind: 'tool' as const, ...call })),
    ...(answer === undefined ? [] : [{ kind: 'message' as const, from: 'model', to: 'user', body: answer }]),
  ]
}

interface Fixture {
  readonly asked: string
  readonly question: string | undefined
  readonly answer: string | undefined
  readonly calls: readonly ForeignRequest[]
}

function modelCall(fixture: Cursor, { asked, question, answer, calls }: Fixture): ForeignModelCall {
  const response = fixture.at('response')
  const usage = defined(usageOf(response.at('usage').value))
  const error = response.at('error').at('message').maybeText
  const tookMs = tookOf(fixture.at('recordedTimings').at('totalDurationMs').maybeNumber)
  return {
    kind: 'model',
    asked,
    ...(question === undefined ? {} : { messages: [{ role: 'user', content: question }] }),
    toolCalls: calls,
    ...(Object.keys(usage).length === 0 ? {} : { usage }),
    ...defined({ text: answer, error, tookMs }),
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
