/** Recordings of other tools made into tapes. */
export { type TapeDraft, importRecording, importRecordings, type ImportOptions, several } from './import.ts'
export { isToldByBytes } from './formats.ts'
export { fileCap } from './limits.ts'
export { type ImportFacts, type ImportFormat, importFormats } from './types.ts'
