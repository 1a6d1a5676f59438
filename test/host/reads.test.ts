import { expect, it } from 'vitest'
import { describeLanes, openHome, type RunResult } from './inline.ts'
import { config, golden, refundAgent, refundBaseline, refundSources } from './refund.ts'

const reading = `import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
const system = readFileSync('prompts/system.md', 'utf8')
${refundAgent.replace('const order =', "if (!system || !(await readFile('prompts/tone.md', 'utf8'))) return\n  const order =")}`

describeLanes('files that an agent reads by itself, under Vitest %i', (lane) => {
  it('are named with what to put into deps, and not once they are there', { tags: 'thorough' }, async () => {
    using home = openHome(lane)
    const project = home.project('reads', {
      'vitest.config.ts': config(),
      ...refundSources,
      'src/refund.ts': reading,
      'prompts/system.md': 'You refund.\n',
      'prompts/tone.md': 'Be kind.\n',
      ...golden('one', refundBaseline),
      ...golden('two', refundBaseline),
    })
    const told = ({ output }: RunResult) => /\n {7}Read [^]*?deps.*/.exec(output)?.[0]
    const before = await project.run(['run'])
    expect(before.code).toBe(0)
    expect(told(before)).toBe(`
       Read  prompts/system.md (2 cases)
             prompts/tone.md (2 cases)
             watch mode, --changed and related do not follow files that an agent reads by itself
             to follow them: harvest({ deps: ['prompts/system.md', 'prompts/tone.md'] })`)

    project.write('vitest.config.ts', config(`deps: ['prompts/system.md', 'prompts/tone.md']`))
    expect(told(await project.run(['run']))).toBeUndefined()
    const { output } = await project.run(['related', 'prompts/tone.md', '--run'])
    expect(output).toMatch(/Tests {2}2 passed/)
  })
})
