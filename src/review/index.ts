export { acceptedText, reviewMarkdown } from './markdown.ts'
export {
  type Review,
  type ReviewedAcceptances,
  type ReviewedCase,
  type ReviewedTape,
  type ReviewOptions,
  reviewRange,
} from './review.ts'
export type { TapeDigest } from './tape-digest.ts'
export type { Weakening } from './weakened.ts'
