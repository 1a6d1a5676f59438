import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parseCase } from '../../src/cases/index.ts'
import { type FixKind, fixKinds, type FixProject, openFixProject } from './fix-kinds.ts'
import { warmRun as start } from './harvest.ts'
import { printed } from './printed.ts'
import { built } from '../support/built.ts'

function kind(name: string): FixKind {
  const found = fixKinds.find((one) => one.name === name)
  if (found === undefined) throw new Error(name)
  return found
}

const ok = ['--ok', 'refund(amount: 25)'] as const

function caseIn(cwd: string): ReturnType<typeof parseCase> {
  const file = join(cwd, 'recordings/golden/incident.case.yaml')
  return parseCase(readFileSync(file, 'utf8'), file)
}

describe('fix, of a prompt', () => {
  let project: FixProject
  beforeAll(async () => {
    project = await openFixProject(kind('prompt'))
  })
  afterAll(() => project.close())

  let toAsk: readonly string[] = []
  let withTools: readonly string[] = []
  const read = () => caseIn(project.cwd)

  it('does not guess what a good run is', { tags: 'thorough' }, async () => {
    const { code, stderr } = await project.harvest('fix', 'incident')
    expect(code).toBe(2)
    const right = printed(stderr, 'to say what would be right', { '<right>': 'refund(amount: 2500)' })
    // What the incident itself did is no fix.
    const good = await project.harvest(...right)
    expect([good.code, good.stderr]).toEqual([2, expect.stringContaining('it cannot recognise a fix')])
    const bad = await project.harvest(...printed(good.stderr, 'if what it did was bad'))
    expect([bad.code, bad.stdout]).toEqual([1, expect.stringContaining('its models have to be asked')])
    toAsk = printed(bad.stdout, 'to ask them')
    const oracle = join(project.cwd, 'src/oracle.ts')
    writeFileSync(
      oracle,
      'export const isRight = ({ sideEffects }: any) => sideEffects.some(({ args }: any) => args.amount === 25)\n',
    )
    const graded = await project.harvest(
      ...printed(stderr, 'to grade runs by a function', { '<file#export>': './src/oracle.ts#isRight' }),
    )
    expect([graded.code, graded.stdout]).toEqual([1, expect.stringContaining('graded by --oracle ./src/oracle.ts')])
    // Called flaky, whatever it says of the incident first.
    writeFileSync(
      oracle,
      'let asked = 0\nexport const atFirst = (): boolean => asked++ === 0\nexport const later = (): boolean => asked++ > 0\n',
    )
    for (const name of ['atFirst', 'later']) {
      const flaky = await project.harvest('fix', 'incident', '--oracle', `./src/oracle.ts#${name}`)
      expect([flaky.code, flaky.stderr]).toEqual([2, expect.stringContaining('HARVEST_ORACLE_FLAKY')])
      expect(flaky.stderr).not.toContain('--flaky-oracle')
    }
    rmSync(oracle)
  })

  it('says what changed, and asks no model without --live', async () => {
    const before = project.desk.asked.length
    const { code, stdout } = await project.harvest('fix', 'incident', ...ok)
    expect([code, stdout]).toEqual([
      1,
      `incident: 5 steps, agent desk
changed: system prompt (step 1): You refund orders. {+Never more than their total.+}
replayed: no step; the agent runs on from step 1
graded by --ok refund(amount: 25); the recorded run is bad

its models have to be asked: 3 runs, and 3 as recorded, at most 54 calls, 18846 tokens, about $0.0043
3 of either kind show 26 of 100 fixes that raise the share of good runs from 0.2 to 0.8; --runs 14 shows 82 of 100
→ to ask them: npx vitest-harvest fix incident --ok 'refund(amount: 25)' --live
`,
    ])
    expect(project.desk.asked.length).toBe(before)
  })

  it('refuses conditions that exclude each other, and says which no known run meets together', {
    tags: 'thorough',
  }, async () => {
    const before = project.desk.asked.length
    const both = await project.harvest('fix', 'incident', ...ok, '--bad', ok[1])
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('HARVEST_ORACLE_CONFLICT')])
    const right = await project.harvest(...printed(both.stderr, 'if a run is right that does it'))
    expect([right.code, right.stdout, right.stderr]).toEqual([1, expect.stringContaining('to ask them'), ''])
    const wrong = await project.harvest(...printed(both.stderr, 'if a run is wrong that does it'))
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('it cannot recognise a fix')])
    const two = await project.harvest('fix', 'incident', ...ok, '--ok', 'refund(amount: 24)')
    expect([two.code, two.stderr]).toEqual([1, expect.stringContaining('may be graded bad')])
    expect(project.desk.asked.length).toBe(before)
  })

  it('calls a run that needs an answer nobody has ungraded, and names who may give it', {
    tags: 'thorough',
  }, async () => {
    const { code, stderr } = await project.harvest(...toAsk)
    expect(code).toBe(1)
    expect(stderr).toContain('No run of the fixed agent could be judged, and nothing was written')
    withTools = printed(stderr, 'to answer its new calls with your own functions')
    // What another run of the fixed agent was answered is an answer too, and so is what its tools really do.
    const env = { DESK_URL: project.desk.url, CI: '' }
    await start(process.execPath, ['src/record.ts', project.git('rev-parse', 'HEAD').trim()], { cwd: project.cwd, env })
    const again = await project.harvest(...toAsk)
    for (const right of [
      printed(again.stderr, 'to answer them from another run'),
      printed(stderr, 'to run its tools for real'),
    ]) {
      const answered = await project.harvest(...right.with(2, '--ok').with(3, 'refund(amount: 25)'))
      expect([answered.code, answered.stdout], answered.stderr).toEqual([
        1,
        expect.stringContaining('3 of 3 (95 %: 43.8 % – 100.0 %) ok'),
      ])
    }
    // As in blame, calls that were made are made: but a run that is not whole becomes no tape.
    const byCalls = await project.harvest(...toAsk.with(2, '--ok').with(3, 'refund(amount: 25)'))
    expect([byCalls.code, byCalls.stdout]).toEqual([1, expect.stringContaining('ok by its calls')])
    expect(byCalls.stderr).toContain('makes the right calls in 3 of 3 runs, but none ends on the tape')
    expect(printed(byCalls.stderr, 'to run its tools for real').slice(-2)).toEqual(['--tools', 'live'])
    expect(read().expect).toBe('fail')
  })

  it('shows the case green with the fix and red without it, and only then writes it', {
    tags: 'thorough',
  }, async () => {
    const desk = join(project.cwd, 'src/desk.ts')
    const fixed = readFileSync(desk, 'utf8')
    const asks = withTools.with(2, '--ok').with(3, 'refund(amount: 25)')
    writeFileSync(desk, fixed.replace("their total.'", "their total. ' + process.pid"))
    const varies = await project.harvest(...asks)
    expect([varies.code, varies.stderr]).toEqual([1, expect.stringContaining('HARVEST_FIX_NOT_GREEN')])
    writeFileSync(desk, fixed)
    const shown = await project.harvest(...printed(varies.stderr, 'then, with new runs'))
    expect(shown.code).toBe(1)
    expect(shown.stdout).toMatch(
      /3 of 3 \(95 %: 43\.8 % – 100\.0 %\) ok; run 1 becomes the tape of the case, as 3 ran alike/,
    )
    expect(shown.stdout).toMatch(
      /with the fix: {4}green, replayed bit for bit\nwithout the fix: red, .*HARVEST_UNPROVEN/,
    )
    expect(shown.stdout).toMatch(/HEAD, without the uncommitted changes; it still reproduces the incident/)
    expect(shown.stdout).toMatch(/nothing is written yet\n→ to write it: npx vitest-harvest fix incident .* --yes\n$/)
    expect(shown.stdout).not.toContain('reused')
    expect(project.git('status', '--short').trim()).toBe('M src/desk.ts')
    const asked = project.desk.asked.length
    const toWrite = printed(shown.stdout, 'to write it').filter((word) => word !== '--no-cache')
    // The same code is the same once it is committed: its runs count, as runs of that commit.
    project.git('commit', '--quiet', '-am', 'the fix')
    const said = [...toWrite, '--lesson-right', 'refund its total']
    const env = { DESK_URL: project.desk.url, CI: '1', HARVEST_ALLOW_CI_UPDATE: '' }
    const inCi = await start(process.execPath, [built('cli/main.js'), ...said], { cwd: project.cwd, env })
    expect([inCi.code, inCi.stderr]).toEqual([expect.any(Number), expect.stringContaining('HARVEST_FIX_REFUSED')])
    expect(printed(inCi.stderr, 'to allow it here').toSorted()).toEqual(said.toSorted())
    // With what it sets before the command, as printed, in a shell.
    const allowed = / to allow it here: (.*)$/m.exec(inCi.stderr)?.[1]?.replace('npx vitest-harvest', '"$NODE" "$MAIN"')
    const inShell = { ...env, NODE: process.execPath, MAIN: built('cli/main.js') }
    const written = await start('sh', ['-c', allowed ?? 'false'], { cwd: project.cwd, env: inShell })
    expect([written.code, written.stdout], written.stderr).toEqual([
      0,
      expect.stringContaining('→ to run it: npx vitest run'),
    ])
    // The runs of before were kept.
    expect(project.desk.asked.length).toBe(asked)
    expect(read()).toMatchObject({
      expect: 'pass',
      tape: 'incident.fixed-1.tape.jsonl',
      replaces: 'incident.tape.jsonl',
      ok: ['refund(amount: 25)'],
      lesson: { wrong: 'too much', right: 'refund its total' },
      history: [
        {
          tape: 'incident.tape.jsonl',
          expect: 'fail',
          graded: expect.stringContaining('3 of 3 ok by --ok refund(amount: 25)') as string,
        },
      ],
    })
    const head = JSON.parse(
      readFileSync(join(project.cwd, 'recordings/golden/incident.fixed-1.tape.jsonl'), 'utf8').split('\n', 1)[0] ?? '',
    ) as { readonly pins: object }
    expect(head.pins).toMatchObject({ commit: project.git('rev-parse', 'HEAD').trim(), dirty: false })
    project.git('reset', '--quiet', 'HEAD~1')
    // As printed, in a shell.
    const commit = / (git add .*)$/m.exec(written.stdout)?.[1] ?? 'false'
    execFileSync('sh', ['-c', commit], { cwd: project.cwd })
    expect(project.git('diff', '--cached', '--name-only').trim().split('\n')).toHaveLength(2)
    project.git('reset', '--quiet')
    // No checkout is left behind.
    expect(project.git('worktree', 'list').trim().split('\n').length).toBe(1)
  })

  it('leaves a golden set that is whole, in CI too, and a case that is red as soon as the fix is gone', {
    tags: 'thorough',
  }, async () => {
    const checked = await project.harvest('check')
    expect([checked.code, checked.stdout]).toEqual([0, expect.not.stringContaining('HARVEST_TAPE_OBSOLETE')])
    const former = await project.harvest('show', 'recordings/golden/incident.tape.jsonl')
    expect(former.stdout).toMatch(
      /\ncase {6}incident, fixed \d{4}-\d\d-\d\d; this run is the incident it was made of\n$/,
    )
    expect(former.stderr).toBe('→ to run its test: npx vitest-harvest test incident\n')
    const green = await project.harvest(...printed(former.stderr, 'to run its test'))
    expect([green.code, green.stdout]).toEqual([0, expect.stringContaining('1 replayed')])
    expect((await project.harvest('ls')).stdout).toMatch(/ incident +recordings\/golden\/incident\.tape\.jsonl/)
    const again = await project.harvest('fix', 'incident')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('nothing to fix')])
    expect(printed(again.stderr, 'to run its test')).toEqual(['test', 'incident'])
    expect((await project.harvest(...printed(again.stderr, 'to find a run that went wrong'))).code).toBe(0)
    project.unfix()
    expect((await project.harvest('test')).code).toBe(1)
    project.fix()
  })

  it('takes the tape of the incident back too when the case is demoted', { tags: 'thorough' }, async () => {
    expect((await project.harvest('tapes', 'demote', 'incident')).code).toBe(0)
    expect(existsSync(join(project.cwd, 'recordings/golden/incident.tape.jsonl'))).toBe(false)
    expect((await project.harvest('ls')).stdout).toContain('inbox/incident.fixed-1.tape.jsonl')
  })
})

