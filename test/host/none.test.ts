import { expect, it } from 'vitest'
import { describeLanes, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'

const plain = `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`

describeLanes('a run that collected no case, under Vitest %i', (lane) => {
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

  it('is not red where somebody asked for other tests', { tags: 'thorough' }, async () => {
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
    const kept = await project.run(['run', '--exclude', '**/*.case.yaml'], { env: { CI: 'true' } })
    expect([kept.code, kept.output]).toEqual([0, expect.stringContaining('1 replayed')])
    const { stderr } = await project.run(['run', '--typecheck.only'], { env: { CI: 'true' } })
    expect(stderr).not.toContain('HARVEST_')
  })

  it('is red where a set-up file or the config skips the cases, and not where an argument of the run does', {
    tags: 'thorough',
  }, async () => {
    using home = openHome(lane)
    const files = {
      ...refundSources,
      ...golden('one', refundBaseline),
      'src/plain.test.ts': plain,
      'setup.ts': `import { beforeEach } from 'vitest'\nbeforeEach(({ skip }) => { skip(!process.env.REAL_KEY, 'no key') })\n`,
    }
    const keyless = home.project('keyless', { ...files, 'vitest.config.ts': config('', `setupFiles: ['./setup.ts']`) })
    const named = home.project('pattern', { ...files, 'vitest.config.ts': config('', `testNamePattern: 'is plain'`) })
    const tagged = home.project('tags', {
      ...files,
      'vitest.config.ts': config('', `tags: [{ name: 'unit' }], tagsFilter: ['unit'], passWithNoTests: true`),
    })
    const env = { CI: 'true' }
    const results = [
      await keyless.run(['run'], { env }),
      await named.run(['run'], { env }),
      await tagged.run(['run'], { env }),
      // By its name, everywhere.
      await keyless.run(['one'], { bin: 'vitest-harvest' }),
      await keyless.run(['run']),
      await named.run(['run', '-t', 'is plain'], { env }),
      await tagged.run(['run', '--tags-filter=unit'], { env }),
    ]
    expect(results.map(({ code, stderr }) => [code, /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual([
      ...[1, 2, 3, 4].map(() => [1, 'HARVEST_CASE_NOT_COLLECTED']),
      ...[1, 2, 3].map(() => [0, undefined]),
    ])
    expect(results[0]?.stderr).toMatch(/cases +recordings\/golden\/one\.case\.yaml\n +note +no key/)
    expect(results[4]?.stdout).toMatch(/Not run +1 case\(s\) that a set-up file or the config skips; CI fails on them/)
    for (const { stdout } of results.slice(5)) expect(stdout).not.toContain('Not run')
  })

  it('is red where a case that was asked for by name did not run, also where a run without tests may pass', {
    tags: 'thorough',
  }, async () => {
    using home = openHome(lane)
    const files = { ...refundSources, ...golden('one', refundBaseline), 'src/one.test.ts': plain }
    const excluded = home.project('excluded', {
      ...files,
      ...golden('one-more', refundBaseline),
      'vitest.config.ts': config('', `exclude: ['recordings/golden/one.*'], passWithNoTests: true`),
    })
    const whole = home.project('left', { ...files, 'vitest.config.ts': config('', `passWithNoTests: true`) })
    const test = (...words: string[]) => ['test', ...words]
    const bin = { bin: 'harvest' } as const
    const red = [
      await excluded.run(test('one'), bin),
      await excluded.run(['run', 'recordings/golden/one.case.yaml']),
      await whole.run(test('golden/one', '--project=!recordings'), bin),
      await whole.run(test('one', '-t', 'is plain'), bin),
    ]
    expect(red.map(({ code, stderr }) => [code, /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual(
      red.map(() => [1, 'HARVEST_CASE_NOT_COLLECTED']),
    )
    expect(red[0]?.stderr).toMatch(/cases +recordings\/golden\/one\.case\.yaml\n/)
    const green = [
      await excluded.run(test('one-more'), bin),
      await whole.run(['run', 'one', '--project=!recordings']),
      await whole.run(['run', 'one']),
      await whole.run(['run', 'one', '--shard=1/2']),
      await whole.run(['run', 'golden', '-t', 'is plain']),
    ]
    expect(green.map(({ code, stderr }) => [code, /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual(
      green.map(() => [0, undefined]),
    )
  })

  it('is red in CI where the recordings folder is empty or lies beside the root, and says a line where there is no folder', async () => {
    using home = openHome(lane)
    const files = { ...refundSources, 'src/plain.test.ts': plain, 'vitest.config.ts': config() }
    const inbox = home.project('inbox', { ...files, 'recordings/inbox/x.tape.jsonl': tapeText('x') })
    const young = home.project('fresh', files)
    const beside = home.project('beside', {
      ...golden('one', refundBaseline),
      'app/src/plain.test.ts': plain,
      'vitest.config.ts': config().replace('plugins:', `root: 'app', plugins:`),
    })
    const env = { CI: 'true' }
    const results = [
      await inbox.run(['run'], { env }),
      await beside.run(['run'], { env }),
      await young.run(['run'], { env }),
      await inbox.run(['run']),
    ]
    expect(results.map(({ code, stderr }) => [code, /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual([
      [1, 'HARVEST_NO_CASES'],
      [1, 'HARVEST_NO_CASES'],
      [0, undefined],
      [0, undefined],
    ])
    expect(results[1]?.stderr).toContain('../recordings/golden/one.case.yaml')
    expect(results[2]?.stdout).toContain('Recordings  no case: there is no recordings')
    expect(results[3]?.stdout).toContain('Recordings  no case in recordings; CI fails on it')
  })
})
