/** A stretch of a run: from moment `n` to moment `end`. */
export interface StepInterval {
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
  spans: readonly StepInterval[],
): readonly { readonly near: readonly number[]; readonly count: number }[] {
  const found = spans.map(() => ({ near: [] as number[], count: 0 }))
  const open = new Map<number, number[]>()
  for (const [index, { n, level }] of spans.entries()) {
    const running = (open.get(level) ?? []).filter((other) => spans[other]!.end > n)
    const mine = found[index]!
    mine.count = running.length
    mine.near.push(...running.slice(-namedAtMost))
    for (const other of running) {
      const theirs = found[other]!
      theirs.count++
      if (theirs.near.length < namedAtMost) theirs.near.push(index)
    }
    running.push(index)
    open.set(level, running)
  }
  return found
}
