import type { Cursor } from '../cursor.ts'
import { firstItem, type ForeignFormat, itemsAt, listed } from '../document.ts'
import type { ForeignStep } from '../types.ts'
import { readMessage } from '../messages.ts'
import { usageIn } from '../usage.ts'
import { listOf } from './values.ts'

/**
 * Answers gemini-cli keeps for its tests: what a model said, and not what it was asked.
 *
 * @see https://github.com/google-gemini/gemini-cli, packages/core/src/core/fakeContentGenerator.ts
 */
export const geminiResponses: ForeignFormat = {
  name: 'gemini-responses',
  recognises: (document) => isAnswer(firstItem(document) ?? document.root),
  read: (document) => ({
    format: 'gemini-responses',
    exchanges: [],
    steps: document.root.isMap ? [stepOf(document.root)] : listed(itemsAt(document), stepOf),
  }),
}

const methods: ReadonlySet<string> = new Set([
  'generateContent',
  'generateContentStream',
  'countTokens',
  'embedContent',
])

function isAnswer(root: Cursor): boolean {
  return methods.has(root.at('method').maybeText ?? '') && root.at('response').isThere
}

function stepOf(line: Cursor): ForeignStep {
  const method = line.at('method').text
  if (!method.startsWith('generateContent')) return { kind: 'mark', name: method, data: line.at('response').value }
  const response = line.at('response')
  const pieces = Array.isArray(response.value) ? response.items : [response]
  const candidates = pieces.flatMap((piece) => listOf(piece.at('candidates')).slice(0, 1))
  const said = candidates.filter((one) => one.at('content').isMap).map((one) => readMessage(one.at('content').value))
  const text = said.map((one) => one.text).join('')
  const finish = candidates.map((one) => one.at('finishReason').maybeText).findLast((reason) => reason !== undefined)
  const model = pieces.map((piece) => piece.at('modelVersion').maybeText).find((id) => id !== undefined)
  const usage = pieces.map((piece) => piece.at('usageMetadata')).findLast(({ isMap }) => isMap)
  return {
    kind: 'model',
    ...(model === undefined ? {} : { answered: model }),
    ...(text === '' ? {} : { text }),
    toolCalls: said.flatMap(({ calls }) => calls),
    ...(finish === undefined ? {} : { finish }),
    ...usageIn(usage?.value),
  }
}
