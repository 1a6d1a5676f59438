import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
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

  it('a row of what_if has the counts and the chance that fork prints of the same change', async () => {
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

  it('a budget that lines before used up is no wrong command, and the last command printed does all lines', async () => {
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
})
