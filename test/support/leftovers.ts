import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seamState } from '../../src/seam/index.ts'

/** What a process holds at a moment, once nothing more can be collected. */
export interface Held {
  readonly heap: number
  readonly resources: number
  readonly listeners: number
  readonly patches: number
}

/** What was there more after the work than before. */
export interface Leftovers {
  readonly heapRatio: number
  readonly resourcesMore: number
  readonly listenersMore: number
  readonly patchesMore: number
  readonly problems: readonly string[]
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** @param more - listeners elsewhere than on `process` */
export async function held(more: () => number = () => 0): Promise<Held> {
  await sleep(50)
  for (let i = 0; i < 4; i++) collect()
  return {
    heap: process.memoryUsage().heapUsed,
    resources: process.getActiveResourcesInfo().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0) + more(),
    patches: seamState().installed.size,
  }
}

export function leftovers(before: Held, after: Held, problems: ReadonlySet<string>): Leftovers {
  return {
    heapRatio: after.heap / before.heap,
    resourcesMore: after.resources - before.resources,
    listenersMore: after.listeners - before.listeners,
    patchesMore: after.patches - before.patches,
    problems: [...problems],
  }
}
