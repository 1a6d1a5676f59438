import path from 'node:path'
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, onLane, openHome, type RunResult } from './inline.ts'
import { amount, config, golden, refundAgent, refundBaseline, refundSources, tapeText } from './refund.ts'
import { supportCase, supportSources } from './support.ts'

const plain = `import { expect, it } from 'vitest'\nit('is plain', () => { expect(1).toBe(1) })\n`
const plugin = (more = '') => `harvest({ agents: { refund: './src/refund.ts#refundAgent' }, ${more} })`
const configure = (body: string) => `import { defineConfig } from 'vitest/config'
import { harvest } from 'vitest-harvest/plugin'
export default defineConfig({ ${body} })
`
const below = (folder: string, files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]))
/** A package of a workspace with a plain test and a case. */
const packageOf = (name: string, id: string) =>
  below(`packages/${name}`, {
    'package.json': JSON.stringify({ name, type: 'module' }),
    'vitest.config.ts': config(),
    'src/plain.test.ts': plain,
    ...refundSources,
    ...golden(id, refundBaseline),
  })

describeLanes('a workspace of Vitest %i', (lane) => {
  let home: Home
  let count = 0
  beforeAll(() => {
    home = openHome(lane)
  })
  afterAll(() => home?.[Symbol.dispose]())
  const create = (files: Record<string, string>): InlineProject => home.project(`workspace-${(count += 1)}`, files)
  const tests = ({ output }: RunResult) => /Tests {2}(.*)/.exec(output)?.[1]
  const replayed = ({ output }: RunResult) => /Recordings {2}(.*)/.exec(output)?.[1]
  const cases = ({ output }: RunResult) =>
    [...output.matchAll(/✓ \|([^|]+)\| \S*?(\w+)\.case\.yaml/g)].map(([, name, id]) => `${name}: ${id}`).sort()
  const ci = { env: { CI: 'true' } }

  it.each([
    ['by its folder', `['packages/a']`],
    ['by a glob', `['packages/*']`],
    ['by its config file', `['packages/a/vitest.config.ts']`],
  ])('runs the cases of a package that is named %s', async (_how, projects) => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ${projects} }`),
      ...packageOf('a', 'one'),
    })
    const root = await project.run(['run'], ci)
    expect([root.code, tests(root), cases(root), replayed(root)]).toEqual([
      0,
      '2 passed (2)',
      ['a (recordings): one'],
      '1 replayed',
    ])
  })

  it('runs the cases of a package from the package, which does not see how the root names it', {
    tags: 'thorough',
  }, async () => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...packageOf('a', 'one'),
    })
    const own = await project.run(['run', '--root', 'packages/a'], ci)
    expect([own.code, tests(own), replayed(own)]).toEqual([0, '2 passed (2)', '1 replayed'])
  })

  it('runs the cases of two packages and of the root, each once and with its own agent', {
    tags: 'thorough',
  }, async () => {
    const project = create({
      'vitest.config.ts': configure(`plugins: [${plugin()}], test: { projects: ['packages/*'] }`),
      ...refundSources,
      ...golden('zero', refundBaseline),
      ...packageOf('a', 'one'),
      ...packageOf('b', 'two'),
      'packages/b/src/amount.ts': amount.replace('order.amount', 'order.amount + 1'),
    })
    const all = await project.run(['run'], ci)
    expect([all.code, cases(all), replayed(all)]).toEqual([
      1,
      ['a (recordings): one', 'recordings: zero'],
      '2 replayed, 1 diverged',
    ])
    expect(all.output).toMatch(/FAIL {2}\|b \(recordings\)\| \S*recordings\/golden\/two\.case\.yaml/)
    const own = await project.run(['run', '--project=recordings'], ci)
    expect([own.code, cases(own), tests(own)]).toEqual([0, ['recordings: zero'], '1 passed (1)'])
    const ofPackage = await project.run(['run', '--project=a'], ci)
    expect([ofPackage.code, cases(ofPackage), tests(ofPackage)]).toEqual([0, ['a (recordings): one'], '2 passed (2)'])
    const casesOfPackage = await project.run(['run', '--project=a (recordings)'], ci)
    expect([casesOfPackage.code, cases(casesOfPackage), tests(casesOfPackage)]).toEqual([
      0,
      ['a (recordings): one'],
      '1 passed (1)',
    ])
    const ofAll = await project.run(['run', '--project', '*(recordings)'], ci)
    expect([ofAll.code, cases(ofAll), tests(ofAll)]).toEqual([1, ['a (recordings): one'], '1 failed | 1 passed (2)'])
  })

  it('runs the cases of a plugin in an inline entry, with the aliases and set-up of the entry', async () => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: [
        { extends: true, plugins: [${plugin()}], resolve: { alias: { '@amount': '/src/amount.ts' } },
          test: { name: 'agents', include: ['src/**/*.test.ts'], setupFiles: ['./setup.ts'] } },
        { test: { name: 'others', include: ['src/**/*.test.ts'] } },
      ] }`),
      'setup.ts': `globalThis.wasSetUp = true\n`,
      'src/plain.test.ts': plain,
      'src/amount.ts': amount,
      'src/refund.ts': refundAgent
        .replace('./amount.ts', '@amount')
        .replace('return { refunded', 'return { wasSetUp: (globalThis as any).wasSetUp, refunded'),
      ...golden('one', `${refundBaseline}outcome: { wasSetUp: true, refunded: 25 }\n`),
    })
    const { code, ...result } = await project.run(['run'], ci)
    expect([code, tests({ code, ...result }), cases({ code, ...result })]).toEqual([
      0,
      '3 passed (3)',
      ['agents (recordings): one'],
    ])
    const alone = await project.run(['run', '--project=agents (recordings)'], ci)
    expect([alone.code, tests(alone), cases(alone)]).toEqual([0, '1 passed (1)', ['agents (recordings): one']])
  })

  it('runs the cases of an entry without a name alone by their folder', async () => {
    const { 'packages/a/vitest.config.ts': _a, ...a } = packageOf('a', 'one')
    const { 'packages/b/vitest.config.ts': _b, ...b } = packageOf('b', 'two')
    const project = create({
      'vitest.config.ts': configure(`test: { projects: [
        { plugins: [${plugin()}], root: './packages/a', test: { include: ['src/**/*.test.ts'] } },
        { plugins: [${plugin()}], root: './packages/b', test: { include: ['src/**/*.test.ts'] } },
      ] }`),
      ...a,
      ...b,
    })
    const ofB = await project.run(['run', 'packages/b/recordings/golden/'], ci)
    expect([ofB.code, cases(ofB), tests(ofB)]).toEqual([0, ['1 (recordings): two'], '1 passed (1)'])
  })

  it('runs the cases of a folder once, when two projects have the same plugin', { tags: 'thorough' }, async () => {
    const entry = (name: string, more = '') =>
      `{ extends: true, plugins: [${plugin(more)}], test: { name: '${name}', include: ['src/**/*.test.ts'] } }`
    const files = { 'src/plain.test.ts': plain, ...refundSources, ...golden('one', refundBaseline) }
    const same = create({
      'vitest.config.ts': configure(`test: { projects: [${entry('x')}, ${entry('y')}] }`),
      ...files,
    })
    const result = await same.run(['run'], ci)
    expect([result.code, cases(result).length, tests(result)]).toEqual([0, 1, '3 passed (3)'])

    const other = create({
      'vitest.config.ts': configure(`test: { projects: [${entry('x')}, ${entry('y', 'timeout: 5000')}] }`),
      ...files,
    })
    const refused = await other.run(['run'], ci)
    expect([refused.code, refused.output.includes('(HARVEST_PROJECT_CONFLICT)')]).toEqual([1, true])
  })

  it('runs the cases below the root of an entry that inherits the plugin', { tags: 'thorough' }, async () => {
    const project = create({
      'vitest.config.ts': configure(`plugins: [${plugin()}], test: { projects: [
        { extends: true, root: './packages/a', test: { name: 'a', include: ['src/**/*.test.ts'] } },
      ] }`),
      ...refundSources,
      ...golden('zero', refundBaseline),
      ...below('packages/a', { 'src/plain.test.ts': plain, ...refundSources, ...golden('one', refundBaseline) }),
    })
    const result = await project.run(['run'], ci)
    expect([result.code, cases(result), replayed(result)]).toEqual([
      0,
      ['a (recordings): one', 'recordings: zero'],
      '2 replayed',
    ])
  })

  it('refuses what would leave cases out: a project of the name, a second plugin in one config', async () => {
    const files = { 'src/plain.test.ts': plain, ...refundSources, ...golden('one', refundBaseline) }
    const named = `{ extends: true, test: { name: 'recordings', include: ['src/**/*.test.ts'] } }`
    const results = await Promise.all(
      [
        `plugins: [${plugin()}], test: { projects: [${named}] }`,
        `plugins: [${plugin()}, ${plugin(`recordings: 'tapes'`)}]`,
        `plugins: [${plugin()}, ${plugin(`recordings: 'tapes'`)}], test: { projects: ['./vitest.config.ts'] }`,
      ].map((body) => create({ 'vitest.config.ts': configure(body), ...files }).run(['run'], ci)),
    )
    for (const { code, output } of results) {
      expect(output).toMatch(/HARVEST_PROJECT_CONFLICT|Project name "recordings"[^]* is not unique/)
      expect(code).toBe(1)
    }
  })

  it('is told of cases that a config keeps out, package by package', { tags: 'thorough' }, async () => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...packageOf('a', 'one'),
      ...packageOf('b', 'two'),
      'packages/b/vitest.config.ts': config('', `exclude: ['recordings/**']`),
    })
    const result = await project.run(['run'], ci)
    expect([result.code, replayed(result), result.stderr.match(/HARVEST_\w+/g)]).toEqual([
      1,
      '1 replayed',
      ['HARVEST_NO_CASES'],
    ])
    expect(result.stderr).toContain('packages/b/recordings')
  })

  it('runs the cases alone where the config has no projects, as the README sets it up', async () => {
    const project = create({
      'vitest.config.ts': config('', `include: ['src/**/*.test.ts']`),
      'src/plain.test.ts': plain,
      ...refundSources,
      ...golden('one', refundBaseline),
    })
    const found = await Promise.all(
      ['--project=recordings', '--project=rec*', '--project=!recordings'].map((filter) =>
        project.run(['run', filter], ci),
      ),
    )
    expect(found.map((result) => [result.code, tests(result), cases(result)])).toEqual([
      [0, '1 passed (1)', ['recordings: one']],
      [0, '1 passed (1)', ['recordings: one']],
      [0, '1 passed (1)', []],
    ])
  })

  it('follows the files of a package: related, changed, list', { tags: 'thorough' }, async () => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...packageOf('a', 'one'),
      ...packageOf('b', 'two'),
    })
    const related = await project.run(['related', 'packages/b/src/amount.ts', '--run'])
    expect(cases(related)).toEqual(['b (recordings): two'])
    const { output } = await project.run(['list'])
    expect(output).toContain('[a (recordings)] ')
    const git = (...words: string[]) => spawnSync('git', words, { cwd: project.folder, encoding: 'utf8' })
    git('init', '--quiet')
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '--quiet', '--message', 'all')
    project.write(path.join('packages/a/src/amount.ts'), `${amount}// edited\n`)
    expect(cases(await project.run(['run', '--changed']))).toEqual(['a (recordings): one'])
    rmSync(path.join(project.folder, 'packages/b/recordings/golden/two.tape.jsonl'))
    const { code, output: gone } = await project.run(['run', '--changed'], ci)
    expect([code, gone.includes('HARVEST_CASE_TAPE_MISSING'), gone.includes('FAIL  |b (recordings)|')]).toEqual([
      1,
      true,
      true,
    ])
  })

  it('asks the agent of the package whose recordings a command is about, whichever is loaded first', {
    tags: 'thorough',
  }, async () => {
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...packageOf('a', 'one'),
      ...packageOf('b', 'one'),
      'packages/a/src/amount.ts': amount.replace('order.amount', 'order.amount + 1'),
    })
    const fork = (name: string) =>
      project.run(['fork', 'one', '--step', '1', '--dir', `packages/${name}/recordings`], { bin: 'harvest' })
    const ofA = await fork('a')
    expect([ofA.code, ofA.output]).toEqual([1, expect.stringContaining('HARVEST_CONTROL')])
    const ofB = await fork('b')
    expect([ofB.code, ofB.output]).toEqual([0, expect.stringContaining('the outcome survives')])
  })

  it('says whose a case is where packages share its name, and prints paths and commands that work at the root', {
    tags: 'thorough',
  }, async () => {
    const { 'packages/b/vitest.config.ts': _, ...b } = packageOf('b', 'one')
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...packageOf('a', 'one'),
      ...b,
      'packages/b/vitest.config.ts': config(`agents: { support: './src/support.ts#support' }`).replace(
        /agents: \{ refund[^}]*\},?/,
        '',
      ),
      ...below('packages/b', { ...supportSources, ...supportCase('one') }),
      'packages/b/src/prompt.ts': supportSources['src/prompt.ts'].replace('100', '500'),
      'packages/a/src/amount.ts': amount.replace('order.amount', 'order.amount + 1'),
    })
    const { code, output } = await project.run(['run'], ci)
    expect([code, /Recordings {2}(.*)/.exec(output)?.[1]]).toEqual([1, '0 replayed, 1 diverged, 1 unproven'])
    expect(output).toContain('Red  |a (recordings)| golden/one  ')
    expect(output).toContain('1 case: |b (recordings)| golden/one')
    expect(output).toContain('report packages/a/.harvest/report/golden/one.html')
    expect(output).toContain('show one --dir packages/a/recordings')
    expect(output).toContain('test one --prove --dir packages/b/recordings')
    const filtered = await project.run(['test', '--project', 'b (recordings)'], { bin: 'harvest' })
    expect([filtered.code, tests(filtered), replayed(filtered)]).toEqual([1, '1 failed (1)', '0 replayed, 1 unproven'])
    const accept = /npx vitest-harvest (accept one .*)/.exec(output)?.[1]
    expect(accept).toBe('accept one --reason "…" --dir packages/b/recordings')
    const args = ['accept', 'one', '--reason', 'checked', '--dir', 'packages/b/recordings']
    const accepted = await project.run(args, { bin: 'harvest' })
    expect([accepted.output, accepted.code]).toEqual([expect.stringContaining('one'), 0])
    expect(project.read('packages/b/recordings/golden/one.case.yaml')).toContain('checked')
  })
  it('prints for a red case of the root a command that runs this case and none of that name in a package', {
    tags: 'thorough',
  }, async () => {
    const project = create({
      'vitest.config.ts': configure(`plugins: [${plugin()}], test: { projects: ['packages/*'] }`),
      ...refundSources,
      ...golden('one', `${refundBaseline}outcome: { refunded: 26 }\n`),
      ...packageOf('a', 'one'),
    })
    const { output } = await project.run(['run'], ci)
    const words = /npx vitest-harvest (test \S*one\S*)/.exec(output)?.[1] ?? ''
    expect(words).toBe('test recordings/golden/one.case.yaml')
    const typed = await project.run(words.split(' '), { bin: 'harvest' })
    expect([typed.code, tests(typed)]).toEqual([1, '1 failed (1)'])
  })
  it('prints commands that work at the root for hand-written tests and for the golden set of a package', {
    tags: 'thorough',
  }, async () => {
    const byHand = `import { expect, it } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { refundAgent } from './refund.ts'
it('replays', () => replay(import.meta.dirname + '/../recordings/golden/one.tape.jsonl', () => refundAgent({ order_id: 'B-2' })))
it('names a tape as its package does', async () => void (await replay('recordings/golden/one.tape.jsonl', (input: any) => refundAgent(input))))
`
    const { 'packages/a/src/plain.test.ts': _, ...a } = packageOf('a', 'one')
    const project = create({
      'vitest.config.ts': configure(`test: { projects: ['packages/*'] }`),
      ...a,
      'packages/a/src/hand.test.ts': byHand,
      'packages/a/recordings/golden/left.tape.jsonl': a['packages/a/recordings/golden/one.tape.jsonl'] ?? '',
      ...packageOf('b', 'one'),
    })
    const { output } = await project.run(['run', '--reporter=verbose', '--reporter=default'], ci)
    expect(output).toMatch(/✓ .*names a tape as its package does/)
    const shown = /npx vitest-harvest (show .*)/.exec(output)?.[1] ?? ''
    expect(shown).toMatch(/ --dir packages\/a\/recordings$/)
    const typed = await project.run(shown.split(' '), { bin: 'harvest' })
    expect([typed.code, typed.output]).toEqual([0, expect.stringContaining('refund')])
    const promote = /npx vitest-harvest (promote .*)/.exec(output)?.[1]
    expect(promote).toBe(`promote '<tape>' --as '<id>' --dir packages/a/recordings`)
    const args = [
      'promote',
      'packages/a/recordings/golden/left.tape.jsonl',
      '--as',
      'left',
      '--dir',
      'packages/a/recordings',
    ]
    const promoted = await project.run(args, { bin: 'harvest' })
    expect([promoted.output, promoted.code]).toEqual([expect.stringContaining('packages/a/recordings/golden/left'), 0])
  })
  it('accepts changes of the case that is named, or of the recordings that are, where a package has a case of the same name', {
    tags: 'thorough',
  }, async () => {
    const pluginFor = `harvest({ agents: { support: './src/support.ts#support' } })`
    const support = {
      ...supportSources,
      ...supportCase('one'),
      'src/prompt.ts': supportSources['src/prompt.ts'].replace('100', '500'),
    }
    const project = create({
      'vitest.config.ts': configure(`plugins: [${pluginFor}], test: { projects: ['packages/*'] }`),
      ...support,
      ...below('packages/a', {
        ...support,
        'package.json': JSON.stringify({ name: 'a', type: 'module' }),
        'vitest.config.ts': configure(`plugins: [${pluginFor}]`),
      }),
    })
    const [ofRoot, ofPackage] = ['', 'packages/a/'].map((folder) => `${folder}recordings/golden/one.case.yaml`) as [
      string,
      string,
    ]
    const accept = (...words: string[]) => project.run(['accept', ...words], { bin: 'harvest' })
    const inPackage = await accept('--reason', 'looked', '--dir', 'packages/a/recordings')
    expect([inPackage.code, inPackage.output]).toEqual([0, expect.stringContaining(ofPackage)])
    expect([project.read(ofPackage), project.read(ofRoot)]).toEqual([
      expect.stringContaining('looked'),
      expect.not.stringContaining('looked'),
    ])
    const accepted = await accept('one', '--reason', 'checked')
    expect([accepted.code, accepted.output]).toEqual([0, expect.stringContaining(ofRoot)])
    expect([project.read(ofPackage), project.read(ofRoot)]).toEqual([
      expect.not.stringContaining('checked'),
      expect.stringContaining('checked'),
    ])
  })

  onLane(lane, 5)(
    'takes each case and tape with its own agent where the root has a harvest() beside those of packages',
    { tags: 'thorough' },
    async () => {
      const project = create({
        'vitest.config.ts': configure(`plugins: [${plugin()}], test: { projects: ['packages/*'] }`),
        ...refundSources,
        ...golden('one', refundBaseline),
        ...golden('only-root', refundBaseline),
        ...packageOf('a', 'one'),
        'packages/a/recordings/inbox/in-a.tape.jsonl': tapeText('in-a'),
        ...packageOf('b', 'one'),
        ...below('packages/b', golden('only-b', refundBaseline)),
        'packages/b/src/amount.ts': amount.replace('order.amount', 'order.amount + 1'),
      })
      const typeIn = async (cwd: string, words: readonly string[]) => {
        const { code, output } = await project.run(words, { bin: 'harvest', cwd })
        return { code, output }
      }
      const type = (...words: string[]) => typeIn('.', words)
      const said = (text: string) => expect.stringContaining(text)
      const ofB = 'packages/b/recordings'
      // The one of b is different, under the same name and path.
      expect(await type('test', 'recordings/golden/one.case.yaml')).toEqual({ code: 0, output: said('1 passed (1)') })
      expect(await type('test', `${ofB}/golden/one.case.yaml`)).toEqual({ code: 1, output: said('1 failed (1)') })
      expect((await type('replay', 'one')).code).toBe(0)
      expect(await type('replay', 'one', '--dir', ofB)).toEqual({ code: 1, output: said('packages/b/src/refund.ts') })
      expect((await type('replay', `${ofB}/golden/one.case.yaml`)).code).toBe(1)
      expect((await type('replay', 'packages/a/recordings/golden/one.case.yaml')).code).toBe(0)
      // What only a package has, with the command that finds it.
      for (const command of [
        ['show', 'only-b'],
        ['verify', 'only-b'],
        ['accept', 'only-b', '--reason', 'why'],
      ]) {
        const now = command[0] === 'verify' ? ['replay', '--exact', 'only-b'] : command
        const { code, output } = await type(...command)
        expect([code, output]).toEqual([2, said(`npx vitest-harvest ${now.join(' ')} --dir ${ofB}\n`)])
      }
      expect((await type('show', 'only-b', '--dir', ofB)).code).toBe(0)
      expect((await type('show', `${ofB}/golden/only-b.case.yaml`)).output).toContain(`--dir ${ofB}\n`)
      // A case is written beside its agent.
      const tape = 'packages/a/recordings/inbox/in-a.tape.jsonl'
      const refused = await type('promote', tape, '--as', 'new')
      const again = `npx vitest-harvest promote ${tape} --as new --dir packages/a/recordings\n`
      expect(refused).toEqual({ code: 2, output: said(again) })
      expect((await type(...again.trim().split(' ').slice(2))).code).toBe(0)
      expect(project.read('packages/a/recordings/golden/new.case.yaml')).toContain('case: new')
      // Vitest of a package has no agents but its own.
      const toRoot = { code: 2, output: said(`cd ${project.folder}\n`) }
      const inB = (...words: string[]) => typeIn('packages/b', words)
      expect(await inB('fork', 'only-root', '--step', '1', '--dir', '../../recordings')).toEqual(toRoot)
      expect(await inB('replay', 'only-root', '--dir', '../../recordings')).toEqual(toRoot)
      expect(await inB('accept', 'only-root', '--reason', 'why', '--dir', '../../recordings')).toEqual(toRoot)
      expect(await inB('promote', '../../recordings/golden/only-root.tape.jsonl', '--as', 'x')).toEqual({
        code: 2,
        output: said(`cd ${project.folder}\n`),
      })
      expect(await inB('replay', '../a/recordings/golden/one.tape.jsonl')).toEqual({
        code: 2,
        output: said(`cd ${path.join(project.folder, 'packages/a')}\n`),
      })
    },
  )
})
