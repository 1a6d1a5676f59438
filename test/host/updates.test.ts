import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  describeLanes,
  type Home,
  type InlineProject,
  onLane,
  openHome,
  type RunOptions,
  type RunResult,
} from './inline.ts'
import { config, golden, refundBaseline, refundSources } from './refund.ts'
import { reported, withJson } from './reports.ts'

const outdated = `baseline:
  - lookup_order(*)   # any order will do
  - escalate(order_id)
`
const accepted = `baseline:
  - lookup_order(*)   # any order will do
  - refund(amount, order_id)
`

/** Cases an update may and may not rewrite. */
const cases = {
  ...golden('stale', `${outdated}outcome: { refunded: 30 }\n`),
  ...golden('unwritten', ''),
  ...golden('holds', `${refundBaseline}outcome: { refunded: 25 }\n`),
  ...golden('diverges', outdated, { agent: 'diverges' }),
  ...golden('known-bad', `expect: fail\n${outdated}`),
  ...golden('ended-otherwise', outdated, { threw: 'timeout' }),
  ...golden('escapes', outdated, { agent: 'escapes' }),
  ...golden('hangs', `timeout: 300\n${outdated}`, { agent: 'hangs' }),
}
const untouched = ['holds', 'diverges', 'known-bad', 'ended-otherwise', 'escapes', 'hangs']
const why = 'refunds are approved now'
/** As if a person had said it. */
const reason = { HARVEST_UPDATE_REASON: why }
const caseFile = (id: string) => `recordings/golden/${id}.case.yaml`

/** As it is printed for the cases of a run that may not write them. */
const testOf = (...ids: readonly string[]) =>
  `npx vitest-harvest test ${ids.map(caseFile).join(' ')} --update-recordings --reason '${why}'`

const own = { bin: 'vitest-harvest' } as const
const unsaid = { HARVEST_UPDATE_REASON: '' }

