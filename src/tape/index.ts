export { decodeBytes, type EncodedBytes, encodeBytes, joinedBytes } from './bytes.ts'
export { type Cut, cutsOfEvent, isCut } from './cuts.ts'
export { decodeValue } from './decode-value.ts'
export { keepBody } from './contents.ts'
export { encodeFor, encodeValue, functionCode, type HiddenPart } from './encode-value.ts'
export { sizeCap } from './file.ts'
export {
  begunFlag,
  branchFlag,
  contentsFlag,
  contextsFlag,
  fieldsFlag,
  currentFlags,
  eighthRedactorFlag,
  fifthRedactorFlag,
  fourthRedactorFlag,
  headersFlag,
  cutsFlag,
  endsFlag,
  hostsFlag,
  knownFlags,
  lateFlag,
  namedLateFlag,
  ninthRedactorFlag,
  redactorFlag,
  secondRedactorFlag,
  seventhRedactorFlag,
  sixthRedactorFlag,
  tenthRedactorFlag,
  eleventhRedactorFlag,
  thirdRedactorFlag,
  thirteenthRedactorFlag,
  twelfthRedactorFlag,
  regionFlag,
  regionVariables,
  tenantVariables,
  socketsFlag,
  tenantsFlag,
} from './flags.ts'
export type { OpenStep } from './parts.ts'
export { isStartKnown, isTimed, keptReasons, outcomeNotCompared, readOutcome, type WrittenOutcome } from './shape.ts'
export { betweenText, isEnding, isOfConnection, isLateAs, lateKey, lateRequest, LateWorks } from './late.ts'
export { argsChanged, queryBuilt, type Loss, lossesIn } from './losses.ts'
export { wholeHeader, wholeTape } from './parent.ts'
export { beyondBounds } from './rule-bounds.ts'
export { linkAs, sweepTemporaries, temporaryFor, temporaryName } from './new-file.ts'
export { parseTape, parseTapeLines, readTape, readTapeHeader } from './read.ts'
export {
  isSettled,
  isStep,
  requestBytes,
  responseBytes,
  stepsOf,
  unsearchedIn,
  unclearedReason,
  unsearchedReason,
} from './steps.ts'
export { isSharedRead, isTokenRead, outsideFolder, sharedFolder } from './shared-read.ts'
export { streamTape } from './stream.ts'
export * from './types.ts'
export { type Closing, createTapeWriter, serializeTape, type TapeWriter } from './writer.ts'
export { writtenLines, type WrittenLine } from './written.ts'
