/** Where tapes and cases live: the inbox, the golden set, promotion from one to the other. */
export {
  type CaseSummary,
  casesCalled,
  casesOfTape,
  findCase,
  inboxTape,
  listCases,
  nameOfFile,
  nearestCase,
  removeCase,
  renamedCase,
  tapesOfCases,
} from './cases.ts'
export { demote, type Demoted } from './demote.ts'
export { forgetTapes } from './forget-tapes.ts'
export { forksFolder } from './kept-forks.ts'
export { keepAnswer, readAnswers } from './kept-answers.ts'
export { type Hold, holdOf, holdOfTape, holdsOfList, placeHold, releaseHold } from './holds.ts'
export type { TapeFilter, TapeQuery, TapeSort } from './index-select.ts'
export { filesTouched, type PinLimits, type PinReport, readPins } from './pinned-cases.ts'
export { type Pruned, type PruneOptions, pruneTapes } from './prune.ts'
export { readPrices } from './prices.ts'
export { aboveRecordings, addProgram, manifestOf, programNamed, type Programs, readPrograms } from './programs.ts'
export {
  groupTapes,
  type ListedTape,
  mapTapes,
  queryTapes,
  type TapeGroup,
  type TapeGroups,
  type TapeList,
} from './query-tapes.ts'
export { leftoversBelow, leftoversOf, RecordingFiles, writeFileAtomic } from './files.ts'
export {
  placePromotion,
  preparePromotion,
  promote,
  type Promoted,
  type PromoteOptions,
  type Promotion,
} from './promote.ts'
export { placeFix, prepareFix, type PreparedFix } from './prepared-fix.ts'
export {
  headerOf,
  keepShared,
  type KeptAnswer,
  listOutside,
  listShared,
  recordingsOf,
  refreshShared,
} from './shared.ts'
export { keepLiveRuns, type LiveRuns, readLiveRuns } from './rerun-log.ts'
export { removeForGood, removeTapes } from './removal.ts'
export { costOfRun, tokensOf } from './cost-of-run.ts'
export { readFacts, type TapeFacts } from './tape-facts.ts'
export { closeOf, findTape, type FindTapeOptions, idOf, listTapes, outcomeOf, type TapeSummary } from './tapes.ts'
