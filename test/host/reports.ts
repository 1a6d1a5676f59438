import type { InlineProject, RunResult } from './inline.ts'

/** What a JSON report says about one test. */
export interface ReportedTest {
  readonly fullName: string
  readonly status: string
  readonly failureMessages: readonly string[]
  readonly meta: { readonly harvest?: Readonly<Record<string, unknown>> }
  readonly location?: { readonly line: number }
}

interface JsonReport {
  readonly testResults: readonly {
    readonly name: string
    readonly message: string
    readonly assertionResults: readonly ReportedTest[]
  }[]
}

/** Arguments that make Vitest write `report.json` besides what it prints. */
export const withJson = ['--reporter=default', '--reporter=json', '--outputFile.json=.vitest/report.json']

/** The tests of `report.json` by the name of their case, such as `golden/holds`. */
export function reported(project: InlineProject): ReadonlyMap<string, ReportedTest> {
  const { testResults } = JSON.parse(project.read('.vitest/report.json')) as JsonReport
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults)
  return new Map(tests.map((test) => [test.fullName.replace(/ (?:> )?replays$/, ''), test]))
}

/** Our lines below a run: from the counts to the last red case. */
export function summaryOf({ output }: RunResult): string {
  const lines = output.split('\n')
  const from = lines.findIndex((line) => line.startsWith(' Recordings  '))
  const rest = from === -1 ? [] : lines.slice(from)
  const end = rest.findIndex((line) => !/^[ \w]{11} {2}\S|^ {13}/.test(line))
  return rest.slice(0, end === -1 ? undefined : end).join('\n')
}
