import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, openHome, type RunResult } from './inline.ts'
import { config, golden, orderExchange, refundBaseline, refundSources } from './refund.ts'

describeLanes('the commands of Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(lane)
    project = home.project('commands', {
      'vitest.config.ts': config(`deps: ['prompts/*']`, '', `other: './src/other.ts'`),
      ...refundSources,
      'src/other.ts': `export default async () => ({ refunded: 25 })\n`,
      'src/plain.test.ts': `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`,
      'prompts/system.md': 'You refund.\n',
      ...golden('alpha', `title: of-a-case\ntags: [incident]\n${refundBaseline}`, {
        input: { order_id: 'A-1', note: 'of-a-tape' },
      }),
      ...golden('beta', `tags:\n  - golden\n${refundBaseline}`),
      ...golden('gamma', 'baseline: []\n', { agent: 'other', calls: [] }),
    })
  })
  afterAll(() => home?.[Symbol.dispose]())
  const ran = ({ output }: RunResult) =>
    [...output.matchAll(/✓ (?:\|recordings\| )?(\S+\.(?:yaml|ts)) \(/g)]
      .map(([, file]) => file?.replace(/^recordings\/golden\/|\.case\.yaml$/g, ''))
      .sort()
  const run = (...args: string[]) => project.run(args)

  it('run the cases beside the other tests', async () => {
    const result = await run('run')
    expect([result.code, ran(result)]).toEqual([0, ['alpha', 'beta', 'gamma', 'src/plain.test.ts']])
  })

  it('run the cases of a path, of a line, of a name, of a tag', { tags: 'thorough' }, async () => {
    const results = await Promise.all([
      run('run', 'golden/al'),
      run('run', 'recordings/golden/beta.case.yaml:1'),
      run('run', '-t', 'golden/gamma'),
      run('run', '--tags-filter=incident'),
    ])
    expect(results.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(results.slice(0, 2).map(ran)).toEqual([['alpha'], ['beta']])
    for (const { output } of results) expect(output).toMatch(/Tests {2}1 passed/)
  })

  it('list the cases without running them', async () => {
    const { output } = await run('list')
    expect(
      output
        .split('\n')
        .filter((line) => line.includes('case.yaml'))
        .sort(),
    ).toEqual([
      '[recordings] recordings/golden/alpha.case.yaml > golden/alpha > replays',
      '[recordings] recordings/golden/beta.case.yaml > golden/beta > replays',
      '[recordings] recordings/golden/gamma.case.yaml > golden/gamma > replays',
    ])
  })

  it('share the cases out over shards, none lost and none twice', async () => {
    const shards = await Promise.all([run('run', '--shard=1/2'), run('run', '--shard=2/2')])
    expect(shards.flatMap(ran).sort()).toEqual(['alpha', 'beta', 'gamma', 'src/plain.test.ts'])
  })

  it('sum up what ran elsewhere when reports are merged', { tags: 'thorough' }, async () => {
    await Promise.all([1, 2].map((part) => run('run', `--shard=${part}/2`, '--reporter=blob')))
    const { code, output } = await run('run', '--merge-reports')
    expect([code, /Recordings.*/.exec(output)?.[0]]).toEqual([0, 'Recordings  3 replayed'])
  })

  it.each([
    ['a module of the agent', 'src/amount.ts', ['alpha', 'beta']],
    ['a tape', 'recordings/golden/alpha.tape.jsonl', ['alpha']],
    ['a case', 'recordings/golden/gamma.case.yaml', ['gamma']],
    ['a prompt it reads', 'prompts/system.md', ['alpha', 'beta', 'gamma']],
  ])('find the cases related to %s', async (_what, file, cases) => {
    expect(ran(await run('related', file, '--run'))).toEqual(cases)
  })

  it('keep nothing of a case or a tape in their caches', () => {
    expect(project.search('recordings', /of-a-(?:case|tape)/)).toHaveLength(2)
    expect(project.search('node_modules', /of-a-(?:case|tape)/)).toEqual([])
  })
})

