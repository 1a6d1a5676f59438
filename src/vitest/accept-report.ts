import { writeFileSync } from 'node:fs'
import type { WrittenAcceptReport } from '../replay/accept-request.ts'
import { type QuestionOwner, changesOf } from './question-lines.ts'

/** Says what a run of `npx vitest-harvest accept` met, for the command that waits for it. */
export function writeAcceptReport(
  file: string,
  askers: readonly QuestionOwner[],
  rest: Pick<WrittenAcceptReport, 'ran' | 'different' | 'written' | 'refused' | 'unattended'>,
): void {
  const unproven = changesOf(askers, 'unproven')
  const report: WrittenAcceptReport = {
    verdict: rest.different.length > 0 ? 'different' : unproven.length > 0 ? 'unproven' : 'same',
    unproven,
    accepted: changesOf(askers, 'accepted'),
    notJudged: changesOf(askers, 'notJudged'),
    ...rest,
  }
  writeFileSync(file, JSON.stringify(report))
}
