/** Where tapes and cases live: the golden set, promotion, writing whole or not at all. */
export { writeFileAtomic } from './atomic.ts'
export { promote, type Promoted, type PromoteOptions } from './promote.ts'
