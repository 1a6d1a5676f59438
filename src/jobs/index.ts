/** Work lists for the project's own Vitest: what commands ask for, done where the agent's code can be loaded. */
export {
  type ControlData,
  type ControlDifference,
  type FailedJob,
  type FinishedJob,
  type FinishedTask,
  inlineMapsVariable,
  type Job,
  type JobList,
  type JobResult,
  type JobVerdict,
  jobModuleName,
  jobsVariable,
  type Task,
  type TaskContext,
  type TaskName,
  type TaskProgress,
} from './job.ts'