it('a fix that needs no model asks none, and one that is green without the fix is not written', {
  tags: 'thorough',
}, async () => {
  const project = await openFixProject({
    ...kind('prompt'),
    edits: [['return { answer: message.content }', "return { answer: message.content.replace('It', 'Your order') }"]],
  })
  try {
    const asked = project.desk.asked.length
    const right = ['--ok', 'answer~Your order'] as const
    const shown = await project.harvest('fix', 'incident', ...right)
    expect([shown.code, shown.stdout]).toEqual([
      1,
      expect.stringMatching(
        /the recorded answers are enough: no model is asked\n[^]*1 of 1 ok; run 1 becomes[^]*red, /,
      ),
    ])
    const typo = await project.harvest('fix', 'incident', '--ok', 'anwser~Your order')
    // Before anything is run.
    expect([typo.code, typo.stdout]).toEqual([2, ''])
    expect(printed(typo.stderr, 'did you mean answer?')).toEqual(['fix', 'incident', ...right])
    const other = ['fix', 'incident', '--ok', 'answer~My order'] as const
    const notGood = await project.harvest(...other)
    expect([notGood.code, notGood.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('right in 0 of 1 run,'),
    ])
    expect(printed(notGood.stderr, 'once you looked at the runs above and fixed the agent further')).toEqual(other)
    // The fix is committed: the commit before it is found.
    project.git('add', '-A')
    project.git('commit', '--quiet', '-m', 'fix the answer')
    const committed = await project.harvest('fix', 'incident', ...right, '--json')
    expect(JSON.parse(committed.stdout)).toMatchObject({
      isOffline: true,
      withoutFix: { code: 'HARVEST_OUTCOME', reproduces: true },
    })
    // The config calls the agent otherwise by now, and so does the case that is written.
    const config = join(project.cwd, 'vitest.config.ts')
    const agents = readFileSync(config, 'utf8')
    writeFileSync(config, agents.replace('"desk":', '"helpdesk":'))
    const renamed = await project.harvest('fix', 'incident', ...right)
    expect([renamed.code, renamed.stderr]).toEqual([2, expect.stringContaining('Unknown agent: desk')])
    const found = await project.harvest(...printed(renamed.stderr, 'if it has another name now'))
    expect([found.code, found.stdout]).toEqual([
      1,
      expect.stringMatching(/\+ agent: helpdesk\n[^]*nothing is written yet/),
    ])
    writeFileSync(config, agents)
    const named = await project.harvest('fix', 'incident', ...right, '--without', 'HEAD', '--yes')
    expect([named.code, named.stderr]).toEqual([1, expect.stringContaining('the case is green there too')])
    const nowhere = await project.harvest('fix', 'incident', ...right, '--without', 'nosuch')
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('a revision that git knows')])
    // Before anything is run.
    expect(nowhere.stdout).toBe('')
    const without = printed(named.stderr, 'to name code without the fix', { '<revision>': 'HEAD~1' })
    expect(without).toEqual(['fix', 'incident', ...right, '--yes', '--without', 'HEAD~1'])
    const unwritten = without.filter((word) => word !== '--yes')
    expect((await project.harvest(...unwritten)).stdout).toContain('nothing is written yet')
    const unshown = await project.harvest(...printed(named.stderr, 'to skip this check'))
    expect([unshown.code, unshown.stdout]).toEqual([0, expect.stringContaining('→ to run it: npx vitest run')])
    project.git('reset', '--quiet', '--hard', 'HEAD')
    project.git('clean', '--quiet', '--force', 'recordings')
    writeFileSync(
      join(project.cwd, 'src/desk.ts'),
      readFileSync(join(project.cwd, 'src/desk.ts'), 'utf8').replace('Your order', 'It'),
    )
    const unfixed = await project.harvest('fix', 'incident', ...right)
    expect([unfixed.code, unfixed.stderr]).toEqual([1, expect.stringContaining('still reproduces the incident')])
    const blame = printed(unfixed.stderr, 'to see which step decided')
    expect(blame).toContain('--cross-version')
    const blamed = await project.harvest(...blame)
    expect([blamed.code, blamed.stdout]).toEqual([0, expect.stringContaining('nothing was spent')])
    const tried = await project.harvest(...printed(unfixed.stderr, 'if you fixed a tool'))
    expect([tried.code, tried.stdout]).toEqual([0, expect.stringContaining('code run: lookup_order 1, refund 1')])
    // Outside of git there is no other code, and no revision to name.
    project.git('stash', '--quiet')
    rmSync(join(project.cwd, '.git'), { recursive: true })
    const alone = await project.harvest('fix', 'incident', ...right)
    expect([alone.code, alone.stderr]).toEqual([1, expect.stringContaining('There is no code without the fix')])
    expect(alone.stderr).not.toContain('revision')
    const skipped = await project.harvest(...printed(alone.stderr, 'to skip this check'))
    expect(skipped.stdout).toContain('nothing is written yet')
    expect(project.desk.asked.length).toBe(asked)
  } finally {
    await project.close()
  }
})

