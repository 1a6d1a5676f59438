import { replayForDebugger } from '../debug/child/replay.ts'
import { guardLoading, installReplay, standInKeys } from '../replay/index.ts'
import type { ReplayOptions } from '../replay/index.ts'
import { readTape } from '../tape/index.ts'
import { loadAgent } from './load-agent.ts'

/*
 * The program `debug --module` starts: replays a tape as the debugger says. A process of its own, which is ended and never
 * goes back.
 */
const { tape: file, spec, options, socket } = take()
const tape = readTape(file)
await replayForDebugger({
  tape,
  options,
  socket,
  load: async () => {
    await installReplay()
    standInKeys(tape)
    return guardLoading(() => loadAgent(spec), options.allow)
  },
})

interface Given {
  readonly tape: string
  readonly spec: string
  readonly options: ReplayOptions
  readonly socket: string
}

/** Programs the agent starts must not think that they are this one. */
function take(): Given {
  const given = process.env['VITEST_HARVEST_DEBUG']
  delete process.env['VITEST_HARVEST_DEBUG']
  if (given === undefined) throw new TypeError('this file is started by npx vitest-harvest debug')
  return JSON.parse(given) as Given
}
