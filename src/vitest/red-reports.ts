import { rmSync } from 'node:fs'
import path from 'node:path'
import type { TestCase, TestProject } from 'vitest/node'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { reportFile } from '../report/view/report-file.ts'
import { refuseLinks } from '../tape/links.ts'
import type { CaseReportRequest } from './channel.ts'
import { goldenSetOf } from './project.ts'
import type { SummaryLine } from './summary.ts'

/** Reports that one run writes: a broken agent turns hundreds of cases red. */
const most = 20

/** Writes the reports of red cases. A report that cannot be written is a line of the summary, and never another error. */
export class RedReports {
  #asked = 0
  #written = 0
  #problem: string | undefined

  begin(): void {
    this.#asked = 0
    this.#written = 0
    this.#problem = undefined
  }

  /** Removes what an earlier run left of a case that runs now. */
  forget({ moduleId, project }: { readonly moduleId: string; readonly project: TestProject }): void {
    try {
      const file = fileFor(moduleId, project)
      refuseLinks(project.config.root, file)
      rmSync(file, { force: true })
    } catch (error) {
      this.#problem = reasonOf(error)
    }
  }

  async add(test: TestCase, { file, red }: CaseReportRequest): Promise<void> {
    this.#asked++
    if (this.#asked > most) return
    try {
      const { writeRedReport } = await import('./write-red-report.ts')
      writeRedReport(test.project.config.root, fileFor(file, test.project), file, red)
      this.#written++
    } catch (error) {
      this.#problem ??= reasonOf(error)
    }
  }

  /** What is said of reports that are not there. Where one is, its test says. */
  lines(): readonly SummaryLine[] {
    const left = Math.max(0, this.#asked - most)
    return [
      ...(left === 0
        ? []
        : [['Reports', `${this.#written} in .harvest/report; ${left} more red cases have no report`] as const]),
      ...(this.#problem === undefined ? [] : [['Reports', `not all could be written: ${this.#problem}`] as const]),
    ]
  }
}

function fileFor(caseFile: string, { config }: TestProject): string {
  const folder = goldenSetOf(config)?.folder ?? 'recordings'
  return path.join(config.root, reportFile(path.resolve(config.root, folder), caseFile))
}

function reasonOf(error: unknown): string {
  return neutralLine(
    HarvestError.is(error) ? error.facts.what : error instanceof Error ? error.message : String(error),
    200,
  )
}
