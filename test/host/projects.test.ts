import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, onLane, openHome, type RunResult } from './inline.ts'
import { config, golden, refundBaseline, refundSources, tapeText } from './refund.ts'

const plain = `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`
const plugin = `harvest({ agents: { refund: './src/refund.ts#refundAgent' } })`
// Spelled so that Vitest does not obey it in this very file.
const pragma = `${'@'}vitest-environment happy-dom`
const configure = (body: string, imports = '') => `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
${imports}
export default defineConfig({ ${body} })
`

describeLanes('the recordings project in a config of Vitest %i', (lane) => {
  const once = onLane(lane, 5)
  let home: Home
  beforeAll(() => {
    home = openHome(lane)
  })
  afterAll(() => home?.[Symbol.dispose]())
  let count = 0
  const run = (
    files: Record<string, string>,
    args: readonly string[] = ['run'],
    env: Record<string, string> = {},
  ): Promise<RunResult> =>
    home
      .project(`config-${(count += 1)}`, { ...refundSources, ...golden('one', refundBaseline), ...files })
      .run(args, { env })
  const tests = ({ output }: RunResult) => /Tests {2}(.*)/.exec(output)?.[1]
  const cases = ({ output }: RunResult) => output.match(/✓ \|recordings\|/g)?.length

  it('stands beside the projects of the user, once, and is selected by its name', { tags: 'thorough' }, async () => {
    const files = {
      'vitest.config.ts': configure(`plugins: [${plugin}], test: { include: ['src/**/*.test.ts'], projects: [
        { extends: true, test: { name: 'unit', include: ['src/**/*.test.ts'] } },
        { test: { name: 'more', include: ['src/**/*.test.ts'] } },
      ] }`),
      'src/plain.test.ts': plain,
    }
    const all = await run(files)
    const own = await run(files, ['run', '--project=recordings'])
    expect([all, own].map((result) => [result.code, tests(result), cases(result)])).toEqual([
      [0, '3 passed (3)', 1],
      [0, '1 passed (1)', 1],
    ])
  })

  it('leaves the include of the user alone, and takes nothing over that is not for agents', {
    tags: 'thorough',
  }, async () => {
    const result = await run({
      'vitest.config.ts': configure(`plugins: [${plugin}], resolve: { alias: { '@amount': '/src/amount.ts' } }, test: {
        include: ['**/*.check.ts'], environment: './dom.ts', globals: true, retry: 3, testTimeout: 1,
        browser: { enabled: false }, setupFiles: ['./setup.ts'], sequence: { concurrent: true }, dir: 'checks',
        includeSource: ['src/**/*.ts'], globalSetup: ['./global.ts'], expect: { requireAssertions: true },
      }`),
      'global.ts': `export default () => { console.log('the server starts') }\n`,
      // Stands for jsdom, which is not installed here.
      'dom.ts': `export default { name: 'dom', viteEnvironment: 'ssr', setup(global: any) { global.document = {}; return { teardown() {} } } }\n`,
      'checks/dom.check.ts': `it('has a document', () => { expect(typeof document).toBe('object') })\n`,
      'setup.ts': `globalThis.wasSetUp = true\n`,
      'src/refund.ts': `import { tool } from 'vitest-harvest/record'
import { amountOf } from '@amount'
const lookupOrder = tool('lookup_order', async (order: object) => ({ amount: 25 }))
const refund = tool('refund', async (order: object) => 'ok')
let runs = 0
if (import.meta.vitest) import.meta.vitest.it('is tested in its source', () => {})
export async function refundAgent({ order_id }: { order_id: string }) {
  const order = await lookupOrder({ order_id })
  await refund({ order_id, amount: amountOf(order) })
  const { document, describe, wasSetUp } = globalThis as any
  return { document: typeof document, describe: typeof describe, wasSetUp, runs: (runs += 1) }
}
`,
      ...golden(
        'one',
        `${refundBaseline}outcome: { document: undefined, describe: undefined, wasSetUp: true, runs: 1 }\n`,
      ),
    })
    expect([result.code, tests(result), cases(result)]).toEqual([0, '2 passed (2)', 1])
    expect(result.stdout.match(/the server starts/g)).toHaveLength(1)
  })

  it('does not retry, for a retry would hide that a replay is not deterministic', { tags: 'thorough' }, async () => {
    const result = await run({
      'vitest.config.ts': configure(`plugins: [${plugin}], test: { retry: 2 }`),
      'src/refund.ts': `import { tool } from 'vitest-harvest/record'
const lookupOrder = tool('lookup_order', async (order: object) => ({ amount: 25 }))
export async function refundAgent({ order_id }: { order_id: string }) {
  console.log('asked once')
  await lookupOrder({ order_id })
}
`,
    })
    expect([result.code, result.stdout.match(/asked once/g)?.length]).toEqual([1, 1])
  })

  it('can stand alone: with inherit off, nothing of the root config reaches a case', { tags: 'thorough' }, async () => {
    const result = await run({
      'vitest.config.ts': configure(
        `plugins: [harvest({ agents: { refund: './src/refund.ts#refundAgent' }, inherit: false })], test: { setupFiles: ['./setup.ts'] }`,
      ),
      'setup.ts': `throw new Error('not for agents')\n`,
    })
    expect([result.code, cases(result)]).toEqual([0, 1])
  })

  it('gets along with a plugin that reads YAML, which goes on to read other files', { tags: 'thorough' }, async () => {
    const yaml = `const yaml = { name: 'some-yaml', transform(code, id) {
  if (!/\\.ya?ml$/.test(id)) return
  if (code.includes('import ')) throw new Error('this is no YAML')
  return 'export default ' + JSON.stringify(code.trim())
} }`
    const files = {
      'src/plain.test.ts': `import { expect, it } from 'vitest'\nimport text from './data.yaml'\nit('is plain', () => { expect(text).toBe('a: 1') })\n`,
      'src/data.yaml': 'a: 1\n',
    }
    const before = await run({ ...files, 'vitest.config.ts': configure(`plugins: [yaml, ${plugin}]`, yaml) })
    const after = await run({ ...files, 'vitest.config.ts': configure(`plugins: [${plugin}, yaml]`, yaml) })
    expect([tests(before), tests(after)]).toEqual(['2 passed (2)', '2 passed (2)'])
  })

  it('does not let a config keep cases out without a word', async () => {
    const excluded = { 'vitest.config.ts': config('', `exclude: ['recordings/**']`), 'src/plain.test.ts': plain }
    const [silent, filtered, elsewhere] = await Promise.all([
      run(excluded),
      run(excluded, ['run', 'src/plain']),
      run({
        'vitest.config.ts': config(`recordings: 'tapes'`),
        'src/plain.test.ts': plain,
        'tapes/golden/lone.tape.jsonl': tapeText('lone'),
      }),
    ])
    expect([silent.code, tests(silent)]).toEqual([1, '1 passed (1)'])
    expect(silent.stderr).toContain('HARVEST_NO_CASES')
    expect(filtered.code).toBe(0)
    expect([elsewhere.code, elsewhere.stderr.includes('HARVEST_NO_CASES')]).toEqual([1, true])
  })

  it('lets a project without cases be: no folder, or an inbox only', async () => {
    const project = home.project('young', {
      'vitest.config.ts': config(),
      'src/plain.test.ts': plain,
      'recordings/inbox/x.tape.jsonl': tapeText('x'),
    })
    const result = await project.run(['run'])
    expect(result.code).toBe(0)
  })

  once('finds two cases with one id, and in CI a tape that lost its case', { tags: 'thorough' }, async () => {
    const files = {
      'vitest.config.ts': config(),
      ...golden('two', refundBaseline),
      'recordings/golden/copy.case.yaml': `case: two\nagent: refund\ntape: two.tape.jsonl\nexpect: pass\n${refundBaseline}`,
      'recordings/golden/lone.tape.jsonl': tapeText('lone'),
    }
    const local = await run(files)
    const ci = await run(files, ['run'], { CI: 'true' })
    expect([local.code, ci.code]).toEqual([1, 1])
    for (const { stderr } of [local, ci]) expect(stderr).toContain('HARVEST_CASE_DUPLICATE_ID')
    expect([local, ci].map(({ stderr }) => stderr.includes('HARVEST_TAPE_OBSOLETE'))).toEqual([false, true])
  })

  once('refuses options and names it does not know', async () => {
    const [option, mode, name] = await Promise.all([
      run({ 'vitest.config.ts': config(`agent: 'x'`) }),
      run({ 'vitest.config.ts': config(`drift: { prompt: 'fail' }`) }),
      run({ 'vitest.config.ts': config(), 'recordings/golden/a case.case.yaml': 'case: a-case\n' }),
    ])
    expect(option.output).toMatch(/Unknown option 'agent' of harvest[^]*HARVEST_OPTION/)
    expect(mode.output).toMatch(/Unknown option 'drift\.prompt' of harvest[^]*HARVEST_OPTION/)
    expect(name.output).toContain('HARVEST_CASE_NAME')
    expect([option.code, mode.code, name.code]).toEqual([1, 1, 1])
  })

  once('says which case holds text that Vitest would obey', async () => {
    const { code, stderr } = await run({
      'vitest.config.ts': config(),
      ...golden('pragma', `title: the agent wrote ${pragma}\n${refundBaseline}`),
    })
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/pragma\.case\.yaml:5\n[^]*HARVEST_CASE_PRAGMA/)
  })

  once('leaves a tape alone that holds such text', { tags: 'thorough' }, async () => {
    const input = { order_id: 'A-1', said: `${pragma}\n// ${'@'}module-tag x` }
    const result = await run({ 'vitest.config.ts': config(), ...golden('quotes', refundBaseline, { input }) })
    expect([result.code, tests(result)]).toEqual([0, '2 passed (2)'])
  })
})
