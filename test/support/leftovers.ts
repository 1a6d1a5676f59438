import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { seamState } from '../../src/seam/index.ts'

/** What a process holds at a moment, once nothing more can be collected. */
export interface Held {
  readonly heap: number
  /** Kinds of what keeps the process alive, one for each. */
  readonly resources: readonly string[]
  readonly listeners: number
  readonly patches: number
}

/** What was there more after the work than before. */
export interface Leftovers {
  readonly heapRatio: number
  /** Kinds of what keeps the process alive now and did not before. */
  readonly resourcesMore: readonly string[]
  readonly listenersMore: number
  readonly patchesMore: number
  readonly problems: readonly string[]
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Rounds of waiting: what goes away of itself, such as a connection that is being closed, is gone by then. */
const patience = 100

/**
 * What the process holds once nothing more goes away: on a loaded machine a timer or socket may end a little later than
 * the work it belongs to. What leaks never goes away.
 *
 * @param than - waits while there are resources that were not there then
 * @param more - listeners elsewhere than on `process`
 */
export async function held(than?: Held, more: () => number = () => 0): Promise<Held> {
  let resources: readonly string[] = []
  for (let round = 0; round < patience; round++) {
    await sleep(50)
    resources = process.getActiveResourcesInfo()
    if (than === undefined || without(resources, than.resources).length === 0) break
  }
  for (let i = 0; i < 4; i++) collect()
  return {
    heap: process.memoryUsage().heapUsed,
    resources,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0) + more(),
    patches: seamState().installed.size,
  }
}

export function leftovers(before: Held, after: Held, problems: ReadonlySet<string>): Leftovers {
  return {
    heapRatio: after.heap / before.heap,
    resourcesMore: without(after.resources, before.resources),
    listenersMore: after.listeners - before.listeners,
    patchesMore: after.patches - before.patches,
    problems: [...problems],
  }
}

/** The first list less the second, each item as often as it stands there. */
function without(list: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...list]
  for (const other of others) {
    const at = left.indexOf(other)
    if (at !== -1) left.splice(at, 1)
  }
  return left
}
