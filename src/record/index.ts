/**
 * The production door: records unmodified agents. Loads no Vitest, no git, no YAML.
 *
 * @module
 */
export { bind, mark, message, retriever, tool, tools, value, type WrapOptions } from '../seam/index.ts'
export { createRecorder, type Recorder, type RecorderOptions, type RunOptions } from './recorder.ts'
