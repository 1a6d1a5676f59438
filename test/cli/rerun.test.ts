import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PassRate } from '../../src/cli/rerunning/rates.ts'
import { built } from '../support/built.ts'
import { type Desk, deskProject, idsOfCache, openDesk, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'

describe('harvest rerun', () => {
  let desk: Desk
  let cwd = ''
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    await recordDesk(cwd, desk, 'first', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    const { code, stderr } = await rerun(['promote', 'latest', '--as', 'refund', '--tag', 'money', '--unverified'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
  beforeEach(() => {
    desk.decide = usual
    delete desk.idOf
    desk.asked.length = 0
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const rerun = (args: readonly string[]) => harvest(args, { cwd, env: { DESK_URL: desk.url } })
  const rates = (stdout: string) =>
    JSON.parse(stdout) as { cases: PassRate[]; spent: { modelCalls: number; costUsd: number }; met: boolean }

  it('asks the models for real, answers tools from the tape, and says how often the case passed', async () => {
    let runs = 0
    // Every fourth run refunds without looking the order up.
    desk.decide = (messages) => {
      if (messages.length === 2 && ++runs % 4 === 0) return { tool: 'refund', args: { order_id: 'A-100', amount: 25 } }
      if (messages.length === 4 && JSON.stringify(messages[2]).includes('"refund"')) return 'I refunded 25 EUR.'
      return usual(messages)
    }
    const { code, stdout, stderr } = await rerun(['rerun', 'refund', '--live', '--runs', '12', '--cross-version'])
    expect(stderr).toBe('')
    expect(stdout).toMatchInlineSnapshot(`
      "case    passed    rate    95 % (Wilson)  off tape  not run
      refund    9/12  75.0 %  46.8 % – 91.1 %         0        0
      refund: 9 same, 3 different

      refund: 3 × HARVEST_TRACE
        The tool calls differ from the baseline of this case
        
        The run's calls differ from the baseline: 1 missing.
        
          missing    layer 1   lookup_order(order_id)
        
          - lookup_order(order_id)
            refund(amount, order_id)

      33 model calls, 3300 tokens in, 660 out, $0.0149; tools from the tape
      → to grade runs by what is right: npx vitest-harvest rerun refund --live --runs 12 --cross-version --ok '<right>'
      → to see which answers decide: npx vitest-harvest blame refund --mutate --dry-run --cross-version
      "
    `)
    // Without a gate every run has to pass.
    expect(code).toBe(1)
    expect(desk.asked.length).toBe(9 * 3 + 3 * 2)
  })

  it('the gate is on the lower end of the interval, not on the rate', { tags: 'thorough' }, async () => {
    const gate = async (rate: string) => {
      const args = ['rerun', '--tag', 'money', '--live', '--runs', '8', '--min-pass-rate', rate, '--cross-version']
      return rerun([...args, '--json'])
    }
    const strict = await gate('0.9')
    expect(strict.code).toBe(1)
    expect(rates(strict.stdout)).toMatchObject({ met: false, cases: [{ case: 'refund', runs: 8, passed: 8 }] })
    // 8 of 8: the Wilson interval begins at 0.676.
    expect(rates(strict.stdout).cases[0]?.interval?.low).toBeCloseTo(0.676, 3)
    expect((await gate('0.6')).code).toBe(0)
  })

  it('a run that asks for what nobody recorded has not passed, and says what it asked', {
    tags: 'thorough',
  }, async () => {
    desk.decide = (messages) =>
      messages.length === 2 ? { tool: 'lookup_order', args: { order_id: 'B-7' } } : usual(messages)
    const { code, stdout } = await rerun(['rerun', 'refund', '--live', '--runs', '2', '--json', '--cross-version'])
    expect(code).toBe(1)
    expect(rates(stdout).cases).toMatchObject([
      {
        runs: 2,
        passed: 0,
        verdicts: { same: 0, different: 2, unproven: 0 },
        offTape: 2,
        reasons: [{ code: 'HARVEST_NOT_RECORDED', count: 2 }],
      },
    ])
    expect(rates(stdout).cases[0]?.reasons[0]?.example).toContain('lookup_order({"order_id":"B-7"})')
  })

  it('stops when the budget is used up: those runs are not judged, and no gate is met', {
    tags: 'thorough',
  }, async () => {
    const args = ['rerun', 'refund', '--live', '--runs', '6', '--parallel', '1', '--max-calls', '7', '--cross-version']
    const { code, stdout } = await rerun([...args, '--min-pass-rate', '0.1', '--json'])
    expect(rates(stdout)).toMatchObject({ met: false, cases: [{ runs: 2, passed: 2, notRun: 4 }] })
    expect(code).toBe(1)
    expect(desk.asked.length).toBe(6)
  })

  it.each([
    [['--max-calls', '12', '--parallel', '16'], 4],
    [['--max-calls', '12', '--parallel', '4'], 4],
    [['--max-calls', '7'], 2],
    [['--max-calls', '2'], 0],
    [['--max-cost', '0.002', '--parallel', '16'], 1],
  ])('no run begins that is not paid to its end: %j', { tags: 'thorough' }, async (limits, runs) => {
    const args = ['rerun', 'refund', '--live', '--runs', '20', ...limits, '--cross-version', '--json']
    const { code, stdout } = await rerun(args)
    expect(code).toBe(1)
    expect(rates(stdout)).toMatchObject({ met: false, cases: [{ runs, passed: runs, notRun: 20 - runs }] })
    expect(desk.asked.length).toBe(3 * runs)
    expect(rates(stdout).spent.modelCalls).toBe(3 * runs)
  })

  it('runs that need more calls than recorded are fewer, and each of them ends', { tags: 'thorough' }, async () => {
    // Each looks the order up twice.
    desk.decide = (messages) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      if (done < 2) return { tool: 'lookup_order', args: { order_id: 'A-100' } }
      return done === 2 ? { tool: 'refund', args: { order_id: 'A-100', amount: 25 } } : 'I refunded 25 EUR.'
    }
    const args = ['rerun', 'refund', '--live', '--tools', 'live', '--runs', '20', '--parallel', '16']
    const { stdout } = await rerun([
      ...args,
      '--max-calls',
      '12',
      '--ok',
      'refund(amount: 25)',
      '--cross-version',
      '--json',
    ])
    expect(rates(stdout)).toMatchObject({ cases: [{ runs: 3, passed: 3, notRun: 17 }] })
    expect(desk.asked.length).toBe(12)
  })

  it.each([
    ['--max-calls', '4'],
    ['--max-tokens', '400'],
    ['--max-cost', '0.0015'],
  ])('the command that is printed behind %s %s leaves room for all runs', { tags: 'thorough' }, async (limit, few) => {
    const args = ['rerun', 'refund', '--live', '--runs', '2', '--parallel', '1', limit, few, '--cross-version']
    const { code, stdout } = await rerun(args)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^refund +1\/1 /m)
    const again = printed(stdout, 'to leave room for all runs')
    expect(again.slice(0, -1)).toEqual([...args.filter((word) => ![limit, few].includes(word)), limit])
    expect(Number(again.at(-1))).toBeGreaterThanOrEqual(2 * Number(few))
    expect(await rerun(again)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^refund +2\/2 /m) as string })
  })

  it('a tape is no case: that is said before anyone is asked to confirm, with how to make a case of it', async () => {
    const { code, stderr } = await rerun(['rerun', 'first'])
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.not.stringContaining('--live') as string })
    const made = printed(stderr, 'it is a tape, to make a case of it', { "'<id>'": 'of-a-tape' })
    expect((await rerun([...made, '--unverified'])).code).toBe(0)
    const { stderr: asked } = await rerun(['rerun', 'of-a-tape'])
    expect(asked).toContain('rerun calls live models, which costs money: confirm with --live')
    expect((await rerun(['tapes', 'demote', 'of-a-tape'])).code).toBe(0)
  })

  it('a run that took too long leads to more time', { tags: 'thorough' }, async () => {
    desk.decide = () => undefined
    const args = ['rerun', 'refund', '--live', '--runs', '1', '--timeout', '5s', '--cross-version']
    const late = await rerun(args)
    expect(late.code, late.stderr).toBe(1)
    const more = printed(late.stdout, 'to give it more time')
    expect(more).toEqual([...args.filter((word) => !['--timeout', '5s'].includes(word)), '--timeout', '10s'])
    desk.decide = usual
    expect(await rerun(more)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^refund +1\/1 /m) as string })
  })

  it('refuses code that is not the code of the tape, with exit code 4, unless told otherwise', {
    tags: 'thorough',
  }, async () => {
    // A commit of cases and tapes alone is the same code, and so is none at all.
    git('add', '-A', '-f', 'recordings/golden')
    git('commit', '--quiet', '-m', 'the golden set')
    const same = await rerun(['rerun', 'refund', '--live', '--runs', '1'])
    expect(same.stderr).toBe('')
    expect(same.code).toBe(0)
    // Nor is a commit of files that the run does not depend on.
    writeFileSync(join(cwd, 'src/note.ts'), 'export {}\n')
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\n')
    writeFileSync(join(cwd, 'vitest.config.ts'), `${readFileSync(join(cwd, 'vitest.config.ts'), 'utf8')}// a note\n`)
    writeFileSync(join(cwd, 'package.json'), '{ "type": "module", "scripts": { "test": "vitest" } }\n')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'set up')
    const setUp = await rerun(['rerun', 'refund', '--live', '--runs', '1'])
    expect([setUp.code, setUp.stderr]).toEqual([0, ''])
    desk.asked.length = 0
    writeFileSync(join(cwd, 'src/desk.ts'), `${readFileSync(join(cwd, 'src/desk.ts'), 'utf8')}// other code\n`)
    const refused = await rerun(['rerun', 'refund', '--live'])
    expect([refused.code, refused.stderr]).toEqual([
      4,
      expect.stringMatching(/changed +src\/desk\.ts[^]*HARVEST_CROSS_VERSION/),
    ])
    git('checkout', '--', 'src/desk.ts')
    // Of a file that is no script nobody knows who reads it.
    writeFileSync(join(cwd, 'src/prompt.txt'), 'Be kind.\n')
    git('add', 'src/prompt.txt')
    git('commit', '--quiet', '-m', 'a prompt')
    expect((await rerun(['rerun', 'refund', '--live'])).code).toBe(4)
    expect(desk.asked.length).toBe(0)
    // One that git does not know may have been there before, and the run does not read it.
    git('reset', '--quiet', 'HEAD~1')
    expect((await rerun(['rerun', 'refund', '--live', '--runs', '1'])).code).toBe(0)
    rmSync(join(cwd, 'src/prompt.txt'))
  })

  it('a known-bad case passes when its agent does not go the recorded way', { tags: 'thorough' }, async () => {
    await recordDesk(cwd, desk, 'second', ['Refund A-100 now.'])
    await rerun(['promote', 'second', '--as', 'bad', '--expect', 'fail', '--tag', 'incident', '--unverified'])
    const again = await rerun(['rerun', '--tag', 'incident', '--live', '--runs', '3', '--cross-version', '--json'])
    expect(rates(again.stdout).cases).toMatchObject([{ case: 'bad', runs: 3, passed: 0 }])
    desk.decide = () => 'I must not refund that.'
    const mended = await rerun(['rerun', '--tag', 'incident', '--live', '--runs', '3', '--cross-version', '--json'])
    expect(rates(mended.stdout).cases).toMatchObject([{ case: 'bad', runs: 3, passed: 3 }])
    // One that leaves its tape might have passed: the interval holds for either.
    desk.decide = (messages) =>
      messages.length === 2 ? { tool: 'lookup_order', args: { order_id: 'B-7' } } : usual(messages)
    const left = await rerun(['rerun', '--tag', 'incident', '--live', '--runs', '3', '--cross-version', '--json'])
    expect(rates(left.stdout).cases).toMatchObject([{ passed: 0, offTapeOpen: 3, interval: { low: 0, high: 1 } }])
    const said = await rerun(['rerun', 'bad', '--live', '--runs', '1', '--cross-version', '--bad', 'answer~25'])
    expect(said.stdout).toContain('bad: 1 run left the tape, so how they would have ended is not known')
    expect(said.stdout).not.toContain('is known bad')
    // What graded the runs grades those of the command that is printed.
    const decides = printed(said.stdout, 'to see which step decides')
    expect(decides).toEqual(['blame', 'bad', '--bad', 'answer~25', '--dry-run', '--cross-version'])
    expect((await rerun(decides)).stdout).toContain('graded bad (by --bad answer~25)')
    const keyless = ['rerun', '--tag', 'incident', '--live', '--runs', '1', '--cross-version', '--json']
    const thrown = await harvest(keyless, { cwd, env: { DESK_URL: 'no address' } })
    expect(rates(thrown.stdout).cases).toMatchObject([{ case: 'bad', runs: 0, passed: 0, notRun: 1 }])
  })

  it('a known-bad case that says what is right is graded by that: no run passes for going another way', {
    tags: 'thorough',
  }, async () => {
    const promoted = await rerun([
      ...['promote', 'first', '--as', 'graded', '--expect', 'fail', '--ok', 'refund(amount: 26)', '--unverified'],
    ])
    expect(promoted.code).toBe(0)
    const words = ['rerun', 'graded', '--live', '--runs', '2', '--cross-version']
    const lost = await harvest(words, { cwd, env: { DESK_URL: 'http://127.0.0.1:9' } })
    expect(lost.stdout).toMatch(/^graded +0\/0 /m)
    expect(lost.stdout).not.toContain('is known bad')
    // The model is what is down, and no service.
    expect(lost.stdout).not.toContain('once the service answers')
    expect((await rerun(['tapes', 'demote', 'graded'])).code).toBe(0)
  })

  it('a known-bad case of a fixed agent leads to its fix: no step of other code can be blamed', {
    tags: 'thorough',
  }, async () => {
    const code = readFileSync(join(cwd, 'src/desk.ts'), 'utf8')
    writeFileSync(join(cwd, 'src/desk.ts'), code.replace('JSON.parse(call.function.arguments)', '{ amount: 7 }'))
    const words = ['rerun', 'bad', '--live', '--runs', '1', '--cross-version', '--ok', 'refund(amount: 7)'] as const
    const other = await rerun(words)
    const refused = await rerun(['blame', 'bad', '--ok', 'refund(amount: 7)', '--dry-run', '--cross-version'])
    const fix = printed(refused.stderr, 'if its agent is fixed')
    expect(fix).toEqual(['fix', 'bad', '--ok', 'refund(amount: 7)'])
    expect((await rerun(fix)).stdout).toContain('changed: lookup_order')
    // Nothing was said to be right: the fix asks for that.
    const right = printed((await rerun(['fix', 'bad'])).stderr, 'to say what would be right', {
      '<right>': 'refund(amount: 7)',
    })
    expect(right).toEqual(fix)
    writeFileSync(join(cwd, 'src/desk.ts'), code)
    expect(printed(other.stdout, 'if its code is fixed')).toEqual(['fix', 'bad', '--ok', 'refund(amount: 7)'])
    expect(other.stdout).not.toContain('blame')
    const any = await rerun([
      'rerun',
      'bad',
      '--live',
      '--runs',
      '1',
      '--cross-version',
      '--ok',
      'pay(*)',
      '--any-name',
    ])
    expect((await rerun(printed(any.stdout, 'to see which step decides'))).code).toBe(0)
    // A slip is refused before a model is asked, and what is set up wrongly is the answer.
    desk.asked.length = 0
    const typo = await rerun([...words.slice(0, -1), 'refund(amuont: 7)'])
    expect(printed(typo.stderr, 'did you mean amount?')).toEqual(words)
    expect(printed(typo.stderr, 'if only the fixed agent has it').at(-1)).toBe('--any-name')
    const noOracle = await rerun([...words.slice(0, -2), '--oracle', './src/desk.ts#isRihgt'])
    expect([noOracle.code, noOracle.stderr]).toEqual([2, expect.stringContaining('HARVEST_ORACLE_EXPORT')])
    expect(desk.asked.length).toBe(0)
  })

  it('a model that cannot be asked says nothing about the agent: it is not judged, with what its provider said', {
    tags: 'thorough',
  }, async () => {
    const words = ['rerun', 'refund', '--live', '--runs', '2', '--cross-version'] as const
    const code = readFileSync(join(cwd, 'src/desk.ts'), 'utf8')
    desk.decide = () => ({ status: 401, message: 'Incorrect API key provided' })
    const lost = '\nrefund: 2 × ungraded\n  A model answered with status 401: Incorrect API key provided\n'
    // An agent that answers all the same is no worse for that.
    const kind = code.replace(
      'const { choices }',
      "if (!response.ok) return { answer: 'Sorry.' }\n    const { choices }",
    )
    for (const agent of [code, kind]) {
      writeFileSync(join(cwd, 'src/desk.ts'), agent)
      for (const right of [[], ['--ok', 'answer~25']]) {
        const { code: ended, stdout } = await rerun([...words, ...right])
        expect([ended, stdout]).toEqual([1, expect.stringContaining(lost)])
        expect(stdout).toMatch(/refund +0\/0 +– +nothing judged .* 2\n/)
        const about = 'once the key (usually OPENAI_API_KEY), quota and address of the model are right'
        expect(printed(stdout, about)).toEqual([...words, ...right])
      }
    }
    // Anthropic says so that there is no credit. Nothing was refused when it was recorded.
    desk.decide = () => ({ status: 400, message: 'Your credit balance is too low' })
    const refused = await rerun(words)
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining('A model answered with status 400: Your credit balance is too low\n'),
    ])
    writeFileSync(join(cwd, 'src/desk.ts'), code)
    const keyless = await harvest(words, { cwd, env: { DESK_URL: 'no address' } })
    expect(keyless.stdout).toContain('2 × ungraded\n  The agent threw before it asked anything: TypeError: ')
    expect(printed(keyless.stdout, 'once the key')).toEqual(words)
  })

  it('a run that is answered from a cache of the agent asks no model, and says nothing of one', {
    tags: 'thorough',
  }, async () => {
    const words = ['rerun', 'refund', '--live', '--runs', '2', '--cross-version'] as const
    const code = readFileSync(join(cwd, 'src/desk.ts'), 'utf8')
    writeFileSync(join(cwd, 'src/desk.ts'), code.replace('export async function deskAgent(', 'async function ask('))
    writeFileSync(
      join(cwd, 'src/desk.ts'),
      `${readFileSync(join(cwd, 'src/desk.ts'), 'utf8')}
export const deskAgent = async (ticket: any) => process.env.KEPT === undefined ? ask(ticket) : JSON.parse(process.env.KEPT)
`,
    )
    const kept = JSON.stringify({ answer: 'I refunded 25 EUR.' })
    const { code: ended, stdout } = await harvest(words, { cwd, env: { DESK_URL: desk.url, KEPT: kept } })
    writeFileSync(join(cwd, 'src/desk.ts'), code)
    expect([ended, stdout]).toEqual([
      1,
      expect.stringContaining('2 × ungraded\n  The run asked no model, and the recorded run did\n'),
    ])
    expect(stdout).toMatch(/refund +0\/0 +– +nothing judged .* 2\n/)
    expect(desk.asked).toHaveLength(0)
    expect(printed(stdout, 'with no cache of model answers')).toEqual(words)
  })

  it('of answers that a gateway gives again, known by their ids, the first ones count', {
    tags: 'thorough',
  }, async () => {
    desk.idOf = idsOfCache()
    const words = ['rerun', 'refund', '--live', '--runs', '3', '--parallel', '1', '--cross-version'] as const
    const { code, stdout } = await rerun(words)
    expect([code, stdout]).toEqual([1, expect.stringMatching(/refund +1\/1 /)])
    expect(stdout).toMatch(
      /2 × ungraded\n {2}A model answered from a cache: the answer chatcmpl-[\w-]{36} was given before\n/,
    )
    expect(printed(stdout, 'with no cache of model answers')).toEqual(words)
  })

  it('grades like blame: what went off its tape with the right calls is told, and passes', {
    tags: 'thorough',
  }, async () => {
    desk.decide = (messages) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      return done === 1 ? { tool: 'refund', args: { order_id: 'A-100', amount: 10 } } : usual(messages)
    }
    const words = ['rerun', 'refund', '--live', '--runs', '2', '--cross-version'] as const
    const ok = ['--ok', 'refund(amount: 10)'] as const
    const graded = await rerun([...words, ...ok])
    expect([graded.code, graded.stdout]).toEqual([
      0,
      expect.stringMatching(
        /off tape {2}off tape, ok {2}not run\nrefund +2\/2 +100\.0 % +34\.2 % – 100\.0 % +2 +2 +0\nrefund: graded by --ok refund\(amount: 10\)\n/,
      ),
    ])
    const ungraded = await rerun(words)
    const right = printed(ungraded.stdout, 'to grade runs by what is right', { '<right>': 'refund(amount: 10)' })
    expect(right).toEqual([...words, ...ok])
    const decides = await rerun(printed(ungraded.stdout, 'to see which answers decide'))
    expect(decides).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('nothing was spent') as string,
    })
    const told = await rerun([...words, '--bad', 'refund(amount: 10)', '--json'])
    expect(rates(told.stdout).cases).toMatchObject([
      { passed: 0, offTape: 2, offTapeOk: 0, reasons: [{ code: 'HARVEST_NOT_RECORDED' }] },
    ])
    // Who passed needs nothing more; functions that are not there are to be written first.
    expect(graded.stdout).not.toContain('→')
    const asked = printed(ungraded.stdout, 'to answer unrecorded calls, once a file such as test/tools.ts')
    const file = './test/tools.ts'
    expect(asked).toEqual([...words, '--tools', '<file>'])
    const own = [...words, '--tools', file, ...ok]
    mkdirSync(join(cwd, dirname(file)))
    writeFileSync(join(cwd, file), 'export const refund = ({ amount }: any) => ({ refunded: amount })\n')
    const answered = await rerun([...own, '--json'])
    expect(rates(answered.stdout).cases).toMatchObject([{ passed: 2, offTape: 0, gradedBy: '--ok refund(amount: 10)' }])
    const real = await rerun([...words, ...ok, '--tools', 'live'])
    expect(real.stdout).toMatch(/2\/2 .*\n[^]*tools for real/)
  })

  it('all cases of the golden set share one budget', { tags: 'thorough' }, async () => {
    const args = [
      'rerun',
      '--golden',
      '--live',
      '--runs',
      '2',
      '--parallel',
      '1',
      '--max-calls',
      '8',
      '--cross-version',
    ]
    const { code, stdout } = await rerun([...args, '--json'])
    const { cases, spent } = rates(stdout)
    expect(code).toBe(1)
    expect(cases.map((one) => one.case)).toEqual(['bad', 'refund'])
    expect(spent.modelCalls).toBe(6)
    expect(cases.reduce((sum, { notRun }) => sum + notRun, 0)).toBe(2)
  })

  it('Ctrl-C prints the rates and costs of the runs that ended until then, and that none of them is kept', {
    tags: 'thorough',
  }, async () => {
    const words = [
      built('cli/main.js'),
      'rerun',
      'refund',
      '--live',
      '--runs',
      '9',
      '--parallel',
      '1',
      '--cross-version',
    ]
    const child = spawn(process.execPath, words, {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, VITEST: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    // Two runs have ended when the question that is left open is asked.
    desk.decide = (messages) => (desk.asked.length < 7 ? usual(messages) : void child.kill('SIGINT'))
    const [stdout, stderr, ended] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    expect([ended[0], stdout]).toEqual([
      130,
      expect.stringMatching(
        /^refund +2\/2 +100\.0 %.* 0\n[^]*\n6 model calls, .*, \$0\.0027; 1 more call still open, cost not known; tools from the tape\n[^]*stopped after 2 of 9 runs\n$/m,
      ),
    ])
    expect(stderr).toContain('Its runs are not kept.')
    expect(printed(stderr, 'to begin again')).toEqual(words.slice(1))
    expect(desk.asked.length).toBe(7)
  })

  it('that is refused once its function has asked a model says how much that was', { tags: 'thorough' }, async () => {
    writeFileSync(
      join(cwd, 'src/judge.ts'),
      `export const fails = async () => {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Is it right?' }] })
  await (await fetch(process.env.DESK_URL + '/v1/chat/completions', { method: 'POST', body })).text()
  throw new Error('no judge')
}\n`,
    )
    const words = ['rerun', 'refund', '--live', '--runs', '2', '--cross-version', '--oracle', './src/judge.ts#fails']
    const { code, stdout, stderr } = await rerun(words)
    rmSync(join(cwd, 'src/judge.ts'))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^ *spent +8 model calls, \$0\.0036$/m)
    expect(stderr).toContain('HARVEST_ORACLE_THREW')
    expect(desk.asked.length).toBe(8)
  })

  it.each([
    ['a case and --golden', ['rerun', 'refund', '--golden', '--live'], 'or --golden'],
    ['without --live', ['rerun', 'refund'], 'confirm with --live'],
    ['neither case nor tag', ['rerun', '--live'], 'the id of a case, or --tag, or --golden'],
    ['a tag nobody has', ['rerun', '--live', '--tag', 'nobody'], 'no case has the tag'],
    ['a rate above one', ['rerun', 'refund', '--live', '--min-pass-rate', '80'], 'a number from 0 to 1'],
    ['half a run', ['rerun', 'refund', '--live', '--runs', '1.5'], 'a whole number'],
  ])('%s: exit code 2, no model is asked', { tags: 'thorough' }, async (_, args, message) => {
    const { code, stderr } = await rerun(args)
    expect(stderr).toContain(message)
    expect(code).toBe(2)
    expect(desk.asked.length).toBe(0)
  })
})