it('a prompt that changes nothing is no fix where its model was right by chance: it is right as asked before, too', {
  tags: 'thorough',
}, async () => {
  let isRight = false
  const { decide } = kind('prompt')
  const more = [{ role: 'system', content: 'Never more' }]
  const project = await openFixProject({
    ...kind('prompt'),
    decide: (messages, question) => decide(isRight ? [...messages, ...more] : messages, question),
  })
  try {
    isRight = true
    const asking = ['fix', 'incident', ...ok, '--live', '--tools', './test/tools.ts', '--yes']
    const few = await project.harvest(...asking, '--runs', '2')
    expect([few.code, few.stderr]).toEqual([1, expect.stringContaining('So few runs cannot show a fix')])
    const { code, stdout, stderr } = await project.harvest(...printed(few.stderr, 'with enough runs'))
    expect([code, stdout]).toEqual([1, expect.stringContaining('the same, with models asked as recorded')])
    expect(stderr).toContain('Without the fix the runs end well too (3 of 3), and nothing was written')
    // Its provider may be another one in another session: a run and its control are made in one.
    const prompted = (): number => project.desk.asked.filter(({ length }) => length === 2).length
    const askedAgain = async (): Promise<number> => {
      const asked = prompted()
      await project.harvest(...printed(few.stderr, 'with enough runs'))
      return prompted() - asked
    }
    expect(await askedAgain()).toBe(0)
    const [half = ''] = readdirSync(project.cwd, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\bfix-[\w-]{24}\.json$/.test(name),
    )
    const kept = JSON.parse(readFileSync(join(project.cwd, half), 'utf8')) as object
    writeFileSync(join(project.cwd, half), JSON.stringify({ ...kept, session: 'another' }))
    expect(await askedAgain()).toBe(2)
    // Whoever says so writes it all the same, and the case says that nothing was shown.
    const unshown = printed(stderr, 'to write it although it is not shown').filter((word) => word !== '--yes')
    const told = await project.harvest(...unshown)
    expect([told.code, told.stdout], told.stderr).toEqual([1, expect.stringContaining('without: not shown')])
    expect(told.stdout).not.toContain('asked as recorded')
    const before = project.desk.asked.length
    isRight = false
    // Once more with a fix that does it, and a question before that does not.
    writeFileSync(
      join(project.cwd, 'src/desk.ts'),
      readFileSync(join(project.cwd, 'src/desk.ts'), 'utf8').replace('their total', 'their whole total'),
    )
    const finer = await project.harvest(...printed(stderr, 'for a finer answer, with more runs'), '--json')
    expect([finer.code, JSON.parse(finer.stdout)], finer.stderr).toEqual([
      0,
      expect.objectContaining({ ok: 14, controls: expect.any(Array), chance: expect.any(Number) }),
    ])
    const { controls, chance } = JSON.parse(finer.stdout) as { controls: readonly { grade: string }[]; chance: number }
    expect([controls.map(({ grade }) => grade), chance < 0.001]).toEqual([new Array(14).fill('bad'), true])
    // In pairs, in an order that is left to chance.
    const prompts = project.desk.asked.slice(before).filter(({ length }) => length === 2)
    const isFixed = prompts.map(([system]) => String(system?.content).includes('whole'))
    const pairs = Array.from({ length: 14 }, (_, at) => isFixed.slice(2 * at, 2 * at + 2))
    expect(new Set(pairs.map(String))).toEqual(new Set(['true,false', 'false,true']))
    expect(caseIn(project.cwd).history?.[0]?.graded).toContain('asked as recorded 0 of 14')
  } finally {
    await project.close()
  }
})

