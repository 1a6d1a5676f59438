import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { harvest, scratch } from './harvest.ts'
import { recordRefund } from './tapes.ts'

async function project(): Promise<string> {
  const folder = scratch()
  await recordRefund(join(folder, 'recordings/inbox'), 'first')
  await recordRefund(join(folder, 'recordings/inbox'), 'second')
  return folder
}

describe('harvest ls', () => {
  it('lists tapes, oldest first, with agent, steps and outcome', async () => {
    const cwd = await project()
    const { code, stdout, stderr } = await harvest(['ls'], { cwd })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout
      .split('\n')
      .map((line) => line.replace(/\d{4}-\S+Z/, '<when>').replace(/"at":\d+/, '"at":<now>'))
    expect(lines.map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      'started  agent  steps  outcome  tape',
      '<when>  refund  3  returned {"refunded":25,"at":<now>,"sai…  recordings/inbox/first.tape.jsonl',
      '<when>  refund  3  returned {"refunded":25,"at":<now>,"sai…  recordings/inbox/second.tape.jsonl',
      '',
    ])
  })

  it('--json holds the same', async () => {
    const cwd = await project()
    const { stdout } = await harvest(['ls', '--dir', 'recordings/inbox', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({
      tapes: [
        { id: 'first', agent: 'refund', steps: 3, pins: { commit: '4f2a9c1' } },
        { id: 'second', file: 'recordings/inbox/second.tape.jsonl' },
      ],
      unreadable: [],
    })
  })

  it('names what is no tape, and lists the others', async () => {
    const cwd = await project()
    writeFileSync(join(cwd, 'recordings/inbox/broken.tape.jsonl'), '{"harvest":1}\n')
    const { code, stdout, stderr } = await harvest(['ls'], { cwd })
    expect(stdout).toContain('second.tape.jsonl')
    expect(stderr).toMatch(/^recordings\/inbox\/broken\.tape\.jsonl: .+ \(HARVEST_TAPE_\w+\)\n$/)
    expect(code).toBe(3)
  })

  it('an empty inbox says how to fill it, a folder that is not there is an error', async () => {
    const cwd = scratch()
    expect(await harvest(['ls'], { cwd })).toEqual({
      code: 0,
      stdout: '',
      stderr: 'no tapes in recordings\n→ to make one: harvest record -- node agent.js\n',
    })
    expect(await harvest(['ls', '--dir', 'recordigns'], { cwd })).toMatchObject({ code: 2, stdout: '' })
  })
})

describe('the name of a tape', () => {
  it('is its id, its path, or latest', async () => {
    const cwd = await project()
    for (const name of ['second', 'latest', 'recordings/inbox/second.tape.jsonl']) {
      const { stdout } = await harvest(['show', name, '--json'], { cwd })
      expect(JSON.parse(stdout)).toMatchObject({ header: { id: 'second' } })
    }
  })

  it('mistyped, is answered with the nearest', async () => {
    const { code, stderr } = await harvest(['show', 'secnd'], { cwd: await project() })
    expect(stderr).toContain('→ did you mean: second')
    expect(code).toBe(2)
  })

  it('that two tapes have is refused, both are named', async () => {
    const cwd = await project()
    mkdirSync(join(cwd, 'recordings/golden'))
    cpSync(join(cwd, 'recordings/inbox/first.tape.jsonl'), join(cwd, 'recordings/golden/first.tape.jsonl'))
    const { code, stderr } = await harvest(['show', 'first'], { cwd })
    expect(stderr).toContain('recordings/golden/first.tape.jsonl')
    expect(stderr).toContain('recordings/inbox/first.tape.jsonl')
    expect(code).toBe(2)
  })
})
