/** Where tapes and cases live: the inbox, the golden set, promotion from one to the other. */
export { type CaseSummary, findCase, listCases, removeCase } from './cases.ts'
export type { TapeFilter, TapeQuery, TapeSort } from './index-select.ts'
export { readPrices } from './prices.ts'
export { type ListedTape, queryTapes, type TapeList } from './query-tapes.ts'
export { writeFileAtomic } from './files.ts'
export {
  placePromotion,
  preparePromotion,
  promote,
  type Promoted,
  type PromoteOptions,
  type Promotion,
} from './promote.ts'
export { findTape, listTapes, type TapeSummary } from './tapes.ts'
