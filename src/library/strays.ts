import { AsyncLocalStorage } from 'node:async_hooks'
import { isOwnStray, type Stray, unhandled } from '../playback/problems.ts'
import type { HarvestError } from '../errors/index.ts'
import { real } from '../seam/intercept/index.ts'
import type { Tape } from '../tape/index.ts'

/** Turns of the event loop in which what was started last may still fail. */
const lastTurns = 4

const contexts = new AsyncLocalStorage<Stray[]>()
let replays = 0

const rejected = (error: unknown): void => heard('unhandledRejection', { kind: 'rejected', error })
const threw = (error: unknown): void => heard('uncaughtException', { kind: 'threw', error })

/** Keeps what belongs to a replay, and throws the rest if no other listener is there. */
function heard(event: 'uncaughtException' | 'unhandledRejection', stray: Stray): void {
  const strays = contexts.getStore()
  if (strays !== undefined) strays.push(stray)
  else if (process.listenerCount(event) === 1) throw stray.error
}

/** Runs a replay, and returns what no code of the agent could catch as problems: thrown in a callback, or rejected. */
export async function withStrays<T>(
  tape: Tape,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly strays: readonly HarvestError[] }> {
  const strays: Stray[] = []
  if (replays++ === 0) process.on('unhandledRejection', rejected).on('uncaughtException', threw)
  try {
    const result = await contexts.run(strays, work)
    for (let turn = 0; turn < lastTurns; turn++) await new Promise<void>((resolve) => real.setImmediate(resolve))
    const own = strays.filter(isOwnStray)
    return { result, strays: own.map((stray) => unhandled({ tape: tape.header.id }, stray, tape)) }
  } finally {
    if (--replays === 0) process.off('unhandledRejection', rejected).off('uncaughtException', threw)
  }
}
