import { at, isList, isMap, type JsonMap } from '../../json/canonical.ts'
import { asksForStream, type ModelRequest } from '../../providers/index.ts'
import type { Json } from '../../tape/index.ts'
import { double, type AttributeValue } from './attributes.ts'

/** What a request asked for beside its messages, under the names of the GenAI conventions. */
export function requestParams(request: ModelRequest): Readonly<Record<string, AttributeValue>> {
  const { params } = request
  const places = [
    params,
    ...['generationConfig', 'inferenceConfig', 'request', 'options', 'chatRequest', 'completionOptions'].map((key) =>
      at(params, key),
    ),
  ]
  const find = (...keys: readonly string[]): Json | undefined =>
    places.flatMap((place) => keys.map((key) => at(place, key))).find((value) => value !== undefined)
  const number = (...keys: readonly string[]): number | undefined => {
    const value = find(...keys)
    // Yandex writes whole numbers as text.
    if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value)
    return typeof value === 'number' ? value : undefined
  }
  return {
    'gen_ai.request.temperature': double(number('temperature')),
    'gen_ai.request.top_p': double(number('top_p', 'topP', 'p')),
    'gen_ai.request.top_k': whole(number('top_k', 'topK', 'k')),
    'gen_ai.request.max_tokens': whole(
      number('max_tokens', 'max_completion_tokens', 'max_output_tokens', 'maxOutputTokens', 'maxTokens', 'num_predict'),
    ),
    'gen_ai.request.seed': whole(number('seed')),
    'gen_ai.request.frequency_penalty': double(number('frequency_penalty', 'frequencyPenalty')),
    'gen_ai.request.presence_penalty': double(number('presence_penalty', 'presencePenalty')),
    'gen_ai.request.choice.count': severalOf(number('n', 'candidateCount')),
    'gen_ai.request.stop_sequences': texts(find('stop', 'stop_sequences', 'stopSequences')),
    'gen_ai.request.stream': asksForStream(request) ? true : undefined,
  }
}

/** Names of the tools a request offered: their schemas are large, and not wanted by default. */
export function toolDefinitions(tools: readonly Json[]): readonly JsonMap[] {
  return tools.flatMap((tool): JsonMap[] => {
    const declared = at(tool, 'functionDeclarations') ?? at(tool, 'function_declarations')
    if (isList(declared)) return [...toolDefinitions(declared)]
    const inner = at(tool, 'function') ?? at(tool, 'toolSpec') ?? tool
    const type = at(tool, 'type')
    const name = at(inner, 'name') ?? type
    return typeof name === 'string' && isMap(tool) ? [{ type: typeof type === 'string' ? type : 'function', name }] : []
  })
}

function whole(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) ? value : undefined
}

function severalOf(count: number | undefined): number | undefined {
  return count === 1 ? undefined : whole(count)
}

function texts(value: Json | undefined): readonly string[] | undefined {
  const list = isList(value) ? value : [value]
  return list.length > 0 && list.every((item) => typeof item === 'string') ? list : undefined
}
