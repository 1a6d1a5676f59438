/** Recordings of other tools made into tapes. */
export { type ImportedTape, importRecording, type ImportOptions } from './import.ts'
export { fileCap } from './limits.ts'
export { type ImportFacts, type ImportFormat, importFormats } from './types.ts'
