import type { Revive, SeamCall } from '../seam/source.ts'
import { type CallEvent, decodeValue, type Json } from '../tape/index.ts'

/**
 * The recorded answer of a call, or its error thrown.
 *
 * @param decode - makes its values what they were
 * @param revive - where the body of the function ran; of an answer that is served the wrapper does it
 */
export function answer(event: CallEvent, decode: Decode, revive: Revive = (recorded) => recorded): unknown {
  if (event.error !== undefined) throw revive(decode(event.error), 'threw') as Error
  return revive(event.result === undefined ? undefined : decode(event.result), 'returned')
}

type Decode = (json: Json) => unknown

/** Writes into what the framework handed over what the body wrote there, which does not run. */
export function giveBackWritten({ wrote }: CallEvent, write: SeamCall['write']): void {
  if (wrote === undefined) return
  write?.(wrote.map(([path, ...value]) => (value.length === 0 ? [path] : [path, decodeValue(value[0] as Json)])))
}
