import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { type ErrorCode, type ErrorFacts, HarvestError } from '../../errors/index.ts'
import type { MeasuredRun, RunOrder } from './measure.ts'
import { ownFile } from '../../own-files.ts'

/** What a worker gets: a run to measure, or that there are no more. */
export type RunMessage = RunOrder | 'close'

/** What a worker says. */
export type RunDelivery =
  | { readonly measured: MeasuredRun }
  | { readonly closed: true }
  | { readonly failed: { readonly code: ErrorCode; readonly facts: ErrorFacts } | { readonly text: string } }

export interface RunPoolOptions {
  /** Folder whose SDK is used. */
  readonly project: string
  /** Threads. Default: one per processor. */
  readonly threads?: number
  /** Called as runs are done. */
  readonly say?: (done: number, all: number, order: RunOrder) => void
}

/**
 * Plants, records and blames runs on all processors, in the order they are given.
 *
 * @returns one per order, in their order
 * @throws HarvestError of a run that did not come about, or `HARVEST_VALIDATE_WORKER`
 */
export async function measureRuns(
  orders: readonly RunOrder[],
  { project, say, ...options }: RunPoolOptions,
): Promise<readonly MeasuredRun[]> {
  const measured: MeasuredRun[] = []
  const queue = [...orders.entries()]
  let done = 0
  const threads = Math.max(1, Math.min(options.threads ?? availableParallelism(), queue.length))
  const workers = Array.from(
    { length: threads },
    () => new Worker(ownFile('validation/harness/worker'), { workerData: { project } }),
  )
  const work = async (worker: Worker): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [index, order] = next
      const delivery = await tell(worker, order)
      if (!('measured' in delivery)) throw notMeasured(order, delivery)
      measured[index] = delivery.measured
      say?.(++done, orders.length, order)
    }
  }
  const ended = await Promise.allSettled(workers.map(work))
  // Each leaves its own folder and server behind it, no matter what went wrong.
  await Promise.allSettled(workers.map((worker) => tell(worker, 'close')))
  await Promise.all(workers.map((worker) => worker.terminate()))
  const failure = ended.find((one) => one.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  return measured
}

function tell(worker: Worker, message: RunMessage): Promise<RunDelivery> {
  const { promise, resolve, reject } = Promise.withResolvers<RunDelivery>()
  const onExit = (code: number): void => reject(new Error(`the thread ended with code ${code}`))
  worker.once('message', resolve).once('error', reject).once('exit', onExit)
  worker.postMessage(message)
  return promise.finally(() => worker.off('message', resolve).off('error', reject).off('exit', onExit))
}

function notMeasured({ family, seed, steps }: RunOrder, delivery: RunDelivery): HarvestError {
  const failed = 'failed' in delivery ? delivery.failed : { text: 'The thread had been closed.' }
  if ('code' in failed) return new HarvestError(failed.code, failed.facts)
  return new HarvestError('HARVEST_VALIDATE_WORKER', {
    what: 'Cannot measure a run with an injected fault',
    where: { family, seed: `${seed}`, steps: `${steps}` },
    why: failed.text,
    fix: ['this is an internal error: please report it with the text above'],
  })
}
