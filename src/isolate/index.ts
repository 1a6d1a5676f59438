/** Which layer triggers a failure: runs in which one layer at a time is not as recorded. */
export type { ArmReport } from './arms.ts'
export {
  isolateLayers,
  type Isolation,
  type IsolateOptions,
  type IsolateVerdict,
  type FailureLayer,
} from './isolate.ts'
export { estimateIsolation, type IsolationEstimate, type PlannedArm } from './estimate.ts'
export { claimOf, type IsolatedRun, isolateRun } from './run.ts'
