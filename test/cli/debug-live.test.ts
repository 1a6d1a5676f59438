import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { SessionBudget } from '../../src/cli/debug/budget.ts'
import { framed } from '../../src/cli/debug/dap-stream.ts'
import { openDebugger } from '../../src/cli/debug/open.ts'
import { runScript } from '../../src/cli/debug/script.ts'
import { parse } from '../../src/cli/parse.ts'
import { specs } from '../../src/cli/spec/index.ts'
import type { Screen } from '../../src/report/output.ts'
import { built } from '../support/built.ts'
import { type Desk, deskProject, openDesk, otherRefund, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'

/** The debugger where its lines ask models. */
describe('harvest debug --live', () => {
  let cwd = ''
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\n.vitest\nelsewhere\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the agent')
    mkdirSync(join(cwd, 'recordings/inbox'), { recursive: true })
    await recordDesk(cwd, desk, 'good')
    desk.decide = otherRefund(1)
    await recordDesk(cwd, desk, 'bad')
    desk.decide = usual
  })
  afterEach(() => {
    desk.decide = usual
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const run = async (...args: readonly string[]) => {
    const asked = desk.asked.length
    const answered = await harvest(args, { cwd, env: { DESK_URL: desk.url } })
    return { ...answered, asked: desk.asked.length - asked }
  }
  const debug = (script: string, ...more: readonly string[]) =>
    run('debug', ...more, '--live', '--cross-version', '--parallel', '1', '-x', script)

  it('a row of what_if has the counts and the chance that fork prints of the same change', {
    tags: 'thorough',
  }, async () => {
    // What is asked again does as recorded, which is bad.
    desk.decide = otherRefund(1)
    const ok = 'refund(amount: 25)'
    const changes = ['refund(amount=22)', 'refund(amount=25)']
    const line = `what_if 3 ${changes.map((one) => `'${one}'`).join(' ')} --tools live --runs 6`
    const { stdout } = await debug(line, 'bad', '--ok', ok, '--json')
    const { rows } = JSON.parse(stdout) as { readonly rows: readonly { readonly beside: object }[] }
    const beside = { asRecorded: 6, grades: { bad: 6 }, compares: 'ok' }
    const chances = [1, expect.closeTo(0.0022, 4)]
    expect(rows.map((one) => one.beside)).toMatchObject(chances.map((chance) => ({ ...beside, chance })))
    const table = await debug(line, 'bad', '--ok', ok)
    const lines = table.stdout.split('\n')
    expect(lines.find((one) => one.startsWith('change'))).toMatch(/^change +ok +ok unchanged +as recorded +95 % /)
    const forked = changes.map(async (change) => {
      const args = ['bad', '--step', '3', '--decide', change, '--tools', 'live', '--live', '--cross-version']
      const { stdout: said } = await run('fork', ...args, '--runs', '6', '--ok', ok)
      const [, changed, unchanged] =
        /^with the change (\d of 6).*; without it, sampled in pairs, (\d of 6)/m.exec(said) ?? []
      const [, chance] = /by chance so great .* has probability ([\d.]+)/.exec(said) ?? []
      return [changed, unchanged, chance]
    })
    for (const [at, [changed, unchanged, chance]] of (await Promise.all(forked)).entries()) {
      const row = lines.findIndex((one) => one.startsWith(`${changes[at]} `))
      // Cells fold.
      expect(lines.slice(row, row + 5).join(' ')).toMatch(
        new RegExp(`^\\S+ +${changed} \\(.* {2}${unchanged} \\(.* chance +.*${chance}`),
      )
    }
    expect(await Promise.all(forked)).toEqual([
      ['0 of 6', '0 of 6', '1.0'],
      ['6 of 6', '0 of 6', '0.0022'],
    ])
  })

  it('a budget that lines before used up is no wrong command, and the last command printed does all lines', {
    tags: 'thorough',
  }, async () => {
    // Both ask twice, and so does the unchanged run beside each.
    const first = 'what_if 2 result.total=30 --no-cache'
    const script = `${first}; what_if 2 result.total=31; branch 2 result.total=32`
    const limited = await debug(script, 'good', '--max-calls', '4')
    expect(limited.asked).toBe(4)
    expect(limited.stdout.match(/^the budget of this debugger is used up: --max-calls$/gm)).toHaveLength(2)
    expect(limited.stdout).toMatch(/^ {2}used +4 model calls, \$/m)
    expect(limited.code).toBe(1)
    expect((await debug(`${script}; goto 99`, 'good', '--max-calls', '4')).code).toBe(2)
    const last = limited.stdout.slice(limited.stdout.lastIndexOf('→'))
    const [command, ...args] = printed(last, 'to leave room for this line as well')
    expect([command, args.at(args.indexOf('--commands') + 1)]).toEqual(['debug', script])
    const enough = await run('debug', ...args)
    expect(enough.stdout).not.toContain('used up')
    expect({ code: enough.code, asked: enough.asked }).toEqual({ code: 0, asked: 12 })
  })

  it.each([
    ['kept', 'to go on, as forks that ended are kept', 6, 4],
    ['not kept', 'to begin again, as no fork is kept here', 6, 8],
    // The first question is left open.
    ['not there yet', 'to go on', 1, 8],
  ])(
    'what Ctrl-C ended goes on with the command that is printed, where forks are %s',
    { tags: 'thorough' },
    async (how, about, open, calls) => {
      const outside = join(cwd, 'elsewhere/good.tape.jsonl')
      cpSync(join(cwd, 'recordings/inbox/good.tape.jsonl'), outside)
      const tape = how === 'not kept' ? [outside, '--dir', 'none'] : ['good']
      const script = `goto 2; what_if 2 'result.total=4${open}' --runs 2 --tools live --no-cache; first`
      const args = ['debug', ...tape, '--live', '--cross-version', '--parallel', '1', '-x', script]
      const child = spawn(process.execPath, [built('cli/main.js'), ...args], {
        cwd,
        env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const said = Promise.all([text(child.stdout), text(child.stderr)])
      // Where the sixth question is left open two forks have ended, which are a pair.
      let asked = 0
      desk.decide = (messages) => (++asked < open ? usual(messages) : void child.kill('SIGINT'))
      expect(await once(child, 'close')).toEqual([130, null])
      desk.decide = usual
      const [stdout] = await said
      expect(stdout).toMatch(open === 1 ? /^Interrupted before/m : /^stopped after 2 of 4 forks$/m)
      const again = printed(stdout, `${about}: `)
      expect(again.at(-1)).toBe(`goto 2; what_if 2 result.total=4${open} --runs 2 --tools live; first`)
      const whole = await run(...again)
      expect({ code: whole.code, asked: whole.asked }, whole.stdout).toEqual({ code: 0, asked: calls })
    },
  )

  it('Ctrl-C before a line began its forks begins none, and says how to go on', { tags: 'thorough' }, async () => {
    const [before, { argv }] = [process.cwd(), process]
    process.chdir(cwd)
    process.argv = ['node', 'vitest-harvest', 'debug', 'good', '--commands', 'first; what_if 2 result.total=77']
    try {
      const parsed = parse(process.argv.slice(2), specs)
      if (parsed.kind !== 'run') throw new TypeError('no command')
      const prompt = openDebugger('good', parsed.given, { budget: SessionBudget.of(parsed.given) })
      const lines: string[] = []
      const hear = (line = ''): void => void lines.push(line)
      const screen: Screen = { line: hear, note: hear, json: hear, paint: (_, said) => said, progress: () => {} }
      const output = { screen, isJson: false, expectsStop: false, signal: AbortSignal.abort() }
      await runScript(['what_if 2 result.total=77'], prompt, output)
      expect(lines).toContain('Interrupted before the result was complete')
      expect(lines.at(-1)).toContain('npx vitest-harvest debug good --commands')
    } finally {
      process.chdir(before)
      process.argv = argv
    }
  })

  it('an error has its next steps in JSON, too, as the commands that people are shown', {
    tags: 'thorough',
  }, async () => {
    const { stdout, code } = await debug('what_if 2 result.total=91 --save', 'good', '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { fix: ['to keep it: branch 2 result.total=91'] }])
    const script = 'what_if 2 result.total=78; what_if 2 result.total=79'
    const limited = await debug(script, 'good', '--max-calls', '2', '--json')
    const errors = limited.stdout.trim().split('\n')
    const { fix } = JSON.parse(errors.at(-1) ?? '') as { readonly fix: readonly string[] }
    expect(printed(`→ ${fix[0]}`, 'to leave room for this line as well')).toContain(script)
  })

  it('what_if numbers its runs from --seed, as fork does', { tags: 'thorough' }, async () => {
    const asked = async (more: string) => (await debug(`what_if 2 result.total=90 ${more}`, 'good')).asked
    expect([await asked('--seed 1'), await asked('--seed 6'), await asked('')]).toEqual([4, 4, 0])
  })

  it('what_if keeps no tape, and names the branch that does', { tags: 'thorough' }, async () => {
    const { code, stdout, asked } = await debug('what_if 2 result.total=91 --save --runs 2', 'good')
    expect(stdout).toBe('what_if keeps no tape\n→ to keep it: branch 2 result.total=91 --runs 2\n')
    expect([code, asked]).toEqual([2, 0])
  })

  it('--tools of the command line is for all lines that ask models', { tags: 'thorough' }, async () => {
    const script = `what_if 3 'refund(amount=23)'`
    const { stdout } = await debug(script, 'good', '--tools', 'live')
    expect(stdout).toMatch(/; tools for real/)
    const offline = await run('debug', 'good', '--tools', 'live', '-x', script)
    expect(offline.stdout).toContain('add --live to the line')
  })

  /** The debugger as a server of a coding agent. */
  function mcp(...options: readonly string[]) {
    const args = ['debug', '--mcp', '--parallel', '1', '--live', ...options]
    const child = spawn(process.execPath, [built('cli/main.js'), ...args], {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const send = (message: object) => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    return {
      child,
      send,
      call: (id: number, name: string, given: object) =>
        send({ id, method: 'tools/call', params: { name, arguments: given } }),
      whatIf: (id: number, change: string, step = 2) =>
        send({
          id,
          method: 'tools/call',
          params: { name: 'what_if', arguments: { step, changes: [change], live: true } },
        }),
      cancel: (requestId: number) => send({ method: 'notifications/cancelled', params: { requestId } }),
      /** The next answer: its id, and what it says. */
      async heard(): Promise<{ readonly id?: number; readonly text: string; readonly isError: boolean }> {
        const line = await lines.next()
        if (line.done === true) return { text: 'no more answers', isError: false }
        const { id, result } = JSON.parse(line.value) as {
          id: number
          result: { content?: readonly { text: string }[]; isError?: boolean }
        }
        return { id, text: result.content?.[0]?.text ?? '', isError: result.isError ?? false }
      },
      ended: once(child, 'close'),
    }
  }

  it('a server has one budget for all tapes that it opens', { tags: 'thorough' }, async () => {
    const { call, whatIf, heard, child, ended } = mcp('--cross-version', '--max-calls', '4')
    const before = desk.asked.length
    call(1, 'open_tape', { tape: 'good' })
    whatIf(2, 'result.total=50')
    call(3, 'open_tape', { tape: 'good' })
    whatIf(4, 'result.total=51')
    const said = [await heard(), await heard(), await heard(), await heard()]
    expect(said.map(({ id, isError }) => `${id} ${isError}`)).toEqual(['1 false', '2 false', '3 false', '4 true'])
    expect(said[3]?.text).toContain('the budget of this debugger is used up: --max-calls')
    expect(said[3]?.text).toMatch(/→ .*: npx vitest-harvest debug --mcp .*--max-calls \d+/)
    expect(desk.asked.length - before).toBe(4)
    child.stdin.end()
    expect(await ended).toEqual([0, null])
  })

  it('a server says what other start or call goes on', { tags: 'thorough' }, async () => {
    const { call, whatIf, heard, child, ended } = mcp()
    call(1, 'open_tape', { tape: 'good' })
    whatIf(2, 'result.total=52')
    call(3, 'what_if', { step: 3, changes: ['refund(amount=22)'] })
    const [, other, off] = [await heard(), await heard(), await heard()]
    expect(other?.text).toMatch(/both versions in the result: start the server with npx .* --cross-version$/m)
    expect(off?.text).toMatch(/to ask it: the same call with live: true$/m)
    expect(`${other?.text}${off?.text}`).not.toMatch(/what_if \d|the line/)
    child.stdin.end()
    await ended
  })

  it('a client that leaves pays for no more, and is answered what costs nothing', { tags: 'thorough' }, async () => {
    const { call, whatIf, heard, child, ended } = mcp('--cross-version')
    let asked = 0
    // It never answers.
    desk.decide = () => void (asked++, child.stdin.end())
    call(1, 'open_tape', { tape: 'good' })
    whatIf(2, 'result.total=60')
    whatIf(3, 'result.total=61')
    call(4, 'find', { rule: 'refund()' })
    const said = [await heard(), await heard(), await heard(), await heard()]
    expect(said.map(({ id, isError }) => `${id} ${isError}`)).toEqual(['1 false', '2 true', '3 true', '4 false'])
    expect(said[1]?.text).toMatch(/^Interrupted before[^]*: the same call$/)
    expect(said[2]?.text).toContain('stdin ended before this what_if began')
    expect(said[3]?.text).toContain('1 of 5 steps')
    expect([await ended, asked]).toEqual([[0, null], 1])
  })

  it('a call that is cancelled ends, is not answered, and holds up no ping', { tags: 'thorough' }, async () => {
    const { call, whatIf, heard, send, cancel, child, ended } = mcp('--cross-version')
    const isAsked = Promise.withResolvers<void>()
    let asked = 0
    desk.decide = () => {
      asked++
      isAsked.resolve()
      return undefined
    }
    call(1, 'open_tape', { tape: 'good' })
    whatIf(2, 'result.total=70')
    whatIf(3, 'result.total=71')
    await isAsked.promise
    send({ id: 4, method: 'ping' })
    expect([(await heard()).id, (await heard()).id]).toEqual([1, 4])
    cancel(3)
    cancel(2)
    call(5, 'find', { rule: 'refund()' })
    expect((await heard()).id).toBe(5)
    child.stdin.end()
    expect(await heard()).toMatchObject({ text: 'no more answers' })
    expect([await ended, asked]).toEqual([[0, null], 1])
  })

  it('an editor that ends its input pays for no more', { tags: 'thorough' }, async () => {
    const args = ['debug', 'good', '--dap', '--live', '--cross-version', '--parallel', '1']
    const child = spawn(process.execPath, [built('cli/main.js'), ...args], {
      cwd,
      env: { ...process.env, DESK_URL: desk.url, CI: '', VITEST: '' },
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    let asked = 0
    desk.decide = () => void (asked++, child.stdin.end())
    const lines = ['what_if 2 result.total=80', 'what_if 2 result.total=81']
    const evaluated = lines.map((expression) => ({ command: 'evaluate', arguments: { expression, context: 'repl' } }))
    for (const [at, request] of [{ command: 'initialize' }, { command: 'launch' }, ...evaluated].entries())
      child.stdin.write(framed({ seq: at + 1, type: 'request', ...request }))
    expect([await once(child, 'close'), asked]).toEqual([[0, null], 1])
  })
})
