/** A stretch of a run: from moment `n` to moment `end`. */
export interface Span {
  readonly n: number
  readonly end: number
  /** Only spans of one level are compared: a tool call and what happens inside it always overlap. */
  readonly level: number
}

/** Spans named per span; the rest is counted. */
const namedAtMost = 4

/**
 * For each span, which others were under way at the same time: the nearest by index, and how many.
 *
 * @param spans - in the order of `n`
 */
export function overlaps(
  spans: readonly Span[],
): readonly { readonly near: readonly number[]; readonly count: number }[] {
  const found = spans.map(() => ({ near: [] as number[], count: 0 }))
  const open = new Map<number, number[]>()
  for (const [index, { n, level }] of spans.entries()) {
    const running = (open.get(level) ?? []).filter((other) => (spans[other]?.end ?? 0) > n)
    // From the nearest one backwards, so that those named are the nearest.
    for (const other of running.toReversed()) {
      for (const [one, with_] of [
        [found[index], other],
        [found[other], index],
      ] as const) {
        if (one === undefined) continue
        one.count++
        if (one.near.length < namedAtMost) one.near.push(with_)
      }
    }
    open.set(level, [...running, index])
  }
  return found.map(({ near, count }) => ({ near: near.sort((a, b) => a - b), count }))
}
