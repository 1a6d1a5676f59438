/**
 * Parameters that a provider keeps for bills, dashboards, caches and routing. They do not reach the model: a request that
 * differs in nothing else asks the same question. `store` is not one of them: what was not kept cannot be referred to later.
 */
export const bookkeeping: ReadonlySet<string> = new Set([
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
