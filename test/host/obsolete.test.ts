import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'

const ci = { CI: 'true' }
const whole = { ...refundSources, ...golden('one', refundBaseline), ...golden('two', refundBaseline) }
/** What a config or a clean-up leaves behind without a word: red in CI. */
const leftovers = {
  ...whole,
  'vitest.config.ts': config('', `exclude: ['**/two.case.yaml']`),
  'recordings/golden/lone.tape.jsonl': tapeText('lone'),
}

describeLanes('a golden set that is no longer whole, under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  let inCi: RunResult
  beforeAll(async () => {
    home = openHome(lane)
    project = home.project('left', leftovers)
    inCi = await home
      .project('gone', {
        ...leftovers,
        ...golden('no-agent', refundBaseline, { agent: 'retired' }),
        'recordings/golden/no-tape.case.yaml': `case: no-tape\nagent: refund\ntape: no-tape.tape.jsonl\nexpect: pass\n${refundBaseline}`,
      })
      .run(['run'], { env: ci })
  })
  afterAll(() => home?.[Symbol.dispose]())

  it.each([
    ['a case whose tape is gone', 'HARVEST_CASE_TAPE_MISSING', 'no-tape'],
    ['a case whose agent is gone from the config', 'HARVEST_AGENT_UNKNOWN', 'retired'],
    ['a case the config keeps out', 'HARVEST_CASE_NOT_COLLECTED', 'recordings/golden/two.case.yaml'],
    ['a tape in the golden set without a case', 'HARVEST_TAPE_OBSOLETE', 'recordings/golden/lone.tape.jsonl'],
  ])('%s is red in CI', (_what, code, named) => {
    expect([inCi.code, inCi.output.includes(`(${code})`), inCi.output.includes(named)]).toEqual([1, true, true])
  })

  it('is told of and green on the machine of a developer, and one by one red in CI', { tags: 'thorough' }, async () => {
    const local = await project.run(['run'])
    const kept = await project.run(['run'], { env: ci })
    expect(local.code).toBe(0)
    expect(local.output).toMatch(
      / Recordings {2}1 replayed\n {4}Escapes {2}0\n {4}Not run {2}1 case\(s\) the config keeps out; CI fails on them\n {3}Obsolete {2}1 tape/,
    )
    expect(local.output).not.toContain('HARVEST_')
    expect([kept.code, kept.stderr.match(/HARVEST_\w+/g)]).toEqual([
      1,
      ['HARVEST_CASE_NOT_COLLECTED', 'HARVEST_TAPE_OBSOLETE'],
    ])
  })

  it('is not seen in runs that were asked for a part of it', { tags: 'thorough' }, async () => {
    const part = home.project('part', { ...whole, 'vitest.config.ts': config() })
    const git = (...words: string[]) => spawnSync('git', words, { cwd: part.folder, encoding: 'utf8' })
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'all')
    part.write('recordings/golden/one.case.yaml', `${part.read('recordings/golden/one.case.yaml')}# edited\n`)
    const asked = [['golden/one'], ['--shard=1/2'], ['--changed'], ['-t', 'golden/one']]
    const runs = await Promise.all(asked.map((args) => part.run(['run', '--passWithNoTests', ...args], { env: ci })))
    expect(runs.map(({ stderr }, at) => [asked[at], /HARVEST_\w+/.exec(stderr)?.[0]])).toEqual(
      asked.map((args) => [args, undefined]),
    )
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0])
  })

  it('is seen when the reports of shards are merged, and so is a shard that is missing, but not a part that was asked for', {
    tags: 'thorough',
  }, async () => {
    const shards = home.project('shards', { ...whole, 'vitest.config.ts': config() })
    for (const part of [1, 2]) await shards.run(['run', `--shard=${part}/2`, '--reporter=blob'], { env: ci })
    const merged = await shards.run(['run', '--merge-reports'], { env: ci })
    const blobs = shards.search('.', /^/).filter((file) => /blob-2-2\.json$/.test(file))
    expect(blobs).toHaveLength(1)
    for (const blob of blobs) rmSync(path.join(shards.folder, blob))
    const short = await shards.run(['run', '--merge-reports'], { env: ci })
    expect([merged.code, merged.stderr, short.code]).toEqual([0, '', 1])
    expect(short.stderr).toMatch(/cases {2}recordings\/golden\/(?:one|two)\.case\.yaml\n[^]*HARVEST_CASE_NOT_COLLECTED/)

    // What a run was asked for does not depend on Vitest's version.
    if (lane === 4) return
    await shards.run(['run', 'golden/one', '--shard=1/1', '--reporter=blob'], { env: ci })
    const asked = await shards.run(['run', '--merge-reports'], { env: ci })
    expect([asked.code, asked.stderr]).toEqual([0, ''])
  })
})