it('a variable of the environment that helps is no fix: code without it asks the same', {
  tags: 'thorough',
}, async () => {
  // Another model is right, whatever the prompt.
  const project = await openFixProject({ ...kind('other model'), edits: kind('prompt').edits })
  vi.stubEnv('DESK_MODEL', 'gpt-4o')
  try {
    const asking = ['fix', 'incident', ...ok, '--live', '--tools', './test/tools.ts', '--runs', '3', '--yes']
    const { code, stdout, stderr } = await project.harvest(...asking)
    expect([code, stdout]).toEqual([1, expect.stringContaining('the same, with models asked as recorded')])
    expect(stderr).toContain('Code without the fix asks its models otherwise, too, and nothing was written')
    expect(stderr).toMatch(
      / at [\da-f]{10} +models are asked otherwise than recorded: model \[-gpt-4o-mini-\] \{\+gpt-4o\+\}/,
    )
    expect(project.git('status', '--short').trim()).toBe('M src/desk.ts')
    vi.unstubAllEnvs()
    const again = await project.harvest(...printed(stderr, 'once the environment is as it was when recorded'))
    // Its own model never was right.
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('HARVEST_FIX_NOT_GOOD')])
  } finally {
    vi.unstubAllEnvs()
    await project.close()
  }
})

