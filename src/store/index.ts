/** Where tapes and cases live: the inbox, the golden set, promotion from one to the other. */
export { type CaseSummary, findCase, listCases, removeCase } from './cases.ts'
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
