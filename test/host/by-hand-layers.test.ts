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

/** The tape has what the layer asked: the input says `raw` where the question says `A-1`. */
const sources: Readonly<Record<string, { readonly source: string; readonly status: 'passed' | 'failed' }>> = {
  layer: { source: agent(rewrites('A-1')), status: 'passed' },
  changed: { source: agent(rewrites('A-2')), status: 'failed' },
  gone: { source: agent(''), status: 'failed' },
  'http-layer': { source: agent(rewritesHttp('A-1'), 'over'), status: 'passed' },
  'http-changed': { source: agent(rewritesHttp('A-2'), 'over'), status: 'failed' },
}

const test = (name: string, more = '') => `import { replay } from 'vitest-harvest/vitest'
import { it, vi } from 'vitest'
import { ask } from './${name}.ts'
const tape = 'recordings/golden/raw.tape.jsonl'
${more}
it('${name}: first', async () => void (await replay(tape, (input) => ask(input))))
it('${name}: again', async () => void (await replay(tape, (input) => ask(input))))
`

/** Mocks of a test, over a layer: they answer nothing in a replay, and the layer is not asked. */
const mocks = {
  spied: "vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ amount: 99 }))",
  stubbed: "vi.stubGlobal('fetch', vi.fn(async () => Response.json({ amount: 99 })))",
  assigned: 'globalThis.fetch = async () => Response.json({ amount: 99 })',
}

/** Files of one worker one after the other: they share what the process has, or have globals of their own. */
const settings = { 'without isolation': 'isolate: false', 'in a vm pool': "pool: 'vmThreads'" }

for (const [lane, [worker, setting]] of ([5, 4] satisfies Lane[]).flatMap((one) =>
  Object.entries(settings).map((two) => [one, two] as const),
))
  onLane(lane, 5)(
    `what the modules of an agent lay over fetch or node:http is asked by a test by hand that imports them at its top, ${worker} under Vitest ${lane}`,
    async () => {
      using home = openHome(lane)
      const files: Record<string, string> = {
        'vitest.config.ts': config('', `maxWorkers: 1, ${setting}`),
        ...golden('raw', 'baseline: []\noutcome: { refunded: 25 }\n', {
          events: [orderExchange],
          input: { order_id: 'raw' },
          returned: { refunded: 25 },
        }),
        'src/plain.ts': agent('').replace('JSON.stringify(order)', `'{"order_id":"A-1"}'`),
        'src/a-plain.test.ts': test('plain'),
        'src/z-plain.test.ts': test('plain'),
      }
      for (const [name, { source }] of Object.entries(sources)) {
        files[`src/${name}.ts`] = source
        files[`src/${name}.test.ts`] = test(name)
      }
      for (const [name, mock] of Object.entries(mocks)) {
        files[`src/${name}.ts`] = files['src/plain.ts'] ?? ''
        files[`src/${name}.test.ts`] = test(name, mock)
      }
      const project = home.project('by-hand-layers', files)
      const { output } = await project.run(['run', 'src', ...withJson])
      const tests = Object.fromEntries([...reported(project)].map(([name, { status }]) => [name, status]))
      const expected = [
        ...Object.entries(sources).map(([name, { status }]) => [name, status]),
        ...['plain', ...Object.keys(mocks)].map((name) => [name, 'passed']),
      ].flatMap(([name, status]) => ['first', 'again'].map((one) => [`${name}: ${one}`, status]))
      expect(tests, output).toEqual(Object.fromEntries(expected))
      expect(output).not.toContain('which this replay does not call')
    },
  )
