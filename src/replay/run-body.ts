import { HarvestError } from '../errors/index.ts'
import { canonicalJson } from '../providers/index.ts'
import { captureStack } from '../seam/caller.ts'
import { isQuery } from '../seam/queries.ts'
import { argumentsOf, isAsyncIterable, isThenable } from '../seam/shape.ts'
import { type SeamCall, type RunContext, seamState } from '../seam/source.ts'
import { decodeValue, encodeValue, isCut, type Json, lateFlag } from '../tape/index.ts'
import { answer } from './answer.ts'
import { watchArguments } from './changed-args.ts'
import { decoderFor } from './cut.ts'
import { lastTurns } from './last-turns.ts'
import { type RequestDifference, firstDifference } from '../match/difference.ts'
import { thrownText } from '../match/redact-message.ts'
import { comparedFacts, isSameError } from './same-error.ts'
import { isGivenUp } from '../playback/order.ts'
import { presentArgs, presentValue } from '../tape/present.ts'
import type { ReplayRun } from './run.ts'
import type { CallState } from '../match/step.ts'

/** How the body of a wrapped function ended. */
type Answered =
  | { readonly how: 'returned'; readonly value: unknown; readonly pieces?: readonly Json[]; readonly last?: Json }
  | { readonly how: 'threw'; readonly error: unknown; readonly pieces?: readonly Json[] }

/** A query would run when it is awaited, without what the agent builds first. */
type Ending = Answered | { readonly how: 'query' }

/** What the agent goes on with. */
export interface RanBody {
  /** The value or error itself where it is the recorded one; else the recorded one, so that the rest is judged by itself. */
  readonly outcome: () => unknown
  /** Compares what the body made of its arguments, once the agent gets the answer. */
  readonly compareArguments: () => void
}

/**
 * Runs the body of a recorded call and compares the result with what is on the tape.
 *
 * @param start - begins the body inside the run
 * @returns at once when the body answered at once and so it did when recorded
 */
export function runBody(
  run: ReplayRun,
  call: SeamCall,
  step: CallState,
  args: Json,
  body: (args?: readonly unknown[]) => unknown,
  view: RunContext,
): RanBody | Promise<RanBody> {
  const madeAt = call.definedAt ?? captureStack()
  // Other arguments are reported as such; what the body makes of the recorded ones can still be compared. It may tell a member
  // that is `undefined` from an absent one: then what it is given now decides.
  const isSame = canonicalJson(presentArgs(step.event.args)) === canonicalJson(presentArgs(args))
  const given = isSame || isCut(step.event.args) ? undefined : listOf(decodeValue(step.event.args))
  const inside = <T>(work: () => T): T => seamState().runs.run(view, work)
  const compareArguments = watchArguments(
    run,
    call,
    step,
    given === undefined ? call.args[0] : argumentsOf(given),
    madeAt,
  )
  const end = (ending: Ending): RanBody => ({
    outcome: outcomeOf(run, call, step, ending, madeAt),
    compareArguments,
  })
  const ended = async (ending: Ending): Promise<RanBody> => {
    run.bodyAwaits.ended(step, run.gate)
    // What it made last and did not wait for is not left out.
    await lastTurns(run, bodyTurns, () => run.isAsking(step))
    return end(ending)
  }
  run.bodyAwaits.runs(step)
  let value: unknown
  try {
    value = inside(() => body(given))
  } catch (error) {
    return end({ how: 'threw', error })
  }
  if (step.event.yields !== undefined) return piecesOf(run, step, value, inside).then(ended)
  if (isQuery(value)) return end({ how: 'query' })
  if (!isThenable(value)) return end({ how: 'returned', value })
  const settled = Promise.resolve(value).then(
    (result): Answered => ({ how: 'returned', value: result }),
    (error: unknown): Answered => ({ how: 'threw', error }),
  )
  return settled.then(ended)
}

/** Turns of the event loop in which requests made just before the end get to the interceptors. */
const bodyTurns = 20

function listOf(args: unknown): readonly unknown[] {
  return Array.isArray(args) ? args : [args]
}

