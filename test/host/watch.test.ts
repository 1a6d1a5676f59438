import { rmSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Lane, openHome } from './inline.ts'
import { amount, config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'

describe.each<Lane>([5, 4])('watch mode of Vitest %i', (lane) => {
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
})
