import { HarvestError, neutralLine } from '../errors/index.ts'
import type { SerializedError } from '../fork/index.ts'
import { canonicalJson } from '../json/canonical.ts'
import { blockedIn, calledText, isRefused, refusedIn } from '../live/off-tape.ts'
import type { Tape } from '../tape/index.ts'
import { KnownRuns, hasAnswerTo } from './known-good.ts'
import { unansweredIn } from './off-tape.ts'
import type { Oracle } from './oracle.ts'
import { askedOf, callText } from './positions.ts'
import type { KnownRun } from './types.ts'

/** What a run asked for that nothing has an answer to. */
export interface RefusedCall {
  /** For people: `refund(amount: 25)`, or the method and address of a service. */
  readonly text: string
  /** The name of the function that would answer it; absent: a service was asked. */
  readonly tool?: string
  /** By {@link askedOf}. */
  readonly asked: string
}

/** Each of them once, in the order in which they were refused. What no recorder sees is left out: no run has answers to it. */
export function refusedCalls(branch: Tape, parent: Tape, problems: readonly SerializedError[]): readonly RefusedCall[] {
  const open = unansweredIn(branch, parent).flatMap((step) => (step.kind === 'exchange' ? [] : [step]))
  const refused = problems.flatMap(({ code, message }): readonly RefusedCall[] => {
    const said = code === 'HARVEST_NOT_RECORDED' && blockedIn(message) === undefined ? refusedIn(message) : undefined
    if (said === undefined) return []
    const call = open.find((one) => isRefused(calledText(one), message))
    if (call !== undefined) return [{ text: callText(call), tool: call.name, asked: askedOf(call) }]
    // The data of a service is not kept where it was refused: without any, this is all that was asked.
    return [{ text: neutralLine(said, 100), asked: canonicalJson([...said.split(' '), '']) }]
  })
  return [...new Map(refused.map((one) => [one.asked, one])).values()]
}

/** What of it neither a run that is given nor functions that are given answer. */
export function stillRefused(
  calls: readonly RefusedCall[],
  { reference, tools }: { readonly reference?: Tape | undefined; readonly tools?: object | undefined },
): readonly RefusedCall[] {
  return calls.filter(
    ({ tool, asked }) =>
      !(reference !== undefined && hasAnswerTo(reference, new Set([asked]))) &&
      !(tool !== undefined && tools !== undefined && Object.hasOwn(tools, tool)),
  )
}

/**
 * The first good run that has an answer to one of them.
 *
 * @param given - the run that answers already: it is no proposal
 * @returns what a command finds it by
 */
export async function runThatAnswers(
  calls: readonly RefusedCall[],
  known: readonly KnownRun[],
  { tape, oracle, given }: { readonly tape: Tape; readonly oracle: Oracle; readonly given: Tape | undefined },
): Promise<string | undefined> {
  const asked = new Set(calls.map((call) => call.asked))
  if (asked.size === 0) return undefined
  const fits = (one: Tape): boolean => one.digest !== given?.digest && hasAnswerTo(one, asked)
  try {
    return (await new KnownRuns(known, tape, oracle).good(fits, fits))?.name
  } catch (error) {
    // Runs were paid for by now, and a function that cannot grade another one says nothing of them.
    if (HarvestError.is(error)) return undefined
    throw error
  }
}
