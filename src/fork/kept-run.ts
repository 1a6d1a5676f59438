import { replayTape, standInKeys } from '../replay/index.ts'
import { bodyTextOf } from '../match/step.ts'
import type { UnansweredCall } from '../match/types.ts'
import { parseTape, requestBytes, type Step, stepsOf, type Tape, wholeTape } from '../tape/index.ts'
import type { ControlOptions } from './control.ts'
import type { ForkResult } from './plan.ts'
import { timeLimit } from './time-limit.ts'

/** What a fork did, for a later session that wants to know whether the code still does it. */
export interface KeptRun {
  /** Text of its tape: all events, or those before it asked what no answer was there for. */
  readonly tape: string
  /** It left its tape, or something else kept it from being judged. */
  readonly hasProblems: boolean
  /** What it asked when it left its tape; absent: it did not, or that is unknown. */
  readonly refused?: AskedCall
}

type AskedCall = Pick<UnansweredCall, 'asked' | 'kind' | 'name'>

/**
 * What tools found that ran for real is given, as what the models said is: it may be another time within a session, too.
 *
 * @returns `undefined` where a replay says nothing about the run: a time limit ended it
 */
export function keptRunOf({ branch, problems }: ForkResult): KeptRun | undefined {
  if (problems.some(({ code }) => code === 'HARVEST_RUN_ABORTED')) return undefined
  const { tape } = branch
  // What is thrown at an agent that leaves its tape names the tape: what it does behind that says nothing.
  const refused = problems.length === 0 ? undefined : stepsOf(tape).find(isOpen)
  if (refused === undefined) return { tape: wholeTape(tape), hasProblems: problems.length > 0 }
  const before = tape.events.filter(({ n }) => n < refused.n)
  return { tape: wholeTape({ ...tape, events: before }), hasProblems: true, refused: askedBy(refused) }
}

function isOpen(step: Step): boolean {
  return step.error === undefined && (step.kind === 'exchange' ? step.response : step.settled) === undefined
}

function askedBy(step: Step): AskedCall {
  const { kind } = step
  return kind === 'exchange'
    ? { kind, name: `${step.method} ${step.url}`, asked: bodyTextOf(requestBytes(step)) }
    : { kind, name: step.name, asked: JSON.stringify(step.args) }
}

/**
 * The run again, where today's code, in today's surroundings, does what it did in a fork: replayed with the answers of the
 * fork it asks the same, byte for byte, and ends the same. Offline, and for free.
 */
export async function sameAgain(run: KeptRun, options: Replaying): Promise<Replayed | undefined> {
  const tape = parseTape(run.tape, 'kept.tape.jsonl')
  const again = async (): Promise<Replayed | undefined> => {
    const replayed = await replayOnce(tape, options)
    return isSame(replayed, run) ? replayed : undefined
  }
  // Once is no proof: a machine may be too busy for its time limit.
  return (await again()) ?? (await again())
}

/** How a run is replayed. */
export type Replaying = Pick<ControlOptions, 'hangMs' | 'load' | 'replay' | 'signal' | 'timeoutMs'>

export type Replayed = Awaited<ReturnType<typeof replayTape>>

/** Replays a tape with the agent loaded afresh, offline and within its time. */
export async function replayOnce(
  tape: Tape,
  { load, replay = {}, timeoutMs = 120_000, signal = new AbortController().signal, hangMs }: Replaying,
): Promise<Replayed> {
  using limit = timeLimit({ timeoutMs, signal })
  const takeBack = standInKeys(tape)
  const given = { signal: limit.signal, ...(hangMs === undefined ? {} : { hangMs }) }
  try {
    return await replayTape(tape, await load(), { ...replay, ...given })
  } finally {
    takeBack()
  }
}

function isSame(
  { problems, drift, unused, unanswered = [], transcoded, comparison }: Replayed,
  { hasProblems, refused }: KeptRun,
): boolean {
  const { identical, served, outcomeEqual } = comparison
  if (unused.length + transcoded.length > 0 || identical < served) return false
  if (refused !== undefined)
    return unanswered.some(
      (call) => call.kind === refused.kind && call.name === refused.name && call.asked === refused.asked,
    )
  // In another order everything that is asked has its answer all the same.
  const isJudged = problems.every(({ code }) => code === 'HARVEST_ORDER')
  // How far an answer was read is chance where a client gives it up, as one that tries again does.
  const isOther = drift.some(({ class: kind }) => kind !== 'awaits')
  return !isOther && isJudged === !hasProblems && (hasProblems || outcomeEqual === true)
}
