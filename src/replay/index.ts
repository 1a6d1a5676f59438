export { shortSite } from './problems.ts'
export type { ProgramReport } from './program.ts'
export { installReplay, replayTape } from './replay.ts'
export * from './types.ts'
