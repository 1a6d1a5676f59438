import { readAnswers } from '../../recordings/index.ts'
import { reportData } from '../../report/view/report-data.ts'
import type { ReportBlame, ReportData, ReportRed } from '../../report/view/types.ts'
import type { Texts } from '../../report/view/texts.ts'
import { type FoundRun, openTape } from '../find.ts'
import { forksOf } from './forks.ts'

/** What a report is asked to hold besides its run. */
export interface GatherOptions {
  readonly recordings: string
  /** The run to compare with. */
  readonly against?: FoundRun
  readonly isFull?: boolean
  readonly replay?: (texts: Texts) => ReportRed
}

/** The report of a run, with all that is known of it here. Nothing is replayed, forked or asked. */
export function gatherReport(found: FoundRun, { recordings, against, isFull, replay }: GatherOptions): ReportData {
  const run = openTape(found)
  const [kept] = readAnswers(recordings, found.file, 'blame', run.tape.digest)
  return reportData({
    run,
    ...(found.case === undefined ? {} : { case: found.case }),
    ...(against === undefined ? {} : { other: openTape(against) }),
    ...(kept === undefined ? {} : { blame: kept.answer as unknown as ReportBlame }),
    forks: (texts) => forksOf(recordings, run.tape, texts),
    ...(replay === undefined ? {} : { replay }),
    ...(isFull === undefined ? {} : { isFull }),
    madeAt: new Date().toISOString(),
  })
}
