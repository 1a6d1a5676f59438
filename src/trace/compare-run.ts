import type { TapeEvent } from '../tape/types.ts'
import { argsByKey } from './args.ts'
import { compareTraces, type TraceComparison } from './compare.ts'
import { layered } from './layers.ts'
import { placedCalls, traceOf } from './trace-of.ts'
import type { ExpectedTrace, MatchOptions, Trace } from './types.ts'

/** A replay whose order was found to be that of its tape. */
export interface InOrder {
  readonly tape: { readonly events: readonly TapeEvent[] }
  readonly events: readonly TapeEvent[]
}

/**
 * Compares the calls of a replay with a baseline. Searches only read: where they alone stand elsewhere than on the tape, and
 * the replay found nothing out of order, the causal order is the recorded one.
 */
export function compareReplay(
  expected: ExpectedTrace,
  { tape, events }: InOrder,
  options: MatchOptions = {},
): TraceComparison {
  const compared = compareTraces(expected, traceOf(events), options)
  if (compared.equal || (options.trace ?? 'causal') !== 'causal') return compared
  const areSame = (trace: (events: readonly TapeEvent[]) => Trace, mode: 'causal' | 'unordered'): boolean =>
    compareTraces(asExpected(trace(tape.events)), trace(events), { trace: mode, args: 'exact' }).equal
  if (!areSame(traceOf, 'unordered') || !areSame(withoutSearches, 'causal')) return compared
  const asRecorded = compareTraces(expected, traceOf(tape.events), options)
  return asRecorded.equal ? asRecorded : compared
}

function asExpected({ layers }: Trace): ExpectedTrace {
  return { layers: layers.map((layer) => layer.map(({ name, args }) => ({ name, args: argsByKey(args) }))) }
}

function withoutSearches(events: readonly TapeEvent[]): Trace {
  const searches = new Set(events.flatMap(({ kind, n }) => (kind === 'retrieval' ? [n] : [])))
  return { layers: layered(placedCalls(events).filter(({ call }) => !searches.has(call.n))) }
}
