import type { ForkResult } from '../fork/index.ts'
import { canonicalJson } from '../json/canonical.ts'
import { type Json, type Step, stepsOf } from '../tape/index.ts'
import { askedOf, decisionOf, type PlacedPosition } from './positions.ts'
import { answerText } from './reference-run.ts'
import type { ForkDraw } from './types.ts'

/**
 * What became of the first position that a fork resampled: where its answer is the recorded one, the position is not why the
 * fork ended otherwise.
 *
 * @param recorded - the steps of the tape
 */
export function firstOf(
  result: ForkResult,
  { all }: PlacedPosition,
  recorded: readonly Step[],
): NonNullable<ForkDraw['first']> {
  const now = stepsOf(result).slice(result.prefix.steps)
  const became = all.map((number, index) => {
    const own = recorded[number - 1]
    return own === undefined ? 'question' : becameOf(own, now, index)
  })
  return became.find((one) => one === 'answer') ?? became.find((one) => one === 'question') ?? 'same'
}

/** Whether a run asked at a position what was asked on the tape. */
export function isAskedAlike(
  result: ForkResult,
  place: PlacedPosition | undefined,
  recorded: readonly Step[],
): boolean {
  const now = stepsOf(result).slice(result.prefix.steps).map(askedOf)
  return (place?.all ?? []).every((number) => {
    const own = recorded[number - 1]
    return own !== undefined && now.includes(askedOf(own))
  })
}

function becameOf(own: Step, now: readonly Step[], index: number): NonNullable<ForkDraw['first']> {
  const decided = decidedIn(own)
  if (decided !== undefined) {
    // Its question may hold the time: what counts is what it decided.
    const other = now[index] === undefined ? undefined : decidedIn(now[index])
    return other === undefined ? 'question' : other === decided ? 'same' : 'answer'
  }
  const asked = askedOf(own)
  const other = now.find((step) => askedOf(step) === asked)
  return other === undefined ? 'question' : answerText(other) === answerText(own) ? 'same' : 'answer'
}

function decidedIn(step: Step): string | undefined {
  const decision = decisionOf(step)
  if (decision === undefined) return undefined
  const { text = '', toolCalls = [] } = decision.response ?? {}
  // Words beside calls are others each time.
  return canonicalJson(toolCalls.length > 0 ? callsIn(toolCalls) : text)
}

function callsIn(toolCalls: readonly { readonly name: string; readonly args?: unknown }[]): Json {
  return toolCalls.map(({ name, args = null }) => [name, args as Json])
}

/** What models decided behind the kept steps, in one text: the calls they asked for, or what they said where they asked for none. */
export function decidedBy(result: ForkResult): string {
  const responses = stepsOf(result)
    .slice(result.prefix.steps)
    .flatMap((step) => decisionOf(step)?.response ?? [])
  const calls = responses.flatMap(({ toolCalls }) => callsIn(toolCalls) as readonly Json[])
  return canonicalJson(calls.length > 0 ? calls : responses.map(({ text }) => text))
}
