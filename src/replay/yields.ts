import { isAsyncGenerator, isReadableStream, type Yields } from '../seam/shape.ts'
import { decodeValue, type Outcome } from '../tape/index.ts'

/** Whether an agent handed on what is yet to be read, and the recorded run was its reading; without a recorded run it always is. */
export function isToRead(value: unknown, recorded?: Outcome): value is AsyncIterable<unknown> {
  if (!isAsyncGenerator(value) && !isReadableStream(value)) return false
  // Recorders before that closed the run when it was handed on.
  return recorded?.status !== 'returned' || yieldsOf(recorded) !== undefined
}

/** Reads it to its end, or as far as its reader went when it was recorded. */
export async function readYields(value: AsyncIterable<unknown>, recorded?: Outcome): Promise<Yields> {
  const before = recorded && yieldsOf(recorded)
  const limit = before?.stopped === true ? before.yielded.length : Infinity
  const source = value[Symbol.asyncIterator]()
  const yielded: unknown[] = []
  while (yielded.length < limit) {
    const { done, value: piece } = (await source.next()) as IteratorResult<unknown>
    if (done === true) return { yielded, ...(piece !== undefined && { returned: piece }) }
    yielded.push(piece)
  }
  await source.return?.()
  return { yielded, stopped: true }
}

function yieldsOf(outcome: Outcome): Yields | undefined {
  if (outcome.status !== 'returned' || outcome.value === undefined) return undefined
  const value = decodeValue(outcome.value) as Partial<Yields> | null | undefined
  return Array.isArray(value?.yielded) ? (value as Yields) : undefined
}
