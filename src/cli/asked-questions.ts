import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { here } from '../errors/here.ts'
import { HarvestError, neutralLine } from '../errors/index.ts'
import { type AcceptReport, acceptReportVariable, type WrittenAcceptReport } from '../replay/accept-request.ts'
import { type CaseSummary, findCase } from '../recordings/index.ts'
import { outputOf } from '../jobs/program.ts'
import { toTheConfig } from '../jobs/run.ts'
import { stepsToPackage } from './other-package.ts'
import { runVitest } from './vitest.ts'

/**
 * Words that make Vitest run these cases, or all cases of a folder of recordings, or all there are, and nothing else. A path
 * from here is part of those of packages below.
 */
export function caseFilters(files: readonly string[], recordings?: string): readonly string[] {
  if (files.length > 0) return files.map((one) => resolve(one))
  return recordings === undefined ? ['.case.yaml', '.case.yml'] : [resolve(recordings) + sep]
}

/**
 * Runs the project's Vitest, silently, and reads which changed questions it met.
 *
 * @param words - of Vitest and of this package
 * @param files - the cases that were named
 * @throws HarvestError `HARVEST_CLI_NO_REPORT`; `HARVEST_CASE_NOT_COLLECTED` where one of these cases did not run
 */
export async function askedQuestions(
  words: readonly string[],
  files: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<AcceptReport> {
  const folder = mkdtempSync(join(tmpdir(), 'harvest-accept-'))
  const file = join(folder, 'report.json')
  try {
    const ended = await runVitest(words, 'capture', { ...env, [acceptReportVariable]: file })
    if (!existsSync(file)) throw noReport(ended.code, outputOf(ended))
    const { ran, ...report } = JSON.parse(readFileSync(file, 'utf8')) as WrittenAcceptReport
    const reached = new Set(ran.map((one) => realpathSync(one)))
    const left = files.filter((one) => !reached.has(realpathSync(one)))
    if (left.length > 0) throw notRun(left)
    return report
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Of what did not run nothing is known. */
function notRun(left: readonly string[]): HarvestError {
  return new HarvestError('HARVEST_CASE_NOT_COLLECTED', {
    what: 'A case that was asked for by name did not run',
    where: { cases: left.map((file) => neutralLine(here(file), 300)).join('\n') },
    why: 'Vitest runs the cases of this package and those below it, where its config has them.',
    fix: [...stepsToPackage(left[0] ?? ''), 'to see which cases there are: npx vitest list .case.yaml'],
  })
}

function noReport(code: number, output: string): HarvestError {
  return new HarvestError('HARVEST_CLI_NO_REPORT', {
    what: 'Vitest ended before it could report',
    where: { vitest: `exit code ${code}` },
    ...(output === '' ? {} : { detail: output }),
    why: 'It rejected its arguments or its config, or harvest() is missing from the config.',
    fix: [...toTheConfig(), 'npx vitest run'],
  })
}

/** The case that a report names; `undefined` for a hand-written test. */
export function caseNamed(recordings: string, name: string): CaseSummary | undefined {
  try {
    return findCase(recordings, name)
  } catch (error) {
    if (HarvestError.is(error, 'HARVEST_CASE_MISSING')) return undefined
    throw error
  }
}
