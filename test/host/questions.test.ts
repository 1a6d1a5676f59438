import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeLanes, type Home, type InlineProject, onLane, openHome, type RunResult } from './inline.ts'
import { config, refundSources } from './refund.ts'
import { reported, summaryOf, withJson } from './reports.ts'
import { supportCase, supportSources, supportTape } from './support.ts'

const agents = `support: './src/support.ts#support'`
const local = { HARVEST_ALLOW_CI_UPDATE: '1', GIT_CONFIG_GLOBAL: '/dev/null' }

const sources = (options = '') => ({
  'vitest.config.ts': config(options, `include: ['test/**/*.test.ts']`, agents),
  ...refundSources,
  ...supportSources,
})

/** Replaces a text of a file; that it is there is part of every test. */
function edit(project: InlineProject, file: string, from: string, to: string): void {
  const text = project.read(file)
  expect(text).toContain(from)
  project.write(file, text.replace(from, to))
}

const raiseLimit = (project: InlineProject, to = '120'): void => edit(project, 'src/prompt.ts', '100 EUR', `${to} EUR`)

function keysOf(project: InlineProject, id: string): readonly string[] {
  const questions = reported(project).get(`golden/${id}`)?.meta.harvest?.['questions'] as {
    readonly unproven: readonly { readonly key: string }[]
  }
  return questions.unproven.map(({ key }) => key)
}

