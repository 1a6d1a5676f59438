import type { Yields } from '../seam/shape.ts'
import { decodeValue, type Outcome } from '../tape/index.ts'

/**
 * Reads an async generator to its end, or as far as its reader went when it was recorded: a recorded run is the iteration.
 *
 * @param recorded - how the recorded run ended; absent: it is read to its end
 */
export async function readYields(source: AsyncGenerator<unknown>, recorded?: Outcome): Promise<Yields> {
  const limit = stoppedAfter(recorded) ?? Infinity
  const yielded: unknown[] = []
  while (yielded.length < limit) {
    const { done, value } = await source.next()
    if (done === true) return { yielded, ...(value !== undefined && { returned: value as unknown }) }
    yielded.push(value)
  }
  await source.return(undefined)
  return { yielded, stopped: true }
}

/** How many pieces were read when the reader stopped. */
function stoppedAfter(recorded: Outcome | undefined): number | undefined {
  if (recorded?.status !== 'returned' || recorded.value === undefined) return undefined
  const { yielded, stopped } = (decodeValue(recorded.value) ?? {}) as Partial<Yields>
  return stopped === true && Array.isArray(yielded) ? yielded.length : undefined
}
