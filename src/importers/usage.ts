import { isFields } from './meaning.ts'
import { countOf } from './spans.ts'
import type { ForeignUsage } from './types.ts'

/** Where a count stands: a member, or a member of a member. */
type Place = readonly [name: string, inner?: string]

/**
 * The words for tokens, in the order in which they are believed: of OpenAI, Anthropic, Gemini and Bedrock, then of the
 * frameworks and backends that have their own.
 */
const places: Readonly<Record<keyof ForeignUsage, readonly Place[]>> = {
  inputTokens: [
    ['input_tokens'],
    ['prompt_tokens'],
    ['inputTokens'],
    ['promptTokens'],
    ['promptTokenCount'],
    ['prompt_token_count'],
    ['input'],
  ],
  outputTokens: [
    ['output_tokens'],
    ['completion_tokens'],
    ['outputTokens'],
    ['completionTokens'],
    ['candidatesTokenCount'],
    ['candidates_token_count'],
    ['output'],
  ],
  cachedTokens: [
    ['cache_read_input_tokens'],
    ['cacheReadInputTokens'],
    ['prompt_cached_tokens'],
    ['input_cache_read'],
    ['cachedContentTokenCount'],
    ['cached_content_token_count'],
    ['cacheRead'],
    ['cached_tokens'],
    ['cached_input_tokens'],
    ['input_cached_tokens'],
    ['cachedInputTokens'],
    ['cached'],

    ['prompt_tokens_details', 'cached_tokens'],
    ['input_tokens_details', 'cached_tokens'],
    ['input_token_details', 'cache_read'],
  ],
  cacheWriteTokens: [
    ['cache_creation_input_tokens'],
    ['cacheWriteInputTokens'],
    ['prompt_cache_creation_tokens'],
    ['input_cache_creation'],
    ['cacheWrite'],

    ['input_token_details', 'cache_creation'],
    ['prompt_tokens_details', 'cache_write_tokens'],
  ],
}

/**
 * Spellings in which what was read from and written to a cache is counted beside the input, not in it: of Anthropic, of
 * Bedrock, and of pi.
 */
const besideInput: readonly (readonly [input: string, read: string, written: string])[] = [
  ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ['inputTokens', 'cacheReadInputTokens', 'cacheWriteInputTokens'],
  ['input', 'cacheRead', 'cacheWrite'],
]

/**
 * Tokens a model call used, in whatever words a provider, a framework or a backend has for them.
 *
 * @param fields - the map that holds the counts; anything else has none
 * @returns the counts that are told, and nothing for the others
 */
export function usageOf(fields: unknown): ForeignUsage {
  if (!isFields(fields)) return {}
  const told = Object.entries(places).flatMap(([name, list]) => {
    const count = list.map((place) => countAt(fields, place)).find((one) => one !== undefined)
    return count === undefined ? [] : [[name, count] as const]
  })
  const usage: ForeignUsage = Object.fromEntries(told)
  const written = usage.cacheWriteTokens ?? writtenByLifetime(fields)
  const whole = { ...usage, ...(written === undefined ? {} : { cacheWriteTokens: written }) }
  const [input, ...cached] = besideInput.find(([name]) => countAt(fields, [name]) !== undefined) ?? []
  if (input === undefined) return whole
  const beside = cached.map((name) => countAt(fields, [name]))
  if (beside.every((count) => count === undefined)) return whole
  const [read = 0] = beside
  return { ...whole, inputTokens: (countAt(fields, [input]) ?? 0) + read + (written ?? 0) }
}

/** Anthropic's `cache_creation`: by how long the cache lives. */
function writtenByLifetime(fields: { readonly [key: string]: unknown }): number | undefined {
  const map = Object.hasOwn(fields, 'cache_creation') ? fields['cache_creation'] : undefined
  if (!isFields(map)) return undefined
  const counts = Object.entries(map).flatMap(([name, value]) =>
    name.endsWith('_input_tokens') ? (countOf(value) ?? []) : [],
  )
  return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
}

/** As {@link usageOf}, as the member of a model call; none where nothing is told. */
export function usageIn(fields: unknown): { readonly usage?: ForeignUsage } {
  const usage = usageOf(fields)
  return Object.keys(usage).length === 0 ? {} : { usage }
}

function countAt(fields: { readonly [key: string]: unknown }, [name, inner]: Place): number | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (inner === undefined) return countOf(value)
  return isFields(value) && Object.hasOwn(value, inner) ? countOf(value[inner]) : undefined
}
