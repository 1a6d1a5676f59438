import { expect } from 'vitest'
import { type Lane, onLane, openHome } from './inline.ts'
import { config, golden, orderExchange } from './refund.ts'
import { reported, withJson } from './reports.ts'

const agent = (layer: string, asked = 'fetch') => `import http from 'node:http'
${layer}
const url = 'http://127.0.0.1:45998/orders'
const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
const over = (url, init) =>
  new Promise((resolve, reject) => {
    const answered = (answer) => {
      let text = ''
      answer.on('data', (chunk) => (text += chunk)).on('end', () => resolve({ json: () => JSON.parse(text) }))
    }
    http.request(url, init, answered).on('error', reject).end(init.body)
  })
export async function ask(order) {
  const answer = await ${asked}(url, { ...init, body: JSON.stringify(order) })
  return { refunded: (await answer.json()).amount }
}
`

const rewrites = (to: string) => `const before = globalThis.fetch
globalThis.fetch = (url, init) => before(url, { ...init, body: init.body.replace('raw', '${to}') })
`
const rewritesHttp = (to: string) => `const before = http.request
http.request = (url, init, answered) => {
  const asked = before(url, init, answered)
  const end = asked.end.bind(asked)
  asked.end = (body) => end(body.replace('raw', '${to}'))
  return asked
}
`

const adds = (to: string) => rewrites(to).replace("'raw'", "'A-1'")

/** Files of packages that the agents below import, by their path. */
const packages: Readonly<Record<string, string>> = {
  'rewrites/index.js': rewrites('A-1'),
  'rewrites-changed/index.js': rewrites('A-2'),
  'adds/index.js': adds('A-2'),
  'inner/index.js': "import 'rewrites'\n",
  'over-http/index.js': `import http from 'node:http'\n${rewritesHttp('A-1')}`,
  'over-http-changed/index.js': `import http from 'node:http'\n${rewritesHttp('A-2')}`,
  'required/package.json': '{ "name": "required", "main": "./index.cjs" }',
  'required/index.cjs': rewrites('A-1'),
  'defines/index.js': rewrites('A-1').replace(
    /globalThis.fetch = (.*)/,
    "Object.defineProperty(globalThis, 'fetch', { value: $1 })",
  ),
  'installs/index.js': `export const install = (to) => {
  ${rewrites('A-1').replace("'A-1'", 'to').replace('\n', '\n  ')}}\n`,
}

interface Source {
  readonly source: string
  readonly status: 'passed' | 'failed'
}

/** The tape has what the layer asked: the input says `raw` where the question says `A-1`. */
const own: Readonly<Record<string, Source>> = {
  layer: { source: agent(rewrites('A-1')), status: 'passed' },
  changed: { source: agent(rewrites('A-2')), status: 'failed' },
  gone: { source: agent(''), status: 'failed' },
  'http-layer': { source: agent(rewritesHttp('A-1'), 'over'), status: 'passed' },
  'http-changed': { source: agent(rewritesHttp('A-2'), 'over'), status: 'failed' },
}
const imported: Readonly<Record<string, Source>> = {
  package: { source: agent("import 'rewrites'"), status: 'passed' },
  'package-changed': { source: agent("import 'rewrites-changed'"), status: 'failed' },
  'package-new': { source: plain("import 'adds'"), status: 'failed' },
  'inner-package': { source: agent("import 'inner'"), status: 'passed' },
  'http-package': { source: agent("import 'over-http'", 'over'), status: 'passed' },
  'http-package-changed': { source: agent("import 'over-http-changed'", 'over'), status: 'failed' },
  required: { source: agent("import 'required'"), status: 'passed' },
  defined: { source: agent("import 'defines'"), status: 'passed' },
  installed: { source: agent("import { install } from 'installs'\ninstall('A-1')"), status: 'passed' },
  'installed-changed': { source: agent("import { install } from 'installs'\ninstall('A-2')"), status: 'failed' },
}
const sources: Readonly<Record<string, Source>> = { ...own, ...imported, plain: { source: plain(), status: 'passed' } }

function plain(layer = ''): string {
  return agent(layer).replace('JSON.stringify(order)', `'{"order_id":"A-1"}'`)
}

