import type { Task } from '../../jobs/index.ts'
import { replayForDebugger } from './replay.ts'

/** Replays for a debugger in the project's own Vitest. */
export const debugTask: Task = async (options, { tape, load, replay }) => {
  const { socket } = options as { readonly socket: string }
  await replayForDebugger({ tape, load: () => load(), options: replay, socket })
  return null
}
