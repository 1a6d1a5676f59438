import { isWorkingOutside } from '../playback/scheduler.ts'
import { real } from '../seam/intercept/index.ts'

/** Ms of this process's own work for which files, threads and immediates are waited for: how busy the machine is has no say. */
const lastWorkMs = 1_000
/** No fake timers fake it; what others replace comes too late. */
const { cpuUsage } = process

/** Immediates of it are under way. */
interface AtWork {
  readonly pending: number
}

/**
 * Waits, as long as it `isDue`, until there were so many turns of the event loop one after the other in which nothing was under
 * way: a turn of a fast machine is too short for a file, and must not count.
 *
 * @param until - from `lastWork()`: then it is waited for nothing more
 * @returns whether something was still under way then
 */
export async function lastTurns(
  run: AtWork,
  count: number,
  isDue = (): boolean => true,
  until = lastWork(),
): Promise<boolean> {
  for (let calm = 0; calm < count && isDue(); ) {
    await turn()
    const isBusy = run.pending > 0 || isWorkingOutside()
    if (isBusy && worked() > until) return true
    calm = isBusy ? 0 : calm + 1
  }
  return false
}

/** How long an agent that has ended is waited for, from now on. */
export function lastWork(): number {
  return worked() + lastWorkMs
}

/** Ms of processor time of this process, which goes on while turns are waited for. */
function worked(): number {
  const { user, system } = cpuUsage()
  return (user + system) / 1_000
}

export function turn(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve))
}
