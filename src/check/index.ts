/** What may be committed: schema, pairs, digests, secrets, size. */
export { checkRecordings, type CheckOptions, type CheckReport } from './check.ts'
export type { CheckFinding } from './inspect.ts'