describeLanes('updates under Vitest %i', (lane) => {
  let home: Home
  let project: InlineProject
  beforeAll(() => {
    home = openHome(lane)
    project = home.project('updates', {
      'vitest.config.ts': config(
        '',
        '',
        `diverges: './src/diverges.ts', skips: './src/skips.ts', escapes: './src/escapes.ts', hangs: './src/hangs.ts'`,
      ),
      'src/escapes.ts': `import { connect } from 'node:net'
export default () => new Promise((resolve) => connect(45999, '127.0.0.1').on('error', resolve))
`,
      'src/hangs.ts': `export default () => new Promise(() => setInterval(() => {}, 5))\n`,
      'src/skips.ts': `import { tool } from 'vitest-harvest/record'
const lookup = tool('lookup_order', async (order: object) => ({ amount: 25 }))
export default () => lookup({ order_id: 'A-1' }).then(({ amount }) => ({ refunded: amount }))
`,
      ...refundSources,
      'src/diverges.ts': `import { tool } from 'vitest-harvest/record'
const refund = tool('refund', async (order: object) => 'ok')
export default () => refund({ order_id: 'B-2' })
`,
      'src/ui.test.ts': `import { expect, it } from 'vitest'\nit('is a snapshot', () => { expect('new').toMatchSnapshot() })\n`,
      'src/__snapshots__/ui.test.ts.snap': `// Vitest Snapshot v1, https://vitest.dev/guide/snapshot.html\n\nexports[\`is a snapshot 1\`] = \`"old"\`;\n`,
      ...cases,
    })
    git('init', '--quiet')
    git('config', 'user.name', 'Ada Lovelace')
    git('config', 'user.email', 'ada@example.com')
    git('add', '.')
    git('commit', '--quiet', '--message', 'Golden set')
  })
  afterAll(() => home?.[Symbol.dispose]())
  const git = (...words: string[]) => {
    const { stdout, stderr, status } = spawnSync('git', words, { cwd: project.folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${words.join(' ')}: ${stderr}`)
    return stdout
  }
  // What does not depend on Vitest's version is seen once.
  const once = onLane(lane, 5)
  const reset = () => {
    for (const [file, text] of Object.entries(cases)) project.write(file, text)
  }
  const run = async ([command = '', ...args]: readonly string[], options: RunOptions = {}) => {
    reset()
    // That of a run before says nothing of this one.
    rmSync(path.join(project.folder, '.vitest/report.json'), { force: true })
    const result = await project.run([command, ...withJson, ...args], {
      ...options,
      env: { ...reason, ...options.env },
    })
    const changed = Object.keys(cases).filter((file) => project.read(file) !== cases[file as keyof typeof cases])
    return { ...result, changed }
  }

  const spellings: readonly (readonly [string, readonly string[], RunOptions])[] = [
    ['our own command', ['run', 'golden', '--update-recordings', '--reason', why], { ...own, env: unsaid }],
    ['two dashes', ['run', 'golden', '--', '--update-recordings'], {}],
    ['--update=recordings', ['run', '--update=recordings'], {}],
    ['a variable', ['run', 'golden'], { env: { VITEST_HARVEST_UPDATE: 'all' } }],
  ]
  const ofOurs = ['our own command', 'a variable']
  for (const [spelling, args, options] of spellings) {
    const each = ofOurs.includes(spelling) ? once : it
    each(`${spelling} accepts new behaviour, and nothing else`, () => acceptsNew(args, options))
  }

  async function acceptsNew(args: readonly string[], options: RunOptions): Promise<void> {
    const { changed, output } = await run(args, options)
    expect(changed.sort()).toEqual([caseFile('stale'), caseFile('unwritten')])
    expect(project.read(caseFile('stale')).replace(/(?<=at: )\S+Z$/m, 'now')).toBe(
      `${cases[caseFile('stale')]?.replace(outdated, accepted).replace('30', '25')}approved:
  reason: ${why}
  by: Ada Lovelace <ada@example.com>
  at: now
`,
    )
    expect(project.read(caseFile('unwritten'))).toContain(refundBaseline)
    expect(output).toContain(`Updated  ${caseFile('stale')}`)
    const tests = reported(project)
    expect(untouched.map((id) => tests.get(`golden/${id}`)?.meta.harvest?.['code'])).toEqual([
      undefined,
      'HARVEST_DIVERGENCE',
      'HARVEST_CASE_NO_LONGER_FAILS',
      'HARVEST_OUTCOME_KIND',
      'HARVEST_ESCAPE',
      'HARVEST_AGENT_TIMEOUT',
    ])
    expect(project.read('src/__snapshots__/ui.test.ts.snap')).toContain('"old"')
  }

  it('without a word, only a baseline that is missing is written, and the next run writes nothing', {
    tags: 'thorough',
  }, async () => {
    const first = await run(['run', 'golden'])
    expect(first.changed).toEqual([caseFile('unwritten')])
    const before = project.hash()
    const second = await project.run(['run', 'golden/unwritten', 'golden/holds'])
    expect([second.code, project.hash()]).toEqual([0, before])
  })

  once('new and none write as much as they say', { tags: 'thorough' }, async () => {
    const asNew = await run(['run', 'golden', '--update-recordings=new'], { bin: 'vitest-harvest' })
    const asNone = await run(['run', 'golden', '--update-recordings=none'], { bin: 'vitest-harvest' })
    expect([asNew.changed, asNone.changed]).toEqual([[caseFile('unwritten')], []])
    expect(asNone.output).toContain('HARVEST_BASELINE_MISSING')
  })

  it('-u, which is for snapshots, accepts no new behaviour', async () => {
    const { changed } = await run(['run', 'golden', '-u'], { env: unsaid })
    expect(changed).toEqual([caseFile('unwritten')])
    // Nobody reviewed it yet, so nobody is said to have approved it.
    expect(project.read(caseFile('unwritten'))).not.toContain('approved')
  })

  for (const [name, register] of [
    ['CI', it],
    ['CLAUDECODE', once],
  ] as const)
    register(`with ${name} set nothing is written, and the run says why`, async () => {
      const { changed, output } = await run(['run', 'golden', '--update-recordings'], {
        ...own,
        env: { [name]: '1', ...unsaid },
      })
      expect(changed).toEqual([])
      expect(output).toContain(`--update-recordings=all was not followed`)
      expect(output).toContain('HARVEST_ALLOW_CI_UPDATE=1')
    })

  once('a second word allows it in CI', { tags: 'thorough' }, async () => {
    const { changed } = await run(['run', 'golden', '--update-recordings'], {
      bin: 'vitest-harvest',
      env: { CI: '1', HARVEST_ALLOW_CI_UPDATE: '1' },
    })
    expect(changed.sort()).toEqual([caseFile('stale'), caseFile('unwritten')])
  })

  it('a run that was stopped writes nothing', async () => {
    const { changed, output } = await run(['run', 'golden', '--update-recordings', '--bail=1'], {
      bin: 'vitest-harvest',
    })
    expect([changed, output.includes('Updated')]).toEqual([[], false])
  })

  once('a mode nobody knows is an error, not a default', async () => {
    const own = await run(['run', 'golden', '--update-recordings=al'], { bin: 'vitest-harvest' })
    const variable = await run(['run', 'golden'], { env: { VITEST_HARVEST_UPDATE: 'yes' } })
    expect([own.code, variable.code, own.changed, variable.changed]).toEqual([2, 1, [], []])
    for (const { output } of [own, variable]) expect(output).toContain('HARVEST_UPDATE_MODE')
  })

  once('a tool call that is left out is red until an update accepts it, and green from then on', async () => {
    const file = caseFile('shorter')
    for (const [name, text] of Object.entries(golden('shorter', refundBaseline, { agent: 'skips' })))
      project.write(name, text)
    const red = await project.run(['run', 'golden/shorter'])
    const update = await project.run(['run', 'golden/shorter', '--update-recordings', '--reason=no refund'], own)
    const green = await project.run(['run', 'golden/shorter'])
    expect([red.code, update.code, green.code]).toEqual([1, 0, 0])
    expect(red.output).toContain('HARVEST_TRACE')
    expect(project.read(file)).toContain('baseline:\n  - lookup_order(order_id)\n')
    expect(project.read(file)).not.toContain('refund(')
  })
  once('is a small diff: what changed, and why, and every comment is still there', { tags: 'thorough' }, async () => {
    await run(['run', 'golden/stale', '--update-recordings'], own)
    const lines = git('diff', '--unified=0', '--', 'recordings').split('\n')
    expect(lines.filter((line) => /^[-+](?![-+])/.test(line)).map((line) => line.replace(/at: .*/, 'at: now'))).toEqual(
      [
        '-  - escalate(order_id)',
        '-outcome: { refunded: 30 }',
        '+  - refund(amount, order_id)',
        '+outcome: { refunded: 25 }',
        '+approved:',
        `+  reason: ${why}`,
        '+  by: Ada Lovelace <ada@example.com>',
        '+  at: now',
      ],
    )
    expect(git('diff', '--stat', '--', 'recordings')).toMatch(/1 file changed, 6 insertions\(\+\), 2 deletions\(-\)/)
    const before = project.hash()
    const again = await project.run(['run', 'golden/stale', '--update-recordings', '--reason', 'another'], own)
    expect([again.code, project.hash()]).toEqual([0, before])
  })

  once('never touches a tape, whatever is asked', { tags: 'thorough' }, async () => {
    const tapes = Object.keys(cases).filter((file) => file.endsWith('.tape.jsonl'))
    reset()
    for (const file of tapes) utimesSync(path.join(project.folder, file), 1, 1)
    await project.run(['run', 'golden', '-u', '--update-recordings'], { ...own, env: reason })
    expect(project.read(caseFile('stale'))).toContain('approved')
    const written = tapes.map((file) => statSync(path.join(project.folder, file)).mtimeMs)
    expect([...new Set(written)]).toEqual([1000])
    expect(tapes.map((file) => readFileSync(path.join(project.folder, file), 'utf8'))).toEqual(
      tapes.map((file) => cases[file as keyof typeof cases]),
    )
  })

  once(
    'needs a reason, however it is asked for: without one nothing is run and nothing written',
    { tags: 'thorough' },
    async () => {
      const spellings: readonly (readonly [number, readonly string[], RunOptions])[] = [
        [2, ['run', '--update-recordings'], own],
        [2, ['run', '--update-recordings', '--reason', ' '], own],
        [2, ['run', '--update-recordings', `--reason=${'long '.repeat(200)}`], own],
        [2, ['run', '--', '--update-recordings'], own],
        [2, ['run', '--update=recordings'], own],
        [1, ['run', '--', '--update-recordings'], {}],
        [1, ['run', '--update=recordings'], {}],
        [1, ['run'], { env: { VITEST_HARVEST_UPDATE: 'all' } }],
      ]
      reset()
      const before = project.hash()
      for (const [code, args, options] of lane === 5 ? spellings : spellings.slice(-2, -1)) {
        const result = await project.run(args, options)
        expect([args, result.code, result.output.includes('Test Files')]).toEqual([args, code, false])
        expect(result.output).toContain('HARVEST_UPDATE_REASON')
      }
      expect(project.hash()).toBe(before)
    },
  )

  it('of a word is of the case of that name: for one more that has it in its path nothing is written', {
    tags: 'thorough',
  }, async () => {
    const others = {
      ...golden('vip-stale', outdated),
      ...golden('stale-too', `${refundBaseline}outcome: { refunded: 25 }\n`),
    }
    for (const [file, text] of Object.entries(others)) project.write(file, text)
    const isWritten = () => project.read(caseFile('vip-stale')) !== others[caseFile('vip-stale')]
    const spellings: readonly (readonly [readonly string[], RunOptions])[] = [
      [['run', 'stale'], { env: { VITEST_HARVEST_UPDATE: 'all' } }],
      [['run', 'tale', '--', '--update-recordings'], {}],
      [['run', 'STALE', 'src/ui', '--update=recordings'], {}],
    ]
    for (const [args, options] of spellings) {
      const { code, output, changed } = await run(args, options)
      expect([args, code, changed, isWritten()]).toEqual([args, 1, [], false])
      const isNamed = args.includes('stale')
      const one = isNamed ? `to update what was named: ${testOf('stale')}` : `to update one: ${testOf('stale')}`
      const [stale, vip] = [caseFile('stale'), caseFile('vip-stale')]
      expect(output).toContain(
        isNamed
          ? `  named        ${stale}\n  not named    ${vip}\n\n`
          : `  not named    ${stale}\n               ${vip}\n\n`,
      )
      expect(output).toContain(`→ ${one}\n→ to update all of them: ${testOf('stale', 'vip-stale')}\n`)
      expect(output).toMatch(/Recordings {2}1 replayed, 2 diverged\n/)
    }
    // As printed.
    const one = await run(['run', caseFile('stale'), '--update-recordings'], own)
    expect([one.code, one.changed, isWritten()]).toEqual([0, [caseFile('stale')], false])
    const all = await run(['run', caseFile('stale'), caseFile('vip-stale'), '--update-recordings'], own)
    expect([all.code, all.changed, isWritten()]).toEqual([0, [caseFile('stale')], true])
    // What is as it was needs no name.
    const again = await run(['run', 'stale'], { env: { VITEST_HARVEST_UPDATE: 'all' } })
    expect([again.code, again.changed]).toEqual([0, [caseFile('stale')]])
    for (const file of Object.keys(others)) rmSync(path.join(project.folder, file))
  })

  it('is not written when the run had errors outside of its tests, and the run is red', {
    tags: 'thorough',
  }, async () => {
    project.write(
      'src/stray.test.ts',
      `import { it } from 'vitest'\nit('is green', () => { Promise.reject(new Error('stray')) })\n`,
    )
    const { code, output, changed } = await run(['run', 'golden/stale', 'src/stray', '--update-recordings'], own)
    expect([code, changed]).toEqual([1, []])
    expect(output).toMatch(
      /Recordings {2}0 replayed, 1 diverged\n[^]*The update was not written: the run had errors outside of its tests\n[^]*\(HARVEST_UPDATE_STOPPED\)/,
    )
    rmSync(path.join(project.folder, 'src/stray.test.ts'))
  })

  once('is not written for a case whose test is red after all', async () => {
    const config = project.read('vitest.config.ts')
    project.write('vitest.config.ts', config.replace('test: {', `test: { setupFiles: ['./hooks.ts'],`))
    project.write('hooks.ts', `import { afterEach } from 'vitest'\nafterEach(() => { throw new Error('not tidy') })\n`)
    const { code, output, changed } = await run(['run', 'golden/stale', '--update-recordings'], own)
    expect([code, changed]).toEqual([1, []])
    expect(output).toContain(`Not updated  ${caseFile('stale')}: its test failed for another reason`)
    project.write('vitest.config.ts', config)
  })

  it('is not written when somebody stops the run', { tags: 'thorough' }, async () => {
    project.write(
      'src/waits.test.ts',
      `import { it } from 'vitest'\nit('waits', () => { console.log('it waits'); return new Promise(() => {}) }, 60_000)\n`,
    )
    reset()
    const running = project.watch(
      ['run', 'golden/stale', 'src/waits', '--update-recordings', '--maxWorkers=1', '--no-file-parallelism'],
      { ...own, env: reason },
    )
    await running.until('it waits')
    expect(await running.stop('SIGINT')).not.toBe(0)
    expect(project.read(caseFile('stale'))).toBe(cases[caseFile('stale')])
    rmSync(path.join(project.folder, 'src/waits.test.ts'))
  })
})

describe('the reason for an update', () => {
  // The `script` of other systems takes other arguments.
  it.runIf(process.platform === 'linux')('is asked for at a terminal, before anything runs', () => {
    using home = openHome(5)
    const project = home.project('asks', {
      'vitest.config.ts': config(),
      ...refundSources,
      ...golden('stale', outdated),
    })
    const ask = (answer: string): RunResult['output'] => {
      const command = `${process.execPath} ${project.bin('vitest-harvest')} run --update-recordings`
      const terminal = ['-qec', command, '/dev/null']
      const env = { PATH: process.env['PATH'], HOME: project.folder, NO_COLOR: '1' }
      const { stdout, status } = spawnSync('script', terminal, {
        cwd: project.folder,
        env,
        input: answer,
        encoding: 'utf8',
      })
      return `${status} ${stdout}`
    }
    const refused = ask('\n')
    expect(refused).toMatch(/^2 [^]*Why is the new behaviour right\?[^]*HARVEST_UPDATE_REASON/)
    expect(project.read(caseFile('stale'))).not.toContain('approved')
    expect(ask('a person refunds now\n')).toMatch(/^0 [^]*Why[^]*Updated/)
    expect(project.read(caseFile('stale'))).toMatch(/approved:\n {2}reason: a person refunds now\n {2}at: /)
  })
})
