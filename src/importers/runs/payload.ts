import { base64Bytes } from '../body.ts'
import type { Cursor } from '../cursor.ts'
import { excessIn } from '../excess.ts'
import { listOf } from './values.ts'

/** What payloads hold, and whether all of it could be read. */
export interface PayloadValues {
  readonly values: readonly unknown[]
  readonly isWhole: boolean
}

/**
 * The values of a list of Temporal payloads, or of one alone. What the web page decoded before it was saved is the value
 * itself. What is in an encoding of someone's own (encrypted, say) stays unread, and
 * its place is kept by the name of the encoding.
 *
 * @throws HarvestError `HARVEST_IMPORT_BODY` for what is not in the encoding it names
 * @see https://docs.temporal.io/dataconversion; temporal/api/common/v1/message.proto
 */
export function unpacked(payloads: Cursor): PayloadValues {
  const isOne = payloads.at('metadata').isMap || payloads.at('data').isThere
  const read = (isOne ? [payloads] : listOf(payloads.at('payloads'))).map((payload) => valueOf(payload))
  return { values: read.map(({ value }) => value), isWhole: read.every(({ isRead }) => isRead) }
}

function valueOf(payload: Cursor): { readonly value: unknown; readonly isRead: boolean } {
  const data = payload.at('data')
  const name = payload.at('metadata').at('encoding')
  if (!data.isThere && !payload.at('metadata').isThere) return { value: payload.value ?? null, isRead: true }
  // What the web page exports is decoded already, and says so.
  const decoded = payload.at('metadata').at('encodingDecoded').maybeText
  if (decoded !== undefined) return { value: data.value ?? null, isRead: true }
  const encoding = name.maybeText === undefined ? '' : base64Bytes(name.text, name).toString('utf8')
  switch (encoding) {
    case 'binary/null':
      return { value: null, isRead: true }
    case 'json/plain':
    case 'json/protobuf':
      return { value: jsonIn(data), isRead: true }
    case 'binary/plain':
      return { value: data.isThere ? base64Bytes(data.text, data) : Buffer.alloc(0), isRead: true }
    default:
      return { value: { encoding }, isRead: false }
  }
}

function jsonIn(data: Cursor): unknown {
  const text = base64Bytes(data.text, data).toString('utf8')
  const excess = excessIn(text)
  if (excess !== undefined) throw data.refuse(excess.problem, excess.code)
  try {
    return JSON.parse(text) as unknown
  } catch (cause) {
    throw data.refuse('it is not JSON, as its encoding says', 'HARVEST_IMPORT_BODY', cause)
  }
}
