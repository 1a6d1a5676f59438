import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../../scripts/walkthrough.ts'
import { type Home, type InlineProject, openHome } from '../host/inline.ts'
import { config, golden, refundBaseline, refundSources } from '../host/refund.ts'
import { summaryOf } from '../host/reports.ts'

interface Step {
  readonly run?: string
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}
interface Workflow {
  readonly jobs: Readonly<
    Record<
      'shard' | 'report',
      {
        readonly steps: readonly Step[]
        readonly strategy?: { readonly matrix: { readonly shard: readonly number[] } }
      }
    >
  >
}

const page = readFileSync('docs/ci.md', 'utf8')
const text = blocksOf(page).find(({ text: block }) => block.startsWith('# .github/workflows/'))?.text ?? ''
const { shard, report } = (parse(text) as Workflow).jobs
/** Words of the `run:` line of a job that is ours, without `npx vitest`. */
const words = ({ steps }: { readonly steps: readonly Step[] }, number = 0): readonly string[] =>
  (steps.find(({ run }) => run?.startsWith('npx vitest'))?.run ?? '')
    .replaceAll('${{ matrix.shard }}', String(number))
    .split(' ')
    .slice(2)
const folderOf = ({ steps }: { readonly steps: readonly Step[] }, action: string) =>
  String(steps.find(({ uses }) => uses?.startsWith(`actions/${action}@`))?.with?.['path'])

describe('the workflow of docs/ci.md', () => {
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(5)
    project = home.project('workflow', {
      'vitest.config.ts': config(),
      ...refundSources,
      'src/plain.test.ts': `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`,
      ...golden('holds', refundBaseline),
      ...golden('known-bad', `expect: fail\n${refundBaseline}`),
      ...golden('changed', `baseline:\n  - escalate(*)\n`),
    })
  })
  afterAll(() => home?.[Symbol.dispose]())

  it('runs: the shards of the matrix, then the merge, with what each hands to the next', {
    tags: 'thorough',
  }, async () => {
    const numbers = shard.strategy?.matrix.shard ?? []
    const env = { CI: 'true', GITHUB_ACTIONS: 'true' }
    expect(numbers).toEqual([1, 2, 3])
    const codes: (number | null)[] = []
    for (const number of numbers) {
      codes.push((await project.run(words(shard, number), { env })).code)
      // An artifact per shard: nothing else of the machine is left.
      const artifact = path.join(project.folder, `artifact-${number}`)
      renameSync(path.join(project.folder, folderOf(shard, 'upload-artifact')), artifact)
    }
    // Which shard the changed case is in is for Vitest to say.
    expect(codes.toSorted()).toEqual([0, 0, 1])
    const into = path.join(project.folder, folderOf(report, 'download-artifact'))
    mkdirSync(into)
    for (const number of numbers) {
      for (const file of project.search(`artifact-${number}`, /^/))
        renameSync(path.join(project.folder, `artifact-${number}`, file), path.join(into, file))
    }
    const summary = path.join(project.folder, 'summary.md')
    writeFileSync(summary, '')
    const merged = await project.run(words(report), { env: { ...env, GITHUB_STEP_SUMMARY: summary } })
    expect([merged.code, merged.stdout.includes('::error file=')]).toEqual([1, true])
    expect(summaryOf(merged)).toMatchInlineSnapshot(`
      " Recordings  1 replayed, 1 known bad reproduced, 1 diverged
          Escapes  0
              Red  golden/changed  The tool calls differ from the baseline of this case
                     report .harvest/report/golden/changed.html"
    `)
    expect(readFileSync(summary, 'utf8')).toContain('### `golden/changed`')
    expect(project.read(`${folderOf(report, 'upload-artifact')}/junit.xml`)).toContain('tests="4" failures="1"')
  })

  it('installs from the lock with a cache, and hands over reports of red runs too', () => {
    for (const { steps } of [shard, report]) {
      expect(steps.find(({ uses }) => uses?.startsWith('actions/setup-node@'))?.with).toMatchObject({ cache: 'npm' })
      expect(steps.map(({ run }) => run)).toContain('npm ci')
      const upload = steps.find(({ uses }) => uses?.startsWith('actions/upload-artifact@'))
      expect(upload).toMatchObject({ if: '${{ !cancelled() }}' })
    }
  })
})
