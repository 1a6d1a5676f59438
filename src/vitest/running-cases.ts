import type { Worker } from 'node:worker_threads'
import type { TestCase } from 'vitest/node'
import { HarvestError, shellWord } from '../errors/index.ts'
import { threadBlocked } from '../jobs/blocked.ts'
import type { CaseStart } from './channel.ts'

/** A case whose worker ended while it ran. */
export interface LostCase {
  readonly test: TestCase
  readonly error: HarvestError
}

interface Running {
  readonly test: TestCase
  readonly startedAt: number
  /** What ends the worker. */
  readonly timer?: NodeJS.Timeout
  /** Set once the worker was ended, for the case blocked its thread. */
  isBlocked?: boolean
}

/** After its limit a case gets this long again: what it says may lie in the queue of this process. */
const lastMs = 1_000

/**
 * The cases that run now, as the main process knows them. A case that blocks its thread is ended with its worker, since
 * no timer fires there any more; what is left when the run is over was lost with a worker.
 */
export class RunningCases {
  readonly #running = new Map<string, Running>()

  /** Said once more of a case that runs: its thread was not blocked so far. */
  start(test: TestCase, start: CaseStart): void {
    const before = this.#running.get(test.id)
    clearTimeout(before?.timer)
    const after = (ms: number, then: () => void) => setTimeout(then, ms).unref()
    const { limitMs } = start
    const end = () => {
      if (this.#running.get(test.id) === running) running.isBlocked = endWorker(start)
    }
    const timer = limitMs === null ? undefined : after(limitMs, () => after(lastMs, end))
    const startedAt = before?.startedAt ?? performance.now()
    const running: Running = { test, startedAt, ...(timer !== undefined && { timer }) }
    this.#running.set(test.id, running)
  }

  end({ id }: TestCase): void {
    clearTimeout(this.#running.get(id)?.timer)
    this.#running.delete(id)
  }

  clear(): void {
    for (const { test } of this.#running.values()) this.end(test)
  }

  /** The cases that never ended. */
  lost(): readonly LostCase[] {
    return [...this.#running.values()].map(({ test, startedAt, isBlocked }) => {
      const name = test.parent.type === 'suite' ? test.parent.name : test.name
      const seconds = `${((performance.now() - startedAt) / 1_000).toFixed(1)} s after it started`
      return { test, error: isBlocked === true ? blocked(name) : died(name, seconds) }
    })
  }
}

/** Worker threads of this process by their number; Vitest does not tell them. */
const workers = new Map<number, Worker>()
let isCollecting = false

/** Called before the run as well: a worker that is there already is not announced. */
export function collectWorkers(): void {
  if (isCollecting) return
  isCollecting = true
  process.on('worker', (worker) => {
    const { threadId } = worker
    workers.set(threadId, worker)
    worker.once('exit', () => workers.delete(threadId))
  })
}

/** Whether the worker was there to be ended. */
function endWorker({ process: pid, thread }: CaseStart): boolean {
  if (pid === process.pid) {
    const worker = workers.get(thread)
    void worker?.terminate()
    return worker !== undefined
  }
  return process.kill(pid, 'SIGKILL')
}

function blocked(name: string): HarvestError {
  return threadBlocked({ case: name }, 'to give it more time: `timeout:` in the case, in milliseconds')
}

function died(name: string, after: string): HarvestError {
  return new HarvestError('HARVEST_WORKER_DIED', {
    what: 'The worker of this case ended before the case did',
    where: { case: name, ended: after },
    why: 'It ran out of memory, was killed from outside (such as by the memory limit of a container), or the agent ended its process.',
    fix: [
      `to run it alone: npx vitest run ${shellWord(name)}`,
      'to give it more memory: NODE_OPTIONS=--max-old-space-size=4096',
      "to isolate it from other cases: harvest({ isolate: 'worker' })",
    ],
  })
}
