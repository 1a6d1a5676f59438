import { parentPort } from 'node:worker_threads'
import { blameEngine } from './engine.ts'
import { measureCell } from './measure.ts'
import type { CellResult, CellOrder } from './pool.ts'

// A thread of the pool: measures one cell after the other.
parentPort?.on('message', (order: CellOrder) => {
  const deliver = (delivery: CellResult): void => parentPort?.postMessage(delivery)
  measureCell(order.cell, order.tapes, order.seed, blameEngine).then(
    (measured) => deliver({ measured }),
    (error: unknown) => deliver({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
