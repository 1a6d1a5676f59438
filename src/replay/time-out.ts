import { HarvestError } from '../errors/index.ts'
import * as problem from '../playback/problems.ts'
import type { ReplayRun } from './run.ts'
import type { ExchangeState } from '../match/step.ts'

/**
 * Notes that the client gives up a request of which the tape has the answer, because a timer fired that did not when the
 * run was recorded. What the client makes of it, and tries next, is a consequence.
 */
export function noteTimeOut(run: ReplayRun, step: ExchangeState, madeAt: Error | undefined): void {
  const { lastFired } = run.gate
  const { response, error, aborted } = step.event
  if (lastFired === undefined || lastFired.isRecorded || aborted || !(response?.end || error)) return
  const { step: n } = lastFired.waitedFor ?? {}
  const missing = n === undefined ? undefined : run.steps.find(({ event }) => event.n === n)
  run.problem(problem.timedOut(run.place(madeAt), step, lastFired.ms, missing))
}

/**
 * The agent threw: if a time-out was the reason, what it threw is what came of that. Clients of `node:http` tell their
 * caller before they let go of the request, so the run may be over before anything is seen of it.
 */
export function linkTimeOut(run: ReplayRun, thrown: unknown): void {
  if (run.problems.length === 0)
    for (const step of run.steps)
      if (isExchange(step) && step.taken && !step.answered) noteTimeOut(run, step, undefined)
  const found = run.problems.find((one) => HarvestError.is(one, 'HARVEST_CLOCK'))
  if (found === undefined || HarvestError.is(thrown)) return
  Object.defineProperty(found, 'cause', { value: thrown, configurable: true, writable: true, enumerable: false })
}

function isExchange(step: ReplayRun['steps'][number]): step is ExchangeState {
  return step.event.kind === 'exchange'
}
