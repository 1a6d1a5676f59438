import { parentPort, workerData } from 'node:worker_threads'
import { HarvestError } from '../../errors/index.ts'
import { blameEngine } from '../grid/engine.ts'
import { measureRun } from './measure.ts'
import type { RunDelivery, RunMessage } from './pool.ts'
import { openStage } from './stage.ts'

// A thread of the pool: plants, records and blames one run after the other, on a stage of its own.
const { project } = workerData as { readonly project: string }
const stage = openStage(project)

parentPort?.on('message', (message: RunMessage) => {
  const deliver = (delivery: RunDelivery): void => parentPort?.postMessage(delivery)
  work(message).then(deliver, (error: unknown) =>
    deliver({
      failed: HarvestError.is(error)
        ? { code: error.code, facts: error.facts }
        : { text: (error as Error).stack ?? String(error) },
    }),
  )
})

async function work(message: RunMessage): Promise<RunDelivery> {
  const open = await stage
  if (message !== 'close') return { measured: await measureRun(open, blameEngine, message) }
  await open.close()
  parentPort?.close()
  return { closed: true }
}
