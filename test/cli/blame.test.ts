import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLeftOver } from '../../src/tape/new-file.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { BlamedRun } from '../../src/blame/run-blame.ts'
import { parseTape, serializeTape } from '../../src/tape/index.ts'
import { built } from '../support/built.ts'
import { type Desk, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { shellWord } from '../../src/errors/index.ts'
import { printed } from './printed.ts'
import { many } from './many.ts'
import { hasTerminal, onTerminal } from './terminal.ts'

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // It is gone.
    return false
  }
}

describe('harvest blame', () => {
  let desk: Desk
  let cwd = ''
  beforeAll(async () => {
    desk = await openDesk(tooMuch)
    cwd = deskProject()
    writeFileSync(
      join(cwd, 'src/oracle.ts'),
      `import type { OracleRun } from 'vitest-harvest'
export const isRight = ({ sideEffects }: OracleRun): boolean =>
  sideEffects.some(({ name, args }) => name === 'refund' && (args as { amount: number }).amount === Number(process.env.DESK_RIGHT ?? 25))\n`,
    )
    writeFileSync(join(cwd, '.gitignore'), 'node_modules/\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    await recordDesk(cwd, desk, 'bad', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    desk.decide = usual
    await recordDesk(cwd, desk, 'good', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
  })
  beforeEach(() => {
    desk.decide = inOtherWords()
    desk.asked.length = 0
    desk.left = 0
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  const tooMuch: Desk['decide'] = (messages) => {
    const done = messages.filter(({ role }) => role === 'tool').length
    if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
    return done === 2 ? 'I refunded 2500 EUR.' : usual(messages)
  }
  /** The usual way, and no two runs say the same. */
  const inOtherWords = (): Desk['decide'] => {
    let said = 0
    return (messages) => {
      const decided = usual(messages)
      return typeof decided === 'string' ? `${decided} (${said++})` : decided
    }
  }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const blame = (...args: readonly string[]) =>
    harvest(['blame', ...args], { cwd, env: { DESK_URL: desk.url, CI: '' } })
  const right = ['--ok', 'refund(amount: 25)'] as const

  it('says which step decided the outcome, how sure that is, and what it rests on', async () => {
    const { code, stdout, stderr } = await blame('bad', ...right, '--budget', '1', '--parallel', '1')
    expect(stderr).toBe('')
    expect(stdout.replace(/commit \w+/, 'commit <commit>')).toMatchInlineSnapshot(`
      "step 3, the model's decision refund(amount: 2500, order_id: "A-100"), decided the outcome:
        replayed, 0 of 8 runs end well (0 to 32 %); resampled, 8 of 8 do (68 to 100 %); certified at confidence 0.95
      → to find whether an earlier recorded answer was necessary too, name a good run with other answers: npx vitest-harvest blame bad --ok 'refund(amount: 25)' --max-cost 1 --live --parallel 1 --repairs --reference '<tape|case>'

      step  what                                 resampled                lost by replaying it  commitment
      1     the model's decision                 1 of 1 ok (21 to 100 %)  0.00 (-0.79 to 0.30)
            lookup_order(order_id: "A-100")
      2     the answer of                        from the tape
            lookup_order(order_id: "A-100")
      3     the model's decision                 9 of 9 ok (70 to 100 %)  1.00 (0.60 to 1.00)   certified
            refund(amount: 2500, order_id: "A-…
      4     the answer of refund(amount: 2500,   from the tape
            order_id: "A-100")
      5     the model's answer "I refunded       0 of 11 ok (0 to 26 %)   0.00 (0.00 to 0.26)
            2500 EUR."

      resampled: runs that replay all earlier steps and resample this one and the rest; how many end well (Wilson, 95 %)
      lost by replaying it: how far that share falls when this step is replayed too (with its interval)
      graded by --ok refund(amount: 25); the recorded run: bad
      estimand interventional: all steps after a replayed prefix are resampled; live models, tools answered from the tape
      confidence 0.95, minimum effect 0.2; claims: sequential test on fresh pairs of forks that rates differ by more than half of the minimum effect; all claims together are false at most 1 − confidence of the time
      intervals: Newcombe hybrid score (last step: Wilson), 95 % at a fixed number of forks; for display only
      26 forks, 32 model calls, $0.0144; models gpt-4o; commit <commit>
      → to make it a test, before it is fixed: npx vitest-harvest promote bad --as '<id>' --expect fail --ok 'refund(amount: 25)'
      "
    `)
    expect(code).toBe(0)
  })

  it('goes on where a limit stopped it, and prints the same as JSON', { tags: 'thorough' }, async () => {
    const first = await blame(
      'bad',
      '--oracle',
      './src/oracle.ts#isRight',
      '--reference',
      'good',
      '--live',
      '--max-runs',
      '6',
    )
    expect(first.stdout).toContain('Not resolved: stopped by the limit of forks.')
    expect(first.stdout).toContain(
      '→ to go on, with all runs so far: npx vitest-harvest blame bad --oracle ./src/oracle.ts#isRight --reference good --live --max-runs 32',
    )
    expect(first.code).toBe(1)
    const asked = desk.asked.length
    const args = ['bad', '--oracle', './src/oracle.ts#isRight', '--reference', 'good', '--live', '--json'] as const
    const { code, stdout } = await blame(...args)
    const answer = JSON.parse(stdout) as BlamedRun
    expect(answer.verdict).toMatchObject({ kind: 'confirmed', commitments: [{ position: 2, how: 'certified' }] })
    expect(answer).toMatchObject({ reused: { forks: 6 }, gradedBy: '--oracle ./src/oracle.ts#isRight' })
    expect(answer.spent.now.modelCalls).toBe(desk.asked.length - asked)
    expect(code).toBe(0)
    const lines = readFileSync(join(cwd, 'recordings/inbox/.forks/bad/blame.jsonl'), 'utf8').trimEnd().split('\n')
    expect(lines.length).toBeGreaterThanOrEqual(answer.spent.now.forks + 6)

    const elsewhere = { cwd, env: { DESK_URL: desk.url, CI: '', DESK_RIGHT: '0025' } }
    const refused = await harvest(['blame', ...args.filter((arg) => arg !== '--json')], elsewhere)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toContain('What the cached forks read is not as it was')
    expect(refused.stderr).toMatch(/^ {2}changed +environment variable DESK_RIGHT \(was unset, is set\)$/m)
    expect(refused.stderr).toContain('--no-cache')
    expect(refused.stderr).not.toContain('0025')
    expect(desk.asked).toHaveLength(asked + answer.spent.now.modelCalls)
  })

  it('forks of before count where only what grades them changed, and are graded by it as it is today', {
    tags: 'thorough',
  }, async () => {
    const file = join(cwd, 'src/right.ts')
    const refunds = (amount: string): string =>
      `import type { OracleRun } from 'vitest-harvest'
export const isRight = ({ sideEffects }: OracleRun): boolean =>
  sideEffects.some(({ name, args }) => name === 'refund' && ${amount.replace('it', '(args as { amount: number }).amount')})\n`
    writeFileSync(file, refunds('it === 25'))
    const args = ['bad', '--oracle', './src/right.ts#isRight', '--live', '--max-runs', '6', '--json'] as const
    const told = async (...more: string[]) => {
      const { stdout, stderr } = await blame(...args, ...more)
      expect(stderr).toBe('')
      return JSON.parse(stdout) as BlamedRun
    }
    const first = await told('--no-cache')
    expect(first.spent.now.forks).toBe(6)
    writeFileSync(file, `${refunds('it === 25')}// A note.\n`)
    expect(await told()).toMatchObject({ reused: { forks: 6 } })
    expect(await told('--cross-version')).toMatchObject({ reused: { forks: 12 } })
    writeFileSync(file, refunds('it < 100'))
    expect(await told()).toMatchObject({ reused: { forks: expect.any(Number) as number } })
    // It may load the agent's files: these are as they were.
    writeFileSync(file, `import './desk.ts'\n${refunds('it < 100')}`)
    expect((await told()).reused.forks).toBeGreaterThan(6)
    // One that code reads itself may be anything to it.
    const reads = `import { readFileSync } from 'node:fs'\nreadFileSync(import.meta.filename)\n${refunds('it < 100')}`
    writeFileSync(file, reads)
    await told('--no-cache')
    writeFileSync(file, `${reads}// A note.\n`)
    const refused = await blame(...args)
    rmSync(file)
    expect([refused.code, refused.stdout]).toEqual([4, expect.stringContaining('src/right.ts')])
  })

  it('a second blame of the tape is refused while one runs; one that was killed locks nothing', {
    tags: 'thorough',
  }, async () => {
    const words = ['blame', 'bad', ...right, '--live', '--no-cache', '--parallel', '1', '--max-runs', '1']
    const child = spawn(process.execPath, [built('cli/main.js'), ...words], {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
      stdio: 'ignore',
    })
    const closed = once(child, 'close')
    desk.decide = () => undefined
    await expect.poll(() => desk.asked.length, { timeout: 60_000 }).toBe(1)
    const second = await harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })
    expect([second.code, second.stdout]).toEqual([2, ''])
    expect(second.stderr).toMatch(/^Another blame of this tape is running\n[^]*\(HARVEST_BLAME_RUNNING\)/)
    expect(desk.asked).toHaveLength(1)
    child.kill('SIGKILL')
    await closed
    await expect.poll(() => desk.left, { timeout: 60_000 }).toBe(1)
    desk.decide = usual
    const [, worker = ''] = /^ {2}process +(\d+)$/m.exec(second.stderr) ?? []
    await expect.poll(() => isRunning(Number(worker)), { timeout: 60_000 }).toBe(false)
    const again = printed(second.stderr, 'once it has ended, to go on with its forks')
    expect(again).toEqual(words.filter((word) => word !== '--no-cache'))
    expect((await harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })).stderr).toBe('')
  })

  it.each([
    ['SIGKILL', null],
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('asks no model any more once %s ended it', { tags: 'thorough' }, async (signal, exitCode) => {
    const args = [built('cli/main.js'), 'blame', 'bad', ...right, '--live', '--no-cache', '--parallel', '1']
    const child = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
    desk.decide = () => void child.kill(signal)
    const [code] = await once(child, 'close')
    await expect.poll(() => desk.left, { timeout: 60_000 }).toBe(1)
    expect(desk.asked).toHaveLength(1)
    expect(code).toBe(exitCode)
    // Its worker goes a moment later, and until then another blame of the tape is refused.
    const locks = () =>
      globSync(join(cwd, 'recordings/inbox/.forks/*/.blame.lock.*')).filter((lock) => !isLeftOver(lock))
    await expect.poll(locks, { timeout: 60_000 }).toEqual([])
    if (exitCode !== null) {
      expect(said).toContain('HARVEST_CLI_INTERRUPTED')
      expect(said).toMatch(/nothing is known|Nothing is certified/)
      expect(printed(said, 'to go on')).toEqual(['blame', 'bad', ...right, '--live', '--parallel', '1'])
    }
  })

  it('names the command that works where good answers are missing, before anything is run', async () => {
    const { code, stderr } = await blame('bad', ...right, '--repairs', '--dry-run', '--no-cache')
    expect({ code, asked: desk.asked.length }).toEqual({ code: 2, asked: 0 })
    const [, told = ''] = /: npx vitest-harvest (blame .*--tools live)$/m.exec(stderr) ?? []
    const words = [...told.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '')
    expect(words).toEqual(['blame', 'bad', ...right, '--repairs', '--dry-run', '--no-cache', '--tools', 'live'])
    const again = await harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })
    expect(again.stdout).toContain('nothing was spent')
    expect(again.code).toBe(0)
  })

  it.each([
    ['--min-effect', '0', 'a number above 0 and below 1'],
    ['--min-effect', '1', 'a number above 0 and below 1'],
    ['--confidence', '0.5', 'a number above 0.5 and below 1'],
  ])('refuses %s %s as it was typed, with what it may be', { tags: 'thorough' }, async (option, value, range) => {
    const { code, stderr } = await blame('bad', ...right, option, value, '--dry-run')
    expect(code).toBe(2)
    expect(stderr).toContain(`Invalid ${option}: expected ${range}, got '${value}'`)
    expect(printed(stderr, 'for its default')).toEqual(['blame', 'bad', ...right, '--dry-run'])
  })

  it('--dry-run grades the run and says what to expect; no model is asked', async () => {
    const { code, stdout } = await blame('bad', ...right, '--dry-run', '--no-cache')
    expect(stdout).toMatchInlineSnapshot(`
      "bad replays byte for byte and is graded bad (by --ok refund(amount: 25)); 5 steps in 5 places

      expected                         forks  model calls   cost
      one clear cause                     50           89  $0.05
      likely                              84          150  $0.07
      at most                            400          720  $0.33
      if the same comes out each time      8           14  $0.01

      nothing was spent
      → to ask the models: npx vitest-harvest blame bad --ok 'refund(amount: 25)' --no-cache --live --max-cost 0.34
      "
    `)
    expect({ code, asked: desk.asked.length }).toEqual({ code: 0, asked: 0 })
  })

  it('grades by the function its case names', { tags: 'thorough' }, async () => {
    const golden = join(cwd, 'recordings/golden')
    mkdirSync(golden, { recursive: true })
    copyFileSync(join(cwd, 'recordings/inbox/bad.tape.jsonl'), join(golden, 'known.tape.jsonl'))
    const named = 'case: known\nagent: desk\ntape: known.tape.jsonl\nexpect: fail\noracle: ./src/oracle.ts#isRight\n'
    writeFileSync(join(golden, 'known.case.yaml'), named)
    const { stdout, stderr } = await blame('known', '--dry-run', '--json')
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ gradedBy: '--oracle ./src/oracle.ts#isRight', recorded: 'bad' })
    rmSync(golden, { recursive: true })
  })

  it('that is refused once its oracle has asked a model says how much that was', { tags: 'thorough' }, async () => {
    writeFileSync(
      join(cwd, 'src/judge.ts'),
      `export const cannotSay = async () => {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Is it right?' }] })
  await (await fetch(process.env.DESK_URL + '/v1/chat/completions', { method: 'POST', body })).text()
  return undefined
}
export const fails = async () => { await cannotSay(); throw new Error('no judge') }\n`,
    )
    const by = ['--cross-version', '--live', '--oracle'] as const
    const cannotSay = [...by, './src/judge.ts#cannotSay'] as const
    const said: unknown[] = []
    for (const words of [
      ['bad', ...cannotSay],
      ['bad', '--mutate', ...cannotSay],
      ['bad', '--isolate', ...cannotSay],
      ['bad', ...by, './src/judge.ts#fails'],
    ]) {
      desk.asked.length = 0
      const { code, stderr } = await blame(...words)
      said.push([
        code,
        desk.asked.length,
        /HARVEST_\w+/.exec(stderr)?.[0],
        /^ *spent +(.*)$/m.exec(stderr)?.[1] ?? stderr,
      ])
    }
    rmSync(join(cwd, 'src/judge.ts'))
    expect(said).toMatchInlineSnapshot(`
      [
        [
          2,
          1,
          "HARVEST_ORACLE_UNGRADED",
          "1 model call, $0.0004",
        ],
        [
          2,
          1,
          "HARVEST_BLAME_NO_MUTANTS",
          "1 model call, $0.0004",
        ],
        [
          2,
          1,
          "HARVEST_ORACLE_UNGRADED",
          "1 model call, $0.0004",
        ],
        [
          2,
          1,
          "HARVEST_ORACLE_THREW",
          "1 model call, $0.0004",
        ],
      ]
    `)
  })

  it.skipIf(!hasTerminal)(
    'at a terminal the limits that were typed are what one agrees to',
    { tags: 'thorough' },
    async () => {
      const asked = desk.asked.length
      const lines: readonly (readonly [limits: readonly string[], most: string])[] = [
        [[], '$5.00'],
        [['--max-cost', '20'], '$20.00'],
        [['--max-runs', '400'], '400 forks and $5.00 where the price is known'],
        [['--max-runs', '400', '--max-cost', '0.5'], '400 forks and $0.50'],
      ]
      for (const [limits, most] of lines) {
        const given = { cwd, answer: 'n', env: { DESK_URL: desk.url } }
        const { code, output } = await onTerminal(['blame', 'bad', ...right, ...limits], given)
        expect([code, output]).toEqual([2, expect.stringContaining(`for real, for at most ${most}.`) as string])
      }
      expect(desk.asked).toHaveLength(asked)
    },
  )

  it('is refused before anything is run when it cannot be', { tags: 'thorough' }, () => {
    const lines: readonly (readonly [args: readonly string[], code: number, message: string])[] = [
      [['bad', ...right], 2, 'HARVEST_LIVE_CONSENT'],
      [['bad', ...right, '--live', '--tools', 'mock'], 2, 'Invalid --tools: expected tape or live'],
      [['bad', ...right, '--live', '--max-time', 'soon'], 2, 'Invalid --max-time: expected a duration'],
      [['bad', ...right, '--live', '--confidence', '0.1'], 2, 'expected a number from 0.5 to 1'],
      [['bad', '--oracle', './src/oracle.ts', '--live'], 2, 'Invalid --oracle: expected a file and its export'],
      [['worse', ...right, '--live'], 2, 'HARVEST_TAPE_MISSING'],
      [['bad', ...right, '--live', '--reference', 'nobody'], 2, 'HARVEST_TAPE_MISSING'],
      [['bad', '--ok', 'refund(amount', '--live'], 2, "In column 14 there should be ',' or ')'."],
      [
        ['bad', '--ok', 'refnud(amount: 25)', '--live'],
        2,
        "did you mean refund? npx vitest-harvest blame bad --live --ok 'refund(amount: 25)'",
      ],
      [
        ['bad', '--bad', 'refund(amont: 25)', '--live'],
        2,
        "did you mean amount? npx vitest-harvest blame bad --live --bad 'refund(amount: 25)'",
      ],
      [['other', ...right, '--live', '--max-cost', 'much'], 2, 'Invalid --max-cost: expected a number of at least 0'],
      [['other', ...right, '--live'], 4, 'HARVEST_CROSS_VERSION'],
      [['other', ...right, '--live', '--agent', 'dekc'], 2, 'HARVEST_AGENT_UNKNOWN'],
      [
        ['bad', ...right, '--live', '--reference', 'bad'],
        2,
        `go on without one: npx vitest-harvest blame bad ${right.map(shellWord).join(' ')} --live`,
      ],
    ]
    const inbox = join(cwd, 'recordings/inbox')
    const other = readFileSync(join(inbox, 'bad.tape.jsonl'), 'utf8')
    const { header, events, close } = parseTape(other, 'bad')
    const unknown = { ...header, id: 'other', pins: { ...header.pins, commit: '4f2a9c1' } }
    writeFileSync(join(inbox, 'other.tape.jsonl'), serializeTape(unknown, events, close))
    const answers = many(
      lines.map(([args]) => ['blame', ...args]),
      cwd,
    )
    const said = answers.map(({ code, stderr }, at) => [code, stderr.includes(lines[at]![2])])
    expect(said).toEqual(lines.map(([, code]) => [code, true]))
    expect(desk.asked).toEqual([])
  })
})
