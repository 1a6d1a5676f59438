import { shapeOfError, throwing } from '../cases/index.ts'
import type { Json, Tape } from '../tape/index.ts'

/** Characters of JSON an outcome may have to be asserted: beyond them nobody reviews a case any more. */
const outcomeCap = 2_048

/** What the run returned, or the shape of what it threw, when it is plain and small enough to be asserted. */
export function assertedOutcome({ close }: Tape): Json | undefined {
  switch (close?.outcome.status) {
    case 'returned': {
      const { value } = close.outcome
      return value !== undefined && isAssertable(value) ? value : undefined
    }
    case 'threw': {
      const shape = shapeOfError(close.outcome.error)
      return isAssertable(shape) ? throwing(shape) : undefined
    }
    case 'exited':
    case 'unknown':
    case undefined:
      return undefined
  }
}

function isAssertable(value: Json): boolean {
  return isPlain(value) && JSON.stringify(value).length <= outcomeCap
}

/** Whether a value is the JSON it looks like: no date or class that was encoded, and no key that a case refuses. */
function isPlain(value: Json): boolean {
  if (typeof value !== 'object' || value === null) return true
  const special = ['$type', '__proto__', 'constructor', 'prototype']
  return Object.entries(value).every(([key, item]) => !special.includes(key) && isPlain(item as Json))
}
