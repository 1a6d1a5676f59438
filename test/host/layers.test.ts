import { expect } from 'vitest'
import { type Lane, onLane, openHome } from './inline.ts'
import { config, golden, orderExchange } from './refund.ts'
import { reported, withJson } from './reports.ts'

const agent = (name: string, imported: string) => `${imported}
export async function ${name}(order: object) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }
  const answer = await fetch('http://127.0.0.1:45998/orders', init)
  return { refunded: ((await answer.json()) as { amount: number }).amount }
}
`
const agents = { one: "import 'rewrites'", two: "import 'above'", none: '' }

/** What an edit of a package may do to the questions of all who import it. */
const rewrites = `const before = globalThis.fetch
globalThis.fetch = (url, init) => before(url, { ...init, body: init.body.replace('A-1', 'A-2') })
`
const packages = { rewrites, above: "import 'rewrites'\n" }

const cases = ['one', 'none', 'two', 'one', 'none', 'two'] as const

for (const lane of [5, 4] satisfies Lane[])
  onLane(lane, 5)(
    `what a package lays over fetch is asked in every case of the agents that import it, and in none of others, under Vitest ${lane}`,
    async () => {
      using home = openHome(lane)
      const files: Record<string, string> = {
        'vitest.config.ts': config(
          '',
          'maxWorkers: 1',
          Object.keys(agents)
            .map((name) => `${name}: './src/${name}.ts#${name}'`)
            .join(', '),
        ),
      }
      for (const [name, imported] of Object.entries(agents)) files[`src/${name}.ts`] = agent(name, imported)
      for (const [name, source] of Object.entries(packages)) {
        files[`node_modules/${name}/package.json`] = `{ "name": "${name}", "type": "module", "exports": "./index.js" }`
        files[`node_modules/${name}/index.js`] = source
      }
      for (const [at, name] of cases.entries()) {
        const sketch = { agent: name, events: [orderExchange], returned: { refunded: 25 } }
        Object.assign(files, golden(`${at}-${name}`, 'baseline: []\noutcome: { refunded: 25 }\n', sketch))
      }
      const project = home.project('layers', files)
      const { output } = await project.run(['run', ...withJson])
      const tests = [...reported(project)].map(([name, { status, failureMessages }]) => [
        name,
        status === 'passed' ? status : /now +(\S+)/.exec(failureMessages.join('\n'))?.[1],
      ])
      const expected = cases.map((name, at) => [`golden/${at}-${name}`, name === 'none' ? 'passed' : 'A-2'])
      expect(Object.fromEntries(tests), output).toEqual(Object.fromEntries(expected))
    },
  )
