import { asyncGenerator } from '../seam/async-generator.ts'
import type { Observer } from '../seam/observe/observer.ts'
import type { Yields } from '../seam/shape.ts'
import { seamState } from '../seam/source.ts'
import { encodeValue } from '../tape/index.ts'
import { endUnread } from './unread.ts'

type Ended = (outcome: YieldsEnd) => PromiseLike<void> | void

/** How an async generator ended. */
export type YieldsEnd =
  | { readonly status: 'returned'; readonly value: Yields }
  | { readonly status: 'threw'; readonly error: unknown }

/**
 * The same async generator, heard: nothing of its body has run when an agent hands it on, so the run is its iteration.
 *
 * Its body runs in the run, whoever asks for the next piece. `ended` is called when it ended, or will not be asked any more.
 * Once or more. Whoever asked waits for what it returns.
 *
 * @param cap - bytes that are kept of what it yields; the run of one that yields more is incomplete
 */
export function hearYields(
  source: AsyncGenerator<unknown>,
  run: Observer,
  cap: number,
  ended: Ended,
): AsyncGenerator<unknown> {
  const yielded: unknown[] = []
  let size = 0
  const keep = (piece: unknown): void => {
    if (size > cap) return
    size += sizeOf(piece)
    if (size <= cap) return void yielded.push(piece)
    yielded.length = 0
    run.unrecorded(`what the agent yielded, more than ${Number((cap / 2 ** 20).toPrecision(2))} MB`)
  }
  const stopped = () => ended({ status: 'returned', value: { yielded, stopped: true } })
  const ask = async (step: () => Promise<IteratorResult<unknown>>, isGivenUp = false) => {
    begun()
    try {
      const answer = await seamState().runs.run(run, step)
      const { done, value } = answer
      if (done !== true) {
        keep(value)
        return answer
      }
      const all = { yielded, ...(value !== undefined && { returned: value }) }
      const waits = isGivenUp ? stopped() : ended({ status: 'returned', value: all })
      if (waits !== undefined) await waits
      return answer
    } catch (error) {
      const waits = ended({ status: 'threw', error })
      if (waits !== undefined) await waits
      throw error
    }
  }
  const heard = asyncGenerator({
    next: (...given) => ask(() => source.next(...given)),
    return: (value) => ask(() => source.return(value), true),
    throw: (error) => ask(() => source.throw(error)),
  })
  const begun = endUnread(heard, () => void stopped())
  return heard
}

/** As it will stand on the tape. */
function sizeOf(piece: unknown): number {
  return typeof piece === 'string' ? piece.length : JSON.stringify(encodeValue(piece)).length
}
