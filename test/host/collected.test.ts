import { expect, it } from 'vitest'
import { describeLanes, openHome } from './inline.ts'
import { golden, refundBaseline, refundCalls, refundSources } from './refund.ts'

// Lists the cases whose modules Vite makes. A runner of the user's keeps its place, and then Vitest imports all of them.
const config = `import { appendFileSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
const { RUNNER, MADE } = process.env
const spy = { name: 'spy', transform: (_: string, id: string) => void (id.endsWith('.case.yaml') && appendFileSync(MADE!, id + '\\n')) }
export default defineConfig({
  plugins: [spy, harvest({ agents: { refund: './src/refund.ts#refundAgent', gone: './src/gone.ts#agent', broken: './src/broken.ts#agent' } })],
  test: { slowTestThreshold: 600_000, ...(RUNNER && { runner: RUNNER }) },
})
`
const results = ['junit', 'json'].map((name) => `${name}.txt`)
const reporters = [
  ...['default', 'tap-flat', 'junit', 'json', 'github-actions'].map((name) => `--reporter=${name}`),
  ...results.map((file) => `--outputFile.${file.replace('.txt', '')}=${file}`),
]

describeLanes('the cases of Vitest %i', (lane) => {
  it('are told of alike, whether a worker collects them or Vitest imports a module of each', {
    tags: 'thorough',
  }, async () => {
    using home = openHome(lane)
    const files = {
      'vitest.config.ts': config,
      'runner.ts': `export { TestRunner as default } from 'vitest'\n`,
      ...refundSources,
      'src/broken.ts': `import './amount.ts'\nthrow new Error('not today')\n`,
      ...golden('green', `tags: [incident]\n${refundBaseline}`),
      ...golden('less', refundBaseline, { calls: refundCalls.slice(0, 1) }),
      ...golden('unknown-agent', refundBaseline, { agent: 'nobody' }),
      ...golden('in-pieces', 'baseline: [\n# sourceMappingURL=data:application/json;base64,e30=\n'),
      ...golden('a name', refundBaseline),
      ...golden('gone-agent', refundBaseline, { agent: 'gone' }),
      ...golden('broken-agent', refundBaseline, { agent: 'broken' }),
      'recordings/golden/no-tape.case.yaml': 'case: no-tape\nagent: refund\ntape: no.tape.jsonl\nexpect: pass\n',
    }
    // Each in a project of its own: Vitest runs first what failed before.
    const run = async (name: string, env: Readonly<Record<string, string>>) => {
      const project = home.project(name, files)
      const { code, stdout, stderr } = await project.run(['run', '--maxWorkers=1', ...reporters], {
        env: { ...env, MADE: `${project.folder}/made.txt`, GITHUB_ACTIONS: 'true' },
      })
      const made = [...project.read('made.txt').matchAll(/([^/]+)\.case\.yaml$/gm)].map(([, id]) => id)
      const told = [stdout, stderr, ...results.map((file) => project.read(file))]
      return {
        code,
        made: [...new Set(made)].sort(),
        told: told.map((text) => timeless(text.replaceAll(project.folder, '<project>'))),
      }
    }
    const [here, imported] = await Promise.all([run('here', {}), run('imported', { RUNNER: './runner.ts' })])
    // That of `a name` is refused before the spy sees it.
    const red = ['broken-agent', 'gone-agent', 'in-pieces', 'less', 'no-tape', 'unknown-agent']
    expect(here.made).toEqual(red)
    expect(imported.made).toEqual([...red, 'green'].sort())
    expect(here.told).toEqual(imported.told)
    expect([here.code, imported.code]).toEqual([1, 1])
    // What is shown is no less than the line of the case.
    expect(here.told[1]).toContain('recordings/golden/less.case.yaml:')
    expect(here.told[1]).toMatch(/\d+\| +baseline:/)
  })
})

/** Without what differs between any two runs, and without who imports an agent: a case, or the list of all agents. */
function timeless(text: string): string {
  return text
    .replaceAll(/imported from (?:[^\s'"]+\.case\.yaml|virtual:vitest-harvest\/agents)/g, 'imported from <it>')
    .replaceAll(/\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/\b\d+(?:\.\d+)? ?m?s\b/g, '<ms>')
    .replaceAll(/("?(?:time|startTime|endTime|duration)"?[=:] ?"?)[\d.e-]+/g, '$1<ms>')
    .replaceAll(/\((?:tests|worker|transform|setup|import|environment|prepare) \d+%.*\)/g, '(<shares>)')
    .replaceAll(/duration_ms: [\d.]+|# time=<ms>|# time=[\d.]+/g, '<ms>')
}
