/** Whether blame is to be trusted on real runs: causes are planted in them while they are recorded. */
export { type Agreement, agreementOf } from './agreement.ts'
export type { Effort } from './cells.ts'
export type { RunOrder } from './measure.ts'
export type { OwnAgentOptions, OwnAgentReport, OwnRun } from './own-agent.ts'
export { type HarnessOptions, type HarnessResult, validateHarness } from './run.ts'
