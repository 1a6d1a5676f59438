/** Recordings of other tools, written into the inbox as tapes. */
export { type Candidate, type Candidates, candidatesAt } from './candidates.ts'
export { importAll, type ImportResult } from './import-all.ts'
export type { ImportedRecording, ImportSettings, Refused } from './import-file.ts'
export { TapeIds } from './tape-ids.ts'