it('an agent that keeps answers for its next run is no agent that needs no model', { tags: 'thorough' }, async () => {
  const project = await openFixProject({
    ...kind('prompt'),
    edits: [
      ...kind('prompt').edits,
      ['async function ask(', 'const kept = ((globalThis as any).answers ??= {})\nasync function ask('],
      [
        '  const response = await fetch(',
        '  const key = JSON.stringify(messages)\n  if (kept[key]) return kept[key]\n  const response = await fetch(',
      ],
      ['  return choices[0].message', '  return (kept[key] = choices[0].message)'],
    ],
  })
  try {
    const before = project.desk.asked.length
    const { code, stdout, stderr } = await project.harvest('fix', 'incident', ...ok, '--live', '--tools', 'live')
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain('The agent keeps state between runs')
    expect(project.desk.asked).toHaveLength(before)
  } finally {
    await project.close()
  }
})

it('a fix that calls a tool otherwise is asked with functions for its tools, or with the tools themselves', {
  tags: 'thorough',
}, async () => {
  const project = await openFixProject(kind('parsing'))
  try {
    const offline = await project.harvest('fix', 'incident', ...ok)
    const ask = printed(offline.stdout, 'to ask them with your own functions')
    const asked = await project.harvest(...ask)
    expect([asked.code, asked.stdout], asked.stderr).toEqual([1, expect.stringContaining('nothing is written yet')])
    expect(offline.stdout).not.toContain('or answered from another run')
    const itself = await project.harvest('fix', 'incident', ...ok, '--live', '--reference', 'incident')
    expect([itself.code, itself.stderr]).toEqual([2, expect.stringContaining('The run of --reference is no good run')])
    const real = await project.harvest(...printed(offline.stdout, 'or with its tools run for real'))
    expect([real.code, real.stdout], real.stderr).toEqual([1, expect.stringContaining('nothing is written yet')])
  } finally {
    await project.close()
  }
})

