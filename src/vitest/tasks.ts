import { HarvestError } from '../errors/index.ts'
import type { Task, TaskName } from '../jobs/index.ts'

/** How each task is loaded: a run that asks for none loads none. */
const tasks: Readonly<Partial<Record<TaskName, () => Promise<Task>>>> = {
  fork: async () => (await import('../fork/fork-task.ts')).forkTask,
  blame: async () => (await import('../blame/task.ts')).blameTask,
  isolate: async () => (await import('../isolate/task.ts')).isolateTask,
  grade: async () => (await import('../blame/grade-task.ts')).gradeTask,
  prove: async () => (await import('../blame/prove-task.ts')).proveTask,
  fix: async () => (await import('../blame/fix-task.ts')).fixTask,
  debug: async () => (await import('../debug/child/task.ts')).debugTask,
  chaos: async () => (await import('../faults/chaos-task.ts')).chaosTask,
}

/** @throws HarvestError `HARVEST_TASK_UNKNOWN` for a name this version does not know */
export async function loadTask(name: TaskName): Promise<Task> {
  const load = Object.hasOwn(tasks, name) ? tasks[name] : undefined
  if (load === undefined)
    throw new HarvestError('HARVEST_TASK_UNKNOWN', {
      what: `Unknown task in this version of the plugin: ${name}`,
      why: 'The command and the plugin are from different versions of vitest-harvest.',
      fix: ['to see both: npm ls vitest-harvest'],
    })
  return load()
}