const replays = "import { replay } from 'vitest-harvest/vitest'"
const imports = (name: string) => `import { ask } from './${name}.ts'`
interface TestParts {
  readonly heads?: readonly string[]
  readonly title?: string
  readonly more?: string
}
const test = (
  name: string,
  { heads = [replays, imports(name)], title = name, more = '' }: TestParts,
) => `${heads.join('\n')}
import { it, vi } from 'vitest'
const tape = 'recordings/golden/raw.tape.jsonl'
${more}
it('${title}: first', async () => void (await replay(tape, (input) => ask(input))))
it('${title}: again', async () => void (await replay(tape, (input) => ask(input))))
`

/** Mocks of a test, over a layer: they answer nothing in a replay. */
const mocks = {
  spied: "vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ amount: 99 }))",
  stubbed: "vi.stubGlobal('fetch', vi.fn(async () => Response.json({ amount: 99 })))",
  assigned: 'globalThis.fetch = async () => Response.json({ amount: 99 })',
}

/** Mock servers that a file puts up which a test imports beside its agent. */
const servers = {
  msw: `import { http, HttpResponse } from 'msw'
import { setupServer } from 'msw/node'
setupServer(http.post('http://127.0.0.1:45998/orders', () => HttpResponse.json({ amount: 99 }))).listen()
`,
}

/** Files of one worker one after the other: they share what the process has, or have globals of their own. */
const settings = {
  'without isolation': { setting: 'maxWorkers: 1, isolate: false', only: ['src'] },
  'in a vm pool': { setting: "maxWorkers: 1, pool: 'vmThreads'", only: ['src'] },
  // A worker takes its time to start, and finds nothing that files before it left.
  'in workers of their own': { setting: "pool: 'threads'", only: ['src/http-', 'src/z-package'] },
}

for (const [lane, [worker, { setting, only }]] of ([5, 4] satisfies Lane[]).flatMap((one) =>
  Object.entries(settings).map((two) => [one, two] as const),
))
  onLane(lane, 5)(
    `what the modules of an agent and its packages lay over fetch or node:http is asked by a test by hand that imports them at its top, ${worker} under Vitest ${lane}`,
    worker === 'without isolation' ? {} : { tags: 'thorough' },
    async () => {
      using home = openHome(lane, ['msw'])
      const files: Record<string, string> = {
        'vitest.config.ts': config('', setting),
        ...golden('raw', 'baseline: []\noutcome: { refunded: 25 }\n', {
          events: [orderExchange],
          input: { order_id: 'raw' },
          returned: { refunded: 25 },
        }),
      }
      const expected: Record<string, string> = {}
      const write = (file: string, name: string, more: TestParts = {}): void => {
        files[`src/${file}.test.ts`] = test(name, more)
        if (!only.some((part) => `src/${file}`.startsWith(part))) return
        for (const one of ['first', 'again']) expected[`${more.title ?? name}: ${one}`] = sources[name]?.status ?? ''
      }
      for (const name of new Set(Object.keys(packages).map((file) => file.replace(/\/.*/, ''))))
        files[`node_modules/${name}/package.json`] = `{ "name": "${name}", "type": "module", "exports": "./index.js" }`
      for (const [file, source] of Object.entries(packages)) files[`node_modules/${file}`] = source
      for (const [name, { source }] of Object.entries(sources)) {
        // There it is listed as not compared.
        if (name === 'inner-package' && lane === 4 && worker === 'in a vm pool') continue
        files[`src/${name}.ts`] = source
        write(name, name)
        // What loaded for another file of the worker does not load again.
        write(`z-${name}`, name, { heads: [imports(name), replays], title: `${name}, imported before` })
      }
      for (const [mock, more] of Object.entries(mocks))
        for (const name of ['layer', 'changed', 'package', 'package-changed', 'plain'])
          write(`${name}-${mock}`, name, { title: `${name}, ${mock}`, more })
      for (const [server, source] of Object.entries(servers)) {
        files[`src/${server}.ts`] = source
        for (const name of ['layer', 'changed', 'plain'])
          write(`${name}-${server}`, name, {
            title: `${name}, beside ${server}`,
            heads: [replays, `import './${server}.ts'`, imports(name)],
          })
      }
      const project = home.project('by-hand-layers', files)
      const { output } = await project.run(['run', ...only, ...withJson])
      const tests = Object.fromEntries([...reported(project)].map(([name, { status }]) => [name, status]))
      expect(tests, output).toEqual(expected)
    },
  )
