import { asyncGenerator } from '../seam/async-generator.ts'
import type { Observer } from '../seam/observe/observer.ts'
import type { Yields } from '../seam/shape.ts'
import { seamState } from '../seam/source.ts'
import { endUnread } from './unread.ts'

type Ended = (outcome: YieldsEnd) => void

/** How an async generator ended. */
export type YieldsEnd =
  | { readonly status: 'returned'; readonly value: Yields }
  | { readonly status: 'threw'; readonly error: unknown }

/**
 * The same async generator, heard: nothing of its body has run when an agent hands it on, so the run is its iteration.
 *
 * Its body runs in the run, whoever asks for the next piece. `ended` is called when it ended, or will not be asked any more.
 * Once or more.
 */
export function hearYields(source: AsyncGenerator<unknown>, run: Observer, ended: Ended): AsyncGenerator<unknown> {
  const yielded: unknown[] = []
  const stopped = (): void => ended({ status: 'returned', value: { yielded, stopped: true } })
  const ask = async (step: () => Promise<IteratorResult<unknown>>, isGivenUp = false) => {
    begun()
    try {
      const answer = await seamState().runs.run(run, step)
      const { done, value } = answer
      if (done !== true) yielded.push(value)
      else if (isGivenUp) stopped()
      else ended({ status: 'returned', value: { yielded, ...(value !== undefined && { returned: value }) } })
      return answer
    } catch (error) {
      ended({ status: 'threw', error })
      throw error
    }
  }
  const heard = asyncGenerator({
    next: (...given) => ask(() => source.next(...given)),
    return: (value) => ask(() => source.return(value), true),
    throw: (error) => ask(() => source.throw(error)),
  })
  const begun = endUnread(heard, stopped)
  return heard
}
