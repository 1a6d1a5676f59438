import { argsByKey } from './args.ts'
import { renderFor } from './baseline.ts'
import { renderExpected } from './call-text.ts'
import { type LayerPair, isOrdered, type Placed } from './line-up.ts'
import { counted, type ArgsMatcher } from './matcher.ts'
import type { ExpectedCall, TraceCall } from './types.ts'

/** One line of the two traces laid over each other. */
export interface Line {
  /** On both sides, in the baseline only, or in the run only. */
  readonly side: 'both' | 'expected' | 'actual'
  readonly text: string
}

/** Both traces as texts for a line diff: calls that agree are written alike, as the baseline has them. */
export function bothTexts(
  groups: readonly LayerPair[],
  matcher: ArgsMatcher,
): { expectedText: string; actualText: string } {
  const lines = groups.flatMap((group) => linesOf(group, matcher))
  const textOf = (side: 'expected' | 'actual'): string =>
    lines
      .filter((line) => line.side === 'both' || line.side === side)
      .map(({ text }) => text)
      .join('\n')
  return { expectedText: textOf('expected'), actualText: textOf('actual') }
}

/** The calls of a group: those that agree, then what is only expected, then what was only made. */
export function linesOf(group: LayerPair, matcher: ArgsMatcher): readonly Line[] {
  const kept = group.pairs.map(({ expected, actual }) => ({ expected, actual, text: renderExpected(expected.call) }))
  const isInOrder = kept.every(({ actual }, i) => i === 0 || actual.position > (kept[i - 1]?.actual.position ?? -1))
  const missing = matcher.mode === 'subset' ? [] : group.missing.map(({ call }) => renderExpected(call))
  const made = matcher.mode === 'superset' ? [] : group.extra.map((right) => renderNear(right, group, matcher))
  // A function may refuse what reads the same: a line diff has to show that something is wrong there.
  const extra = made.map((text) => (missing.includes(text) ? `${text}  (refused)` : text))
  if (matcher.mode === 'strict' && !isInOrder) return strictLines(kept, missing, extra)
  return concurrent(
    [
      ...kept.map(({ text }): Line => ({ side: 'both', text })),
      ...missing.map((text): Line => ({ side: 'expected', text })),
      ...extra.map((text): Line => ({ side: 'actual', text })),
    ],
    matcher,
  )
}

/** A layer whose calls came in another order: the two orders one after the other. */
function strictLines(
  kept: readonly { readonly actual: Placed<TraceCall>; readonly text: string }[],
  missing: readonly string[],
  extra: readonly string[],
): readonly Line[] {
  const arrived = [...kept].sort((a, b) => a.actual.position - b.actual.position)
  const side = (name: 'expected' | 'actual', texts: readonly string[]): Line[] =>
    texts.map((text, index) => ({ side: name, text: index === 0 ? text : `∥ ${text}` }))
  return [
    ...side('expected', [...kept.map(({ text }) => text), ...missing]),
    ...side('actual', [...arrived.map(({ text }) => text), ...extra]),
  ]
}

/** Marks every call after the first of its layer, on either side. */
function concurrent(lines: readonly Line[], matcher: ArgsMatcher): readonly Line[] {
  if (!isOrdered(matcher)) return lines
  const common = lines.filter(({ side }) => side === 'both').length
  const seen = { both: 0, expected: 0, actual: 0 }
  return lines.map((line) => {
    const isFirst = seen[line.side]++ === 0 && (line.side === 'both' || common === 0)
    return isFirst ? line : { side: line.side, text: `∥ ${line.text}` }
  })
}

/** A call that was not expected, written with the values its nearest expected call spells out. */
function renderNear(right: Placed<TraceCall>, { missing }: LayerPair, matcher: ArgsMatcher): string {
  const left = missing.find(({ call }) => call.name === right.call.name)
  return left === undefined ? renderFor(right.call, matcher) : renderLike(left.call, right.call, matcher)
}

/**
 * A call written as its rules have it, but with a value for every key that the expected call gives one, and without
 * where the expected call has the key alone.
 */
export function renderLike(expected: ExpectedCall, call: TraceCall, matcher: ArgsMatcher): string {
  const rule = matcher.ruleFor(call.name)
  if (rule.mode === 'custom' || rule.mode === 'ignore' || expected.args === '*') return renderFor(call, matcher)
  const { args } = expected
  const given = argsByKey(call.args)
  const members = counted(Object.keys(given), rule).map((key) => {
    const isSpelledOut = Object.hasOwn(args, key) ? args[key] !== undefined : rule.mode !== 'keys'
    return [key, isSpelledOut ? given[key] : undefined] as const
  })
  return renderExpected({ name: call.name, args: Object.fromEntries(members) })
}
