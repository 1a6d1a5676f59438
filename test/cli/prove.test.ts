import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProvenCase } from '../../src/cli/proving/prove.ts'
import { built } from '../support/built.ts'
import { type Desk, deskAgent, deskProject, idsOfCache, openDesk, otherRefund, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest, warmRun as start } from './harvest.ts'
import { printed } from './printed.ts'

// A coding agent or CI may run this test: both may decide here.
const allowed = { HARVEST_ALLOW_CI_PROVE: '1' }
const prompt = 'Look it up first.'
const reworded = 'Always look it up first.'

type Messages = Parameters<Desk['decide']>[0]
const isChanged = (messages: Messages): boolean => messages[0]?.content === reworded

describe('harvest test --prove', () => {
  let desk: Desk
  let cwd = ''
  let fresh = ''
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    git('init', '--quiet')
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\n')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    await recordDesk(cwd, desk, 'first', ['Refund A-100.'])
    const { code, stderr } = await run(['promote', 'latest', '--as', 'refund', '--unverified'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // The baseline and the outcome.
    await run(['test', '--update-recordings', '--reason', 'recorded'], { HARVEST_ALLOW_CI_UPDATE: '1' })
    fresh = read('refund')
    reword()
  })
  beforeEach(() => {
    desk.decide = usual
    delete desk.idOf
    desk.asked.length = 0
  })
  afterEach(() => {
    writeFileSync(caseFile(), fresh)
    rmSync(join(cwd, 'recordings/inbox/.forks'), { recursive: true, force: true })
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const run = (args: readonly string[], env: Record<string, string> = allowed) =>
    harvest(args, { cwd, env: { DESK_URL: desk.url, ...env } })
  const caseFile = (): string => join(cwd, globSync('recordings/golden/**/refund.case.yaml', { cwd })[0] ?? '')
  const read = (_: string): string => readFileSync(caseFile(), 'utf8')
  const reword = (): void => writeFileSync(join(cwd, 'src/desk.ts'), deskAgent.replace(prompt, reworded))
  const prove = (...args: readonly string[]) => run(['test', '--prove', '--yes', ...args])

  it('proves a harmless rewording, writes the evidence, and the case is green until it is too old', async () => {
    expect((await run(['test'])).code).toBe(1)
    const { code, stdout, stderr } = await prove('refund', '--budget', '2')
    expect(stderr).toContain('Prove 1 case: at most 360 model calls and $2.00, earlier sessions included.')
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^proven {5}golden\/refund {2}system prompt \(6 of 6 good, at least 0\.60, gpt-4o; 6 of 6 with the recorded question\)\n36 model calls, 4320 tokens, \$0\.0\d+; all in this session\n→ to renew the pins of what is proven: npx vitest-harvest test --update-recordings=pins\n$/,
      ),
    })
    // Six asks, and the recorded question as often.
    expect(desk.asked.length).toBe(36)
    expect(desk.asked.filter((messages) => messages[0]?.content === prompt).length).toBe(18)
    expect(read('refund')).toMatch(
      /\nproven:\n {2}- key: [\w-]{16}\n {4}model: gpt-4o\n {4}asked: 6\n {4}good: 6\n {4}atLeast: 0\.6\n {4}control: 6\/6\n {4}at: 20/,
    )
    const green = await run(['test'])
    expect([green.code, green.stdout]).toEqual([
      0,
      expect.stringMatching(/ Proven {2}system prompt \(6 of 6 good, at least 0\.60, gpt-4o, 20\d\d-\d\d-\d\d\)/),
    ])
    const again = await prove('refund')
    expect([again.code, again.stdout]).toEqual([0, 'no case is unproven\n'])
    // Then the pins name the prompt that was proven, and the commit once it is committed.
    const renew = await run(['test', '--update-recordings=pins'], { ...allowed, HARVEST_ALLOW_CI_UPDATE: '1' })
    expect(renew.stdout).toContain('1 updated')
    expect(read('refund')).toMatch(/\n {2}accepted:\n(?: {4}.*\n)* {4}dirty: true\n(?: {4}.*\n)* {4}prompt: sha256-/)
    const old = new Date(Date.now() - 31 * 86_400_000).toISOString()
    writeFileSync(caseFile(), read('refund').replace(/( {4}at: ).*/, `$1${old}`))
    expect((await run(['test'])).code).toBe(1)
  })

  it('calls a regression different, and keeps the first bad run as a branch', { tags: 'thorough' }, async () => {
    desk.decide = (messages) => {
      const isRash = isChanged(messages) && messages.length === 2
      if (isRash) return { tool: 'refund', args: { order_id: 'A-100', amount: 25 } }
      return isChanged(messages) && messages.length === 4 ? 'I refunded 25 EUR.' : usual(messages)
    }
    const { code, stdout } = await prove('--json')
    const { cases } = JSON.parse(stdout) as { cases: readonly ProvenCase[] }
    expect(code).toBe(1)
    expect(cases).toMatchObject([
      { verdict: 'different', answer: { decision: 'worse', asks: { good: 0 }, control: { bad: 0 } } },
    ])
    expect(read('refund')).not.toContain('proven:')
    const shown = await run(['show', cases[0]?.saved ?? ''])
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('refund')])
  })

  it('takes a call that the case does not make for bad, although the tape has no answer to it, and shows that run', {
    tags: 'thorough',
  }, async () => {
    // Beside the recorded question it is right.
    const wrong = otherRefund(1)
    desk.decide = (messages, body) => (isChanged(messages) ? wrong(messages, body) : usual(messages))
    const { code, stdout } = await prove('refund')
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^different +golden\/refund +system prompt: worse than recorded: 0 of \d+ good, (\d+) of \1/,
      ),
    ])
    expect(stdout).toContain('A call that the case does not make: refund({"order_id":"A-100","amount":26})')
    const shown = await run(/the first run that is not good: npx vitest-harvest (.*)/.exec(stdout)![1]!.split(' '))
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/refund\(.*26\)/)])
  })

  it('leads from a known-bad case that is not bad any more to its fix, and calls that no regression', {
    tags: 'thorough',
  }, async () => {
    writeFileSync(caseFile(), fresh.replace('expect: pass', 'expect: fail'))
    const right = otherRefund(1)
    desk.decide = (messages, body) => (isChanged(messages) ? right(messages, body) : usual(messages))
    const { code, stdout } = await prove('refund')
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /^different .*: no longer as bad as recorded: 0 of 2 as bad, (\d+) of \1 with the recorded/,
      ),
    ])
    const fix = printed(stdout, 'if its agent is fixed')
    const asked = await run([...fix, '--ok', 'refund(amount: 26)'])
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining('its models have to be asked')])
  })

  it('refuses a mistyped name in ok and bad of the case before a model is asked, and so do fork and rerun', {
    tags: 'thorough',
  }, async () => {
    desk.asked.length = 0
    let anyName: readonly string[] = []
    for (const mistyped of [
      `bad: ['refnud(order_id: "A-100")']`,
      `ok: ['never refnud(amount > 100)']`,
      `bad: ['answr~25']`,
    ]) {
      writeFileSync(caseFile(), `${read('refund')}${mistyped}\n`)
      for (const args of [
        ['test', '--prove', '--yes', 'refund'],
        ['fork', 'refund', '--step', '1', '--say', 'No.'],
        ['rerun', 'refund', '--live', '--runs', '1', '--cross-version'],
      ]) {
        const { code, stderr } = await run(args)
        expect([code, stderr]).toEqual([2, expect.stringContaining('HARVEST_ORACLE_EXPECTATION')])
        expect(stderr).toMatch(/refund\.case\.yaml:\d+:1, (?:ok|bad)/)
        expect(stderr).toContain('did you mean')
        const allowedToo = printed(
          stderr,
          mistyped.includes('refnud') ? 'if the tool was never called' : 'if only the fixed',
        )
        expect(allowedToo).toEqual(expect.arrayContaining([args[0], '--any-name']))
        if (args[0] === 'test') anyName = allowedToo
      }
      writeFileSync(caseFile(), read('refund').replace(`${mistyped}\n`, ''))
    }
    expect(desk.asked).toEqual([])
    writeFileSync(caseFile(), `${read('refund')}bad: ['answr~25']\n`)
    expect((await run(anyName)).stdout).toMatch(/^proven /)
  })

  it('says of runs that nothing on the tape can judge what they asked for, and how to see their end', {
    tags: 'thorough',
  }, async () => {
    writeFileSync(caseFile(), `${fresh.trimEnd()}\nmatch: { tools: { refund: ignore } }\n`)
    const wrong = otherRefund(1)
    desk.decide = (messages, body) => (isChanged(messages) ? wrong(messages, body) : usual(messages))
    const { code, stdout } = await prove('refund')
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /cannot be proven offline: 5 of 5 asks need what is not on the tape\n +The agent requested something that is not on the tape: refund\(\{"order_id":"A-100","amount":26\}\)\n +the first run that is not good: npx vitest-harvest show /,
      ),
    ])
    desk.decide = wrong
    const ended = await run([...printed(stdout, 'to see how it ends with its tools run for real'), '--runs', '2'])
    // The case looks at no argument of that tool.
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/refund +2\/2 [^]*tools for real/)])
  })

  it('calls no agent flaky that is never right, with either question, and leads on: more asks would not prove it', {
    tags: 'thorough',
  }, async () => {
    desk.decide = () => 'No.'
    const { code, stdout } = await prove('refund')
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(
        /not as recorded, and with the recorded question it is not either: 0 of 2 good, 0 of 2 with/,
      ),
    ])
    expect(stdout).not.toContain('flaky')
    expect(stdout).toContain('→ if you looked and it is meant: npx vitest-harvest accept golden/refund --reason "…"')
  })

  it('a model that cannot be asked proves nothing: it says what its provider said, and goes on from there', {
    tags: 'thorough',
  }, async () => {
    desk.decide = () => ({ status: 429, message: 'You exceeded your current quota' })
    const { code, stdout } = await prove('refund')
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining('stopped: A model answered with status 429: You exceeded'),
    ])
    expect(stdout).not.toContain('offline')
    desk.decide = usual
    const again = await run(printed(stdout, 'once the key (usually OPENAI_API_KEY), quota and address of the model'))
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('6 of 6 good')])
  })

  it('a cache that gives one answer many times proves nothing, and is told as the cause', {
    tags: 'thorough',
  }, async () => {
    desk.idOf = idsOfCache()
    const { code, stdout } = await prove('refund', '--budget', '2', '--parallel', '1')
    const stopped = 'stopped: A model answered from a cache: the answer chatcmpl-'
    expect([code, stdout]).toEqual([1, expect.stringContaining(stopped)])
    expect(stdout).not.toMatch(/^proven /m)
    expect(read('refund')).toBe(fresh)
    // The first ask of the changed question and that of the recorded one, and one that shows it.
    expect(desk.asked.length).toBeLessThanOrEqual(9)
  })

  it('Ctrl-C prints what was known until then, and leaves no one who asks', { tags: 'thorough' }, async () => {
    const child = spawn(process.execPath, [built('cli/main.js'), 'test', '--prove', '--yes', '--budget', '5'], {
      cwd,
      env: { ...process.env, ...allowed, DESK_URL: desk.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said.stdout += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said.stderr += chunk))
    // Two asks and their controls have ended when the question that is left open is asked.
    desk.decide = (messages) => (desk.asked.length < 14 ? usual(messages) : void child.kill('SIGINT'))
    const [code] = await once(child, 'close')
    desk.decide = usual
    expect(code, said.stderr).toBe(130)
    expect(said.stdout).toMatch(
      /^unproven {3}golden\/refund {2}system prompt: stopped before it was decided: 2 of 2 good so far/,
    )
    expect(said.stdout).toMatch(/^12 model calls, .*; all in this session$/m)
    expect(said.stderr).toContain('HARVEST_CLI_INTERRUPTED')
    while (desk.left < desk.asked.length - 13) await new Promise((resolve) => setTimeout(resolve, 50))
    desk.left = 0
  })

  it('with a judge: a limit that is too small leads to a larger one, and what a refused case used is said', {
    tags: 'thorough',
  }, async () => {
    writeFileSync(
      join(cwd, 'src/judge.ts'),
      `export const judge = async ({ sideEffects }: any): Promise<boolean> => {
  const messages = [{ role: 'user', content: 'Is it right? ' + JSON.stringify(sideEffects) }]
  const body = JSON.stringify({ model: 'gpt-4o', messages })
  const response = await fetch(process.env.DESK_URL + '/v1/chat/completions', { method: 'POST', body })
  const said = (await response.json()).choices[0].message.content
  if (said === 'unsure') throw new Error('no judge')
  return said === 'yes'
}\n`,
    )
    writeFileSync(caseFile(), `${fresh.trimEnd()}\noracle: ./src/judge.ts#judge\n`)
    let judged = 'unsure'
    desk.decide = (messages) => (String(messages[0]?.content).startsWith('Is it right?') ? judged : usual(messages))
    const refused = await prove('refund')
    const used = `${desk.asked.length} model calls, $`
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringContaining('(HARVEST_ORACLE_THREW)')])
    expect(refused.stdout).toContain(`in this session, with what was refused: ${used}`)
    expect(refused.stdout).not.toContain('all in this session')
    judged = 'yes'
    const small = await prove('refund', '--max-cost', '0.01')
    expect([small.code, small.stdout]).toEqual([1, expect.stringContaining('the budget is used up')])
    const enough = printed(small.stdout, 'to go on from there')
    expect(Number(enough.at(-1))).toBeGreaterThanOrEqual(0.02)
    const proven = await run(enough)
    rmSync(join(cwd, 'src/judge.ts'))
    expect([proven.code, proven.stdout]).toEqual([0, expect.stringContaining('6 of 6 good')])
  })

  it('goes on where it was killed, and counts what was under way as spent', { tags: 'thorough' }, async () => {
    const child = spawn(process.execPath, [built('cli/main.js'), 'test', '--prove', '--yes', '--budget', '5'], {
      cwd,
      env: { ...process.env, ...allowed, DESK_URL: desk.url },
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    // Killed in the third ask: its model never answers.
    desk.decide = (messages) => (desk.asked.length > 13 ? undefined : usual(messages))
    while (desk.asked.length < 14) await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGKILL')
    await ended
    while (desk.left < 1) await new Promise((resolve) => setTimeout(resolve, 50))
    desk.decide = usual
    desk.asked.length = 0
    const small = await prove('--budget', '0.02')
    expect([small.code, small.stdout]).toEqual([
      1,
      expect.stringContaining('the budget is used up: 2 of 2 good so far'),
    ])
    expect(desk.asked.length).toBe(0)
    const [all, ...before] = [...small.stdout.matchAll(/(\d+ model calls, \d+ tokens, \$[.\d]+)/g)].map(
      ([text]) => text,
    )
    expect(before).toEqual([all])
    expect(small.stdout).toContain(`${all}; of which in earlier sessions ${all}\n`)
    const on = printed(small.stdout, 'to go on from there')
    expect(on.at(-2)).toBe('--max-cost')
    const { code, stdout } = await prove(...on.slice(1))
    expect([code, stdout]).toEqual([0, expect.stringContaining('6 of 6 good')])
    // Four more asks with their controls.
    const whole = Number(/^(\d+) model calls, /m.exec(stdout)?.[1])
    expect(stdout).toMatch(new RegExp(`; of which in earlier sessions ${whole - 24} model calls, \\d+ tokens, \\$`))
    expect(desk.asked.length).toBe(24)
  })

  it('asks nobody without a yes, in CI, or by flags it does not know', { tags: 'thorough' }, async () => {
    const silent = await run(['test', '--prove', '--max-cost', '0.004'])
    expect([silent.code, silent.stderr]).toEqual([2, expect.stringContaining('HARVEST_PROVE_REFUSED')])
    expect(silent.stderr).toContain('360 model calls, $0.004\n')
    const inCi = await run(['test', '--prove', '--yes'], { CI: '1', HARVEST_ALLOW_CI_PROVE: '' })
    expect([inCi.code, inCi.stderr]).toEqual([2, expect.stringContaining('HARVEST_ALLOW_CI_PROVE=1')])
    const bin = [built('vitest/run-vitest.js'), 'test', 'refund', '--prove']
    const other = await start(process.execPath, bin, { cwd, env: { DESK_URL: desk.url, ...allowed } })
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('confirm with --yes')])
    const unknown = await prove('--bail')
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Unknown option with --prove: --bail')])
    expect(printed(unknown.stderr, 'did you mean')).not.toContain('--bail')
    const dear = await run(['test', 'refund', '--prove', '--max-cost', 'much', '--yes'])
    expect(printed(dear.stderr, 'did you mean')).toEqual(['test', 'refund', '--prove', '--max-cost', '1.00', '--yes'])
    expect(desk.asked.length).toBe(0)
  })
})
