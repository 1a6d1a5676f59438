import { type CallEvent, decodeValue } from '../tape/index.ts'

/** The recorded answer of a call, or its error thrown. */
export function answer(event: CallEvent): unknown {
  if (event.error !== undefined) throw decodeValue(event.error) as Error
  return event.result === undefined ? undefined : decodeValue(event.result)
}
