import { expect, it } from 'vitest'
import { describeLanes, onLane, openHome } from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { summaryOf } from './reports.ts'

const agents = {
  'src/loop.ts': `export default async function spin() { await null; for (;;) ; }\n`,
  // A loop as endless, which leaves the other tests of this machine its core.
  'src/dozes.ts': `const cell = new Int32Array(new SharedArrayBuffer(4))
export default async function doze() { await null; for (;;) Atomics.wait(cell, 0, 0, 100) }\n`,
  'src/at-import.ts': `const cell = new Int32Array(new SharedArrayBuffer(4))
for (;;) Atomics.wait(cell, 0, 0, 100)\nexport default () => 1\n`,
  'src/program.ts': `import { spawnSync } from 'node:child_process'
export default () => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); return spawnSync }\n`,
  // As on a machine that has too much to do: it comes to nothing for most of the time, and goes on then.
  'src/starved.ts': `const cell = new Int32Array(new SharedArrayBuffer(4))
export default async function starved() {
  for (let turn = 0; turn < 8; turn++) { Atomics.wait(cell, 0, 0, 900); await new Promise((go) => setImmediate(go)) }
  return 'done'
}\n`,
  'src/killed.ts': `export default async () => { process.abort(); await new Promise(() => {}) }\n`,
  'src/out-of-memory.ts': `export default async () => { const all: unknown[] = []; for (;;) all.push(new Array(100_000).fill(all.length)) }\n`,
}
const keys = Object.keys(agents).map((file) => file.slice('src/'.length, -'.ts'.length))
const config5 = (options: string) => config(options, '', keys.map((key) => `'${key}': './src/${key}.ts'`).join(', '))
const bad = (agent: string, timeout: number) =>
  golden(agent, `timeout: ${timeout}\nbaseline: []\n`, { agent, calls: [] })

describeLanes(
  'an agent that blocks its thread, under Vitest %i',
  (lane) => {
    // What blocks a thread is seen once; how a worker is ended is Vitest's.
    it.each([
      ['forks', 'dozes'],
      ['threads', 'loop'],
    ])('meets the time limit of its case in %s: %s', { tags: 'thorough' }, meetsItsLimit)
    onLane(lane, 5)('meets the time limit of its case in forks: at-import', { tags: 'thorough' }, () =>
      meetsItsLimit('forks', 'at-import'),
    )
    onLane(lane, 5)('meets the time limit of its case in forks: program', { tags: 'thorough' }, () =>
      meetsItsLimit('forks', 'program'),
    )

    onLane(lane, 5)(
      'is not ended for what it stood still, past its time limit and that of the main process',
      { tags: 'thorough' },
      async () => {
        using home = openHome(lane)
        const project = home.project('starved', {
          'vitest.config.ts': config5(''),
          ...refundSources,
          ...agents,
          ...golden('starved', 'timeout: 2000\nbaseline: []\n', { agent: 'starved', events: [], returned: 'done' }),
        })
        const result = await project.run(['run', '--maxWorkers=1'])
        expect([result.code, summaryOf(result)]).toEqual([0, expect.stringContaining('1 replayed')])
      },
    )

    async function meetsItsLimit(pool: string, agent: string): Promise<void> {
      using home = openHome(lane)
      const project = home.project('blocked', {
        'vitest.config.ts': config5(`pool: '${pool}'`),
        'src/plain.test.ts': `import { it } from 'vitest'\nit('is plain', () => {})\n`,
        ...refundSources,
        ...agents,
        // Long enough for a loaded machine to come as far as the loop.
        ...bad(agent, 4_000),
        ...golden('other', refundBaseline),
      })
      const { code, output } = await project.run(['run', '--maxWorkers=1'], { env: { CI: 'true' } })
      expect(code).toBe(1)
      expect(output).toMatch(
        new RegExp(`past the time limit[^]* case +golden/${agent}\n[^]*\\(HARVEST_AGENT_TIMEOUT\\)`),
      )
      expect(output).toContain('✓ src/plain.test.ts')
      expect(toldOf(output, 'other')).toBe(true)
      expect(output).not.toMatch(/HARVEST_CASE_NOT_COLLECTED|delete the case/)
    }
  },
  // They wait more than they work.
  { concurrent: true },
)

describeLanes('a worker that ends while a case runs, under Vitest %i', (lane) => {
  it.each(['killed', 'out-of-memory'])('is told as that, with the case: %s', async (agent) => {
    using home = openHome(lane)
    const project = home.project('died', {
      'vitest.config.ts': config5(''),
      ...refundSources,
      ...agents,
      ...bad(agent, 60_000),
      ...golden('other', refundBaseline),
    })
    const env = { CI: 'true', NODE_OPTIONS: '--max-old-space-size=80' }
    const result = await project.run(['run', '--maxWorkers=1'], { env })
    expect(result.code).toBe(1)
    expect(result.output).toMatch(new RegExp(`case +golden/${agent}\n[^]*\\(HARVEST_WORKER_DIED\\)`))
    expect(summaryOf(result)).toMatch(/Recordings {2}[01] replayed, 1 failed/)
    expect(summaryOf(result)).toContain(`golden/${agent}  The worker of this case ended before the case did`)
    expect(toldOf(result.output, 'other')).toBe(true)
    expect(result.output).not.toMatch(/HARVEST_CASE_NOT_COLLECTED|delete the case/)
  })
})

/** Whether a case ran, or is named as one that did not. */
function toldOf(output: string, id: string): boolean {
  return new RegExp(`✓ [^\n]*golden/${id}\\.case|Not run {2}[^\n]*golden/${id}\\.case`).test(output)
}
