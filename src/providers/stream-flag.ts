import { at } from '../json/canonical.ts'
import type { Json } from '../tape/types.ts'
import type { Dialect, ModelRequest } from './types.ts'

const flag = ['stream']

/** Where the parameters ask for a stream; empty where the path says it, or where the dialect has one form alone. */
const flags: Readonly<Record<Dialect, readonly string[]>> = {
  'openai-chat': flag,
  'openai-responses': flag,
  'openai-completions': flag,
  'openai-embeddings': [],
  'openai-assistants': flag,
  anthropic: flag,
  gemini: [],
  'gemini-interactions': flag,
  'mistral-conversations': flag,
  'bedrock-converse': [],
  'bedrock-agent': [],
  cohere: flag,
  oci: ['chatRequest', 'isStream'],
  replicate: flag,
  sourcegraph: flag,
  yandex: ['completionOptions', 'stream'],
  'ai-gateway': flag,
  'openai-realtime': [],
  'gemini-live': [],
  mcp: [],
}

/** Whether a request asks in its body for a streamed answer. */
export function asksForStream({ dialect, params }: ModelRequest): boolean {
  const keys = flags[dialect]
  return keys.length > 0 && keys.reduce<Json | undefined>((value, key) => at(value, key), params) === true
}
