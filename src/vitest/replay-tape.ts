import { inject } from 'vitest'
import { HarvestError } from '../errors/index.ts'
import { replayTape } from '../replay/index.ts'
import type { ReplayOptions, ReplayResult } from '../replay/types.ts'
import { readTape, requireClosed, type Tape } from '../tape/index.ts'
import type { HarvestProvided } from './channel.ts'

export interface HandReplayOptions extends ReplayOptions {
  /**
   * `throw` (default): the first problem is thrown, and an agent that throws where it returned when recorded (or the other
   * way round) is an error. `collect`: the result says it all, and the test has to look.
   */
  readonly problems?: 'throw' | 'collect'
}

/**
 * Replays a tape in a hand-written test.
 *
 * ```ts
 * const run = await replay('recordings/golden/refund-100x.tape.jsonl', (input) => refundAgent(input))
 * expect(run).toCall('refund', { amount: 25 })
 * ```
 *
 * What `harvest()` in the config says about drift, escapes and serving holds here too; `options` go first.
 *
 * @param tape - a tape, or the path of one, relative to the folder Vitest runs in
 * @param agent - called with the recorded input
 * @throws HarvestError the first problem of the replay, unless `problems: 'collect'`
 */
export async function replay<T>(
  tape: string | Tape,
  agent: (input: unknown) => T | PromiseLike<T>,
  options: HandReplayOptions = {},
): Promise<ReplayResult<T>> {
  const { problems: policy = 'throw', ...own } = options
  if (policy !== 'throw' && policy !== 'collect') throw unknownPolicy(policy)
  const whole = requireClosed(typeof tape === 'string' ? readTape(tape) : tape)
  const result = await replayTape(whole, agent, { ...configured(), ...own })
  const run = policy === 'throw' ? requireSound(result) : result
  results.add(run)
  return run
}

const results = new WeakSet<object>()

/** Whether a value came from {@link replay}. */
export function isReplayResult(value: unknown): value is ReplayResult {
  return typeof value === 'object' && value !== null && results.has(value)
}

function requireSound<T>(run: ReplayResult<T>): ReplayResult<T> {
  const [problem] = run.problems
  if (problem !== undefined) throw problem
  const recorded = run.tape.close?.outcome.status
  if (recorded === 'exited' || recorded === run.outcome.status) return run
  if (run.outcome.status === 'threw') throw run.outcome.error
  if (recorded === 'unknown') return run
  throw new HarvestError('HARVEST_OUTCOME_KIND', {
    what: 'The agent returned, and threw when this run was recorded',
    where: { tape: run.tape.header.id },
    fix: [`to look at the result all the same: replay(tape, agent, { problems: 'collect' })`],
  })
}

function configured(): ReplayOptions {
  // Absent in a project that does not have the plugin.
  const provided: HarvestProvided | undefined = inject('vitest-harvest')
  return provided?.settings.replay ?? {}
}

function unknownPolicy(policy: unknown): HarvestError {
  return new HarvestError('HARVEST_REPLAY_OPTION', {
    what: `A replay does not know problems: '${String(policy)}'`,
    where: { known: 'throw, collect' },
    fix: ['remove it, or correct the spelling'],
  })
}
