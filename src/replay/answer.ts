import type { Revive } from '../seam/source.ts'
import { type CallEvent, decodeValue } from '../tape/index.ts'

/**
 * The recorded answer of a call, or its error thrown.
 *
 * @param revive - where the body of the function ran; of an answer that is served the wrapper does it
 */
export function answer(event: CallEvent, revive: Revive = (recorded) => recorded): unknown {
  if (event.error !== undefined) throw revive(decodeValue(event.error), 'threw') as Error
  return revive(event.result === undefined ? undefined : decodeValue(event.result), 'returned')
}
