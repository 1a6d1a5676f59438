import type { Json } from '../../tape/types.ts'
import { at, isMap, type JsonMap } from '../../json/canonical.ts'
import { eachMap, inside, nameSet, withMembers, withoutDefaults, withoutMember, withoutNulls } from './rewrite.ts'

/**
 * A request to Gemini.
 *
 * - fields and bytes have two spellings, see `withGeminiNames`: they are in one already
 * - a `role`: "If not set, the service will default to 'user'"
 * - "The `role` field of `systemInstruction` is ignored and doesn't affect the performance of the model"
 * - one candidate is the default; `null` is the default of every field, as in all of proto3 JSON
 * - a `generationConfig` in which nothing is set sets nothing; `@google/genai` always sends one
 *
 * @see `@google/genai`; https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference;
 * https://protobuf.dev/programming-guides/json/
 */
export function geminiContents(named: JsonMap): JsonMap {
  // Code Assist and token counting wrap the request once more.
  const wrapped = { request: inside(request), generateContentRequest: inside(request) }
  return at(named, 'contents') === undefined ? withMembers(named, wrapped) : request(named)
}

function request(map: JsonMap): JsonMap {
  const made = withMembers(withoutNulls(map, nullable), {
    contents: (value) => eachMap(value, spoken),
    systemInstruction: inside((instruction) => withoutMember(instruction, 'role')),
    generationConfig: inside((config) => withoutDefaults(config, { candidateCount: 1 })),
  })
  const config = at(made, 'generationConfig')
  return isMap(config) && Object.keys(config).length === 0 ? withoutMember(made, 'generationConfig') : made
}

function spoken(content: JsonMap): Json {
  return at(content, 'role') === undefined ? { role: 'user', ...content } : content
}

const nullable = nameSet('systemInstruction tools toolConfig safetySettings generationConfig cachedContent')
