import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { putTape } from '../recordings/make.ts'
import { scratch, warmHarvest as harvest } from './harvest.ts'

async function project(until?: string): Promise<string> {
  const cwd = scratch()
  const retention = until === undefined ? {} : { retention: { class: 'clean' as const, until } }
  const tape = putTape(join(cwd, 'recordings'), 'inbox/run-1', { close: retention })
  await harvest(['promote', 'run-1', '--as', 'refund-100x', '--folder', 'incidents', '--unverified'], { cwd })
  rmSync(tape)
  return cwd
}

describe('harvest demote', () => {
  it('puts the tape back, takes the case out, and it can be promoted again', async () => {
    const cwd = await project()
    const { code, stdout, stderr } = await harvest(['tapes', 'demote', 'refund-100x'], { cwd })
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: [
        'recordings/inbox/run-1.tape.jsonl',
        'removed recordings/golden/incidents/refund-100x.case.yaml',
        'removed recordings/golden/incidents/refund-100x.tape.jsonl',
        '',
      ].join('\n'),
      stderr: '',
    })
    expect(readdirSync(join(cwd, 'recordings/golden/incidents'))).toEqual([])
    expect((await harvest(['promote', 'run-1', '--as', 'refund-100x', '--unverified'], { cwd })).code).toBe(0)
  })

  it('warns when the retention of the tape has ended', async () => {
    const { stderr } = await harvest(['tapes', 'demote', 'refund-100x'], {
      cwd: await project('2026-01-01T00:00:00.000Z'),
    })
    expect(stderr).toBe(
      'its retention ended 2026-01-01T00:00:00.000Z: the next `npx vitest-harvest tapes prune` removes it\n→ to keep it: npx vitest-harvest tapes hold recordings/inbox/run-1.tape.jsonl --reason "…"\n',
    )
  })

  it('of a case that is not there names the nearest, and changes nothing', async () => {
    const cwd = await project()
    const { code, stderr } = await harvest(['tapes', 'demote', 'refund-10x', '--json'], { cwd })
    expect(stderr).toBe('')
    expect(code).toBe(2)
    expect(existsSync(join(cwd, 'recordings/golden/incidents/refund-100x.case.yaml'))).toBe(true)
  })

  it('of a case whose tape is damaged puts it back as it is, says so, and exits with 3', async () => {
    for (const options of [[], ['--json']]) {
      const cwd = await project()
      const golden = join(cwd, 'recordings/golden/incidents/refund-100x.tape.jsonl')
      const damaged = readFileSync(golden, 'utf8').replace('"kind":"close"', '"kind":"clos"')
      writeFileSync(golden, damaged)
      const { code, stdout, stderr } = await harvest(['tapes', 'demote', 'refund-100x', ...options], { cwd })
      expect(code).toBe(3)
      expect(stdout + stderr).toContain('HARVEST_TAPE_')
      expect(stderr.includes('the tape is damaged, and was put back as it was: HARVEST_TAPE_')).toBe(
        options.length === 0,
      )
      expect(readFileSync(join(cwd, 'recordings/inbox/run-1.tape.jsonl'), 'utf8')).toBe(damaged)
      expect(existsSync(golden)).toBe(false)
    }
  })

  it('--json says where the tape is and what is gone', async () => {
    const { stdout } = await harvest(['tapes', 'demote', 'incidents/refund-100x', '--json'], { cwd: await project() })
    expect(JSON.parse(stdout)).toMatchObject({ tape: 'recordings/inbox/run-1.tape.jsonl', removed: { length: 2 } })
  })
})
