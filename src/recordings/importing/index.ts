/** Recordings of other tools, written into the inbox as tapes. */
export { type Candidate, type Candidates, candidatesAt } from './candidates.ts'
export { importAll, type ImportResult } from './import-all.ts'
export { bytesOf, type ImportedRecording, type ImportSettings, type Refused } from './import-file.ts'
export { TapeIds } from './tape-ids.ts'
