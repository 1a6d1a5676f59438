import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, onLane, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'

describeLanes('what a run of Vitest %i is asked for', (lane) => {
  const once = onLane(lane, 5)
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(lane)
    project = home.project('asked', {
      'vitest.config.ts': config(),
      'src/plain.test.ts': `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toMatchSnapshot() })\n`,
      ...refundSources,
      ...golden('holds', refundBaseline),
      ...golden('outdated', 'baseline: []\n'),
      ...golden('tagged', `tags: [incident]\n${refundBaseline}`),
    })
  })
  afterAll(() => home?.[Symbol.dispose]())
  const updateLine = ({ output }: RunResult) => / Update {2}.*\n.*/.exec(output)?.[0]
  const untouched = () => project.read('recordings/golden/outdated.case.yaml').endsWith('baseline: []\n')

  it('an update of snapshots says that it leaves recordings alone, and how they are updated', {
    tags: 'thorough',
  }, async () => {
    const asked = [['-u'], ['--update=all'], []]
    const runs: RunResult[] = []
    for (const args of asked) runs.push(await project.run(['run', ...args]))
    const told = `Update  snapshots only: -u and --update leave recordings as they are
             to update them: npx vitest-harvest test --update-recordings --reason "…"`
    expect(runs.map((run) => [run.code, updateLine(run)?.trim()])).toEqual([
      [1, told],
      [1, told],
      [1, undefined],
    ])
    expect(untouched()).toBe(true)
    // Nothing is left alone where no case runs.
    expect(updateLine(await project.run(['run', 'src/plain', '-u']))).toBeUndefined()
  })

  it('the tag golden finds every promoted case', async () => {
    const { code, output } = await project.run(['run', '--tags-filter=golden', 'golden/holds', 'golden/tagged'])
    expect([code, /Tests {2}(.*)/.exec(output)?.[1]]).toEqual([0, '2 passed (2)'])
    const { output: list } = await project.run(['list', '--tags-filter=golden'])
    expect(list.match(/case\.yaml/g)).toHaveLength(3)
  })

  for (const name of ['APPVEYOR', 'bamboo_planKey', 'DRONE_BUILD_EVENT'])
    once(`an update is refused where ${name} is set`, { tags: 'thorough' }, async () => {
      const env = { [name]: 'yes', VITEST_HARVEST_UPDATE: 'all', HARVEST_UPDATE_REASON: 'it is right' }
      const result = await project.run(['run'], { env })
      expect([result.code, untouched()]).toEqual([1, true])
      expect(updateLine(result)).toContain(`this is CI (${name} is set)`)
    })
})
