import type { PlacedPlaceholder } from './placeholders.ts'
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
  standing: readonly PlacedPlaceholder[],
): readonly TextRange[] {
  if (spans.length === 1 && standing.length === 0) return spans
  // The sort is stable: the one found first stays before the other.
  const ordered = isInOrder(spans) ? spans : spans.toSorted(byPlace)
  const kept: TextRange[] = []
  for (const span of ordered) {
    const first = standing[firstEndingAfter(standing, span.start)]
    if (first !== undefined && first.start <= span.start && span.end <= first.end) continue
    const last = standing[firstEndingAfter(standing, span.end - 1)]
    // A placeholder is never cut in two.
    const start = first === undefined ? span.start : Math.min(span.start, first.start)
    const end = last === undefined || last.start >= span.end ? span.end : last.end
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
function firstEndingAfter(standing: readonly PlacedPlaceholder[], at: number): number {
  let low = 0
  let high = standing.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (standing[middle]!.end > at) high = middle
    else low = middle + 1
  }
  return low
}

function stretched(text: string, span: TextRange, start: number, end: number): TextRange {
  return start === span.start && end === span.end ? span : { ...span, start, end, value: text.slice(start, end) }
}
