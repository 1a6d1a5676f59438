import { unkeptHeader } from '../match/hidden-part.ts'
import { outcomeNotCompared } from '../tape/index.ts'
import { describeTranscoded } from './transcode.ts'
import type { Compared, ReplayResult } from '../match/types.ts'

/** What is looked at: a result, or the part of one that left its process. */
export interface ExactFacts
  extends Pick<ReplayResult, 'drift' | 'escapes' | 'notCompared' | 'transcoded' | 'comparison'> {
  readonly unused: readonly unknown[]
}

/**
 * Why a replay is not its tape bit for bit, one line each; empty when it is. What was not compared is not exact, no matter what
 * the options say about it. Problems are reported by the caller: they have messages of their own.
 */
export function inexactParts({ drift, escapes, notCompared, transcoded, comparison }: ExactFacts): readonly string[] {
  const { recorded, covered, identical, relaxed, drawsMissed, outcomeEqual, messages, marks, states } = comparison
  return [
    ...(identical + covered < recorded
      ? [`${recorded - covered - identical} of ${recorded} steps were not asked byte for byte as recorded`]
      : []),
    ...drift.map((one) => `${one.class} drift at step ${one.stepNumber}${one.path === '' ? '' : `, ${one.path}`}`),
    ...notAsRecorded('messages between agents', messages),
    ...notAsRecorded('marks', marks),
    ...notAsRecorded('states', states),
    ...transcoded.map(describeTranscoded),
    // Clients send such headers, or stop to, from one version to the next.
    ...notCompared
      .filter(({ kind }) => kind !== unkeptHeader)
      .map(
        ({ kind, path, stepNumber }) =>
          `not compared: ${kind}${stepNumber === undefined ? '' : ` at step ${stepNumber}`}, ${path}`,
      ),
    ...escapes.map(({ kind, target }) => `reached ${kind} ${target}`),
    ...(drawsMissed > 0 ? [`${drawsMissed} reads of clock, random or ids were not the recorded ones`] : []),
    ...(relaxed > 0 ? [`${relaxed} answers came out of recorded order`] : []),
    ...(outcomeEqual === false ? ['the outcome is not the recorded one'] : []),
    ...(outcomeEqual === null ? [`the outcome was ${outcomeNotCompared}`] : []),
  ]
}

function notAsRecorded(what: string, compared: Compared | undefined): readonly string[] {
  if (compared === undefined || (compared.same === compared.recorded && compared.other === 0)) return []
  const { recorded, same, other } = compared
  return [`${same} of ${recorded} ${what} are as recorded${other > 0 ? `, and ${other} other` : ''}`]
}
