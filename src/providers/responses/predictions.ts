import { addReasoning, type Draft } from '../draft.ts'
import { at, isList, type JsonMap, numberAt, textAt } from '../../json/canonical.ts'

/**
 * A prediction of Replicate, as far as it is text: language models answer in a list of pieces, others in links to files.
 * A prediction that was not waited for has no output yet.
 */
export function readReplicate(value: JsonMap, draft: Draft): boolean {
  draft.model = textAt(value, 'model') ?? draft.model
  // Where to ask again, which the predictions of other services do not say.
  if (textAt(at(value, 'urls'), 'get') !== undefined) draft.keptAs = textAt(value, 'id') ?? draft.keptAs
  draft.finish = textAt(value, 'status') ?? draft.finish
  const output = at(value, 'output')
  const pieces = (isList(output) ? output : [output]).filter((piece) => typeof piece === 'string')
  if (!pieces.every((piece) => /^(https?|data):\S+$/.test(piece))) draft.text += pieces.join('')
  const metrics = at(value, 'metrics')
  draft.usage.inputTokens = numberAt(metrics, 'input_token_count') ?? draft.usage.inputTokens
  draft.usage.outputTokens = numberAt(metrics, 'output_token_count') ?? draft.usage.outputTokens
  return at(value, 'status') !== undefined
}

/** The events of Sourcegraph's completions. Early versions of its API say the whole text so far in each of them. */
export function readSourcegraph(value: JsonMap, draft: Draft): boolean {
  const soFar = at(value, 'completion')
  if (typeof soFar === 'string') draft.text = soFar
  draft.text += textAt(value, 'deltaText') ?? ''
  addReasoning(draft, '', textAt(value, 'delta_thinking'))
  draft.finish = textAt(value, 'stopReason') ?? draft.finish
  return at(value, 'type') === 'completion' || at(value, 'type') === 'done' || typeof soFar === 'string'
}
