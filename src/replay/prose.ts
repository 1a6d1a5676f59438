import { canonicalJson } from '../providers/index.ts'
import type { Json } from '../tape/index.ts'

/** Whether two argument values are the same. */
export function sameProse(recorded: Json, live: Json): boolean {
  return canonicalJson(recorded) === canonicalJson(live)
}
