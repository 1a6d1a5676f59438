import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bar, Bench, BenchContext } from '../kit/contract.ts'
import { Child } from './children.ts'
import { measureMemory } from './memory.ts'
import { measureRecorders } from './recorders.ts'
import { measureServices } from './services.ts'

const bench: Bench = {
  question: 'What does recording cost a service?',
  async run(context) {
    // Where a service has its inbox, too: making a file in a temp folder that all of a machine shares can take much longer.
    const folder = mkdtempSync(join(import.meta.dirname, '.tapes-'))
    const provider = await Child.start<{ port: number }>('provider.ts', [])
    try {
      return await measure(context, folder, `http://127.0.0.1:${provider.said.port}`)
    } finally {
      provider.child.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
export default bench

/** Folders of one bench, each used once. */
export type Folders = (name: string) => string

async function measure(context: BenchContext, folder: string, provider: string): ReturnType<Bench['run']> {
  const folders: Folders = (name) => {
    const dir = join(folder, name)
    mkdirSync(dir)
    return dir
  }
  const services = await measureServices(context, folders, provider)
  const recorders = await measureRecorders(context, folders, provider)
  const memory = await measureMemory(context, folders, provider)
  const bars: Bar[] = [...services.bars, ...recorders.bars, ...memory.bars]
  return {
    tables: [...services.tables, ...recorders.tables, ...memory.tables],
    bars,
    remarks: [
      'A model that answers at once is the worst case; the bars are read on it. The row of 50 ms is a model as quick as models are.',
      'A sampled run costs what a kept one does: whether it is kept is decided when it ends.',
      'undici: its SnapshotAgent keeps everything in memory and writes once, when it is closed; so does agent-test-recorder.',
    ],
  }
}
