import { readAddress } from './dialect.ts'
import { isGeminiAddress } from './spelling/gemini-names.ts'
import type { Dialect } from './types.ts'

/**
 * Whether a parameter is one that the provider at an address keeps for bills, dashboards, caches and routing. It does not
 * reach the model: a request that differs in nothing else asks the same question. `store` is not one of them: what was not
 * kept cannot be referred to later.
 *
 * At an address that no provider of its dialect has, who answers is unknown, and may pick tenant and model by such a field:
 * there nothing is bookkeeping.
 */
export function isBookkeeping(
  name: string,
  { dialect, url }: { readonly dialect: Dialect; readonly url: string },
): boolean {
  return names.has(name) && isOwnAddress(dialect, url)
}

const names: ReadonlySet<string> = new Set([
  // OpenAI
  'user',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'service_tier',
  'stream_options',
  // Anthropic
  'cache_control',
  // Gemini, Bedrock, Ollama
  'labels',
  'requestMetadata',
  'keep_alive',
])

/** Whether an address is one that a provider of this dialect has: by its path, or because it names a model. */
function isOwnAddress(dialect: Dialect, url: string): boolean {
  const { path, model } = readAddress(url)
  return model !== undefined || isGeminiAddress(url) || (ownPaths[dialect]?.test(path) ?? true)
}

/** Of the dialects that are known by the shape of a body too; all others are known by their paths alone. */
const ownPaths: Partial<Record<Dialect, RegExp>> = {
  'openai-chat': /\/(chat\/completions|api\/chat)$/,
  'openai-responses': /\/responses(\/(input_tokens|compact))?$/,
  // Images and speech are asked in the same way.
  'openai-completions': /\/(completions?|complete|generate(_stream)?|generation(_stream)?|images\/\w+|audio\/\w+)$/,
  'openai-embeddings': /\/embed(dings)?$/,
  anthropic: /\/messages(\/count_tokens)?$/,
  gemini: /:(batchE|e)mbedContents?$/,
  sourcegraph: /\/completions\/(stream|code)$/,
}
