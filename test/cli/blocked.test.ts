import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskAgent, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { harvest } from './harvest.ts'
import { printed } from './printed.ts'

describe('an agent that blocks its thread', () => {
  let desk: Desk
  let cwd = ''
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    await recordDesk(cwd, desk)
    await recordDesk(cwd, desk, 'second', ['Refund A-100, please.'])
    writeFileSync(
      join(cwd, 'src/pid.ts'),
      `import { writeFileSync } from 'node:fs'\nwriteFileSync('pid.txt', String(process.pid))\n`,
    )
    const isStuck = `process.env.STUCK !== undefined && ticket.text === 'Refund A-100.'`
    const loop = `if (call?.function.arguments.includes("99") || (${isStuck})) for (;;);\n    if (!call)`
    const agent = deskAgent.replace('if (!call)', loop)
    writeFileSync(join(cwd, 'src/desk.ts'), `import './pid.ts'\n${agent}`)
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  it('is ended with its worker behind --timeout, and that is said', { tags: 'thorough' }, async () => {
    const args = ['fork', 'first', '--step', '3', '--decide', 'refund(amount=99)', '--timeout', '2s']
    const { code, stdout, stderr } = await harvest(args, { cwd, env: { DESK_URL: desk.url, CI: '' } })
    expect([code, stdout, stderr]).toEqual([
      expect.any(Number),
      '',
      expect.stringMatching(
        /^The agent blocked its thread past the time limit[^]*limit +2 s\n[^]*HARVEST_AGENT_TIMEOUT/,
      ),
    ])
    expect(code).not.toBe(0)
    expect(printed(stderr, 'to give it more time').slice(-2)).toEqual(['--timeout', '10m'])
    // Its worker runs no further.
    const pid = readFileSync(join(cwd, 'pid.txt'), 'utf8')
    // One that has ended may wait for whoever took it over.
    expect(spawnSync('ps', ['-o', 'stat=', '-p', pid], { encoding: 'utf8' }).stdout.trim()).toMatch(/^(?:Z.*)?$/)
  })

  it('ends replay, with or without the Vitest config, and one tape of doctor, behind --timeout', {
    tags: 'thorough',
  }, async () => {
    const limit = ['--timeout', '1s']
    const module = ['--module', './src/desk.ts#deskAgent']
    const lines = [
      ['replay', 'first', ...limit],
      ['replay', 'first', ...module, ...limit],
      ['doctor', 'first', 'second', ...limit],
    ]
    const env = { DESK_URL: desk.url, CI: '', STUCK: '1' }
    const [replayed, alone, examined] = await Promise.all(lines.map((line) => harvest(line, { cwd, env })))
    expect(replayed?.stderr).toMatch(/^The agent blocked its thread past the time limit[^]*limit +1 s\n/)
    expect(alone?.stderr).toMatch(/^The replay did not end within its time limit[^]*limit +1 s\n/)
    const more = [replayed, alone].map((one) => printed(one?.stderr ?? '', 'to give it more time'))
    expect(more).toEqual([
      ['replay', 'first', '--timeout', '10m'],
      ['replay', 'first', ...module, '--timeout', '10m'],
    ])
    // Behind the one that was ended the other is looked into.
    expect(examined?.stdout).toMatch(/^Cannot examine first\n  The agent blocked its thread past the time limit/)
    expect(examined?.stdout).toMatch(
      /^1 tape, \d+ replays: nothing found; 1 variable not known to matter; 1 not examined$/m,
    )
    expect([replayed, alone, examined].map((one) => one?.code)).not.toContain(0)
    const free = await harvest(more[1] ?? [], { cwd, env: { DESK_URL: desk.url } })
    expect(free, free.stderr).toMatchObject({ code: 0 })
  })
})
