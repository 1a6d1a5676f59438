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
 * Model id → price. `gpt-5*` is for gpt-5 and its versions (`gpt-5-2025-08-07`, `gpt-5-latest`), and not for gpt-5-mini, which is another
 * model; `gpt-5-*` is for every id that goes on behind the sign, and `*` for all. The longest key that fits counts. A dated version, or the
 * region of a Bedrock model, that has no key of its own has the price of its family.
 */
export type PriceTable = Readonly<Record<string, Price>>

/** Whether what a model uses has a known cost. */
export function isPriced(model: string, prices: PriceTable = {}): boolean {
  return costOf({ inputTokens: 1, outputTokens: 1 }, model, prices) !== undefined
}

/**
 * What one model call cost by a price table, in US dollars.
 *
 * @param prices - looked in before the list prices this package ships
 * @returns `undefined` when the model has no price or the answer has no tokens: an unknown cost is not zero
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
  const own = inTable(model, prices)
  if (own !== undefined) return own
  const family = model.replace(version, '')
  return inTable(family, prices) ?? inTable(family.replace(region, ''), prices)
}

/** `-2025-08-07`, `-20250929`, `@20250929`, and Bedrock's `-v1:0`. */
const version = /(?:[-@]20\d\d-?[01]\d-?[0-3]\d)?(?:-v\d+(?::\d+)?)?$/
/** Bedrock's inference profiles; `global.` has prices of its own. */
const region = /^(?:us|us-gov|eu|apac|jp|au|ca|in)\./

/** Behind a name only a version of it is meant; behind a sign, anything may follow. */
function isMeant(head: string, model: string): boolean {
  if (!model.startsWith(head)) return false
  return head === '' || /[^a-z0-9]$/i.test(head) || versions.test(model.slice(head.length))
}

/** What providers put behind the name of one model: a date, the number of a release, a channel. */
const versions = /^(?:[-@](?:20\d\d-?[01]\d-?[0-3]\d|\d{3,4}|latest|preview|exp)|-v\d+|:\d+)*$/

function inTable(model: string, prices: PriceTable): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model]
  const fits = Object.keys(prices).filter((key) => key.endsWith('*') && isMeant(key.slice(0, -1), model))
  const [longest] = fits.sort((a, b) => b.length - a.length)
  return longest === undefined ? undefined : prices[longest]
}
