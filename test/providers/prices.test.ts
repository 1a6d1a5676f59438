import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { priceTable } from '../../scripts/prices.ts'
import { costOf } from '../../src/providers/index.ts'
import { listPrices } from '../../src/providers/price-table.ts'

const million = { inputTokens: 1_000_000, outputTokens: 1_000_000 }
const cached = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 1_000_000 }

describe('list prices', () => {
  // As the providers' pages give them: dollars per million tokens read, read from the cache, written.
  test.for<[model: string, input: number, cachedInput: number, output: number]>([
    ['gpt-4o', 2.5, 1.25, 10],
    ['gpt-4o-mini', 0.15, 0.075, 0.6],
    ['gpt-4.1', 2, 0.5, 8],
    ['claude-sonnet-4-5', 3, 0.3, 15],
    ['claude-3-haiku', 0.25, 0.03, 1.25],
    ['gemini-2.5-pro', 1.25, 0.125, 10],
    ['gemini-2.5-flash-lite', 0.1, 0.01, 0.4],
  ])('%s costs what its provider says', ([model, input, cachedInput, output]) => {
    expect(costOf(million, model)).toBeCloseTo(input + output, 9)
    expect(costOf(cached, model)).toBeCloseTo(cachedInput, 9)
  })

  test('a dated version and a region have the price of their family, unless they have one of their own', () => {
    const same = (model: string, family: string) => expect(costOf(million, model), model).toBe(costOf(million, family))
    same('gpt-4o-2024-08-06', 'gpt-4o')
    same('claude-sonnet-4-5-20250929', 'claude-sonnet-4-5')
    same('claude-sonnet-4-5@20250929', 'claude-sonnet-4-5')
    same('amazon.nova-pro-v1:0', 'amazon.nova-pro')
    same('us.anthropic.claude-haiku-4-5-20251001-v1:0', 'anthropic.claude-haiku-4-5')
    expect(costOf(million, 'gpt-4o-2024-05-13')).toBe(20)
    expect(costOf(million, 'global.anthropic.claude-haiku-4-5-20251001-v1:0')).toBe(6)
  })

  test('what is not in the table has no price, however alike it is', () => {
    for (const model of [
      'gpt-4o-realtime',
      'gpt-5-turbo',
      'openai/gpt-4o',
      'my-deployment',
      '',
      '__proto__',
      'toString',
    ])
      expect(costOf(million, model), model).toBeUndefined()
    expect(costOf({}, 'gpt-4o')).toBeUndefined()
    expect(costOf(undefined, 'gpt-4o')).toBeUndefined()
  })

  test('what is written to a cache has its own price, and that of other input where the table has none', () => {
    const written = { inputTokens: 1_000_000, cacheWriteTokens: 1_000_000 }
    expect(costOf(written, 'claude-sonnet-4-5')).toBe(3.75)
    expect(costOf(written, 'gpt-4o')).toBe(2.5)
    // What came from the cache was not written to it as well.
    expect(costOf({ ...written, cachedTokens: 1_000_000 }, 'claude-sonnet-4-5')).toBe(0.3)
  })

  test('is small, and what its script makes of the prices it was made from', () => {
    expect(Object.keys(listPrices).length).toBeGreaterThan(100)
    expect(Object.keys(listPrices).length).toBeLessThanOrEqual(150)
    expect(readFileSync('src/providers/price-table.ts', 'utf8')).toBe(priceTable())
  })
})

describe('prices of one’s own', () => {
  const own = {
    'gpt-4o': { input: 1, output: 1 },
    'house-*': { input: 2, output: 2 },
    'house-big-*': { input: 3, output: 3 },
  }

  test('come before the list, the longest key that fits first', () => {
    expect(costOf(million, 'gpt-4o', own)).toBe(2)
    expect(costOf(million, 'gpt-4o-2024-08-06', own)).toBe(2)
    expect(costOf(million, 'house-small', own)).toBe(4)
    expect(costOf(million, 'house-big-1', own)).toBe(6)
    expect(costOf(million, 'gpt-4.1', own)).toBe(10)
  })

  test('for a pattern behind a name are for that model and its versions, and for no other model', () => {
    const price = { input: 7, output: 7 }
    const isPriced = (model: string, pattern: string): boolean => costOf(million, model, { [pattern]: price }) === 14
    for (const model of ['gpt-5', 'gpt-5-2025-08-07', 'gpt-5-latest', 'gpt-5@20250807', 'gpt-5-preview-2025-08-07'])
      expect(isPriced(model, 'gpt-5*'), model).toBe(true)
    for (const model of ['gpt-5-mini', 'gpt-5.1', 'gpt-50', 'gpt-5-codex', 'gpt-5-1', 'gpt-5mini', 'agpt-5'])
      expect(isPriced(model, 'gpt-5*'), model).toBe(false)
    // What the list knows by name keeps its price.
    expect(costOf(million, 'gpt-5-mini', { 'gpt-5*': price })).toBe(costOf(million, 'gpt-5-mini'))
    expect(isPriced('gpt-5-mini', 'gpt-5-*')).toBe(true)
    expect(isPriced('anything', '*')).toBe(true)
    expect(isPriced('meta.llama-v1:0', 'meta.llama*')).toBe(true)
  })

  test('for every usage, the cost is the sum of its parts and never below zero', () => {
    const tokens = fc.nat(10_000_000)
    fc.assert(
      fc.property(tokens, tokens, tokens, (inputTokens, outputTokens, cachedTokens) => {
        const whole = costOf({ inputTokens, outputTokens, cachedTokens }, 'gpt-4.1')!
        const parts = costOf({ inputTokens, cachedTokens }, 'gpt-4.1')! + costOf({ outputTokens }, 'gpt-4.1')!
        expect(whole).toBeCloseTo(parts, 9)
        expect(whole).toBeGreaterThanOrEqual(0)
        expect(whole).toBeLessThanOrEqual(costOf({ inputTokens, outputTokens }, 'gpt-4.1')!)
      }),
    )
  })
})
