import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Variant } from '../project.ts'
import { type TestResult, type Verdicts, vitestIn } from './run.ts'

/** Title of a test in `mocked.test.ts` → its column. */
const mocked: Readonly<Record<string, string>> = {
  'mocked toEqual': 'toEqual',
  'mocked agentevals strict': 'agentevals strict',
  'mocked agentevals superset': 'agentevals superset',
  'mocked snapshot': 'snapshot',
  'live agentevals strict': 'agentevals strict, model asked',
  'live agentevals superset': 'agentevals superset, model asked',
  polly: 'Polly',
  nock: 'nock back',
}

/** The tests of the others, each variant through each of them. */
export async function rivals(project: string, variants: readonly Variant[]): Promise<Verdicts> {
  prepare(project, variants, ['mocked', 'http'])
  // The snapshots are those of the agents as they are, and are not written again.
  await vitestIn(project, 'vitest.rivals.ts', { CI: '' }, ['--update', '--testNamePattern=-00$', 'mocked'])
  const tests = await vitestIn(project, 'vitest.rivals.ts')
  return columnsOf(tests, (suite, title) => mocked[`${suite} ${title}`.trim()])
}

/** vitest-evals, in a project with the Vitest it can run in: recorded once, then replayed strictly. */
export async function evals(project: string, variants: readonly Variant[]): Promise<Verdicts> {
  prepare(project, variants, ['evals'])
  const dir = join(project, 'tool-recordings')
  const env = (mode: string) => ({ VITEST_EVALS_REPLAY_MODE: mode, VITEST_EVALS_REPLAY_DIR: dir })
  await vitestIn(project, 'vitest.rivals.ts', env('record'), ['--testNamePattern=-00$'])
  if (readdirSync(dir).length === 0) throw new Error('vitest-evals recorded nothing')
  const tests = await vitestIn(project, 'vitest.rivals.ts', env('strict'))
  return columnsOf(tests, () => 'vitest-evals')
}

function prepare(project: string, variants: readonly Variant[], files: readonly string[]): void {
  for (const file of ['snapshots', 'http', 'tool-recordings'])
    rmSync(join(project, file), { recursive: true, force: true })
  writeFileSync(join(project, 'variants.json'), JSON.stringify(variants))
  const include = files.map((file) => `bench/catch/columns/${file}.test.ts`)
  writeFileSync(
    join(project, 'vitest.rivals.ts'),
    `import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ${JSON.stringify(include)},
    env: { GATEWAY: 'http://gateway.test' },
    testTimeout: 10_000,
    fileParallelism: false,
    // What a variant leaves behind is not the next one's fault.
    dangerouslyIgnoreUnhandledErrors: true,
    silent: true,
  },
})
`,
  )
}

function columnsOf(
  tests: readonly TestResult[],
  columnOf: (suite: string, title: string) => string | undefined,
): Verdicts {
  const verdicts: Verdicts = new Map()
  for (const { suite, name, isRed, verdict, message } of tests) {
    const [id = ''] = /\w+-\d+$/.exec(name) ?? []
    const column = columnOf(suite, name.slice(0, -id.length).trim())
    if (column === undefined) throw new Error(`no column for the test ${suite} › ${name}`)
    const of = verdicts.get(column) ?? new Map()
    verdicts.set(column, of.set(id, { isRed, verdict, message }))
  }
  return verdicts
}
