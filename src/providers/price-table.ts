import type { PriceTable } from './prices.ts'

/** List prices of providers; to be replaced by whoever pays others. */
export const listPrices: PriceTable = {
  'gpt-4o': { input: 2.5, output: 10, cachedInput: 1.25 },
  'gpt-4o-mini': { input: 0.15, output: 0.6, cachedInput: 0.075 },
}
