/** What may be committed: schema, pairs, digests, secrets, size. */
export { checkRecordings, type CheckOptions, type CheckReport, inspectSnapshot } from './check.ts'
export type { CheckFinding } from './inspect.ts'
export type { Snapshot, SnapshotFile } from './snapshot.ts'
