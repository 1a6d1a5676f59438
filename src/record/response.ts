import type { Observer } from '../seam/observe/observer.ts'
import { seamState } from '../seam/source.ts'
import { endUnread } from './unread.ts'

/** How the reading of a body ended; with its bytes where it was read to its end. */
export type BodyEnd =
  | { readonly status: 'read'; readonly bytes?: Uint8Array }
  | { readonly status: 'failed'; readonly error: unknown }

/**
 * The same response with a body that is heard: a handler of the Fetch API returns before the model has answered, and
 * the run goes on while the server reads.
 *
 * What is read behind the body happens in the run, whoever reads it. `ended` is called when the body was read, failed,
 * was given up by its reader, or will not be read: it was collected, or the process ends. Once or more. Whoever reads waits for
 * what it returns.
 *
 * @param cap - bytes that are kept of it
 * @returns `undefined` for a response that cannot be made again; it is untouched
 */
export function hearBody(response: Response, run: Observer, cap: number, ended: Ended): Response | undefined {
  const inRun = <T>(work: () => T): T => seamState().runs.run(run, work)
  const reader = inRun(() => response.body!.getReader())
  const pieces: Uint8Array[] = []
  let size = 0
  let begun = (): void => undefined
  const heard = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        begun()
        try {
          const { done, value } = await inRun(() => reader.read())
          if (!done) {
            // What is no bytes is no body, and fails whoever reads it as one.
            size += value instanceof Uint8Array ? value.byteLength : Infinity
            // A copy: whoever reads may take the memory over.
            if (size <= cap) pieces.push(value.slice())
            else pieces.length = 0
            return controller.enqueue(value)
          }
          const waits = ended({ status: 'read', ...(size <= cap && { bytes: Buffer.concat(pieces) }) })
          if (waits !== undefined) await waits
          controller.close()
        } catch (error) {
          const waits = ended({ status: 'failed', error })
          if (waits !== undefined) await waits
          controller.error(error)
        }
      },
      async cancel(reason) {
        begun()
        try {
          await inRun(() => reader.cancel(reason))
        } finally {
          await ended({ status: 'read' })
        }
      },
    },
    // Nothing is read before someone asks for it.
    { highWaterMark: 0 },
  )
  try {
    const again = new Response(heard, response)
    begun = endUnread(heard, () => void ended({ status: 'read' }))
    return again
  } catch {
    // A class of its own, a status no constructor takes: the body stays whole, what is behind it is not recorded.
    reader.releaseLock()
    return undefined
  }
}

type Ended = (end: BodyEnd) => PromiseLike<void> | void
