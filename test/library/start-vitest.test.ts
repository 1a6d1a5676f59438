import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../host/inline.ts'
import { supportCase, supportSources } from '../host/support.ts'

/** What `test` and `accept` do, as a program of the user: each run of Vitest with its end. */
const program = `
import { readFileSync, writeFileSync } from 'node:fs'
import { startVitest } from 'vitest/node'

async function run(env = {}) {
  Object.assign(process.env, env)
  const vitest = await startVitest('test', [], { watch: false, reporters: [{}] })
  const ends = vitest.state.getTestModules().map((one) => [one.relativeModuleId, one.state()])
  await vitest.close()
  process.exitCode = 0
  for (const name of Object.keys(env)) delete process.env[name]
  return ends
}

const ends = [await run()]
writeFileSync('src/prompt.ts', readFileSync('src/prompt.ts', 'utf8').replace('100 EUR', '500 EUR'))
ends.push(await run())
ends.push(await run({ VITEST_HARVEST_UPDATE: 'questions', HARVEST_UPDATE_REASON: 'the limit is 500 now' }))
ends.push(await run())
console.log('ENDS ' + JSON.stringify(ends))
`

it("a prompt is changed, is red, is accepted and is green, by Vitest's API", async () => {
  const home = openHome(5)
  onTestFinished(() => home[Symbol.dispose]())
  const project = home.project('story', {
    'vitest.config.ts': `import { harvest } from 'vitest-harvest/plugin'
export default { plugins: [harvest({ agents: { support: './src/support.ts#support' } })] }
`,
    'start.js': program,
    ...supportSources,
    ...supportCase('refund-a1'),
  })
  const { output } = await project.start('start.js')
  const [, ends = ''] = /^ENDS (.*)$/m.exec(output) ?? []
  const file = 'recordings/golden/refund-a1.case.yaml'
  expect(JSON.parse(ends || JSON.stringify(output))).toEqual([
    [[file, 'passed']],
    [[file, 'failed']],
    [[file, 'passed']],
    [[file, 'passed']],
  ])
  expect(project.read(file)).toContain('reason: the limit is 500 now')
})
