import { rmSync, writeFileSync } from 'node:fs'
import type { Beat } from '../jobs/index.ts'
import { seamState } from '../seam/source.ts'

/** Says each second that this thread is free, and how long a run may block it. */
export function startBeat(file: string): { readonly allow: (ms: number) => void; end(): void } {
  const { setTimeout: start, clearTimeout: stop } = seamState().natives
  let limitMs = 0
  let timer: NodeJS.Timeout | undefined
  const say = (): void => writeFileSync(file, JSON.stringify({ limitMs, pid: process.pid } satisfies Beat))
  const beat = (): void => {
    if (limitMs > 0) say()
    timer = start(beat, 1_000).unref()
  }
  beat()
  return {
    allow(ms) {
      limitMs = Math.max(limitMs, ms)
      say()
    },
    end() {
      stop(timer)
      rmSync(file, { force: true })
    },
  }
}
