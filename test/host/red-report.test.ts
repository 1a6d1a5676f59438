import { chmodSync, existsSync, globSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ReportData } from '../../src/report/view/types.ts'
import { describeLanes, type Home, type InlineProject, onLane, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'

/** The reports that a project has, and what Vitest attached, by name. */
const reportsOf = ({ folder }: InlineProject): readonly string[] =>
  globSync('.harvest/**/*.html', { cwd: folder }).sort()
const attachedOf = ({ folder }: InlineProject): readonly string[] =>
  globSync(['.vitest/attachments/*.html', '.vitest-attachments/*.html'], { cwd: folder })

function dataIn(html: string): ReportData {
  const [, block = ''] = /<script type="application\/json" id="data">([\s\S]*?)<\/script>/.exec(html) ?? []
  return JSON.parse(block) as ReportData
}

const red = golden('red', `${refundBaseline}outcome: { refunded: 26 }\n`)
const nobody = 65_534
const other = 'export const amountOf = (order: { amount: number }) => order.amount + 5\n'

describeLanes('a red case on Vitest %i', (lane) => {
  // What is in a report does not depend on Vitest's version.
  const once = onLane(lane, 5)
  let home: Home
  beforeAll(() => {
    home = openHome(lane)
  })
  afterAll(() => home[Symbol.dispose]())

  it('leaves one report and one attachment, named where people and machines look; a green case leaves none', async () => {
    const project = home.project('one', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...golden('red', `${refundBaseline}outcome: { refunded: 26 }\n`),
      ...golden('green', refundBaseline),
    })
    const file = '.harvest/report/golden/red.html'
    const junit = ['--reporter=junit', '--outputFile.junit=.vitest/junit.xml']
    const { code, output } = await project.run(['run', ...withJson, ...junit])
    expect(code).toBe(1)
    expect(reportsOf(project)).toEqual([file])
    const [attached = '', ...others] = attachedOf(project)
    expect(others).toEqual([])
    expect(statSync(path.join(project.folder, attached)).mode & 0o077).toBe(0)
    expect(output).toContain(`report ${file}`)
    expect(reported(project).get('golden/red')?.meta.harvest).toMatchObject({ report: file, code: 'HARVEST_OUTCOME' })
    expect(reported(project).get('golden/green')?.meta.harvest).not.toHaveProperty('report')
    expect(project.read('.vitest/junit.xml')).toContain(`<property name="report" value="${file}">`)
    expect(statSync(path.join(project.folder, file)).mode & 0o077).toBe(0)
    const { replay, run } = dataIn(project.read(file))
    expect(run.case).toEqual({ id: 'red', expect: 'pass' })
    expect(replay).toMatchObject({ case: 'red', verdict: 'different', code: 'HARVEST_OUTCOME', served: 2, steps: 2 })
    expect(replay?.place).toBe('recordings/golden/red.case.yaml:8')

    // Green again, it takes its report away.
    project.write(
      'recordings/golden/red.case.yaml',
      project.read('recordings/golden/green.case.yaml').replaceAll('green', 'red'),
    )
    expect((await project.run(['run'])).code).toBe(0)
    expect(reportsOf(project)).toEqual([])
  })

  it('leaves those of its shard, and those of the other shard where they are', async () => {
    const ids = ['case-1', 'case-2', 'case-3', 'case-4']
    const cases = ids.map((id) => golden(id, `${refundBaseline}outcome: { refunded: 26 }\n`))
    const project = home.project('shards', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...(Object.assign({}, ...cases) as Record<string, string>),
    })
    await project.run(['run', '--shard=1/2'])
    const first = reportsOf(project)
    expect(first).toHaveLength(2)
    await project.run(['run', '--shard=2/2'])
    expect(reportsOf(project)).toEqual(ids.map((id) => `.harvest/report/golden/${id}.html`))
    expect(attachedOf(project)).toHaveLength(4)
    expect(reportsOf(project)).toEqual(expect.arrayContaining([...first]))
  })

  once('shows what was recorded and what is now, where the replay parts', async () => {
    const project = home.project('parts', {
      'vitest.config.ts': config(),
      ...refundSources,
      'src/amount.ts': other,
      ...golden('red', refundBaseline),
    })
    await project.run(['run'])
    const { replay, texts } = dataIn(project.read('.harvest/report/golden/red.html'))
    expect(replay).toMatchObject({ verdict: 'different', nearest: 2 })
    expect([texts[replay?.recorded ?? -1], texts[replay?.now ?? -1]].join(' → ')).toMatch(/25.* → .*30/)
    expect(replay?.site).toContain('src/refund.ts')
    expect(replay?.fix.length).toBeGreaterThan(0)
  })

  once('leaves a report of its tape where the agent could not even be loaded', async () => {
    const project = home.project('unloaded', {
      'vitest.config.ts': config(),
      ...refundSources,
      'src/refund.ts': "throw new Error('no such luck')\n",
      ...golden('red', refundBaseline),
    })
    expect((await project.run(['run'])).output).toContain('no such luck')
    expect(dataIn(project.read('.harvest/report/golden/red.html')).replay).toMatchObject({
      served: 0,
      steps: 2,
      servedSteps: [],
    })
  })

  once('leaves none with `report: false`', async () => {
    const off = home.project('off', { 'vitest.config.ts': config('report: false'), ...refundSources, ...red })
    expect((await off.run(['run'])).output).toContain('HARVEST_OUTCOME')
    expect(reportsOf(off)).toEqual([])
  })

  once('is written and read through no symbolic link, and Vitest follows none below the recordings', async () => {
    const files = { 'vitest.config.ts': config(), ...refundSources, ...red }
    const project = home.project('linked', { ...files, '../elsewhere/golden/red.html': 'a page of mine' })
    const elsewhere = path.join(project.folder, '../elsewhere')
    mkdirSync(path.join(project.folder, '.harvest'))
    symlinkSync(elsewhere, path.join(project.folder, '.harvest/report'))
    const { code, output } = await project.run(['run'])
    expect(code).toBe(1)
    expect(output).toContain('HARVEST_OUTCOME')
    expect(output).toContain('Reports  not all could be written: Refused to write through a symbolic link')
    expect(project.read('../elsewhere/golden/red.html')).toBe('a page of mine')
    expect(attachedOf(project)).toEqual([])

    symlinkSync('/', path.join(project.folder, 'recordings/golden/disk'))
    const refused = await project.run(['run'])
    expect(refused.code).toBe(1)
    expect(refused.output).toContain('A folder of the recordings is a symbolic link')
    expect(refused.output).toContain('(HARVEST_CASE_LINK)')
  })

  once('is red for its own reason where the folder is read-only', { tags: 'thorough' }, async () => {
    const project = home.project('read-only', { 'vitest.config.ts': config(), ...refundSources, ...red })
    // Vite writes a config that it bundles; root may write anywhere, so another user runs it then.
    const args = ['run', '--configLoader=runner'] as const
    const TMPDIR = path.join(project.folder, '../tmp')
    mkdirSync(TMPDIR)
    chmodSync(TMPDIR, 0o777)
    for (const folder of [path.dirname(project.folder), project.folder]) chmodSync(folder, 0o555)
    const { output, code } = await project.run(args, {
      env: { TMPDIR, HOME: TMPDIR },
      ...(process.getuid?.() === 0 && { uid: nobody }),
    })
    for (const folder of [path.dirname(project.folder), project.folder]) chmodSync(folder, 0o755)
    expect(code).toBe(1)
    expect(output).toContain('HARVEST_OUTCOME')
    expect(output).toMatch(/Reports {2}not all could be written: .*EACCES/)
    expect(output).not.toContain('report .harvest')
    expect(output.match(/FAIL/g)).toHaveLength(1)
    expect([...reportsOf(project), ...attachedOf(project)]).toEqual([])
  })

  // How many are kept, and in whose process, is decided by our own code.
  once(
    'leaves 20 reports and one line where many are red, from files that run beside each other in confined workers',
    { tags: 'thorough' },
    async () => {
      using home = openHome(lane)
      const ids = Array.from({ length: 300 }, (_, index) => `case-${index}`)
      const cases = Object.assign(
        {},
        ...ids.map((id) => golden(id, `${refundBaseline}outcome: { refunded: 26 }\n`)),
      ) as Record<string, string>
      const project = home.project('many', {
        'vitest.config.ts': config("confine: 'strict'"),
        ...refundSources,
        ...cases,
      })
      const { output } = await project.run(['run', ...withJson])
      expect(reportsOf(project)).toHaveLength(20)
      expect(attachedOf(project)).toHaveLength(20)
      expect(output).toContain('Reports  20 in .harvest/report; 280 more red cases have no report')
      expect([...reported(project).values()].filter(({ meta }) => meta.harvest?.['report'] !== undefined)).toHaveLength(
        20,
      )
      // A part of the cases takes away the reports of those alone.
      const kept = reportsOf(project)[0] ?? ''
      mkdirSync(path.join(project.folder, 'elsewhere'), { recursive: true })
      await project.run(['run', path.basename(kept, '.html') === 'case-1' ? 'case-2.' : 'case-1.'])
      expect(existsSync(path.join(project.folder, kept))).toBe(true)
    },
  )
})
