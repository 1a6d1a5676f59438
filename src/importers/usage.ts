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
    ['cacheReadTokens'],
    ['cache_read_tokens'],
    ['cache_read'],
    ['cached_tokens'],
    ['cached_input_tokens'],
    ['input_cached_tokens'],
    ['cachedInputTokens'],
    ['cached'],

    ['prompt_tokens_details', 'cached_tokens'],
    ['input_tokens_details', 'cached_tokens'],
    ['input_token_details', 'cache_read'],
    ['inputTokenDetails', 'cacheReadTokens'],
    ['cache', 'read'],
  ],
  cacheWriteTokens: [
    ['cache_creation_input_tokens'],
    ['cacheCreationInputTokens'],
    ['cacheWriteInputTokens'],
    ['prompt_cache_creation_tokens'],
    ['input_cache_creation'],
    ['cacheWrite'],
    ['cacheCreationTokens'],
    ['cache_creation_tokens'],
    ['cache_creation'],

    ['input_token_details', 'cache_creation'],
    ['inputTokenDetails', 'cacheWriteTokens'],
    ['prompt_tokens_details', 'cache_write_tokens'],
    ['cache', 'write'],
  ],
}

/**
 * Spellings in which what was read from and written to a cache is counted beside the input, not in it: of Anthropic, of
 * Bedrock, of pi, and of tools that sum these up. With an input of any other name they are counted in it.
 */
const besideInput: {
  readonly input: readonly Place[]
  readonly read: readonly Place[]
  readonly written: readonly Place[]
} = {
  input: [['input_tokens'], ['inputTokens'], ['input']],
  read: [
    ['cache_read_input_tokens'],
    ['cacheReadInputTokens'],
    ['cacheRead'],
    ['cacheReadTokens'],
    ['cache_read_tokens'],
    ['cache_read'],
    ['cache', 'read'],
  ],
  written: [
    ['cache_creation_input_tokens'],
    ['cacheCreationInputTokens'],
    ['cacheWriteInputTokens'],
    ['cacheWrite'],
    ['cacheCreationTokens'],
    ['cache_creation_tokens'],
    ['cache_creation'],
    ['cache', 'write'],
  ],
}

/**
 * Tokens a model call used, in any words a provider, a framework or a backend has for them.
 *
 * @param fields - the map that holds the counts; anything else has none
 * @returns the counts that are there, and nothing for the others
 */
export function usageOf(fields: unknown): ForeignUsage {
  if (!isFields(fields)) return {}
  const told = Object.entries(places).flatMap(([name, list]) => {
    const count = firstAt(fields, list)
    return count === undefined ? [] : [[name, count] as const]
  })
  const usage: ForeignUsage = Object.fromEntries(told)
  const byLifetime = writtenByLifetime(fields)
  // Some tools leave the sum at 0 and fill the lifetimes alone.
  const written = usage.cacheWriteTokens || (byLifetime ?? usage.cacheWriteTokens)
  const whole = { ...usage, ...(written === undefined ? {} : { cacheWriteTokens: written }) }
  const input = firstAt(fields, besideInput.input)
  const read = firstAt(fields, besideInput.read)
  const isBeside = read !== undefined || byLifetime !== undefined || firstAt(fields, besideInput.written) !== undefined
  if (input === undefined || !isBeside) return whole
  return { ...whole, inputTokens: input + (read ?? 0) + (written ?? 0) }
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

/** As {@link usageOf}, as the member of a model call; nothing without a count. */
export function usageIn(fields: unknown): { readonly usage?: ForeignUsage } {
  const usage = usageOf(fields)
  return Object.keys(usage).length === 0 ? {} : { usage }
}

function firstAt(fields: { readonly [key: string]: unknown }, list: readonly Place[]): number | undefined {
  return list.map((place) => countAt(fields, place)).find((one) => one !== undefined)
}

function countAt(fields: { readonly [key: string]: unknown }, [name, inner]: Place): number | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (inner === undefined) return countOf(value)
  return isFields(value) && Object.hasOwn(value, inner) ? countOf(value[inner]) : undefined
}
