/** Pins: with which commit, models, prompts and tool schemas a tape was made, and refusing to mix them. The only user of git. */
export { resolveCommit } from './commit.ts'
export { type CommitLine, type History, readHistory, type CommitPosition } from './history.ts'
export {
  type ChangedFile,
  changedFilesSince,
  codeState,
  type GitState,
  gitState,
  gitUser,
  isCodeOf,
  isInboxIgnored,
  keepsTapeBytes,
  trackedFiles,
  versionedFiles,
} from './git.ts'
export { codeDigest, codeFiles, type CodeFiles, digestOfCode, topFolder } from './code-files.ts'
export { type DeletedFiles, deletedFiles } from './deleted.ts'
export { type FormerCases, readFormerCases } from './former-cases.ts'
export { type AcceptedPin, acceptedPins, type CasePins, pinsOf, pinsOfReplay } from './pins.ts'
export { commitsBefore, type FormerCode, inWorktree, type Worktree } from './worktree.ts'
export { type GitIndex, type GitRange, type IndexedFile, readIndex, readRange } from './staged.ts'
export {
  changedPins,
  crossVersion,
  describeChanges,
  type LivePins,
  type PinChange,
  type PinKind,
  versionChanges,
} from './changes.ts'
export { toRecordedCode } from './recorded-code.ts'
