import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type Verdict as ThreeValued, verdictOfFailure } from '../../verdict/verdict-of.ts'

/** Column → variant → what its test said. */
export type Verdicts = Map<string, Map<string, Verdict>>

export interface Verdict {
  /** Red: different, or unproven. Others than ours know no `unproven`. */
  readonly isRed: boolean
  readonly verdict: ThreeValued
  /** First line of the first error. */
  readonly message: string
}

export interface TestResult extends Verdict {
  readonly file: string
  /** Titles of the suites around it. */
  readonly suite: string
  readonly name: string
}

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[]
      readonly title: string
      readonly status: string
      readonly failureMessages?: readonly string[] | null
    }[]
  }[]
}

/** Runs Vitest once in a project and reads what each test came to. It may be red: that is what is counted. */
export async function vitestIn(
  project: string,
  config: string,
  env: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<readonly TestResult[]> {
  const report = join(project, 'report.json')
  rmSync(report, { force: true })
  const args = ['run', '--config', config, '--reporter=json', `--outputFile=${report}`, ...more]
  const { output } = await run(project, ['node_modules/vitest/vitest.mjs', ...args], { CI: 'true', ...env })
  if (!existsSync(report)) throw new Error(`Vitest with ${config} wrote no report:\n${output}`)
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report
  return testResults.flatMap(({ name: file, message: problem, assertionResults }) => {
    if (assertionResults.length === 0) throw new Error(`${file} has no tests: ${problem}`)
    return assertionResults.flatMap(({ ancestorTitles, title, status, failureMessages }) => {
      // Not asked for.
      if (status === 'skipped' || status === 'pending') return []
      if (status !== 'passed' && status !== 'failed') throw new Error(`${file} › ${title} was ${status}:\n${output}`)
      return {
        suite: ancestorTitles.join(' '),
        file,
        name: title,
        isRed: status === 'failed',
        verdict: status === 'failed' ? verdictOfFailure(failureMessages?.[0] ?? '') : 'same',
        message: (failureMessages?.[0] ?? '').split('\n')[0] ?? '',
      }
    })
  })
}

/** Runs a script of a project, which has to end well. */
export async function nodeIn(
  project: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { code, output } = await run(project, args, env)
  if (code !== 0) throw new Error(`node ${args.join(' ')} ended with ${code}:\n${output}`)
}

async function run(
  cwd: string,
  args: readonly string[],
  more: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly output: string }> {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env
  const env = { PATH, HOME, TMPDIR, NO_COLOR: '1', ...more }
  const options = { cwd, env, maxBuffer: 2 ** 28, timeout: 3_600_000 }
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, options)
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code?: unknown; stdout?: string; stderr?: string }
    if (typeof code !== 'number') throw error
    return { code, output: `${stdout}${stderr}` }
  }
}
