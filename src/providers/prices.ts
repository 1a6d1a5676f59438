import { listPrices } from './price-table.ts'
import type { Usage } from './types.ts'

/** What a model costs, in US dollars per million tokens. */
export interface Price {
  readonly input: number
  readonly output: number
  /** Input tokens the provider had in its cache. Default: `input`. */
  readonly cachedInput?: number
  /** Input tokens the provider wrote to its cache. Default: `input`. Of several cache lifetimes, the shortest. */
  readonly cacheWrite?: number
}

/**
 * Model id → price. A key that ends in `*` is for every id that begins so; the longest key that fits counts. A dated
 * version, or the region of a Bedrock model, that has no key of its own has the price of its family.
 */
export type PriceTable = Readonly<Record<string, Price>>

/**
 * What one model call cost by a price table, in US dollars.
 *
 * @param prices - looked in before the list prices this package ships
 * @returns `undefined` when the model has no price or the answer told no tokens: an unknown cost is not zero
 */
export function costOf(usage: Usage | undefined, model: string, prices: PriceTable = {}): number | undefined {
  const price = priceOf(model, prices) ?? priceOf(model, listPrices)
  if (price === undefined || usage === undefined) return undefined
  const { inputTokens, outputTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  if (inputTokens === undefined && outputTokens === undefined) return undefined
  const cached = Math.min(cachedTokens, inputTokens ?? 0)
  const written = Math.min(cacheWriteTokens, (inputTokens ?? 0) - cached)
  const fresh = (inputTokens ?? 0) - cached - written
  const perMillion =
    fresh * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    (outputTokens ?? 0) * price.output
  return perMillion / 1_000_000
}

function priceOf(model: string, prices: PriceTable): Price | undefined {
  const family = model.replace(version, '')
  return inTable(model, prices) ?? inTable(family, prices) ?? inTable(family.replace(region, ''), prices)
}

/** `-2025-08-07`, `-20250929`, `@20250929`, and Bedrock's `-v1:0`. */
const version = /(?:[-@]20\d\d-?[01]\d-?[0-3]\d)?(?:-v\d+(?::\d+)?)?$/
/** Bedrock's inference profiles; `global.` has prices of its own. */
const region = /^(?:us|us-gov|eu|apac|jp|au|ca|in)\./

function inTable(model: string, prices: PriceTable): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const fits = Object.keys(prices).filter((key) => key.endsWith('*') && model.startsWith(key.slice(0, -1)))
  const [longest] = fits.sort((a, b) => b.length - a.length)
  return longest === undefined ? undefined : prices[longest]
}
