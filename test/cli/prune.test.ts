import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { putTape } from '../recordings/make.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'
import { inProcess } from './in-process.ts'

function project(): string {
  const cwd = scratch()
  const tape = (id: string, retention: object) =>
    putTape(join(cwd, 'recordings'), `inbox/${id}`, { header: { id }, close: { retention: retention as never } })
  tape('expired', { class: 'clean', until: '2026-03-05T00:00:00.000Z' })
  tape('endless', { class: 'clean' })
  tape('kept', { class: 'incident', until: '9999-01-01T00:00:00.000Z' })
  tape('held', { class: 'clean', until: '2026-03-05T00:00:00.000Z' })
  writeFileSync(join(cwd, 'recordings/inbox/held.hold.json'), '{"hold":"claim 4711\\u001b[2J"}')
  return cwd
}

const left = (cwd: string): readonly string[] =>
  readdirSync(join(cwd, 'recordings/inbox')).flatMap((name) => /^([^.]+)\.tape\.jsonl$/.exec(name)?.slice(1) ?? [])

describe('harvest prune', () => {
  it('removes what has expired, and names what a hold keeps', async () => {
    const cwd = project()
    expect(await harvest(['tapes', 'prune'], { cwd })).toEqual({
      code: 0,
      stdout: [
        'removed recordings/inbox/expired.tape.jsonl  clean, until 2026-03-05T00:00:00.000Z',
        'held recordings/inbox/held.tape.jsonl  claim 4711\\x1b[2J',
        '',
      ].join('\n'),
      stderr: '',
    })
    expect(left(cwd)).toEqual(['endless', 'held', 'kept'])
    expect((await harvest(['tapes', 'prune', '--json'], { cwd })).stdout).toContain('"removed": []')
  })

  it('--dry-run says the same and removes nothing', async () => {
    const cwd = project()
    const { stdout } = await harvest(['tapes', 'prune', '--dry-run', '--older-than', '1d', '--retention', 'clean'], {
      cwd,
    })
    expect(stdout).toContain('would remove recordings/inbox/expired.tape.jsonl')
    expect(stdout).toContain('would remove recordings/inbox/endless.tape.jsonl')
    expect(left(cwd)).toEqual(['endless', 'expired', 'held', 'kept'])
  })

  it('--older-than with --class removes tapes without an end too', async () => {
    const cwd = project()
    await harvest(['tapes', 'prune', '--older-than', '1d', '--retention', 'clean'], { cwd })
    expect(left(cwd)).toEqual(['held', 'kept'])
  })

  it('in an empty inbox says so', async () => {
    expect(await harvest(['tapes', 'prune'], { cwd: scratch() })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no tape whose retention has ended\n',
    })
  })

  it.each([
    [['--older-than', '90d'], '--older-than and --retention go together'],
    [['--retention', 'clean'], '--older-than and --retention go together'],
    [['--older-than', '90', '--retention', 'clean'], 'Invalid --older-than: expected an age such as 90d or 12w, got'],
    [['--older-than', '90d', '--retention', 'claen'], '→ did you mean: --retention clean'],
  ])('%j is refused, and nothing is removed', async (args, message) => {
    const cwd = project()
    const { code, stdout, stderr } = await inProcess(['tapes', 'prune', '--dir', join(cwd, 'recordings'), ...args])
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(left(cwd)).toEqual(['endless', 'expired', 'held', 'kept'])
  })
})
