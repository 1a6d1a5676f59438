// Makes the recorder of the service, loaded before all else as docs/production.md says: node --import production.ts service.ts HOW PROVIDER [FOLDER]
import { resolve } from 'node:path'
import type { createRecorder } from '../../src/record/index.ts'

/**
 * `off` does not load the recorder; `armed` has one that is told of no run; `lines` has that and writes by itself, see lines.ts;
 * `sampled` keeps one run in twenty.
 */
export type How = 'off' | 'armed' | 'lines' | 'recorded' | 'sampled'

export const [how = 'off', provider = '', dir = ''] = process.argv.slice(2) as [How, string, string]
export const recorder = how === 'off' ? undefined : await record()

async function record(): Promise<ReturnType<typeof createRecorder>> {
  const door = (await import(resolve(import.meta.dirname, '../../dist/record/index.js'))) as {
    createRecorder: typeof createRecorder
  }
  return door.createRecorder({ dir, commit: '4f2a9c1', ...(how === 'sampled' ? { sample: 0.05 } : {}) })
}
