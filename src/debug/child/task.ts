import type { Task } from '../../jobs/index.ts'
import { standInKeys } from '../../replay/index.ts'
import { replayForDebugger } from './replay.ts'

/** Replays for a debugger in the project's own Vitest. */
export const debugTask: Task = async (options, { tape, load, replay }) => {
  const { socket } = options as { readonly socket: string }
  const takeBack = standInKeys(tape)
  try {
    await replayForDebugger({ tape, load: () => load(), options: replay, socket })
  } finally {
    takeBack()
  }
  return null
}