it('each run of a fixed agent draws random numbers of its own, and the chosen one is written as it ran', {
  tags: 'thorough',
}, async () => {
  const parsing = kind('parsing')
  const project = await openFixProject({
    ...parsing,
    edits: [...parsing.edits, ['answer: message.content', 'answer: `${message.content} ${Math.random()}`']],
  })
  try {
    // Sure of the incident, and not of a run of the fixed agent.
    writeFileSync(
      join(project.cwd, 'src/oracle.ts'),
      'let asked = 0\nexport const unsure = ({ sideEffects }: any) => sideEffects.some(({ args }: any) => args.amount === 25) && asked++ < 2\n',
    )
    const oracle = ['--oracle', './src/oracle.ts#unsure']
    const flaky = await project.harvest(...['fix', 'incident', ...oracle, '--live', '--tools', 'live', '--yes'])
    expect([flaky.code, flaky.stderr]).toEqual([2, expect.stringContaining('disagrees with itself: 2 ok, 1 bad')])
    const typed = printed(flaky.stderr, 'to say what would be right', { '<right>': 'refund(amount: 25)' })
    const { code, stdout, stderr } = await project.harvest(...typed, '--runs', '4', '--json')
    const { runs, withFix } = JSON.parse(stdout) as {
      readonly runs: readonly { readonly outcome: { readonly value: { readonly answer: string } } }[]
      readonly withFix: object
    }
    expect([code, withFix], stderr).toEqual([0, { verdict: 'same', exact: true }])
    const answers = runs.map(({ outcome }) => outcome.value.answer)
    expect([answers.length, new Set(answers).size]).toEqual([4, 4])
    const written = join(project.cwd, 'recordings/golden/incident.fixed-1.tape.jsonl')
    expect(readFileSync(written, 'utf8')).toContain(JSON.stringify(answers[0]))
    expect((await project.harvest('test', 'incident')).code).toBe(0)
  } finally {
    await project.close()
  }
})

