import { at, isMap, listAt, mapAt } from '../json/canonical.ts'
import type { Json, Outcome } from '../tape/index.ts'
import { isPlain } from '../tape/present-args.ts'

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
 * The shape of an error, as promote writes it into a case: name, message, code and status. Stacks, headers and request ids
 * differ from run to run. What was thrown and is no error is compared as it is.
 *
 * @param error - as `encodeValue` wrote it
 */
export function shapeOfError(error: Json): Json {
  if (!isMap(error) || error['$type'] !== 'error') return error
  const { name, class: type, message } = error
  const fields = mapAt(error, 'fields')
  const { code, status } = fields
  return {
    // Many SDKs leave `name` at `Error`: what sets their errors apart is the class.
    name: name === 'Error' && typeof type === 'string' ? type : (name ?? 'Error'),
    message: message ?? '',
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
  }
}

/** A recorded outcome as promote writes it into a case; nothing where no ending of the agent was seen. */
export function saidOutcome(outcome: Outcome): Json | undefined {
  switch (outcome.status) {
    case 'returned':
      return outcome.value
    case 'threw':
      return throwing(shapeOfError(outcome.error))
    case 'exited':
    case 'unknown':
      return undefined
  }
}

/** An error with all that a case can name of it: its shape, its own fields that are plain data, its cause, and its errors. */
export function factsOfError(error: Json): Json {
  const shape = shapeOfError(error)
  if (shape === error || !isMap(shape)) return shape
  const plain = Object.entries(mapAt(error, 'fields')).filter(([, value]) => isPlain(value))
  const cause = at(error, 'cause')
  const errors = listAt(error, 'errors')
  return {
    ...Object.fromEntries(plain),
    ...(cause !== undefined && { cause: factsOfError(cause) }),
    ...(errors.length > 0 && { errors: errors.map(factsOfError) }),
    ...shape,
  }
}
