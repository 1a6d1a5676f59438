import { replayTape, standInKeys } from '../replay/index.ts'
import { parseTape, type Tape, wholeTape } from '../tape/index.ts'
import type { ControlOptions } from './control.ts'
import type { ForkResult } from './plan.ts'
import { timeLimit } from './time-limit.ts'

/** What a fork did, for a later session that wants to know whether the code still does it. */
export interface KeptRun {
  /** Text of its tape, with all events. */
  readonly tape: string
  /** It left its tape, or something else kept it from being judged. */
  readonly hasProblems: boolean
}

/**
 * @returns `undefined` where a replay says nothing about the run: the code of a tool ran, which a replay answers from the tape,
 * or a time limit ended it
 */
export function keptRunOf({ branch, problems, ranForReal }: ForkResult): KeptRun | undefined {
  const isCut = problems.some(({ code }) => code === 'HARVEST_RUN_ABORTED')
  return isCut || ranForReal.length > 0 ? undefined : { tape: wholeTape(branch.tape), hasProblems: problems.length > 0 }
}

/**
 * Whether today's code, in today's surroundings, does what it did in a fork: replayed with the answers of the fork it asks
 * the same, byte for byte, and ends the same. Offline, and for free.
 */
export async function doesAgain(
  { tape: text, hasProblems }: KeptRun,
  options: Pick<ControlOptions, 'load' | 'replay' | 'signal' | 'timeoutMs'>,
): Promise<boolean> {
  const tape = parseTape(text, 'kept.tape.jsonl')
  const again = async (): Promise<boolean> => isSame(await replayOnce(tape, options), hasProblems)
  // Once is no proof: a machine may be too busy for its time limit.
  return (await again()) || (await again())
}

type Replayed = Awaited<ReturnType<typeof replayTape>>

async function replayOnce(
  tape: Tape,
  { load, replay = {}, timeoutMs = 120_000, signal = new AbortController().signal }: Parameters<typeof doesAgain>[1],
): Promise<Replayed> {
  using limit = timeLimit({ timeoutMs, signal })
  const takeBack = standInKeys(tape)
  try {
    return await replayTape(tape, await load(), { ...replay, signal: limit.signal })
  } finally {
    takeBack()
  }
}

function isSame(
  { problems, drift, unused, transcoded, ranForReal, comparison }: Replayed,
  hasProblems: boolean,
): boolean {
  const { identical, served, outcomeEqual } = comparison
  const isAsked = drift.length + unused.length + transcoded.length + ranForReal.length === 0 && identical === served
  // In another order everything that is asked has its answer all the same.
  const isJudged = problems.every(({ code }) => code === 'HARVEST_ORDER')
  // What is thrown at an agent that leaves its tape names the tape: there the end says nothing.
  return isAsked && isJudged === !hasProblems && (hasProblems || outcomeEqual === true)
}
