import { argsByKey } from './args.ts'
import { compareTraces, type TraceComparison } from './compare.ts'
import { type RunOfTape, traceOf, traceOfRun } from './trace-of.ts'
import type { ExpectedTrace, MatchOptions, Trace } from './types.ts'

/**
 * Compares the calls of a replay that found nothing out of order with a baseline. Where they are those of the tape, to the last argument, their causal order
 * is the recorded one: the replay looked at it, and knows which calls may change places or be made one after the other.
 */
export function compareReplay(expected: ExpectedTrace, run: RunOfTape, options: MatchOptions = {}): TraceComparison {
  const [recorded, now] = [traceOf(run.tape.events), traceOfRun(run)]
  const compared = compareTraces(expected, now, options)
  if (compared.equal || (options.trace ?? 'causal') !== 'causal') return compared
  if (!compareTraces(asExpected(recorded), now, { trace: 'unordered', args: 'exact' }).equal) return compared
  const asRecorded = compareTraces(expected, recorded, options)
  return asRecorded.equal ? asRecorded : compared
}

function asExpected({ layers }: Trace): ExpectedTrace {
  return { layers: layers.map((layer) => layer.map(({ name, args }) => ({ name, args: argsByKey(args) }))) }
}
