import { describe, expect, it } from 'vitest'
import { usageOf } from '../../src/importers/usage.ts'

const told = { inputTokens: 12, outputTokens: 3, cachedTokens: 8 }
/** Counted beside the input by those who send it. */
const whole = { inputTokens: 12, outputTokens: 3, cachedTokens: 8, cacheWriteTokens: 3 }

describe('the tokens of a model call', () => {
  it.each<[who: string, usage: object]>([
    ['OpenAI', { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 8 } }],
    ['OpenAI, responses', { input_tokens: 12, output_tokens: 3, input_tokens_details: { cached_tokens: 8 } }],
    ['Gemini', { promptTokenCount: 12, candidatesTokenCount: 3, cachedContentTokenCount: 8, totalTokenCount: 15 }],
    ['the Python of Gemini', { prompt_token_count: 12, candidates_token_count: 3, cached_content_token_count: 8 }],
    ['LangChain', { input_tokens: 12, output_tokens: 3, input_token_details: { cache_read: 8 } }],
    ['the Vercel AI SDK', { promptTokens: 12, completionTokens: 3, cachedInputTokens: 8 }],
    ['Langfuse', { input: 12, output: 3, input_cache_read: 8 }],
    ['the Vercel AI SDK 6', { inputTokens: 12, outputTokens: 3, inputTokenDetails: { cacheReadTokens: 8 } }],
    ['LiteLLM', { prompt_tokens: 12, completion_tokens: 3, cache_read_input_tokens: 8 }],
    ['Braintrust', { prompt_tokens: 12, completion_tokens: 3, prompt_cached_tokens: 8 }],
    ['text', { prompt_tokens: '12', completion_tokens: '3', prompt_cached_tokens: '8' }],
  ])('are read in the words of %s', (_, usage) => {
    expect(usageOf(usage)).toEqual(told)
  })

  it.each<[who: string, usage: object]>([
    ['Anthropic', { input_tokens: 1, output_tokens: 3, cache_read_input_tokens: 8, cache_creation_input_tokens: 3 }],
    [
      'Anthropic, by lifetime',
      {
        input_tokens: 1,
        output_tokens: 3,
        cache_read_input_tokens: 8,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
      },
    ],
    ['Bedrock', { inputTokens: 1, outputTokens: 3, cacheReadInputTokens: 8, cacheWriteInputTokens: 3 }],
    ['pi', { input: 1, output: 3, cacheRead: 8, cacheWrite: 3, totalTokens: 15 }],
    ['opencode', { input: 1, output: 3, reasoning: 0, cache: { read: 8, write: 3 } }],
    ['Langfuse, of Anthropic', { input: 1, output: 3, cache_read_input_tokens: 8, cache_creation_input_tokens: 3 }],
    ['camel case', { inputTokens: 1, outputTokens: 3, cacheReadInputTokens: 8, cacheCreationInputTokens: 3 }],
    ['a sum over a session', { inputTokens: 1, outputTokens: 3, cacheReadTokens: 8, cacheCreationTokens: 3 }],
    ['the short names', { input_tokens: 1, output_tokens: 3, cache_read: 8, cache_creation: 3 }],
    [
      'a sum that is 0 beside its lifetimes',
      {
        input_tokens: 1,
        output_tokens: 3,
        cache_read_input_tokens: 8,
        cache_creation_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 },
      },
    ],
  ])('of a cache count as input, where %s counts them beside it', (_, usage) => {
    expect(usageOf(usage)).toEqual(whole)
  })

  it('are those that are told, and nothing is made of what is no count', () => {
    expect(usageOf({ input_tokens: null, prompt_tokens: 5, output_tokens: -1, cacheRead: 'many' })).toEqual({
      inputTokens: 5,
    })
    expect(usageOf({ prompt_tokens_details: [8] })).toEqual({})
    expect([null, 'text', [1], undefined].map(usageOf)).toEqual([{}, {}, {}, {}])
  })
})
