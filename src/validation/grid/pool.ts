import { Worker } from 'node:worker_threads'
import { availableParallelism } from 'node:os'
import { HarvestError } from '../../errors/index.ts'
import type { Cell } from './cells.ts'
import type { MeasuredCell } from './measure.ts'
import { ownFile } from '../../own-files.ts'

/** What a worker gets: a cell to measure. */
export interface CellOrder {
  readonly cell: Cell
  readonly tapes: number
  readonly seed: number
}

/** What a worker sends: the result of the cell, or why it has no result. */
export type CellResult = { readonly measured: MeasuredCell } | { readonly failed: string }

export interface PoolOptions {
  readonly seed: number
  /** How many of its tapes a cell is measured with. */
  readonly tapesOf: (cell: Cell) => number
  /** Threads. Default: one per processor. */
  readonly threads?: number
  /** Called when a cell is done. */
  readonly say?: (done: number, all: number, cell: Cell) => void
}

/**
 * Measures cells on all processors, in the order they were given.
 *
 * @throws HarvestError `HARVEST_VALIDATE_WORKER` when a cell could not be measured
 */
export async function measureCells(cells: readonly Cell[], options: PoolOptions): Promise<readonly MeasuredCell[]> {
  const measured = new Map<string, MeasuredCell>()
  // The long ones first: at the end no processor waits for another.
  const queue = cells.toSorted((a, b) => weightOf(b) - weightOf(a))
  const threads = Math.max(1, Math.min(options.threads ?? availableParallelism(), queue.length))
  const workers = Array.from({ length: threads }, () => new Worker(ownFile('validation/grid/worker')))
  const work = async (worker: Worker): Promise<void> => {
    for (let cell = queue.shift(); cell !== undefined; cell = queue.shift()) {
      const order: CellOrder = { cell, tapes: options.tapesOf(cell), seed: options.seed }
      measured.set(cell.id, await deliveryOf(worker, order))
      options.say?.(measured.size, cells.length, cell)
    }
  }
  try {
    await Promise.all(workers.map(work))
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
  return cells.flatMap(({ id }) => measured.get(id) ?? [])
}

function weightOf({ length, noise }: Cell): number {
  return noise === 'exact' ? length / 100 : length
}

function deliveryOf(worker: Worker, order: CellOrder): Promise<MeasuredCell> {
  const { promise, resolve, reject } = Promise.withResolvers<MeasuredCell>()
  const onMessage = (delivery: CellResult): void => {
    if ('measured' in delivery) resolve(delivery.measured)
    else reject(notMeasured(order, delivery.failed))
  }
  const onError = (error: Error): void => reject(notMeasured(order, error.stack ?? error.message))
  worker.once('message', onMessage).once('error', onError)
  worker.postMessage(order)
  return promise.finally(() => worker.off('message', onMessage).off('error', onError))
}

function notMeasured({ cell, seed }: CellOrder, why: string): HarvestError {
  return new HarvestError('HARVEST_VALIDATE_WORKER', {
    what: 'Cannot measure a cell of the validation',
    where: { cell: cell.id, seed: `${seed}` },
    why,
    fix: ['this is an internal error: please report it with the text above'],
  })
}
