import { saidOutcome } from '../cases/index.ts'
import type { Json, Tape } from '../tape/index.ts'
import { holdsWildcard } from '../trace/index.ts'
import { isPlain } from '../tape/present-args.ts'

/** Characters of JSON an outcome may have to be asserted: a longer one is not reviewed any more. */
const outcomeCap = 2_048

/** What the run returned, or the shape of what it threw, when it is plain and small enough to be asserted. */
export function assertedOutcome({ close }: Tape): Json | undefined {
  const said = close === undefined ? undefined : saidOutcome(close.outcome)
  return said !== undefined && isAssertable(said) ? said : undefined
}

function isAssertable(value: Json): boolean {
  return isPlain(value) && JSON.stringify(value).length <= outcomeCap && !holdsWildcard(value)
}
