import type { PlacedPlaceholders } from './placeholders.ts'
import type { TextRange } from './types.ts'

/**
 * The spans to replace, in order and apart from each other. Where two overlap the one that begins first wins,
 * then the longer, then what is known by itself over what is known by its surroundings, then the one found first;
 * it is stretched over what the other had beyond it. What is a placeholder already stays, unless a secret goes beyond it.
 *
 * @param standing - placeholders in the text, in order
 */
export function settle(
  text: string,
  spans: readonly TextRange[],
  { starts, ends }: PlacedPlaceholders,
): readonly TextRange[] {
  if (spans.length === 1 && starts.length === 0) return spans
  // The sort is stable: the one found first stays before the other.
  const ordered = isInOrder(spans) ? spans : spans.toSorted(byPlace)
  const kept: TextRange[] = []
  for (const span of ordered) {
    const first = firstEndingAfter(ends, span.start)
    const firstStart = starts[first] ?? Infinity
    if (firstStart <= span.start && span.end <= ends[first]!) continue
    const last = firstEndingAfter(ends, span.end - 1)
    // A placeholder is never cut in two.
    const start = Math.min(span.start, firstStart)
    const end = (starts[last] ?? Infinity) >= span.end ? span.end : ends[last]!
    const before = kept.at(-1)
    if (before === undefined || start >= before.end) kept.push(stretched(text, span, start, end))
    else if (end > before.end) kept[kept.length - 1] = stretched(text, before, before.start, end)
  }
  return kept
}

function byPlace(a: TextRange, b: TextRange): number {
  return a.start - b.start || b.end - a.end || Number(a.contextual ?? false) - Number(b.contextual ?? false)
}

function isInOrder(spans: readonly TextRange[]): boolean {
  for (let at = 1; at < spans.length; at++) if (byPlace(spans[at - 1]!, spans[at]!) > 0) return false
  return true
}

/** Index of the first placeholder that ends after `at`; there may be none. */
function firstEndingAfter(ends: readonly number[], at: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ends[middle]! > at) high = middle
    else low = middle + 1
  }
  return low
}

function stretched(text: string, span: TextRange, start: number, end: number): TextRange {
  return start === span.start && end === span.end ? span : { ...span, start, end, value: text.slice(start, end) }
}
