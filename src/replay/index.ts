export { shortSite } from './problems.ts'
export { installReplay, replayTape } from './replay.ts'
export * from './types.ts'
