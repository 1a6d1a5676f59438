import { type TraceDifference, differencesOf } from './differences.ts'
import { lineUp } from './line-up.ts'
import { createMatcher } from './matcher.ts'
import { renderReport } from './report.ts'
import { bothTexts } from './texts.ts'
import type { ExpectedTrace, MatchOptions, Trace } from './types.ts'

/** What comparing a run with its baseline found. */
export interface TraceComparison {
  readonly equal: boolean
  /** First in causal order first; empty exactly when equal. */
  readonly differences: readonly TraceDifference[]
  /** The first causal difference. */
  readonly first?: TraceDifference
  /**
   * One call per line, `∥` before those concurrent with the line above where the mode looks at that. Calls that agree
   * read the same in both.
   */
  readonly expectedText: string
  readonly actualText: string
  /** For people: what differs, the first difference first, then the calls around it. At most about 60 lines. */
  readonly report: string
}

/**
 * Compares a run with its baseline.
 *
 * - `causal` (default): the same calls in the same causal order; the order of concurrent calls means nothing.
 * - `strict`: the same, and concurrent calls arrived in the order the baseline has them.
 * - `sequence`: the same calls in the order they were made, each as if it had waited for the one before. That two were
 *   asked for at once means nothing.
 * - `unordered`: the same calls, in any order.
 * - `subset`: every call made is expected; expected calls may be left out.
 * - `superset`: every expected call was made; others may be too.
 *
 * Pairs are found by maximum matching, so a wildcard never takes the only call another expected one could have had.
 *
 * **Gotchas**: what a baseline spells out counts: `refund(amount: 25)` asks for that value under `keys` too. Only
 * `ignore` looks at no argument.
 *
 * @throws HarvestError `HARVEST_MATCH_MODE` for a mode there is not
 */
export function compareTraces(expected: ExpectedTrace, actual: Trace, options: MatchOptions = {}): TraceComparison {
  const matcher = createMatcher(options)
  const groups = lineUp(expected, actual, matcher)
  const differences = differencesOf(groups, matcher)
  const [first] = differences
  return {
    equal: first === undefined,
    differences,
    ...(first === undefined ? {} : { first }),
    ...bothTexts(groups, matcher),
    report: renderReport(groups, differences, matcher),
  }
}
