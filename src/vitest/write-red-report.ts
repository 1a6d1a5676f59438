import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { loadCase, requireTapeFile } from '../cases/index.ts'
import { pageOf } from '../report/view/page.ts'
import { redView } from '../report/view/red.ts'
import { reportData } from '../report/view/report-data.ts'
import { runOf } from '../report/run.ts'
import { readTape, stepsOf } from '../tape/index.ts'
import { refuseLinks } from '../tape/links.ts'
import type { CaseReportRequest } from './channel.ts'

/**
 * Makes the report of a red case of its tape and of what its worker said, for the owner alone.
 *
 * @param root - what is below it is never written through a symbolic link
 * @throws HARVEST_RECORDINGS_LINK, and what the system says
 */
export function writeRedReport(root: string, to: string, caseFile: string, red: CaseReportRequest['red']): void {
  refuseLinks(root, to)
  const kase = loadCase(caseFile)
  const tape = readTape(requireTapeFile(kase))
  const steps = red.steps === 0 ? stepsOf(tape).length : red.steps
  const unusedSteps = red.unusedSteps ?? Array.from({ length: steps }, (_, index) => index + 1)
  const data = reportData({
    run: { tape, run: runOf(tape, {}) },
    case: kase,
    replay: (texts) => redView({ ...red, steps, unusedSteps, tape }, texts),
    madeAt: new Date().toISOString(),
  })
  mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 })
  writeFileSync(to, pageOf(data), { mode: 0o600 })
}
