import { asyncGenerator } from '../seam/async-generator.ts'
import type { CallEvent, Json } from '../tape/index.ts'

/** A recorded piece of an answer, and when it is there. */
export interface RecordedPiece {
  readonly value: Json
  readonly opened: Promise<void>
}

/** What whoever hands the pieces out does about how they are read. */
export interface PieceOptions {
  readonly event: CallEvent
  readonly pieces: readonly RecordedPiece[]
  /** Makes a recorded value what it was. */
  readonly decode: (json: Json) => unknown
  /** The answer has ended, or its source has heard that the reading ended. */
  readonly ended: Promise<void>
  /** Whoever reads stops, or asks for more than is recorded: what the source made of that can happen now. */
  readonly onLeft?: (how: 'stops' | 'reads on') => void
  /** What `next()` is given when it is asked for the piece of this number, from 0. */
  readonly onTold?: (value: unknown, at: number) => void
  /** Fewer pieces were asked for than there are. */
  readonly onGivenUp?: (asked: number) => void
  /**
   * Gets a look at a reader that may leave without a word: how many pieces it asked for, if it has them all, neither waits for
   * another one nor has stopped.
   */
  readonly onOpen?: (idleAfter: () => number | undefined) => void
  /** More was asked for than the recorded agent read. */
  readonly onReadOn?: () => Error
}

const done: IteratorResult<unknown> = { done: true, value: undefined }

/** The recorded pieces of an answer as whoever reads finds them, with what the source returned or threw at the end. */
export function servedPieces(options: PieceOptions): AsyncGenerator<unknown> {
  const { event, pieces, ended, decode } = options
  const stopped = Promise.withResolvers<void>()
  let asked = 0
  let waiting = 0
  let isOver = false
  let isStopped = false
  options.onOpen?.(() => (isOver || isStopped || waiting > 0 ? undefined : asked))

  /** What the source made of it, where that is an error of its own. */
  const stop = async (): Promise<Error | undefined> => {
    if (isOver || isStopped) return undefined
    isStopped = true
    if (asked < pieces.length) options.onGivenUp?.(asked)
    options.onLeft?.('stops')
    stopped.resolve()
    // Whoever stops reading waits as well until the source has heard of it, if it did.
    if (event.settled) await ended
    return event.stopped && event.error !== undefined ? (decode(event.error) as Error) : undefined
  }
  const last = async (): Promise<IteratorResult<unknown>> => {
    options.onLeft?.('reads on')
    // An end that came by itself comes to whoever waits for it, also when the reading ended.
    await (event.settled && !event.stopped ? ended : Promise.race([ended, stopped.promise]))
    if (isOver || (isStopped && event.stopped)) return done
    if (event.stopped && options.onReadOn) throw options.onReadOn()
    if (!event.settled) return done
    isOver = true
    if (event.error !== undefined) throw decode(event.error) as Error
    return event.result === undefined ? done : { done: true, value: decode(event.result) }
  }

  const following = async (): Promise<IteratorResult<unknown>> => {
    const piece = pieces[asked++]
    if (piece === undefined) return last()
    await piece.opened
    return { done: false, value: decode(piece.value) }
  }

  return asyncGenerator({
    async next(...given) {
      if (isOver || isStopped) return done
      options.onTold?.(given[0], asked)
      waiting++
      try {
        return await following()
      } finally {
        waiting--
      }
    },
    async return(value) {
      const error = await stop()
      if (error !== undefined) throw error
      return { done: true, value: await value }
    },
    async throw(error) {
      throw (await stop()) ?? error
    },
  })
}