it('the calls of a function that asks a model are paid from the budget of the fix, and never pass it', {
  tags: 'thorough',
}, async () => {
  const prompt = kind('prompt')
  const project = await openFixProject(prompt)
  let judged = 0
  project.desk.decide = (messages, question) => {
    const said = String(messages[0]?.content)
    if (!said.startsWith('Is it right?')) return prompt.decide(messages, question)
    judged++
    return said.includes('"amount":25}') ? 'yes' : 'no'
  }
  try {
    writeFileSync(
      join(project.cwd, 'src/oracle.ts'),
      `import OpenAI from 'openai'
export const judge = async ({ sideEffects }: any): Promise<boolean> => {
  const client = new OpenAI({ baseURL: process.env.DESK_URL + '/v1', apiKey: 'k', maxRetries: 0 })
  const content = 'Is it right? ' + JSON.stringify(sideEffects.map(({ args }: any) => args))
  const { choices } = await client.chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
  return choices[0]?.message.content === 'yes'
}
`,
    )
    const words = ['fix', 'incident', '--oracle', './src/oracle.ts#judge', '--live', '--tools', 'live']
    const fix = async (...more: readonly string[]) => {
      const before = project.desk.asked.length
      judged = 0
      const { stdout, stderr } = await project.harvest(...words, ...more)
      const [, calls] = /^(\d+) model calls, /m.exec(stdout) ?? []
      const [, grading] = /^of which grading (\d+) model calls, \$/m.exec(stdout) ?? []
      return {
        calls: Number(calls),
        grading: Number(grading),
        asked: project.desk.asked.length - before,
        said: stdout + stderr,
      }
    }
    const whole = await fix('--max-cost', '1')
    expect(whole, whole.said).toMatchObject({ calls: whole.asked, grading: judged })
    expect(judged).toBeGreaterThan(10)
    const most = whole.asked - judged + 8
    const limited = await fix('--no-cache', '--max-calls', `${most}`)
    expect(limited, limited.said).toMatchObject({ calls: limited.asked, grading: judged })
    expect(limited.asked).toBeLessThanOrEqual(most)
    expect(limited.said).toContain('to leave room for all runs')
    // One that throws has asked all the same.
    const judge = readFileSync(join(project.cwd, 'src/oracle.ts'), 'utf8')
    writeFileSync(
      join(project.cwd, 'src/oracle.ts'),
      judge.replace('  return choices', "  throw new Error('no judge')\n  return choices"),
    )
    const refused = await fix('--no-cache', '--max-cost', '1')
    expect(refused.said).toContain('HARVEST_ORACLE_THREW')
    expect(refused.said).toMatch(new RegExp(`^ *spent +${refused.asked} model calls?, \\$`, 'm'))
  } finally {
    await project.close()
  }
})

it.each([
  ['text', []],
  ['json', ['--json']],
])(
  'Ctrl-C prints in %s the runs of a fix that ended until then, and writes nothing',
  { tags: 'thorough' },
  async (form, more) => {
    const prompt = kind('prompt')
    const project = await openFixProject(prompt)
    try {
      const words = ['fix', 'incident', ...ok, '--live', '--runs', '6', ...more]
      const child = spawn(process.execPath, [built('cli/main.js'), ...words], {
        cwd: project.cwd,
        env: { ...process.env, DESK_URL: project.desk.url, CI: '', VITEST: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const said = { stdout: '', stderr: '' }
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
      const before = project.desk.asked.length
      project.desk.decide = (messages, question) =>
        project.desk.asked.length - before < 10 ? prompt.decide(messages, question) : void child.kill('SIGINT')
      const [code] = await once(child, 'close')
      expect(code, said.stderr).toBe(130)
      expect(said.stderr).toContain('HARVEST_CLI_INTERRUPTED')
      expect(project.desk.asked.length - before).toBe(10)
      if (form === 'text') expect(said.stdout).toMatch(/^stopped after \d+ of 12 runs$/m)
      else {
        const { interrupted, runs, written } = JSON.parse(said.stdout) as {
          readonly interrupted: { readonly made: number; readonly of: number }
          readonly runs: readonly object[]
          readonly written: null
        }
        expect(interrupted.made).toBeGreaterThan(0)
        expect(interrupted.made).toBeLessThan(interrupted.of)
        expect([runs.length > 0, written]).toEqual([true, null])
      }
      expect(caseIn(project.cwd).expect).toBe('fail')
    } finally {
      await project.close()
    }
  },
)
