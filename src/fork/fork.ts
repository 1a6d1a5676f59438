import { HarvestError } from '../errors/index.ts'
import { twiceTheTime } from '../errors/words.ts'
import { requireNoSlowRule } from '../privacy/index.ts'
import * as problem from '../playback/problems.ts'
import { lastTurns } from '../replay/last-turns.ts'
import { compareOutcome, readOut } from '../replay/replay.ts'
import type { RunOutcome } from '../match/types.ts'
import {
  closeIdleConnections,
  forgetRuns,
  installInterceptors,
  refusalOfLoaded,
  watchOutside,
} from '../seam/intercept/index.ts'
import { seamState } from '../seam/source.ts'
import { requireGrade } from '../tape/grade.ts'
import type { Tape } from '../tape/index.ts'
import { asOnBranch, branchOf } from './branch.ts'
import { compilePlan } from './compile.ts'
import { ForkRun } from './fork-run.ts'
import type { ForkOptions, ForkPlan, ForkResult } from './plan.ts'
import { leftTape } from './prefix.ts'
import { noteSent } from './sent-headers.ts'
import { fingerprintOfFork } from './branch-digest.ts'

/**
 * Runs an agent that parts from its tape: the first steps are answered as recorded, and must be asked for as recorded;
 * from there on the run is free, and the plan's tail answers.
 *
 * The kept steps cost nothing. With an offline tail the same plan gives the same run, byte for byte, and no time passes;
 * with a live tail, time is real from the last kept answer on. Never throws for what the agent or the tape did: the result
 * says it. A result with `prefix.divergence` says nothing about the change.
 *
 * @param agent - called with the recorded input, or with the changed one
 * @throws HarvestError `HARVEST_FORK_PLAN`, `HARVEST_FORK_DECIDE`, `HARVEST_PATCH_PATH` for a plan this tape cannot have;
 * `HARVEST_TAPE_GRADE`
 */
export async function forkTape<T>(
  tape: Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  plan: ForkPlan,
  options: ForkOptions = {},
): Promise<ForkResult<T>> {
  requireGrade(tape.header, 'replay')
  const compiled = compilePlan(plan.control?.tape ?? tape, plan)
  installInterceptors()
  closeIdleConnections()
  const ended = Promise.withResolvers<never>()
  const run = new ForkRun(tape, compiled, options, (error) => ended.reject(error))
  const { signal } = options
  const abort = (): void => void run.giveUp(problem.givenUp(run.place(), signal?.reason, twiceTheTime(signal?.reason)))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  const unwatch = watchOutside(run.root)
  const refused = refusalOfLoaded(run.root)
  const outcome = await Promise.race([refused ? Promise.reject(refused) : attempt(run, agent), ended.promise]).then(
    (value): RunOutcome<T> => ({ status: 'returned', value }),
    (error: unknown): RunOutcome<T> => ({ status: 'threw', error }),
  )
  unwatch()
  signal?.removeEventListener('abort', abort)
  conclude(run)
  run.finish()
  forgetRuns((other) => other.over)
  return resultOf(run, outcome)
}

async function attempt<T>(run: ForkRun, agent: (input: unknown) => T | PromiseLike<T>): Promise<T> {
  const given = run.given.give()
  run.look()
  run.gate.kick()
  const value = await seamState().runs.run(run.root, async () => {
    try {
      return await readOut(await agent(given))
    } finally {
      run.given.ended()
    }
  })
  // Requests made just before the answer are still on their way to the interceptors: they are part of the run.
  await lastTurns(run, 20, () => run.steps.some(({ taken }) => !taken) && !run.departed)
  return value
}

/** A run that ended before it had taken the kept steps left its tape as well. */
function conclude(run: ForkRun): void {
  if (run.divergence !== undefined || run.hasKept()) return
  const isGivenUp = run.problems.some((error) => HarvestError.is(error, 'HARVEST_RUN_ABORTED'))
  if (!isGivenUp) run.diverged(leftTape.byEnding(run.place(), run.kept))
}

function resultOf<T>(run: ForkRun, outcome: RunOutcome<T>): ForkResult<T> {
  const { tape, gate, draws, steps, kept } = run
  requireNoSlowRule(tape)
  // Redacting takes time in proportion to the answer: once is enough.
  const ended = run.encodeEnd(outcome.status === 'returned' ? outcome.value : outcome.error)
  const isSame = compareOutcome(() => ended, run.asked.close?.outcome, outcome)
  const free = steps.slice(run.plan.keep)
  const branch = branchOf(run, { status: outcome.status, ended }, isSame === true)
  noteSent(branch.tape, run.sent, run.redactor)
  const { divergence } = run
  return {
    tape,
    outcome,
    problems: run.problems,
    drift: run.drift,
    escapes: run.outside.escapes,
    listed: run.outside.listed,
    // The run is free behind its kept steps: what it does not ask for there is no fault.
    transcoded: [],
    unused: kept.filter(({ taken }) => !taken).map(({ event }) => event),
    ranForReal: [...run.ranForReal],
    notCompared: [],
    ...(run.leftAt === undefined ? {} : { leftAt: run.leftAt }),
    ...(run.waitsForModel ? { waitsForModel: true } : {}),
    events: branch.tape.events,
    redactedOutcome: asOnBranch(branch.tape, ended),
    comparison: {
      recorded: steps.length,
      served: run.served,
      covered: steps.filter((step) => step.taken && !step.served).length,
      identical: run.identical,
      deliveries: gate.deliveries,
      relaxed: gate.relaxed,
      timersFired: gate.timersFired,
      drawsServed: draws.served,
      drawsMissed: draws.missed,
      outcomeEqual: isSame,
    },
    prefix: {
      steps: kept.filter(({ taken }) => taken).length,
      isExact: divergence === undefined && run.hasKept(),
      ...(divergence === undefined ? {} : { divergence }),
    },
    unheld: steps.flatMap(({ number, taken }) => (run.plan.modes?.[number] === 'held' && !taken ? [number] : [])),
    spent: run.budget?.total ?? { modelCalls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 },
    isInert: isSame !== false && !run.isOther && run.problems.length === 0 && free.every(({ taken }) => taken),
    fingerprint: fingerprintOfFork(run, { status: outcome.status, ended }),
    branch,
  }
}