describeLanes('a changed question under Vitest %i', (lane) => {
  const once = onLane(lane, 5)
  let home: Home
  beforeAll(() => {
    home = openHome(lane)
  })
  afterAll(() => home[Symbol.dispose]())

  const vitest = (project: InlineProject, args: readonly string[] = [], env = {}): Promise<RunResult> =>
    project.run(['run', ...withJson, ...args], { env })
  const harvest = (project: InlineProject, ...args: readonly string[]): Promise<RunResult> =>
    project.run(args, { bin: 'harvest', env: local })

  it('is red as unproven, with the change, its key and the ways out; nothing is written', async () => {
    const project = home.project('unproven', {
      ...sources(),
      ...supportCase('a-1'),
      ...supportCase('b-1'),
      ...supportCase('c-1'),
    })
    expect((await vitest(project)).code).toBe(0)
    raiseLimit(project)
    const before = project.hash()
    const run = await vitest(project)
    expect(run.code).toBe(1)
    expect(project.hash()).toBe(before)
    const [key] = keysOf(project, 'a-1')
    for (const id of ['a-1', 'b-1', 'c-1']) {
      const test = reported(project).get(`golden/${id}`)
      expect(test?.meta.harvest).toMatchObject({
        code: 'HARVEST_UNPROVEN',
        verdict: 'unproven',
        served: 3,
        recorded: 3,
      })
      expect(keysOf(project, id)).toEqual([key])
    }
    expect(run.output).toContain(
      [
        'HarvestUnproven: The system prompt changed, so the recorded answers prove nothing about it',
        '',
        '  case   a-1',
        '  asked  steps 1 and 3',
      ].join('\n'),
    )
    expect(run.output).toContain('changed  … Refund at most [-100-] {+120+} EUR without asking')
    expect(run.output).toContain('→ if you looked and it is meant:  npx vitest-harvest accept a-1 --reason "…"')
    expect(run.output).toContain(`drift: { instructions: 'report' }`)
    expect(summaryOf(run)).toBe(
      [
        ' Recordings  0 replayed, 3 unproven',
        '    Escapes  0',
        '   Unproven  system prompt  … Refund at most [-100-] {+120+} EUR without asking.   3 cases: golden/a-1, golden/b-1, golden/c-1',
        `             to accept it: npx vitest-harvest accept --change ${key} --reason "…"`,
      ].join('\n'),
    )
  })

  once(
    'is accepted once for all cases that have it, and is green until the next edit',
    { tags: 'thorough' },
    async () => {
      const pins = (id: string): Record<string, string> =>
        supportCase(id, id.toUpperCase(), 'pins: { commit: 4f2a9c1, models: [gpt-4.1], prompt: sha256-before }\n')
      const project = home.project('accept-all', { ...sources(), ...pins('a-1'), ...pins('b-1') })
      raiseLimit(project)
      await vitest(project)
      const [key] = keysOf(project, 'a-1')
      const tapes = () =>
        project.search('recordings/golden', /./).map((file) => project.read(`recordings/golden/${file}`))
      const before = tapes()
      const accepted = await harvest(project, 'accept', '--reason', 'the limit was raised')
      expect([accepted.code, accepted.output]).toEqual([0, expect.stringContaining(`${key}  accepted`)])
      // One thing to review: cases and tapes stay as they are.
      expect(tapes()).toEqual(before)
      const file = project.read('recordings/accepted.yaml')
      expect(file).toContain(`key: ${key}\n    what: instructions\n`)
      expect(file).toContain('reason: the limit was raised')
      expect(file.match(/key:/g)).toHaveLength(1)
      const green = await vitest(project)
      expect([green.code, summaryOf(green)]).toEqual([
        0,
        expect.stringContaining('   Accepted  system prompt (2 cases, '),
      ])
      expect(summaryOf(green)).toContain('2 replayed')
      // Accepted in one place, so the cases do not name the prompt of today until their pins are renewed, all at once.
      expect(accepted.output).toContain(
        '→ to renew the pins of these cases: npx vitest-harvest test --update-recordings=pins',
      )
      const renewed = await harvest(project, 'test', '--update-recordings=pins')
      expect([renewed.code, summaryOf(renewed)]).toEqual([0, expect.stringContaining('0 replayed, 2 updated')])
      for (const id of ['a-1', 'b-1']) {
        const now = project.read(`recordings/golden/${id}.case.yaml`)
        expect(now).toMatch(/prompt: sha256-before\n[^]*accepted:\n[^]*prompt: sha256-(?!before)/)
        // Nothing is asserted less, and nobody approved anything.
        expect(now).toContain('  - refund(amount, order)')
        expect(now).not.toContain('approved')
      }
      const hash = project.hash()
      const unchanged = await harvest(project, 'test', '--update-recordings=pins')
      expect([unchanged.code, project.hash()]).toEqual([0, hash])
      // Another question is another one, also where one was accepted.
      project.write('src/prompt.ts', supportSources['src/prompt.ts'])
      raiseLimit(project, '1000')
      const again = await vitest(project)
      expect([again.code, again.output]).toEqual([1, expect.stringContaining('[-100-] {+1000+} EUR')])
      // The update that removes what is obsolete would accept this as well.
      expect(again.output).toMatch(
        /Obsolete {2}accepted for all cases .*: to be removed by an update once the rest is green\n/,
      )
      expect(summaryOf(again)).not.toContain('--update-recordings')
      // The recorded question needs no acceptance.
      project.write('src/prompt.ts', supportSources['src/prompt.ts'])
      const back = await vitest(project)
      expect([back.code, back.output.includes('Accepted')]).toEqual([0, false])
      expect(back.output).toContain(
        `accepted for all cases and no longer asked: instructions ${key}: npx vitest-harvest test --update-recordings --reason`,
      )
      const updated = await harvest(project, 'test', '--update-recordings', '--reason', 'went back')
      expect(updated.code).toBe(0)
      expect(project.read('recordings/accepted.yaml')).not.toContain(String(key))
    },
  )

  once(
    'of one case is accepted in the case, which is told when nobody asks it any more',
    { tags: 'thorough' },
    async () => {
      const project = home.project('accept-one', { ...sources(), ...supportCase('a-1') })
      raiseLimit(project)
      const accepted = await harvest(project, 'accept', 'a-1', '--reason', 'the limit was raised', '--json')
      expect(accepted.code).toBe(0)
      expect(JSON.parse(accepted.stdout)).toMatchObject({
        unproven: [],
        accepted: [{ question: { part: 'system prompt' }, names: ['golden/a-1'] }],
        different: [],
        written: ['recordings/golden/a-1.case.yaml'],
      })
      expect(project.read('recordings/golden/a-1.case.yaml')).toMatch(/\naccepted:\n {2}- key: [\w-]{16}\n/)
      expect((await vitest(project)).code).toBe(0)
      project.write('src/prompt.ts', supportSources['src/prompt.ts'])
      raiseLimit(project, '1000')
      const other = summaryOf(await vitest(project))
      expect(other).toContain('no longer asked: 1 (golden/a-1): to be removed by an update once the rest is green')
      expect(other).not.toContain('--update-recordings')
      project.write('src/prompt.ts', supportSources['src/prompt.ts'])
      const back = await vitest(project)
      expect([back.code, back.output]).toEqual([
        0,
        expect.stringContaining('accepted and no longer asked: 1 (golden/a-1)'),
      ])
      const [, ...named] =
        /no longer asked: 1 \(golden\/a-1\): npx vitest-harvest( test \S+)( --update-recordings) --reason "…"/.exec(
          back.output,
        ) ?? []
      await harvest(
        project,
        ...named.map((word) => word.trim()).flatMap((word) => word.split(' ')),
        '--reason',
        'went back',
      )
      expect(project.read('recordings/golden/a-1.case.yaml')).not.toContain('key:')
    },
  )

  once(
    'of data is accepted by its key or in the case that is named, never with others',
    { tags: 'thorough' },
    async () => {
      const project = home.project('data', { ...sources(), ...supportCase('a-1'), ...supportCase('b-1') })
      edit(project, 'src/settings.ts', 'Please help with order ', 'Help with order ')
      const all = await harvest(project, 'accept', '--reason', 'shorter')
      expect([all.code, all.output]).toEqual([
        1,
        expect.stringMatching(/by their key: npx vitest-harvest accept( --change [\w-]+){2} --reason/),
      ])
      expect(project.search('recordings', /key:/)).toEqual([])
      const list = JSON.parse((await harvest(project, 'accept', '--list', '--json')).stdout)
      expect(list.unproven).toHaveLength(2)
      expect(list.unproven[0].question).toMatchObject({ class: 'messages', part: 'user message', isData: true })
      const one = await harvest(project, 'accept', '--change', list.unproven[0].question.key, '--reason', 'shorter')
      expect(one.output).toContain('accepted')
      expect((await harvest(project, 'accept', 'a-1', 'b-1', '--reason', 'shorter')).code).toBe(0)
      expect((await vitest(project)).code).toBe(0)
    },
  )

  once('that lets the agent act otherwise is different, and the change is named beside it', async () => {
    const project = home.project('different', { ...sources(), ...supportCase('a-1') })
    raiseLimit(project)
    edit(project, 'src/support.ts', 'return { said: said.content }', `return { said: 'no' }`)
    const run = await vitest(project)
    expect(run.code).toBe(1)
    expect(reported(project).get('golden/a-1')?.meta.harvest).toMatchObject({
      code: 'HARVEST_OUTCOME',
      verdict: 'different',
    })
    expect(run.output).toContain('The system prompt changed at step 1, and then the agent acted differently')
    const refused = await harvest(project, 'accept', 'a-1', '--reason', 'because')
    expect([refused.code, refused.output]).toEqual([1, expect.stringContaining('different: golden/a-1')])
    expect(project.search('recordings', /key:/)).toEqual([])
  })

  once('is not accepted in CI, and by nobody without a reason', { tags: 'thorough' }, async () => {
    const project = home.project('ci', { ...sources(), ...supportCase('a-1') })
    raiseLimit(project)
    const before = project.hash()
    const inCi = await project.run(['accept', 'a-1', '--reason', 'x'], { bin: 'harvest', env: { CI: '1' } })
    expect([inCi.code, inCi.output]).toEqual([2, expect.stringContaining('HARVEST_ACCEPT_REFUSED')])
    expect((await harvest(project, 'accept', 'a-1')).code).toBe(2)
    const unknown = await harvest(project, 'accept', '--change', '0123456789abcdef', '--reason', 'x')
    expect([unknown.code, unknown.output]).toEqual([2, expect.stringContaining('HARVEST_ACCEPT_UNKNOWN')])
    expect(project.hash()).toBe(before)
  })

  once(
    'that the config excludes from the verdict is named in the summary of a green run',
    { tags: 'thorough' },
    async () => {
      const project = home.project('policy', { ...sources(`drift: { instructions: 'report' }`), ...supportCase('a-1') })
      raiseLimit(project)
      const run = await vitest(project)
      expect([run.code, summaryOf(run)]).toEqual([
        0,
        expect.stringContaining(
          ' Not judged  system prompt changed in 1 case: golden/a-1: green says nothing about it',
        ),
      ])
      // Other questions are unproven all the same.
      edit(project, 'src/settings.ts', 'settings = {}', 'settings = { temperature: 0.2 }')
      expect((await vitest(project)).code).toBe(1)
    },
  )

  once('stops to be accepted after the days the config names', { tags: 'thorough' }, async () => {
    const project = home.project('days', { ...sources('accepted: { maxDays: 90 }'), ...supportCase('a-1') })
    raiseLimit(project)
    await harvest(project, 'accept', 'a-1', '--reason', 'the limit was raised')
    expect((await vitest(project)).code).toBe(0)
    const text = project.read('recordings/golden/a-1.case.yaml')
    const old = new Date(Date.now() - 91 * 86_400_000).toISOString()
    project.write('recordings/golden/a-1.case.yaml', text.replace(/ at: .*/, ` at: ${old}`))
    expect((await vitest(project)).code).toBe(1)
  })

  once(
    'that was accepted at the last step is unproven at the first, in cases, a moved one and hand-written tests',
    { tags: 'thorough' },
    async () => {
      const test = `import { test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { support } from '../src/support.ts'
test('by hand', async () => {
  for (const id of ['h-1', 'h-2']) await replay('tapes/' + id + '.tape.jsonl', (input) => support(input as { order: string }))
})
`
      const project = home.project('steps', {
        ...sources(),
        ...supportCase('a-1'),
        ...supportCase('b-1'),
        'test/by-hand.test.ts': test,
        'tapes/h-1.tape.jsonl': supportTape('h-1'),
        'tapes/h-2.tape.jsonl': supportTape('h-2'),
      })
      edit(project, 'src/support.ts', `model: 'gpt-4.1'`, 'model')
      edit(project, 'src/support.ts', 'object[])', `object[], model = 'gpt-4.1')`)
      edit(project, 'src/support.ts', 'content: result }])', `content: result }], 'gpt-4.1-mini')`)
      const [, key] = /--change ([\w-]{16})/.exec((await vitest(project)).output) ?? []
      const accepted = await harvest(project, 'accept', '--change', String(key), '--reason', 'it only words the answer')
      expect(accepted.code, accepted.output).toBe(0)
      const file = project.read('recordings/accepted.yaml')
      expect(file.match(/key:/g)).toHaveLength(1)
      expect(file).toContain('    steps:\n      a-1: [3]\n      b-1: [3]\n      h-1: [3]\n      h-2: [3]\n')
      for (const end of ['case.yaml', 'tape.jsonl']) {
        project.write(`recordings/golden/moved/a-1.${end}`, project.read(`recordings/golden/a-1.${end}`))
        rmSync(join(project.folder, `recordings/golden/a-1.${end}`))
      }
      const green = await vitest(project)
      expect([green.code, summaryOf(green)]).toEqual([0, expect.stringContaining('Accepted  model (3 cases, ')])
      const one = await harvest(project, 'replay', 'recordings/golden/moved/a-1.tape.jsonl')
      expect([one.code, one.output]).toEqual([0, expect.stringContaining('accepted: model')])
      edit(project, 'src/support.ts', 'await ask(told)', `await ask(told, 'gpt-4.1-mini')`)
      const red = await vitest(project)
      expect([red.code, summaryOf(red)]).toEqual([
        1,
        expect.stringMatching(/0 replayed, 2 unproven[^]*3 cases: .*; accepted at other steps only/),
      ])
      expect(red.output).toMatch(/case {6}.*\n {2}asked {5}steps 1 and 3\n[^]*\n {2}accepted {2}at step 3 only\n/)
      const list = JSON.parse((await harvest(project, 'accept', '--list', '--json')).stdout)
      expect(list).toMatchObject({ unproven: [{ question: { key, steps: [1, 3], acceptedAt: [3] } }], accepted: [] })
      const [again] = [await harvest(project, 'replay', 'recordings/golden/moved/a-1.tape.jsonl')]
      expect([again.code, again.output]).toEqual([1, expect.stringContaining('unproven')])
      // Reviewed there as well, each step that could have it has it.
      expect((await harvest(project, 'accept', '--change', String(key), '--reason', 'it decides as well')).code).toBe(0)
      expect(project.read('recordings/accepted.yaml')).not.toContain('steps')
      expect((await vitest(project)).code).toBe(0)
    },
  )

  once('makes a known-bad case red: nobody knows whether the bug is still there', async () => {
    const project = home.project('known-bad', { ...sources(), ...supportCase('a-1', 'A-1', 'expect: fail\n') })
    expect((await vitest(project)).code).toBe(0)
    raiseLimit(project)
    const run = await vitest(project)
    expect(run.code).toBe(1)
    expect(reported(project).get('golden/a-1')?.meta.harvest).toMatchObject({ code: 'HARVEST_UNPROVEN' })
  })

  once('is red in a hand-written test too, and accepted there by its key', { tags: 'thorough' }, async () => {
    const test = `import { expect, test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { support } from '../src/support.ts'
test('by hand', async () => {
  await replay('tapes/a-1.tape.jsonl', (input) => support(input as { order: string }))
})
test('otherwise', async () => {
  const denied = replay('tapes/a-1.tape.jsonl', async (input) => (await support(input as { order: string }), 'no'))
  const error = await denied.catch((error) => error)
  expect(error.code).toBe('HARVEST_OUTCOME')
  console.log(error.message)
})
`
    const project = home.project('by-hand', {
      ...sources(),
      'test/by-hand.test.ts': test,
      'tapes/a-1.tape.jsonl': supportTape('a-1'),
    })
    const green = await vitest(project, ['test/'])
    expect(green.code, green.output).toBe(0)
    raiseLimit(project)
    const run = await vitest(project, ['test/'])
    expect([run.code, run.output]).toEqual([1, expect.stringContaining('HARVEST_UNPROVEN')])
    expect(run.output).toMatch(
      /First, what the model was asked changed:\n  system prompt .*[^]*\n\nThen: The agent returned [^]*HARVEST_OUTCOME/,
    )
    const key = /--change ([\w-]{16})/.exec(run.output)?.[1]
    expect((await harvest(project, 'accept', '--change', String(key), '--reason', 'raised')).output).toContain(
      'accepted',
    )
    const again = await vitest(project, ['test/'])
    expect(again.code, again.output).toBe(0)
    edit(project, 'src/support.ts', 'return { said: said.content }', `return { said: 'no' }`)
    const other = await vitest(project, ['test/'])
    expect([other.code, other.output]).toEqual([1, expect.stringContaining('HARVEST_OUTCOME')])
  })

  once(
    'of a hand-written test is accepted by an update of its file, and with no test whose path has the name in it',
    { tags: 'thorough' },
    async () => {
      const testOf = (id: string) => `import { test } from 'vitest'
import { replay } from 'vitest-harvest/vitest'
import { support } from '../src/support.ts'
test('by hand', async () => {
  await replay('tapes/${id}.tape.jsonl', (input) => support(input as { order: string }))
})
`
      const project = home.project('by-hand-names', {
        ...sources(),
        'test/refund.test.ts': testOf('a-1'),
        'test/vip-refund.test.ts': testOf('b-1'),
        'tapes/a-1.tape.jsonl': supportTape('a-1'),
        'tapes/b-1.tape.jsonl': supportTape('b-1'),
      })
      raiseLimit(project)
      const before = project.hash()
      const update = { VITEST_HARVEST_UPDATE: 'questions', HARVEST_UPDATE_REASON: 'raised' }
      const both = await vitest(project, ['refund', '--root=.'], { ...local, ...update })
      expect([both.code, project.hash()]).toEqual([1, before])
      expect(both.output).toContain('  named        test/refund.test.ts\n  not named    test/vip-refund.test.ts\n')
      expect(both.output).toContain(
        'npx vitest-harvest test test/refund.test.ts --update-recordings=questions --reason raised --root .\n',
      )
      const words = ['test/refund.test.ts', '--update-recordings=questions', '--reason', 'raised', '--root', '.']
      const one = await harvest(project, 'test', ...words)
      expect([one.code, project.read('recordings/accepted.yaml')]).toEqual([0, expect.stringContaining('raised')])
    },
  )
})