describeLanes('the pools of Vitest %i', (lane) => {
  it.each(['vmThreads', 'vmForks'])('replay in %s, one file after the other in a worker', async (pool) => {
    using home = openHome(lane)
    const sketch = { agent: 'fetches', events: [orderExchange], returned: { amount: 25 } }
    const project = home.project('vm', {
      'vitest.config.ts': config('', '', "fetches: './src/fetches.ts#fetches'"),
      ...refundSources,
      'src/fetches.ts': `export async function fetches(order: object) {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order) }
  return (await fetch('http://127.0.0.1:45998/orders', init)).json()
}
`,
      ...Object.assign({}, ...['one', 'two'].map((id) => golden(id, refundBaseline))),
      ...Object.assign(
        {},
        ...['asks', 'again'].map((id) => golden(id, 'baseline: []\noutcome: { amount: 25 }\n', sketch)),
      ),
    })
    const { code, output } = await project.run(['run', `--pool=${pool}`, '--maxWorkers=1'])
    expect(output).toContain('4 replayed')
    expect(code).toBe(0)
  })

  it('give every case the agent fresh, unless the cases of a worker are to share it', {
    tags: 'thorough',
  }, async () => {
    using home = openHome(lane)
    const stateful = `import { request } from 'node:http'
import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: { order_id: string }) => ({ amount: 25 }))
let runs = 0
export async function refundAgent({ order_id }: { order_id: string }) {
  await lookup({ order_id })
  runs += 1
  return { runs }
}
export async function overHttp({ order_id }: { order_id: string }) {
  const started = Date.now()
  const response = await fetch('http://127.0.0.1:45998/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ order_id }),
  })
  return { ...(await response.json()), tookMs: Date.now() - started }
}
`
    const calls = [{ name: 'lookup_order', args: { order_id: 'A-1' }, result: { amount: 25 } }]
    const project = home.project('pools', {
      'vitest.config.ts': `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
const { POOL, ISOLATE } = process.env
export default defineConfig({
  plugins: [harvest({ agents: { refund: './src/refund.ts#refundAgent', http: './src/refund.ts#overHttp' }, pool: POOL as any, isolate: ISOLATE as any })],
})
`,
      'src/refund.ts': stateful,
      ...golden('over-http', `baseline: []\noutcome: { amount: 25, tookMs: 11 }\n`, {
        agent: 'http',
        events: [orderExchange],
      }),
      ...Object.assign(
        {},
        ...['a', 'b'].map((id) =>
          golden(id, `baseline:\n  - lookup_order(order_id)\noutcome: { runs: 1 }\n`, { calls }),
        ),
      ),
    })
    const combinations = ['forks', 'threads'].flatMap((POOL) =>
      ['module', 'worker'].map((ISOLATE) => ({ POOL, ISOLATE })),
    )
    const found: Record<string, string> = {}
    const tryOut = async (env: { readonly POOL: string; readonly ISOLATE: string }, ...args: readonly string[]) => {
      const { code, output } = await project.run(['run', ...args], { env })
      found[`${env.POOL} ${env.ISOLATE}`] = `${code} ${/Tests .*/.exec(output)?.[0]}`
    }
    for (const [at, first] of combinations.entries()) {
      const second = combinations[at + 1]
      if (at % 2 === 0 && second !== undefined) await Promise.all([tryOut(first), tryOut(second)])
    }
    await tryOut({ POOL: 'forks', ISOLATE: 'none' }, '--maxWorkers=1')
    const green = '0 Tests  3 passed (3)'
    expect(found).toEqual({
      'forks module': green,
      'forks worker': green,
      'threads module': green,
      'threads worker': green,
      // The second run finds what the first one counted.
      'forks none': '1 Tests  1 failed | 2 passed (3)',
    })
  })
})
