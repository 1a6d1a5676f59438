import { rmSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { describeLanes, openHome } from './inline.ts'
import { amount, config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'

describeLanes('watch mode of Vitest %i', (lane) => {
  it('runs a case again when its agent, its tape, its text or a prompt changes, and settles after an update', async () => {
    using home = openHome(lane)
    const project = home.project('watch', {
      'vitest.config.ts': config(`deps: ['prompts/*']`),
      ...refundSources,
      'prompts/system.md': 'You refund.\n',
      ...golden('watched', `${refundBaseline}outcome: { refunded: 25 }\n`),
    })
    const file = 'recordings/golden/watched.case.yaml'
    await using vitest = project.watch(['--watch'])
    expect(await vitest.untilIdle()).toContain('1 passed')

    project.write('src/amount.ts', amount.replace('order.amount', 'order.amount + 1'))
    await vitest.untilIdle('HARVEST_DIVERGENCE')
    project.write('src/amount.ts', amount)
    expect(await vitest.untilIdle()).toContain('1 passed')

    project.write(file, project.read(file).replace('refunded: 25', 'refunded: 30'))
    await vitest.untilIdle('(HARVEST_OUTCOME)')
    project.write(file, project.read(file).replace('refunded: 30', 'refunded: 25'))
    expect(await vitest.untilIdle()).toContain('1 passed')

    project.write('recordings/golden/watched.tape.jsonl', tapeText('watched', { isTruncated: true }))
    await vitest.untilIdle('HARVEST_TAPE_TRUNCATED')
    project.write('recordings/golden/watched.tape.jsonl', tapeText('watched'))
    expect(await vitest.untilIdle()).toContain('1 passed')

    rmSync(path.join(project.folder, 'recordings/golden/watched.tape.jsonl'))
    await vitest.untilIdle('(HARVEST_CASE_TAPE_MISSING)')
    project.write('recordings/golden/watched.tape.jsonl', tapeText('watched'))
    expect(await vitest.untilIdle()).toContain('1 passed')

    project.write('prompts/system.md', 'You refund little.\n')
    expect(await vitest.untilIdle()).toContain('1 passed')

    // The update is written by the first run, the run that this starts writes nothing, and then there is quiet.
    project.write(file, project.read(file).replace(refundBaseline, ''))
    expect(await vitest.until('Updated')).toContain('1 passed')
    expect(project.read(file)).toContain(refundBaseline)
    const rerun = await vitest.until(`RERUN`)
    const settled = await vitest.untilIdle()
    expect(rerun + settled).not.toContain('Updated')

    project.write(file, 'case: [\n')
    await vitest.untilIdle('HARVEST_CASE_SYNTAX')
  })

  it('updates what a pattern that is typed names, and nothing where it reaches more or chooses tests by name', {
    tags: 'thorough',
  }, async () => {
    using home = openHome(lane)
    const outdated = 'baseline:\n  - lookup_order(*)\n  - escalate(order_id)\n'
    const project = home.project('typed', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...golden('holds', refundBaseline),
      ...golden('stale', outdated),
      ...golden('vip-stale', outdated),
      // What the keys `p` and `t` do.
      'watch.ts': `import { readFileSync } from 'node:fs'
import { startVitest } from 'vitest/node'
Object.assign(process.env, { VITEST_HARVEST_UPDATE: 'all', HARVEST_UPDATE_REASON: 'no one escalates any more' })
const vitest = await startVitest('test', ['holds'], { watch: true })
const say = (step: string) => {
  const left = ['stale', 'vip-stale'].filter((id) => readFileSync('recordings/golden/' + id + '.case.yaml', 'utf8').includes('escalate('))
  console.log('%s: outdated %s, exit code %s', step, left.join(' '), process.exitCode)
}
const files = async (pattern: string) => (await vitest.globTestSpecifications([pattern])).map(({ moduleId }) => moduleId)
say('started')
await vitest.changeFilenamePattern('stale', await files('stale'))
say('stale')
process.exitCode = undefined
await vitest.changeFilenamePattern('golden/stale', await files('golden/stale'))
say('golden/stale')
await vitest.changeFilenamePattern('', [])
await vitest.changeNamePattern('replays', await files('vip-stale'))
say('by the name of tests')
await vitest.close()
`,
    })
    const { output } = await project.start('watch.ts')
    expect(output.match(/^.*: outdated.*$/gm)).toEqual([
      'started: outdated stale vip-stale, exit code undefined',
      'stale: outdated stale vip-stale, exit code 1',
      'golden/stale: outdated vip-stale, exit code undefined',
      'by the name of tests: outdated vip-stale, exit code 1',
    ])
    // The file that was written starts a run as well.
    expect([...new Set(output.match(/^.*nothing was written\n\n[^]*?HARVEST_UPDATE_PARTIAL\)/gm))]).toEqual([
      expect.stringContaining('not named    recordings/golden/vip-stale.case.yaml'),
      expect.stringMatching(/with -t replays; [^]*npx vitest-harvest test recordings\/golden\/vip-stale.case.yaml /),
    ])
  })
})
