import type { InlineProject } from './inline.ts'

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
