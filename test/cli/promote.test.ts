import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { harvest, scratch } from './harvest.ts'
import { recordRefund } from './tapes.ts'

const golden = 'recordings/golden/incidents/refund-100x'

async function project(): Promise<string> {
  const folder = scratch()
  await recordRefund(join(folder, 'recordings/inbox'), 'first')
  return folder
}

describe('harvest promote', () => {
  it('writes the case and its tape, and prints the case', async () => {
    const cwd = await project()
    const options = [
      '--group',
      'incidents',
      '--expect',
      'fail',
      '--title',
      'Refunds once',
      '--tag',
      'slow',
      '--tag',
      'money',
    ]
    const lesson = ['--lesson-wrong', 'paid twice', '--lesson-right', 'pay once']
    const { code, stdout } = await harvest(['promote', 'latest', '--as', 'refund-100x', ...options, ...lesson], { cwd })
    expect(code).toBe(0)
    const text = readFileSync(join(cwd, `${golden}.case.yaml`), 'utf8')
    for (const line of text
      .trim()
      .split('\n')
      .filter((one) => !one.includes('said:')))
      expect(stdout).toContain(line.trim().slice(0, 40))
    expect(text).toMatch(
      /^case: refund-100x\nagent: refund\ntape: refund-100x\.tape\.jsonl\nexpect: fail\ntitle: Refunds once\n/m,
    )
    expect(text).toContain('tags: [slow, money]')
    expect(text).toContain('lookup_order')
    expect(readFileSync(join(cwd, `${golden}.tape.jsonl`), 'utf8')).toBe(
      readFileSync(join(cwd, 'recordings/inbox/first.tape.jsonl'), 'utf8'),
    )
    // By the name of its case from now on, and still by the id it was recorded under.
    for (const name of ['refund-100x', 'first']) expect((await harvest(['show', name], { cwd })).code).toBe(0)
  })

  it.each([
    ['no id', ['latest'], '--as <id>'],
    ['an id that is no slug', ['latest', '--as', '../Refund'], 'HARVEST_PROMOTE_ID'],
    ['an expectation that does not exist', ['latest', '--as', 'x', '--expect', 'maybe'], 'pass or fail'],
    ['a tape that is not there', ['secnd', '--as', 'x'], 'HARVEST_TAPE_MISSING'],
  ])('%s: nothing is written, exit code 2', async (_, args, message) => {
    const cwd = await project()
    const { code, stdout, stderr } = await harvest(['promote', ...args], { cwd })
    expect(stderr).toContain(message)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(existsSync(join(cwd, 'recordings/golden'))).toBe(false)
  })

  it('an id that is taken is refused, the case stays as it is', async () => {
    const cwd = await project()
    await harvest(['promote', 'latest', '--as', 'refund-100x', '--title', 'the first'], { cwd })
    const file = join(cwd, 'recordings/golden/refund-100x.case.yaml')
    const before = readFileSync(file)
    const { code } = await harvest(['promote', 'latest', '--as', 'refund-100x', '--title', 'the second'], { cwd })
    expect(code).toBe(2)
    expect(readFileSync(file)).toEqual(before)
  })

  it('--json says where both are', async () => {
    const cwd = await project()
    const { stdout } = await harvest(['promote', 'latest', '--as', 'refund-100x', '--json'], { cwd })
    expect(JSON.parse(stdout)).toMatchObject({
      case: 'recordings/golden/refund-100x.case.yaml',
      tape: 'recordings/golden/refund-100x.tape.jsonl',
    })
  })
})
