import { canonicalJson } from '../json/canonical.ts'
import type { Tape } from '../tape/index.ts'

/** Whether a run was asked the same of the same agent: what one of them can do, the other can. */
export function isOfSameQuestion(
  { header: { agent, input = null } }: Pick<Tape, 'header'>,
  { header: other }: Pick<Tape, 'header'>,
): boolean {
  return other.agent === agent && canonicalJson(other.input ?? null) === canonicalJson(input)
}
