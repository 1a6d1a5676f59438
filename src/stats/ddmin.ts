/**
 * A smallest part of a list that still passes, of which no element can be left out: halves first, then what is left over
 * without a part, then finer parts.
 *
 * @param items - a list that passes
 * @returns `items` itself, when nothing can be left out
 * @see Zeller and Hildebrandt, IEEE TSE 28 (2002) 183–200
 */
export async function ddmin<T>(items: readonly T[], passes: (part: readonly T[]) => Promise<boolean>): Promise<T[]> {
  let part = [...items]
  let pieces = 2
  while (part.length >= 2) {
    const chunks = chunksOf(part, pieces)
    const smaller = (await firstThatPasses(chunks, passes)) ?? (await firstThatPasses(rests(part, chunks), passes))
    if (smaller === undefined) {
      if (pieces >= part.length) return part
      pieces = Math.min(part.length, pieces * 2)
    } else {
      pieces = chunks.includes(smaller) ? 2 : Math.max(2, pieces - 1)
      part = smaller
    }
  }
  return part
}

async function firstThatPasses<T>(
  parts: readonly T[][],
  passes: (part: readonly T[]) => Promise<boolean>,
): Promise<T[] | undefined> {
  for (const part of parts) if (await passes(part)) return part
  return undefined
}

/** The list without each of its parts; of two parts the rest is the other one. */
function rests<T>(list: readonly T[], chunks: readonly T[][]): T[][] {
  if (chunks.length <= 2) return []
  return chunks.map((chunk) => list.filter((item) => !chunk.includes(item)))
}

function chunksOf<T>(list: readonly T[], pieces: number): T[][] {
  return Array.from({ length: pieces }, (_, i) =>
    list.slice(Math.floor((i * list.length) / pieces), Math.floor(((i + 1) * list.length) / pieces)),
  ).filter((chunk) => chunk.length > 0)
}
