import { describe, expect, it } from 'vitest'
import { type Lane, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'

const plain = `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`

describe.each<Lane>([5, 4])('a run that collected no case, under Vitest %i', (lane) => {
  it('is red in CI where there are cases, also where Vitest lets a run without tests pass', async () => {
    using home = openHome(lane)
    const keptOut = {
      ...refundSources,
      ...golden('one', refundBaseline),
      'vitest.config.ts': config('', `exclude: ['recordings/**'], passWithNoTests: true`),
    }
    const other = {
      ...refundSources,
      ...golden('one', refundBaseline),
      'src/plain.test.ts': plain,
      'vitest.config.ts': config(`recordings: 'recrodings'`),
    }
    const env = { CI: 'true' }
    const results = [
      await home.project('none', keptOut).run(['run'], { env }),
      await home.project('typo', other).run(['run'], { env }),
    ]
    expect(results.map(({ code, stderr }) => [code, /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual([
      [1, 'HARVEST_NO_CASES'],
      [1, 'HARVEST_NO_CASES'],
    ])
    expect(results[1]?.stderr).toContain('recordings/golden/one.case.yaml')
  })

  it('is not red where somebody asked for other tests', async () => {
    using home = openHome(lane)
    const project = home.project('asked', {
      ...refundSources,
      ...golden('one', refundBaseline),
      'src/plain.test.ts': plain,
      'src/plain.test-d.ts': `import { it } from 'vitest'\nit('has types', () => {})\n`,
      'tsconfig.json': '{ "compilerOptions": { "skipLibCheck": true, "types": [] }, "include": ["src/*.test-d.ts"] }',
      'vitest.config.ts': config(),
    })
    const asked = [['src/plain'], ['-t', 'is plain'], ['--project=!recordings'], ['--exclude', 'nothing', 'src/plain']]
    for (const args of asked) {
      const { code, stderr } = await project.run(['run', ...args], { env: { CI: 'true' } })
      expect([args, code, /HARVEST_\w+/.exec(stderr)?.[0]]).toEqual([args, 0, undefined])
    }
    const { stderr } = await project.run(['run', '--typecheck.only'], { env: { CI: 'true' } })
    expect(stderr).not.toContain('HARVEST_')
  })
})
