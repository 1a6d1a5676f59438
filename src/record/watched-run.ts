import { currentFlags, formatVersion, type Json, type TapeClose, type TapeEvent } from '../tape/index.ts'
import type { RunAccount } from './run-stats.ts'
import type { WatchedRun } from './watch.ts'

/** A run that is over as it is asked for what happened in it: no tape, nothing of it is written. */
export function watchedRun(
  { run: id, agent }: RunAccount,
  events: readonly TapeEvent[],
  input: Json | undefined,
  end: Pick<TapeClose, 'n' | 'at' | 'outcome'>,
): WatchedRun {
  return {
    header: {
      harvest: formatVersion,
      id,
      agent,
      startedAt: '',
      recorder: '',
      flags: currentFlags,
      pins: { node: process.versions.node },
      ...(input === undefined ? {} : { input }),
    },
    events,
    close: { kind: 'close', events: events.length, ...end },
  }
}
