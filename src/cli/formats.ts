/** Names of formats, for the help: the rooms that read and write them are loaded later. */
export { exportFormats } from '../exporters/types.ts'
export { importFormats } from '../importers/types.ts'
