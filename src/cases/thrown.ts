import { isMap } from '../json/canonical.ts'
import type { Json } from '../tape/types.ts'

/** The key by which the `outcome` of a case says that the agent throws: `outcome: { $threw: { name: AuthenticationError } }`. */
const thrownKey = '$threw'

/** What a case says the agent throws; `undefined` when it says that the agent returns. */
export function expectedError(outcome: Json): Json | undefined {
  if (!isMap(outcome)) return undefined
  const keys = Object.keys(outcome)
  return keys.length === 1 && keys[0] === thrownKey ? outcome[thrownKey] : undefined
}

/** The outcome of a case whose agent throws this. */
export function throwing(error: Json): Json {
  return { [thrownKey]: error }
}

/**
 * The shape of an error, as cases compare it: name, message, code and status. Stacks, headers and request ids differ from
 * run to run. What was thrown and is no error is compared as it is.
 *
 * @param error - as `encodeValue` wrote it
 */
export function shapeOfError(error: Json): Json {
  if (!isMap(error) || error['$type'] !== 'error') return error
  const { name, class: type, message } = error
  const fields = isMap(error['fields'] ?? null) ? (error['fields'] as { readonly [key: string]: Json }) : {}
  const { code, status } = fields
  return {
    // Many SDKs leave `name` at `Error`: what sets their errors apart is the class.
    name: name === 'Error' && typeof type === 'string' ? type : (name ?? 'Error'),
    message: message ?? '',
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
  }
}
