import { appendFileSync, statSync } from 'node:fs'
import { type HarvestError, neutralLine } from '../errors/index.ts'
import { type Annotated, annotations, runAnnotation } from './github.ts'
import { neutralLines } from './neutral-lines.ts'
import { maxSummaryBytes, type StepSummary, stepSummary } from './step-summary.ts'

export interface RunSummary extends Omit<StepSummary, 'problems'>, Pick<Annotated, 'unproven' | 'notJudged'> {
  readonly errors: readonly HarvestError[]
  /** Whether Vitest's own reporter annotates the lines of the cases. */
  readonly hasErrors: boolean
}

/**
 * Tells GitHub about a run, when GitHub Actions runs it: annotations, and a part of the step's summary.
 *
 * @param log - writes a line to stderr: GitHub reads both streams, and stdout may belong to a reporter for machines
 */
export function tellGithub(run: RunSummary, env: NodeJS.ProcessEnv, log: (line: string) => void): void {
  const { results, errors } = run
  if (env['GITHUB_ACTIONS'] !== 'true' || (results.length === 0 && errors.length === 0)) return
  for (const command of annotations(run)) log(command)
  for (const { code, message } of errors) log(runAnnotation(code, neutralLines(message)))
  const file = env['GITHUB_STEP_SUMMARY'] ?? ''
  if (file === '') return
  try {
    const room = maxSummaryBytes - (statSync(file, { throwIfNoEntry: false })?.size ?? 0)
    appendFileSync(file, stepSummary({ ...run, problems: errors.map(({ message }) => message) }, room))
  } catch (error) {
    // The verdict does not depend on it, and the log has all of it.
    log(`The step summary could not be written: ${neutralLine(String(error))}`)
  }
}
