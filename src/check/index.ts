/** What may be committed: schema, pairs, digests, secrets, size. And how well a golden set is kept. */
export { checkRecordings, type CheckOptions, type CheckReport, inspectSnapshot } from './check.ts'
export type { CheckFinding } from './inspect.ts'
export type { Snapshot, SnapshotFile } from './snapshot.ts'
export { checkHealth, type FlakyCase, type Health } from './health.ts'
export type { IdleTool, RedundantCase } from './coverage.ts'
