import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { putTape } from '../recordings/make.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'
import { hasTerminal, onTerminal } from './terminal.ts'

function project(): string {
  const folder = scratch()
  for (const id of ['first', 'second', 'third']) putTape(join(folder, 'recordings'), `inbox/${id}`, { header: { id } })
  putTape(join(folder, 'recordings'), 'golden/refund-100x', { header: { id: 'golden' } })
  return folder
}

const left = (cwd: string): readonly string[] =>
  readdirSync(join(cwd, 'recordings/inbox'))
    .filter((name) => !name.startsWith('.'))
    .map((name) => name.replace('.tape.jsonl', ''))

describe('harvest rm', () => {
  it('--yes removes the tapes that were named, each once', async () => {
    const cwd = project()
    const { code, stdout } = await harvest(
      ['tapes', 'rm', 'first', 'recordings/inbox/third.tape.jsonl', 'first', '--yes'],
      {
        cwd,
      },
    )
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'removed recordings/inbox/first.tape.jsonl\nremoved recordings/inbox/third.tape.jsonl\n',
    })
    expect(left(cwd)).toEqual(['second'])
  })

  it('without a terminal and without --yes is refused, and says what to paste', async () => {
    const cwd = project()
    const { code, stderr } = await harvest(['tapes', 'rm', 'first', 'second'], { cwd })
    expect(stderr).toContain(
      '→ if that is what you want: npx vitest-harvest tapes rm recordings/inbox/first.tape.jsonl recordings/inbox/second.tape.jsonl --yes',
    )
    expect([code, left(cwd)]).toEqual([2, ['first', 'second', 'third']])
  })

  it('of a golden tape, a tape that is not there, and no tape at all is refused; no other tape is removed then', async () => {
    const cwd = project()
    for (const [args, message] of [
      [['first', 'refund-100x'], 'npx vitest-harvest tapes demote refund-100x'],
      [['first', 'secnd'], "Unknown tape 'secnd'"],
      [[], 'tapes rm needs <...tapes>'],
    ] as const) {
      const { code, stdout, stderr } = await harvest(['tapes', 'rm', ...args, '--yes'], { cwd })
      expect(stderr).toContain(message)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    }
    expect(left(cwd)).toEqual(['first', 'second', 'third'])
    expect(existsSync(join(cwd, 'recordings/golden/refund-100x.tape.jsonl'))).toBe(true)
  })

  it.skipIf(!hasTerminal).each([
    ['y', 0, ['second', 'third']],
    ['n', 2, ['first', 'second', 'third']],
    ['', 2, ['first', 'second', 'third']],
  ])('on a terminal asks, and %j ends with %i', async (answer, code, names) => {
    const cwd = project()
    const ended = await onTerminal(['tapes', 'rm', 'first'], { cwd, answer })
    expect(ended.output).toContain('recordings/inbox/first.tape.jsonl')
    expect(ended.output).toContain('Remove this tape for good? [y/N]')
    expect([ended.code, left(cwd)]).toEqual([code, names])
  })

  it('--json says what is gone', async () => {
    const { stdout } = await harvest(['tapes', 'rm', 'first', '--yes', '--json'], { cwd: project() })
    expect(JSON.parse(stdout)).toEqual({ removed: ['recordings/inbox/first.tape.jsonl'] })
  })
})

describe('harvest hold', () => {
  it('keeps a tape from rm and prune until it is released', async () => {
    const cwd = project()
    expect(await harvest(['tapes', 'hold', 'first', '--reason', 'claim 4711'], { cwd })).toMatchObject({
      code: 0,
      stdout: 'held recordings/inbox/first.tape.jsonl\n',
    })
    const refused = await harvest(['tapes', 'rm', 'first', '--yes'], { cwd })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('claim 4711')
    expect((await harvest(['ls', '--inbox'], { cwd })).stdout).toMatch(/ hold .* recordings\/inbox\/first/)
    expect((await harvest(['tapes', 'hold', 'first', '--release', '--json'], { cwd })).stdout).toContain('"hold": null')
    expect((await harvest(['tapes', 'rm', 'first', '--yes'], { cwd })).code).toBe(0)
  })

  it.each([[[]], [['--reason', ' ']], [['--reason', 'x', '--release']]])('with %j is refused', async (options) => {
    const cwd = project()
    const { code, stderr } = await harvest(['tapes', 'hold', 'first', ...options], { cwd })
    expect(stderr).toContain('hold needs either --reason <text> or --release')
    expect([code, left(cwd)]).toEqual([2, ['first', 'second', 'third']])
  })
})
