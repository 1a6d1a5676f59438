import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'

/** Oracles that grade some runs alone, and one that asks a model. */
const oracles = `export const silent = () => undefined
export const recorded = ({ value }: any) => (value?.answer === 'I refunded 25 EUR.' ? false : undefined)
export const judge = async ({ value }: any) => {
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Is it right?' }] })
  const response = await fetch(process.env.DESK_URL + '/v1/chat/completions', { method: 'POST', body })
  return response.ok && value?.answer !== 'I refunded 25 EUR.'
}
`

interface Decision {
  readonly verdict: string
  readonly tried: readonly { readonly outcome: string; readonly because: string }[]
}

describe('without a grade', () => {
  let cwd = ''
  let desk: Desk
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, 'src/oracles.ts'), oracles)
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\n.vitest\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the agents')
    await recordDesk(cwd, desk, 'first', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    const golden = join(cwd, 'recordings/golden')
    mkdirSync(golden, { recursive: true })
    for (const name of ['silent', 'recorded', 'judge']) {
      copyFileSync(join(cwd, 'recordings/inbox/first.tape.jsonl'), join(golden, `${name}.tape.jsonl`))
      writeFileSync(
        join(golden, `${name}.case.yaml`),
        `case: ${name}\nagent: desk\ntape: ${name}.tape.jsonl\nexpect: fail\noracle: ./src/oracles.ts#${name}\n`,
      )
    }
    expect((await run('promote', 'first', '--as', 'plain', '--expect', 'fail', '--unverified')).code).toBe(0)
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const run = async (...args: string[]) => {
    const before = desk.asked.length
    const answered = await harvest(args, { cwd, env: { DESK_URL: desk.url, CI: '' } })
    return { ...answered, asked: desk.asked.length - before }
  }

  it.each([
    ['nothing grades', 'first', 'HARVEST_ORACLE_MISSING'],
    ['the oracle cannot say', 'silent', 'HARVEST_ORACLE_UNGRADED'],
  ])(
    'of the recorded run no decision is critical: refused before a model is asked, as %s',
    { tags: 'thorough' },
    async (_, name, code) => {
      const refused = await run('fork', name, '--critical', '--live', '--cross-version')
      expect(refused).toMatchObject({ code: 2, asked: 0, stdout: '', stderr: expect.stringContaining(`(${code})`) })
      const graded = await run(...printed(refused.stderr, 'if what it did was bad').slice(0, 3), '--bad', 'refund(*)')
      expect(graded).toMatchObject({ code: 0, stdout: expect.stringMatching(/^critical: 1, 3$/m) })
    },
  )

  it('of a case that only says what is bad, each other decision counts, and what is right can be said', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout } = await run('fork', 'plain', '--critical')
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^critical: 1, 3$/m) })
    expect(stdout).not.toContain('best alternative')
    const right = printed(stdout, 'to grade runs by what is right', { '<right>': 'refund(amount: 25)' })
    expect((await run(...right)).stdout).toContain('graded by --ok refund(amount: 25); the recorded run is ok')
  })

  it('a fork is neither of the same grade nor of another: its decision is unknown, and it is counted', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout } = await run('fork', 'recorded', '--critical', '--json')
    const { decisions } = JSON.parse(stdout) as { decisions: readonly Decision[] }
    expect(decisions.map(({ verdict }) => verdict)).toEqual(['unknown', 'unknown', 'unknown'])
    for (const { outcome, because } of decisions.flatMap(({ tried }) => tried))
      expect([outcome, because]).toEqual(['not judged', 'no grade'])
    expect(code).toBe(1)
    const text = await run('fork', 'recorded', '--critical')
    expect(text.stdout).toMatch(/^critical: none shown$/m)
    expect(text.stdout).toMatch(/^no judged alternative changes the grade: none$/m)
    expect(text.stdout).toMatch(/^not judged: 2 of 2 alternatives; 2 with no grade$/m)
  })

  it.each([
    ['fork', 'judge', '--step', '3', '--say', 'No.'],
    ['blame', 'judge', '--live', '--cross-version'],
    ['blame', 'judge', '--dry-run'],
    ['fix', 'judge'],
    ['fix', 'silent', '--oracle', './src/oracles.ts#judge'],
  ])('no model is asked for one with --max-cost 0: %s %s %s', { tags: 'thorough' }, async (...args) => {
    const { code, stderr, asked } = await run(...args, '--max-cost', '0')
    expect({ code, asked }, stderr).toEqual({ code: 2, asked: 0 })
    expect(stderr).toContain('(HARVEST_BUDGET_USED)')
    const paid = printed(stderr, 'to pay for grades, with a limit')
    expect((await run(...paid)).asked, paid.join(' ')).toBeGreaterThan(0)
    const [, ...called] = printed(stderr, 'or grade by a call that is right', { '<call>': 'refund(amount: 26)' })
    const free = await run(args[0] ?? '', ...called)
    expect([free.asked, free.stderr]).toEqual([0, expect.not.stringContaining('HARVEST_BUDGET_USED')])
  })

  it('a fork is compared and saved all the same, and no count of grades has it', { tags: 'thorough' }, async () => {
    const args = ['--step', '3', '--say', 'No.'] as const
    const { code, stdout } = await run('fork', 'recorded', ...args, '--save')
    expect(stdout).toMatch(/^ +1 +other +no grade +other /m)
    expect(stdout).toMatch(/recorded: 1 with no grade, not counted; the recorded run is bad$/m)
    expect(stdout).toMatch(/^seed 1 is saved: /m)
    expect(code).toBe(1)
    const bare = await run('fork', 'first', ...args)
    expect(bare).toMatchObject({ code: 0, stdout: expect.stringContaining('the outcome is another one') })
    expect(bare.stdout).not.toContain('grade')
  })
})
