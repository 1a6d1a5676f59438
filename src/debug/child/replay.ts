import inspector from 'node:inspector'
import { Worker } from 'node:worker_threads'
import { HarvestError } from '../../errors/index.ts'
import { real } from '../../seam/intercept/index.ts'
import { outsideRuns } from '../../seam/source.ts'
import type { Drift, ReplayOptions } from '../../match/types.ts'
import type { GateItem } from '../../match/delivery.ts'
import { replayTape } from '../../replay/index.ts'
import type { Tape } from '../../tape/index.ts'
import { asked, stopWhenAsked } from './hold.ts'
import type { ChildNews, ChildOrder } from './messages.ts'
import { ownFile, ownFolder } from '../../own-files.ts'

/** A replay that a debugger leads. */
export interface LedReplay {
  readonly tape: Tape
  /** Loads the agent, ready to be replayed. */
  readonly load: () => Promise<(input: unknown) => unknown>
  readonly options: ReplayOptions
  /** Where the debugger listens. */
  readonly socket: string
}

/**
 * Replays a tape as the debugger at the other end of the socket says: on to an answer, which is kept back, and on from there.
 * While an answer is kept back the process waits in the event loop and nothing of the run goes on.
 */
export async function replayForDebugger({ tape, load, options, socket }: LedReplay): Promise<void> {
  // Before the agent is loaded, and without our flags: the thread is no part of the run.
  const worker = await startWorker(socket)
  // Some of it is said while the agent asks, and is no message of the agent.
  const say = (news: ChildNews): void => outsideRuns(() => worker.postMessage(news))
  const begun = Promise.withResolvers<void>()
  let until = Number.POSITIVE_INFINITY
  let release: (() => void) | undefined
  // While an answer is kept back, nothing else may keep the process.
  const keepAlive = real.setTimeout(() => {}, 2 ** 31 - 1)
  worker.on('message', ({ go, inspect }: ChildOrder) => {
    if (inspect !== undefined) {
      if (inspector.url() === undefined) inspector.open(inspect, '127.0.0.1')
      say({ port: inspector.url() ?? '' })
    }
    if (go === undefined) return
    until = go.until ?? Number.POSITIVE_INFINITY
    stopWhenAsked(go.stop ?? -1)
    begun.resolve()
    release?.()
    release = undefined
  })
  worker.unref()
  const before = (burst: readonly GateItem[]): Promise<void> | undefined => {
    const last = Math.max(...burst.map(({ n, more = 0 }) => n + more))
    if (last < until) return undefined
    say({ held: last })
    return new Promise((resolve) => (release = resolve))
  }
  try {
    const agent = await load()
    say({ ready: { root: ownFolder.href, pid: process.pid, rss: process.memoryUsage.rss() } })
    await begun.promise
    const onAsked = ({ number }: { readonly number: number }): void => asked(number)
    const onDrift = ({ policy, stepNumber: step, part }: Drift): void => {
      if (policy !== 'report') say({ differs: { step, part } })
    }
    const settings = { ...options, before, onAsked, onDrift }
    const { problems, comparison, outcome } = await replayTape(tape, agent, settings)
    say({
      done: {
        problems: problems.map(({ message }) => message.split('\n', 1)[0] ?? ''),
        comparison,
        status: outcome.status,
      },
    })
  } catch (error) {
    if (!HarvestError.is(error)) throw error
    say({ failed: { code: error.code, facts: error.facts } })
  } finally {
    real.clearTimeout(keepAlive)
  }
  // Until the debugger has read it and ends us.
  worker.ref()
  await new Promise<void>((resolve) => worker.once('exit', () => resolve()))
}

function startWorker(socket: string): Promise<Worker> {
  const worker = outsideRuns(
    () => new Worker(ownFile('debug/child/worker'), { workerData: { socket }, execArgv: [], env: {} }),
  )
  // Without it this process has no leader, and does not hear that the debugger is gone.
  const end = (): void => void process.kill(process.pid, 'SIGKILL')
  return new Promise((up, failed) => {
    worker.once('message', () => {
      up(worker)
      worker.off('error', failed).once('error', end).once('exit', end)
    })
    worker.once('error', failed)
  })
}