/** Reads as many pieces as were read when recorded, and the end where that was read: else the tape does not say if there were more. */
async function piecesOf(
  run: ReplayRun,
  step: CallState,
  given: unknown,
  inside: <T>(work: () => T) => T,
): Promise<Answered> {
  const pieces: Json[] = []
  try {
    const value: unknown = isThenable(given) ? await given : given
    if (!isAsyncIterable(value)) return { how: 'returned', value, pieces }
    const source = value[Symbol.asyncIterator]()
    const { yields = [], error } = step.event
    // A recorder that does not write this flag did not say either where the reading ended.
    const saysStopped = run.tape.header.flags.includes(lateFlag)
    const isWhole = error !== undefined || (saysStopped && step.event.settled !== undefined && !isGivenUp(step))
    while (pieces.length < yields.length || isWhole) {
      const next = await inside(() => source.next())
      if (next.done === true) return { how: 'returned', value, pieces, last: run.encode(next.value) }
      pieces.push(run.encode(next.value))
      if (pieces.length > yields.length) break
    }
    await inside(() => source.return?.())
    return { how: 'returned', value, pieces }
  } catch (error) {
    return { how: 'threw', error, pieces }
  }
}

function outcomeOf(run: ReplayRun, call: SeamCall, step: CallState, ending: Ending, madeAt: Error): () => unknown {
  const { event } = step
  run.bodyEnded(step, call.name, madeAt)
  const recorded = (): unknown =>
    event.yields === undefined ? answer(event, decoderFor(run, step), call.revive) : undefined
  // What was refused inside of the body is a problem of its own, and the cause.
  if (ending.how === 'threw' && isRefusal(ending.error)) return recorded
  if (ending.how === 'query') {
    run.noteHidden(run.hidden.ofQuery(), step)
    return recorded
  }
  const difference = differenceOf(run, step, ending)
  if (difference === undefined) {
    const { yields = [], result, error } = event
    const given = [...yields.map(([, , piece]) => piece), result, error]
    run.noteHidden(
      given.flatMap((value) => run.hidden.ofCut('result', value)),
      step,
    )
    if (event.yields !== undefined) return recorded
    return () => {
      if (ending.how === 'threw') throw ending.error
      return ending.value
    }
  }
  run.drifted(step, madeAt, { class: 'results', part: call.name, ...difference })
  return recorded
}

/** Whether it was thrown for what a replay refuses. */
export function isRefusal(error: unknown): boolean {
  return (
    HarvestError.is(error) ||
    (typeof error === 'object' && error !== null && 'cause' in error && isRefusal(error.cause))
  )
}

function differenceOf(run: ReplayRun, step: CallState, ending: Answered): RequestDifference | undefined {
  const { event } = step
  const pieces =
    event.yields === undefined
      ? undefined
      : firstDifference(
          event.yields.map(([, , value]) => presentValue(value)),
          (ending.pieces ?? []).map(presentValue),
          'pieces',
        )
  if (pieces) return pieces
  if (ending.how === 'threw') {
    const live = run.encode(ending.error)
    if (event.error === undefined)
      return { path: '', recorded: 'returned', live: `threw ${thrownText(ending.error, run.tape)}` }
    if (isSameError(event.error, live)) return undefined
    const [before, now] = [errorFacts(event.error), errorFacts(live)]
    return (
      firstDifference(before, now, 'error') ??
      firstDifference(comparedFacts(event.error), comparedFacts(live), 'error') ?? {
        path: 'error',
        recorded: 'another error',
        live: thrownText(ending.error, run.tape),
      }
    )
  }
  if (event.error !== undefined)
    return {
      path: '',
      recorded: `threw ${thrownText(decodeValue(event.error), run.tape)}`,
      live: `returned ${shown(run, ending)}`,
    }
  if (event.yields !== undefined) {
    const { result = encodeValue(undefined) } = event
    return ending.last === undefined || isGivenUp(step)
      ? undefined
      : firstDifference(presentValue(result), presentValue(ending.last), 'result')
  }
  const recorded = presentValue(event.result ?? encodeValue(undefined))
  const live = presentValue(run.encodeAs(ending.value, () => [event.result ?? null]))
  return canonicalJson(recorded) === canonicalJson(live) ? undefined : firstDifference(recorded, live, 'result')
}

function shown(run: ReplayRun, { value }: Extract<Ending, { how: 'returned' }>): string {
  return JSON.stringify(run.encode(value)).slice(0, 120)
}

function errorFacts(json: Json): Json {
  const { $type, name, message, fields } = (json ?? {}) as { readonly [key: string]: Json }
  if ($type !== 'error') return json
  const { code } = (fields ?? {}) as { readonly code?: Json }
  return { name: name ?? null, message: message ?? null, ...(code === undefined ? {} : { code }) }
}
