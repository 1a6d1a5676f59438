import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Home, type InlineProject, type Lane, openHome, type RunOptions } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'

const outdated = `baseline:
  - lookup_order(*)   # any order will do
  - escalate(order_id)
`
const accepted = `baseline:
  - lookup_order(*)   # any order will do
  - refund(amount, order_id)
`

/** Cases an update may and may not rewrite. */
const cases = {
  ...golden('stale', `${outdated}outcome: { refunded: 30 }\n`),
  ...golden('unwritten', ''),
  ...golden('holds', `${refundBaseline}outcome: { refunded: 25 }\n`),
  ...golden('diverges', outdated, { agent: 'diverges' }),
  ...golden('known-bad', `expect: fail\n${outdated}`),
  ...golden('ended-otherwise', outdated, { threw: 'timeout' }),
}
const untouched = ['holds', 'diverges', 'known-bad', 'ended-otherwise']
const caseFile = (id: string) => `recordings/golden/${id}.case.yaml`

describe.each<Lane>([5, 4])('updates under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(lane)
    project = home.project('updates', {
      'vitest.config.ts': config('', '', `diverges: './src/diverges.ts', skips: './src/skips.ts'`),
      'src/skips.ts': `import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: object) => ({ amount: 25 }))
export default () => lookup({ order_id: 'A-1' }).then(({ amount }) => ({ refunded: amount }))
`,
      ...refundSources,
      'src/diverges.ts': `import { tool } from 'vitest-harvest/record'
const refund = tool('refund', async (order: object) => 'ok')
export default () => refund({ order_id: 'B-2' })
`,
      'src/ui.test.ts': `import { expect, it } from 'vitest'\nit('is a snapshot', () => { expect('new').toMatchSnapshot() })\n`,
      'src/__snapshots__/ui.test.ts.snap': `// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[\`is a snapshot 1\`] = \`"old"\`;\n`,
      ...cases,
    })
  })
  afterAll(() => home?.[Symbol.dispose]())
  const reset = () => {
    for (const [file, text] of Object.entries(cases)) project.write(file, text)
  }
  const run = async (args: readonly string[], options?: RunOptions) => {
    reset()
    const result = await project.run([...args, ...withJson], options)
    const changed = Object.keys(cases).filter((file) => project.read(file) !== cases[file as keyof typeof cases])
    return { ...result, changed }
  }

  it.each<readonly [string, readonly string[], RunOptions]>([
    ['our own command', ['run', 'golden', '--update-recordings'], { bin: 'vitest-harvest' }],
    ['two dashes', ['run', 'golden', '--', '--update-recordings'], {}],
    ['--update=recordings', ['run', '--update=recordings'], {}],
    ['a variable', ['run', 'golden'], { env: { VITEST_HARVEST_UPDATE: 'all' } }],
  ])('%s accepts new behaviour, and nothing else', async (_spelling, args, options) => {
    const { changed, output } = await run(args, options)
    expect(changed.sort()).toEqual([caseFile('stale'), caseFile('unwritten')])
    expect(project.read(caseFile('stale'))).toBe(
      cases[caseFile('stale')]?.replace(outdated, accepted).replace('30', '25'),
    )
    expect(project.read(caseFile('unwritten'))).toContain(refundBaseline)
    expect(output).toContain(`Updated  ${caseFile('stale')}`)
    const tests = reported(project)
    expect(untouched.map((id) => tests.get(`golden/${id}`)?.meta.harvest?.['code'])).toEqual([
      undefined,
      'HARVEST_DIVERGENCE',
      'HARVEST_CASE_NO_LONGER_FAILS',
      'HARVEST_OUTCOME_KIND',
    ])
    expect(project.read('src/__snapshots__/ui.test.ts.snap')).toContain('"old"')
  })

  it('without a word, only a baseline that is missing is written, and the next run writes nothing', async () => {
    const first = await run(['run', 'golden'])
    expect(first.changed).toEqual([caseFile('unwritten')])
    const before = project.hash()
    const second = await project.run(['run', 'golden/unwritten', 'golden/holds'])
    expect([second.code, project.hash()]).toEqual([0, before])
  })

  it('new and none write as much as they say', async () => {
    const asNew = await run(['run', 'golden', '--update-recordings=new'], { bin: 'vitest-harvest' })
    const asNone = await run(['run', 'golden', '--update-recordings=none'], { bin: 'vitest-harvest' })
    expect([asNew.changed, asNone.changed]).toEqual([[caseFile('unwritten')], []])
    expect(asNone.output).toContain('HARVEST_BASELINE_MISSING')
  })

  it('-u, which is for snapshots, accepts no new behaviour', async () => {
    const { changed } = await run(['run', 'golden', '-u'])
    expect(changed).toEqual([caseFile('unwritten')])
  })

  it.each([['CI'], ['CLAUDECODE']])('with %s set nothing is written, and the run says why', async (name) => {
    const { changed, output } = await run(['run', 'golden', '--update-recordings'], {
      bin: 'vitest-harvest',
      env: { [name]: '1' },
    })
    expect(changed).toEqual([])
    expect(output).toContain(`--update-recordings=all was not followed`)
    expect(output).toContain('HARVEST_ALLOW_CI_UPDATE=1')
  })

  it('a second word allows it in CI', async () => {
    const { changed } = await run(['run', 'golden', '--update-recordings'], {
      bin: 'vitest-harvest',
      env: { CI: '1', HARVEST_ALLOW_CI_UPDATE: '1' },
    })
    expect(changed.sort()).toEqual([caseFile('stale'), caseFile('unwritten')])
  })

  it('a run that was stopped writes nothing', async () => {
    const { changed, output } = await run(['run', 'golden', '--update-recordings', '--bail=1'], {
      bin: 'vitest-harvest',
    })
    expect([changed, output.includes('Updated')]).toEqual([[], false])
  })

  it('a mode nobody knows is an error, not a default', async () => {
    const own = await run(['run', 'golden', '--update-recordings=al'], { bin: 'vitest-harvest' })
    const variable = await run(['run', 'golden'], { env: { VITEST_HARVEST_UPDATE: 'yes' } })
    expect([own.code, variable.code, own.changed, variable.changed]).toEqual([2, 1, [], []])
    for (const { output } of [own, variable]) expect(output).toContain('HARVEST_UPDATE_MODE')
  })

  it('a tool call that is left out is red until an update accepts it, and green from then on', async () => {
    const file = caseFile('shorter')
    for (const [name, text] of Object.entries(golden('shorter', refundBaseline, { agent: 'skips' })))
      project.write(name, text)
    const red = await project.run(['run', 'golden/shorter'])
    const update = await project.run(['run', 'golden/shorter', '--update-recordings'], { bin: 'vitest-harvest' })
    const green = await project.run(['run', 'golden/shorter'])
    expect([red.code, update.code, green.code]).toEqual([1, 0, 0])
    expect(red.output).toContain('HARVEST_TRACE')
    expect(project.read(file)).toContain('baseline:\n  - lookup_order(order_id)\n')
    expect(project.read(file)).not.toContain('refund(')
  })
})
