import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { type HarvestOptions, parseOptions, resolveAgent } from '../../src/vitest/options.ts'
import { requireNode } from '../../src/vitest/require-node.ts'

const agents = { refund: './src/refund.ts#refundAgent' }

describe('the options of harvest()', () => {
  it('have a default each', () => {
    expect(parseOptions({ agents })).toEqual({
      agents,
      programs: {},
      recordings: 'recordings',
      isolate: 'module',
      confine: { how: 'seam', open: [], reads: 'all' },
      pool: 'forks',
      tags: [],
      inherit: true,
      replay: {},
      match: {},
      tools: 'serve',
      deps: [],
      report: 'red',
      timeoutMs: 10_000,
      prove: { good: 0.9, bad: 0.5, maxDays: 30 },
    })
  })

  it.each<readonly [string, object]>([
    ['agent', { agent: './x.ts' }],
    ['agents', { agents: ['./x.ts'] }],
    ['agents.refund', { agents: { refund: '#x' } }],
    ['isolate', { isolate: true }],
    ['pool', { pool: 'fork' }],
    ['pool', { pool: 'vmThreads' }],
    ['pool', { pool: 'threads', confine: 'strict' }],
    ['confine', { confine: 'on' }],
    ['confine.mode', { confine: { mode: 'strict' } }],
    ['confine.default', { confine: { default: 'on' } }],
    ['confine.agents.images', { confine: { default: 'strict', agents: { images: 'seam' } } }],
    ['confine.agents.refund', { confine: { default: 'strict', agents: { refund: 'strict' } } }],
    ['pool', { pool: 'threads', confine: 'strict' }],
    ['pool', { pool: 'threads', confine: 'watch' }],
    ['reads', { reads: 'none', confine: 'strict' }],
    ['reads', { reads: 'project' }],
    ['recordings', { recordings: '' }],
    ['inherit', { inherit: 'no' }],
    ['drift', { drift: 'warn' }],
    ['drift.prompt', { drift: { prompt: 'fail' } }],
    ['drift.model', { drift: { model: 'warn' } }],
    ['escapes', { escapes: 'ignore' }],
    ['allow', { allow: 'socket *' }],
    ["hosts['https://a.test']", { hosts: { 'https://a.test': ['https://b.test/v1'] } }],
    ['serve', { serve: 'loose' }],
    ['match.mode', { match: { mode: 'strict' } }],
    ['match.trace', { match: { trace: 'loose' } }],
    ['match.tools.search', { match: { tools: { search: () => true } } }],
    ['tools', { tools: 'all' }],
    ['tools.names', { tools: { names: ['refund'] } }],
    ['tools.run', { tools: { run: 'refund' } }],
    ['tools.live', { tools: { live: ['staging.example'] } }],
    ['tools.mcp', { tools: { mcp: { 'node server.js': 'http://localhost:3000' } } }],
    ['prove.best', { prove: { best: 1 } }],
    ['prove.good', { prove: { good: 1 } }],
    ['prove.bad', { prove: { good: 0.6, bad: 0.7 } }],
    ['prove.maxDays', { prove: { maxDays: 0 } }],
    ['deps', { deps: 'prompts' }],
    ['timeout', { timeout: 0 }],
  ])('%s is refused in %j', (option, wrong) => {
    const attempt = () => parseOptions({ agents, ...wrong } as HarvestOptions)
    expect(attempt).toThrow(`option '${option}' of harvest()`)
    expect(attempt).toThrow('HARVEST_OPTION')
  })

  it('name `confine` to whoever looks for it at `isolate`', () => {
    const attempt = () => parseOptions({ agents, isolate: 'strict' } as object as HarvestOptions)
    expect(attempt).toThrow(/option 'isolate' of harvest[^]*did you mean: confine: 'strict'/)
  })

  it('name an agent by file and export', () => {
    const resolve = (entry: string) => resolveAgent('a', entry, import.meta.dirname)
    expect(resolve('./agent.ts#run')).toEqual({
      name: 'a',
      module: path.join(import.meta.dirname, 'agent.ts'),
      export: 'run',
    })
    expect(resolve('../agent.ts').export).toBe('default')
    expect(resolve('options.test.ts').module).toBe(import.meta.filename)
    expect(resolve('@acme/agents#refund')).toEqual({ name: 'a', module: '@acme/agents', export: 'refund' })
  })
})

it('a Node below the oldest that is supported is told so, and loads the plugin to get that far', () => {
  for (const old of ['18.20.0', '20.20.2', '22.14.1'])
    expect(() => requireNode(old)).toThrow(`vitest-harvest needs Node 22.15, 24 or 26 (this is ${old})`)
  for (const known of ['22.15.0', '24.0.0', '26.1.0']) expect(() => requireNode(known)).not.toThrow()
  // A name that such a version lacks would be an error of syntax.
  const byName = globSync('src/vitest/*.ts').filter((file) =>
    /import \{[^}]*\bglobSync\b[^}]*\} from 'node:fs'/.test(readFileSync(file, 'utf8')),
  )
  expect(byName).toEqual([])
})
