import { onceInProcess } from '../seam/patch.ts'
import { outsideRuns, seamState } from '../seam/source.ts'

/** Work that is done in parts; each says how many bytes it looked through. It does not throw. */
export type WorkInParts = Generator<number, void, undefined>

/** Bytes of a tape that are looked through in one turn of the event loop: some milliseconds. A longer line is one part. */
export const bytesOfTurn: number = 128 * 1024

interface Ending {
  readonly work: WorkInParts
  readonly done?: (() => void) | undefined
}

/**
 * What is still to be written of the runs of one recorder that are over: one run after the other, and of each a part in every
 * turn of the event loop, so that other requests have theirs.
 */
export class RunEndings {
  #queue: Ending[] = []
  /** The end of the process is heard. */
  #isKnown = false
  #isWaiting = false

  /** Does it when those before it are done and the requests under way had their turn. */
  add(work: WorkInParts, done?: () => void): void {
    if (!this.#isKnown) atExit(this)
    this.#isKnown = true
    this.#queue.push({ work, done })
    this.#wait()
  }

  /** Does the first part at once. @returns what waits for the rest, if there is any */
  begin(work: WorkInParts): Promise<void> | undefined {
    if (this.#queue.length === 0 && isDone(work)) return undefined
    return new Promise((resolve) => this.add(work, resolve))
  }

  /** Does all of it, now. */
  flush(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      finish(next.work)
      next.done?.()
    }
  }

  /** The process ends. */
  exit(): void {
    outsideRuns(() => this.flush())
  }

  #wait(): void {
    if (this.#isWaiting) return
    this.#isWaiting = true
    outsideRuns(() => seamState().natives.setImmediate(() => this.#turn()))
  }

  #turn(): void {
    this.#isWaiting = false
    const next = this.#queue.shift()
    if (next === undefined) return
    if (isDone(next.work)) next.done?.()
    else this.#queue.unshift(next)
    if (this.#queue.length > 0) this.#wait()
  }
}

/** Does as much as is done in a turn. */
function isDone(work: WorkInParts): boolean {
  for (let bytes = 0; bytes < bytesOfTurn; ) {
    const { done, value } = work.next()
    if (done === true) return true
    bytes += value
  }
  return false
}

/** Does all of it, now. */
export function finish(work: WorkInParts | undefined): void {
  while (work !== undefined && work.next().done !== true);
}

/** Calls `exit` when the process ends, whichever copy of this package asks for it. */
export function atExit(one: { exit(): void }): void {
  const { shared } = seamState()
  let told = shared.get('record.holds') as Set<typeof one> | undefined
  if (told === undefined) shared.set('record.holds', (told = new Set()))
  const all = told
  all.add(one)
  onceInProcess('record.holds', () =>
    process.on('exit', () => {
      for (const each of all) each.exit()
    }),
  )
}
