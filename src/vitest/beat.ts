import { rmSync, writeFileSync } from 'node:fs'
import { url as inspectorUrl } from 'node:inspector'
import type { Beat } from '../jobs/index.ts'
import { seamState } from '../seam/source.ts'

/** Says each second that this thread is free, and how long a run may block it. */
export function startBeat(file: string): { readonly allow: (ms: number) => void; end(): void } {
  const { setTimeout: start, clearTimeout: stop } = seamState().natives
  let limitMs = 0
  let timer: NodeJS.Timeout | undefined
  // A breakpoint of a debugger may block it as long as it likes.
  const say = (): void =>
    inspectorUrl() === undefined
      ? writeFileSync(file, JSON.stringify({ limitMs, pid: process.pid } satisfies Beat))
      : rmSync(file, { force: true })
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
