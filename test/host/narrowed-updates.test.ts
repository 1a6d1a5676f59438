import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome } from './inline.ts'
import { config, golden, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'
import { supportSources, supportTape } from './support.ts'

const outdated = `baseline:
  - lookup_order(*)
  - escalate(order_id)
`
const caseFile = (id: string) => `recordings/golden/${id}.case.yaml`

/** A case in a folder of the golden set. */
function below(folder: string, id: string): Record<string, string> {
  const files = Object.entries(golden(id, outdated))
  return Object.fromEntries(files.map(([file, text]) => [file.replace('golden/', `golden/${folder}/`), text]))
}

const cases = {
  ...golden('stale', outdated),
  ...golden('vip-stale', outdated),
  ...below('refund', 'in-a'),
  ...below('refund', 'in-b'),
}
const all = ['refund/in-a', 'refund/in-b', 'stale', 'vip-stale']
const byHand = 'test/hand.test.ts'
/** What a hand-written test accepts is written for all. */
const forAll = 'recordings/accepted.yaml'

/*
 * Every way to run a part of the tests, and what an update of that run may write: exactly what was named, or nothing. `hand` is the
 * hand-written test.
 */
const named: readonly (readonly [readonly string[], readonly string[]])[] = [
  [['run'], [...all, 'hand']],
  [['run', 'vip-stale'], ['vip-stale']],
  [
    ['run', caseFile('stale'), byHand],
    ['stale', 'hand'],
  ],
  [
    ['run', '--dir', 'recordings/golden/refund'],
    ['refund/in-a', 'refund/in-b'],
  ],
  [['run', 'in-a', '--dir=recordings/golden/refund'], ['refund/in-a']],
  [['run', '--dir', 'recordings'], all],
  [['run', 'hand', '--dir', 'test'], ['hand']],
  [['run', '--project', 'recordings'], all],
  // It stops a run that has failed tests, and what was stopped is not written.
  [
    ['run', '--bail', '1'],
    [...all, 'hand'],
  ],
]

/** The option that an update is refused with, and whose files it would have written. */
const refused: readonly (readonly [option: string, args: readonly string[], files: readonly string[]])[] = [
  ['--dir test', ['run', '--dir', 'test'], [...all, 'hand']],
  ['--shard=1/1', ['run', '--shard=1/1'], [...all, 'hand']],
  ['--changed', ['run', '--changed'], [...all, 'hand']],
  ['related', ['related', 'src/amount.ts', '--run'], all],
  ['--project=rec*', ['run', '--project', 'rec*'], all],
  ['--project=!recordings', ['run', '--project', '!recordings'], ['hand']],
  ['--exclude=**/refund/**', ['run', '--exclude', '**/refund/**'], [...all, 'hand']],
  ['--tags-filter=golden', ['run', '--tags-filter', 'golden'], all],
  ['-t vip', ['run', '-t', 'vip'], ['vip-stale']],
]

const fileOf = (id: string) => (id === 'hand' ? byHand : caseFile(id))
const testOf = (id: string) => (id === 'hand' ? 'by hand' : `golden/${id}`)

describeLanes('an update of a part of the tests under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(lane)
    project = home.project('narrowed', {
      'vitest.config.ts': config('', '', `support: './src/support.ts#support'`),
      ...refundSources,
      ...supportSources,
      'src/prompt.ts': supportSources['src/prompt.ts'].replace('100 EUR', '120 EUR'),
      [byHand]: `import { test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { support } from '../src/support.ts'
test('by hand', async () => {
  await replay('tapes/h-1.tape.jsonl', (input) => support(input as { order: string }))
})
`,
      'tapes/h-1.tape.jsonl': supportTape('h-1'),
      ...cases,
    })
    // For `--changed`: nothing was committed, so all of it is.
    spawnSync('git', ['init', '--quiet'], { cwd: project.folder })
  })
  afterAll(() => home?.[Symbol.dispose]())

  const left = () => path.join(project.folder, forAll)
  async function update(args: readonly string[], bin: 'vitest' | 'harvest' = 'vitest') {
    for (const [file, text] of Object.entries(cases)) project.write(file, text)
    for (const file of [left(), path.join(project.folder, '.vitest/report.json')]) rmSync(file, { force: true })
    const env = { HARVEST_UPDATE_REASON: 'right', ...(bin === 'vitest' && { VITEST_HARVEST_UPDATE: 'all' }) }
    const [command = '', ...rest] = args
    const run = await project.run([command, ...withJson, ...rest], { env, bin })
    const changed = all.filter((id) => project.read(caseFile(id)) !== cases[caseFile(id)])
    return { ...run, written: [...changed, ...(existsSync(left()) ? ['hand'] : [])] }
  }

  it.each(named)('%j writes what it names, and nothing else', { tags: 'thorough' }, async (args, files) => {
    const { code, written, output } = await update(args)
    expect([code, written], output).toEqual([0, files])
  })

  it.each(refused)(
    '%s writes nothing, and prints the command for its files',
    { tags: 'thorough' },
    async (option, args, files) => {
      const { code, written, output } = await update(args)
      expect([code, written]).toEqual([1, []])
      expect(output).toContain('HARVEST_UPDATE_PARTIAL')
      expect(output).toMatch(
        new RegExp(`^.*(?: with |given words {2})${option.replaceAll(/[*?+]/g, String.raw`\$&`)}`, 'm'),
      )
      const tests = reported(project)
      const red = [...tests].filter(([, { status }]) => status === 'failed').map(([name]) => name)
      expect(red.sort()).toEqual(files.map(testOf).sort())
      const [, command = ''] = /→ to update (?:it|all of them): npx vitest-harvest (.*)$/m.exec(output) ?? []
      expect(
        command
          .split(' ')
          .filter((word) => /\.(?:yaml|ts)$/.test(word))
          .sort(),
      ).toEqual(files.map(fileOf).sort())
      if (option !== '-t vip' && option !== '--changed') return
      const again = await update(command.split(' '), 'harvest')
      expect([again.code, again.written], again.output).toEqual([0, files])
    },
  )
})
