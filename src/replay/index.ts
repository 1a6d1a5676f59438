export { guardLoading } from './loading.ts'
export type { ProgramReport } from './program.ts'
export { installReplay, replayTape } from './replay.ts'
export * from './types.ts'
