import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { type Answered, warmHarvest as harvest } from './harvest.ts'
import { many } from './many.ts'
import { printed } from './printed.ts'

describe('whoever follows the messages of blame', () => {
  let desk: Desk
  let cwd = ''
  beforeAll(async () => {
    desk = await openDesk((messages) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
      return done === 2 ? 'I refunded 2500 EUR.' : usual(messages)
    })
    cwd = deskProject()
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\n.vitest\n')
    writeFileSync(
      join(cwd, 'src/oracle.ts'),
      `let asked = 0\nexport const isRight = (): boolean => asked++ % 2 === 1\nexport const isFine = (): boolean => asked++ % 2 === 0\n` +
        `import { readlinkSync } from 'node:fs'\nexport const isUp = ({ sideEffects }): boolean => readlinkSync('recordings/inbox/up') === 'yes' && sideEffects.some(({ args }) => args.amount === 25)\n`,
    )
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    const head = git('rev-parse', 'HEAD').trim()
    await recordDesk(cwd, desk, 'bad', ['Refund A-100.', head])
    await recordDesk(cwd, desk, 'bad-too', ['Refund A-100.', head])
    let said = 0
    desk.decide = (messages) => {
      const decided = usual(messages)
      return typeof decided === 'string' ? `${decided} (${said++})` : decided
    }
    await recordDesk(cwd, desk, 'good', ['Refund A-100.', head])
    const golden = join(cwd, 'recordings/golden')
    mkdirSync(golden, { recursive: true })
    copyFileSync(join(cwd, 'recordings/inbox/good.tape.jsonl'), join(golden, 'fine.tape.jsonl'))
    writeFileSync(join(golden, 'fine.case.yaml'), 'case: fine\nagent: desk\ntape: fine.tape.jsonl\nexpect: pass\n')
    // Neither this run itself under another name, nor what the question calls bad, is proposed as a good run.
    for (const [id, of] of [
      ['a-copy', 'bad'],
      ['another', 'bad-too'],
    ] as const) {
      copyFileSync(join(cwd, `recordings/inbox/${of}.tape.jsonl`), join(golden, `${id}.tape.jsonl`))
      writeFileSync(join(golden, `${id}.case.yaml`), `case: ${id}\nagent: desk\ntape: ${id}.tape.jsonl\nexpect: pass\n`)
    }
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const run = (words: readonly string[]): Promise<Answered> =>
    harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })
  /** Command lines that are refused before an agent is loaded, in one process. */
  function refused(...lines: readonly (readonly string[])[]): readonly string[] {
    const answers = many(lines, cwd)
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 2))
    return answers.map(({ stderr }) => stderr)
  }

  it('with a mistyped name comes to the verdict, and from there to the test and to what else was necessary', {
    tags: 'thorough',
  }, async () => {
    const mistyped = [
      ['blame', 'bad', '--ok', 'refnud(amount: 25)'],
      ['blame', 'bad', '--ok', 'refund(amont: 25)'],
      ['blame', 'bad', '--ok', 'anwser~25'],
    ] as const
    const meant = refused(...mistyped).map((message) => printed(message, 'did you mean'))
    expect(meant).toEqual([
      ['blame', 'bad', '--ok', 'refund(amount: 25)'],
      ['blame', 'bad', '--ok', 'refund(amount: 25)'],
      ['blame', 'bad', '--ok', 'answer~25'],
    ])
    // The name is known by now: what is left to say is that it costs money.
    const costs = refused(
      ...meant,
      printed(refused(mistyped[0])[0]!, 'if the tool was never called, or only the fixed agent has it'),
    )
    expect(costs.map((message) => message.includes('HARVEST_LIVE_CONSENT'))).toEqual([true, true, true, true])

    const [words = []] = meant
    const estimate = printed(costs[0] ?? '', 'to estimate the cost')
    const estimated = await run(estimate)
    expect(estimated).toMatchObject({ code: 0, stderr: '' })
    const ask = printed(estimated.stdout, 'to ask the models')
    const asked = await run(ask)
    expect(asked).toMatchObject({ code: 0, stderr: '' })
    expect(asked.stdout).toContain('decided the outcome')

    const more = await run(
      printed(
        asked.stdout,
        'to find whether an earlier recorded answer was necessary too, name a good run with other answers',
        { '<tape|case>': 'fine' },
      ),
    )
    expect(more).toMatchObject({ code: 0, stderr: '' })
    const test = await run(printed(asked.stdout, 'to make it a test', { '<id>': 'refund' }))
    expect(test.code, test.stderr).toBe(0)

    // One of time that left no room leads to the command without it; one within which a run fitted, to as much again.
    const late = await run([...words, '--live', '--max-time', '1ms', '--no-cache'])
    expect(late).toMatchObject({ code: 1, stderr: '' })
    const isRoomless = late.stdout.includes('leaves room for no run')
    if (!isRoomless) expect(late.stdout).toContain('Not resolved: stopped by the limit of time.')
    const timely = printed(late.stdout, 'to go on, with all runs so far')
    expect(timely).toEqual([...words, '--live', ...(isRoomless ? [] : ['--max-time', '1ms'])])
    expect((await run([...words, '--live'])).stdout).toContain('decided the outcome')

    // Another model answers than was recorded.
    desk.answeredBy = 'gpt-4o-mini'
    const other = await run([...words, '--live', '--no-cache'])
    expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining('The live model differs') as string })
    const counted = await run(printed(other.stderr, 'to count them anyway'))
    expect(counted).toMatchObject({ code: 0, stdout: expect.stringContaining('decided the outcome') as string })
    delete desk.answeredBy

    // A limit that leaves room for no run leads to the estimate, and from there to a limit that does.
    const none = await run([...words, '--live', '--max-cost', '0.0001', '--no-cache'])
    expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining('leaves room for no run') as string })
    const cost = await run(printed(none.stdout, 'to estimate the cost'))
    expect(Number(printed(cost.stdout, 'to ask the models').at(-1))).toBeGreaterThan(0.01)
  })

  it('with runs that would leave the tape is told so before anything is spent, and how they are graded', {
    tags: 'thorough',
  }, async () => {
    const typed = ['blame', 'bad', '--ok', 'answer~25 EUR', '--dry-run']
    const { code, stderr, stdout } = await run(typed)
    expect({ code, isFree: stdout.includes('nothing was spent') }).toEqual({ code: 0, isFree: true })
    expect(stdout).toContain('→ to ask the models all the same: ')
    const foreseen = 'Tried for free: 2 of 2 other decisions of its models leave the tape (steps 1, 3)'
    expect(stderr.split(foreseen)).toHaveLength(2)
    const repairs = refused([...typed, '--repairs'])[0] ?? ''
    const [fromGood, forReal] = ['to take the answers of a good run', 'to call the tools for real'] as const
    for (const about of [fromGood, forReal])
      expect(await run(printed(stderr, about))).toMatchObject({ code: 0, stderr: '' })
    expect(printed(repairs, forReal)).toEqual(printed(stderr, forReal).toSpliced(5, 0, '--repairs'))
    // It answers the very same calls as this run was answered: there is nothing to repair with it.
    expect(repairs).not.toContain(fromGood)
    // A good run of the same input that is no case yet is found in the inbox; one of another input has no answer to these calls.
    const golden = join(cwd, 'recordings/golden')
    const kase = readFileSync(join(golden, 'fine.case.yaml'))
    const good = readFileSync(join(cwd, 'recordings/inbox/good.tape.jsonl'), 'utf8')
    rmSync(join(golden, 'fine.case.yaml'))
    const fresh = await run(typed)
    expect(printed(fresh.stderr, 'to take the answers of a good run')).toEqual([...typed, '--reference', 'good'])
    rmSync(join(cwd, 'recordings/inbox/good.tape.jsonl'))
    for (const id of ['good-b', 'good-c'])
      await recordDesk(cwd, desk, id, ['Refund A-200.', git('rev-parse', 'HEAD').trim()])
    writeFileSync(join(golden, 'fine.case.yaml'), String(kase).replace('fine.tape', '../inbox/good-b.tape'))
    const other = await run(typed)
    expect(other.stderr).toContain(foreseen)
    expect(other.stderr).not.toContain('--reference')
    const named = await run([...typed, '--reference', 'good-b'])
    expect(named.stderr).toContain('2 of 2 other decisions of its models leave the tape and the good run')
    for (const id of ['good-b', 'good-c']) rmSync(join(cwd, `recordings/inbox/${id}.tape.jsonl`))
    writeFileSync(join(golden, 'fine.case.yaml'), kase)
    writeFileSync(join(cwd, 'recordings/inbox/good.tape.jsonl'), good)
  })

  it('with an oracle that calls nothing ok any more comes to a call that is right, or starts again', {
    tags: 'thorough',
  }, async () => {
    const link = join(cwd, 'recordings/inbox/up')
    const set = (target: string): void => {
      rmSync(link, { force: true })
      symlinkSync(target, link)
    }
    set('yes')
    const typed = ['blame', 'bad', '--oracle', './src/oracle.ts#isUp', '--tools', 'live', '--live']
    const before = await run(typed)
    expect(before.stdout, before.stderr).toContain('decided the outcome')
    set('no')
    const refused = await run([...typed, '--cross-version'])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('ORACLE_CHANGED') as string })
    const call = { '<call>': 'refund(amount: 25)' }
    const byCall = await run(printed(refused.stderr, 'to grade runs by a call that is right', call))
    expect(byCall.stdout, byCall.stderr).toContain('decided the outcome')
    const anew = printed(
      refused.stderr,
      'if the oracle is right today, to start again (the earlier forks stay in the file)',
    )
    const bad = 'no known run that passes is graded ok; without a good fork nothing is claimed'
    expect(await run([...anew, '--dry-run'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(bad) as string,
    })
    set('yes')
    expect((await run(typed)).stdout).toContain('decided the outcome')
  })

  it('with an oracle that disagrees with itself, or a run that went well, comes to what can be asked', {
    tags: 'thorough',
  }, async () => {
    const flaky = ['blame', 'bad', '--oracle', './src/oracle.ts#isRight', '--dry-run']
    const disagrees = await run(flaky)
    expect(disagrees).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_ORACLE_FLAKY') as string })
    expect(await run(printed(disagrees.stderr, 'to grade every run five times'))).toMatchObject({ code: 0 })
    // That it said `ok` first is no answer either.
    const fineFirst = await run(flaky.with(3, './src/oracle.ts#isFine'))
    expect(fineFirst).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_ORACLE_FLAKY') as string })
    const fine = ['blame', 'good', '--ok', 'refund(amount: 25)', '--dry-run']
    const well = await run(fine)
    expect(well.code).toBe(2)
    expect(await run(printed(well.stderr, 'to find the answers it depends on'))).toMatchObject({ code: 0 })
    const layers = await run([...fine, '--isolate'])
    const answers = printed(layers.stderr, 'to find the answers it depends on')
    expect(answers).toEqual([...fine, '--mutate'])
    expect(layers.code).toBe(2)
    const bad = printed(well.stderr, 'if what it did was bad')
    // What a good run was said to be is true of this one.
    expect(bad).toEqual(['blame', 'good', '--dry-run', '--bad', 'refund(amount: 25, order_id: "A-100")'])
    expect(await run(bad)).toMatchObject({ code: 0, stdout: expect.stringContaining('is graded bad') as string })
  })

  it('of fork: a mistyped question is refused for free, and what leaves the tape is judged with tools that run', {
    tags: 'thorough',
  }, async () => {
    const mistyped = [
      ['fork', 'bad', '--step', '3', '--say', 'No.', '--ok', 'refnud(amount: 25)'],
      ['fork', 'bad', '--critical', '--ok', 'refund(amont: 25)'],
      ['fork', 'bad', '--step', '2', '--set', 'result.totl=30'],
    ] as const
    const meant = refused(...mistyped).map((message) => printed(message, 'did you mean'))
    expect(meant).toEqual([
      ['fork', 'bad', '--step', '3', '--say', 'No.', '--ok', 'refund(amount: 25)'],
      ['fork', 'bad', '--critical', '--ok', 'refund(amount: 25)'],
      ['fork', 'bad', '--step', '2', '--set', 'result.total=30'],
    ])
    const [, critical = [], changed = []] = meant
    // By calls, one is graded where it leaves the tape.
    expect((await run(critical)).stdout).toContain('step 3  critical, effect ')
    const offTape = await run(['fork', 'bad', '--critical', '--ok', 'answer~25 EUR'])
    expect(offTape.stdout).toContain('step 3  not critical, as far as was tried, judged 1 of ')
    const judged = await run(printed(offTape.stdout, 'to judge those that leave the tape'))
    expect(judged).toMatchObject({ code: 0, stderr: '' })
    expect(judged.stdout).toContain('refund(order_id: "A-100", amount: 25): another outcome, ok')
    expect(judged.stdout).toMatch(/\d+ model calls, .*; tools for real/)
    const left = await run(changed)
    expect(left.code).toBe(1)
    // Its model decides otherwise when it is asked, and for that a tool is needed.
    const live = await run(printed(left.stdout, 'to continue with live models'))
    expect(await run(printed(live.stdout, 'to run tools for real'))).toMatchObject({ code: 0 })
  })

  it('of chaos: a changed result that a model was told of is no survival, and leads to the models', {
    tags: 'thorough',
  }, async () => {
    const chaos = ['chaos', 'bad', '--faults', 'value-unit', '--seed', '1', '--runs', '4']
    const { code, stdout } = await run(chaos)
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringMatching(/^undecided\n/) as string })
    expect(stdout).toContain('2 off-tape\n')
    const fork = printed(stdout, 'to ask the models')
    expect(fork.slice(0, 6)).toEqual(['fork', 'bad', '--step', '2', '--set', 'result.total=2500'])
    expect(await run(fork)).toMatchObject({ code: 0, stdout: expect.stringContaining('25 → 2500') as string })
    const mixed = await run(chaos.with(3, 'value-unit,http-slow').with(-1, '12'))
    expect(mixed.stdout).toMatch(
      /^the agent survives http-slow; 1 of 2 kinds of faults unknown\n.* survived.* off-tape/s,
    )
    expect(mixed.code).toBe(1)
    expect(mixed.stdout).toContain('the outcome is unknown: nothing is known of value-unit.')
    expect(printed(mixed.stdout, 'to ask the models').slice(0, 2)).toEqual(['fork', 'bad'])
    const strict = await run([...chaos, '--fail', 'off-tape'])
    expect(strict).toMatchObject({ code: 1, stdout: expect.stringMatching(/^the agent does not survive\n/) as string })
    expect(printed(strict.stdout, 'to ask the models')).toEqual(fork)
  })

  it('with a model without a price, a limit that was reached and code that changed comes to the verdict', {
    tags: 'thorough',
  }, async () => {
    const file = join(cwd, 'src/desk.ts')
    const code = readFileSync(file, 'utf8')
    writeFileSync(file, code.replace("'gpt-4o'", "'desk-1'"))
    git('commit', '--quiet', '-am', 'a model of our own')
    const decide = desk.decide
    desk.decide = (messages, question) => {
      const done = messages.filter(({ role }) => role === 'tool').length
      return done === 1 ? { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } } : decide(messages, question)
    }
    await recordDesk(cwd, desk, 'unpriced', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    desk.decide = decide

    const asked = ['blame', 'unpriced', '--ok', 'refund(amount: 25)']
    const elsewhere = "it's recs"
    mkdirSync(join(cwd, elsewhere, 'inbox'), { recursive: true })
    const tape = 'inbox/unpriced.tape.jsonl'
    copyFileSync(join(cwd, 'recordings', tape), join(cwd, elsewhere, tape))
    const [near = '', far = ''] = refused(asked, [...asked, '--dir', elsewhere])
    const typed = printed(near, 'to confirm, with a limit')
    expect(typed).toEqual([...asked, '--live', '--max-cost', '2.50'])
    const unpriced = await run(typed)
    expect(unpriced).toMatchObject({ code: 2, stderr: expect.stringContaining('HARVEST_BLAME_PRICE') as string })
    const limited = printed(unpriced.stderr, 'or limit something else')
    expect(limited).toEqual([...typed.slice(0, 5), '--max-runs', '100'])
    // Without a price an estimate leads to a limit that can be kept.
    const { stdout: estimate } = await run([...asked, '--dry-run'])
    const about = estimate.includes('to ask the models:') ? 'to ask the models' : 'to ask the models all the same'
    const ask = printed(estimate, about)
    expect(ask.slice(0, -1)).toEqual([...asked, '--live', '--max-runs'])
    expect((await run([...ask, '--max-time', '1ms'])).code).toBe(1)

    const few = limited.toSpliced(-1, 1, '3')
    const stopped = await run(few)
    expect(stopped.stdout).toContain('stopped by the limit')
    // A limit is one of a session: the same command again, with as many runs as are likely needed.
    let on = stopped
    for (let session = 0; session < 4 && on.stdout.includes('stopped by the limit'); session++)
      on = await run(printed(on.stdout, 'to go on, with all runs so far'))
    expect(on).toMatchObject({ code: 0, stdout: expect.stringContaining('decided the outcome') as string })
    expect(on.stdout).toContain('of earlier sessions')

    // What the message names is what is read.
    const there = printed(far, 'to confirm, with the default limit of $5.00')
    expect(there).toEqual([...asked, '--dir', elsewhere, '--live'])
    const priceless = await run(there)
    const [, prices = '', price = ''] = /million tokens: (.*?): (\{.*\})$/m.exec(priceless.stderr) ?? []
    expect(prices).toBe("it's recs/prices.json")
    writeFileSync(join(cwd, prices), price)
    const priced = await run([...there, '--max-runs', '2'])
    expect(priced.stdout, priced.stderr).toContain('stopped by the limit of forks')
    writeFileSync(file, `${readFileSync(file, 'utf8')}// other code\n`)
    git('commit', '--quiet', '-am', 'a remark')
    const decided = { code: 0, stdout: expect.stringContaining('decided the outcome') as string }
    const other = await run(limited)
    expect(other).toMatchObject({ code: 4, stderr: expect.stringContaining('HARVEST_CROSS_VERSION') as string })
    const anyway = printed(other.stderr, 'to continue anyway')
    // The forks of before are left out, which is said, and stay for the day that their code is back.
    const leftOut = {
      ...decided,
      stderr: expect.stringMatching(/\d+ forks of earlier sessions ran other code/) as string,
    }
    expect(await run(anyway)).toMatchObject(leftOut)
    const forks = join(cwd, 'recordings/inbox/.forks/unpriced/blame.jsonl')
    const both = readFileSync(forks, 'utf8')
    expect(await run([...anyway, '--no-cache'])).toMatchObject(decided)
    const checkout = / to run the recorded code: (git checkout \w+)$/m.exec(other.stderr)?.[1] ?? 'false'
    execFileSync('sh', ['-c', `${checkout} --quiet`], { cwd })
    writeFileSync(forks, both)
    const back = await run(limited)
    expect(back).toMatchObject(leftOut)
    expect(back.stdout).toContain('of earlier sessions')
    const codeIn = (line = ''): unknown => /"code":"[^"]+"/.exec(line)?.[0]
    const lines = both.trimEnd().split('\n')
    writeFileSync(forks, lines.filter((line) => codeIn(line) !== codeIn(lines[0])).join('\n') + '\n')
    const cached = await run(limited)
    expect(cached).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('The cached forks ran another version') as string,
    })
    for (const about of ['to go on without them', 'to start again'])
      expect(await run(printed(cached.stderr, about))).toMatchObject(decided)
  })
})
