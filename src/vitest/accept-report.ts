import { writeFileSync } from 'node:fs'
import type { AcceptReport } from '../replay/accept-request.ts'
import { type Asker, changesOf } from './question-lines.ts'

/** Says what a run of `harvest accept` met, for the command that waits for it. */
export function writeAcceptReport(
  file: string,
  askers: readonly Asker[],
  rest: Pick<AcceptReport, 'different' | 'written' | 'refused' | 'unattended'>,
): void {
  const unproven = changesOf(askers, 'unproven')
  const report: AcceptReport = {
    verdict: rest.different.length > 0 ? 'different' : unproven.length > 0 ? 'unproven' : 'same',
    unproven,
    accepted: changesOf(askers, 'accepted'),
    notJudged: changesOf(askers, 'notJudged'),
    ...rest,
  }
  writeFileSync(file, JSON.stringify(report))
}
