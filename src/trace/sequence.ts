import type { ArgsMatcher } from './matcher.ts'
import type { ExpectedTrace, Trace } from './types.ts'

/**
 * A run as a mode looks at it. Under `sequence` each call is a layer of its own, in the order the calls were made:
 * layers are by cause, and a call without one stands in the first however late it was made.
 */
export function runFor({ mode }: ArgsMatcher, run: Trace): Trace {
  if (mode !== 'sequence') return run
  const calls = run.layers.flat().toSorted((a, b) => a.n - b.n)
  return { layers: calls.map((call) => [call]) }
}

/** A baseline as a mode looks at it. Under `sequence` each call is a layer of its own, in the order they are listed. */
export function baselineFor({ mode }: ArgsMatcher, baseline: ExpectedTrace): ExpectedTrace {
  return mode === 'sequence' ? { layers: baseline.layers.flat().map((call) => [call]) } : baseline
}
