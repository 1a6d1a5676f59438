import { typedExpectations } from '../../blame/expectation.ts'
import { requireKnownNames } from '../../blame/known-names.ts'
import type { Screen } from '../../report/output.ts'
import type { CommandInput } from '../command.ts'
import { noteUnknownInCase } from '../known-bad.ts'
import type { Parent } from './make.ts'

/**
 * Refuses expectations that no fork could meet, typed or of the case, before a fork is made.
 *
 * @throws HarvestError `HARVEST_ORACLE_EXPECTATION`
 */
export function lookAtNames({ tape, case: kase }: Parent, given: CommandInput, screen: Pick<Screen, 'note'>): void {
  if (given.has('any-name')) return
  const expectations = typedExpectations({ ok: given.values('ok'), bad: given.values('bad') }).all
  if (expectations.length === 0 && kase !== undefined) noteUnknownInCase(kase, tape, screen)
  const outcome = kase?.outcome === undefined ? {} : { outcome: kase.outcome }
  for (const warning of requireKnownNames(expectations, { tapes: [tape], ...outcome })) screen.note(warning)
}
