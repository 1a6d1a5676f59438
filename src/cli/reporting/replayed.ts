import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { here } from '../../errors/here.ts'
import { HarvestError } from '../../errors/index.ts'
import { runJobs } from '../../jobs/run.ts'
import { redView } from '../../report/view/red.ts'
import type { Texts } from '../../report/view/texts.ts'
import type { ReportRed } from '../../report/view/types.ts'
import { readTape } from '../../tape/index.ts'
import { verdictMessages } from '../report.ts'
import type { FoundRun } from '../find.ts'

/**
 * Replays a run once in the project's Vitest, offline.
 *
 * @returns what differs; `undefined` when nothing does
 * @throws HarvestError what kept the agent from running
 */
export async function replayedNow({ file, case: found }: FoundRun): Promise<((texts: Texts) => ReportRed) | undefined> {
  const own = found === undefined ? {} : { case: { file: resolve(found.file), text: readFileSync(found.file, 'utf8') } }
  const [job] = await runJobs([{ tape: resolve(file), ...own }])
  if (job === undefined || HarvestError.is(job)) throw job ?? new TypeError(`no answer for ${file}`)
  const { report } = job
  const judged = job.verdict ?? report.verdict
  const { verdict } = judged
  if (verdict === 'same') return undefined
  const tape = readTape(file)
  const messages = verdictMessages(tape, found, judged)
  const [first] = report.problems.length > 0 ? report.problems : judged.differences
  return (texts) =>
    redView(
      {
        case: found?.id ?? report.tape,
        verdict,
        code: first?.code ?? 'HARVEST_UNPROVEN',
        message: first?.message ?? messages.join('\n\n'),
        drift: report.drift,
        escapes: report.escapes,
        unanswered: report.unanswered,
        steps: report.comparison.recorded,
        served: report.comparison.served,
        place: here(found?.file ?? file),
        tape,
      },
      texts,
    )
}
