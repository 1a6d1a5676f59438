import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskAgent, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { type Answered, warmHarvest as harvest } from './harvest.ts'
import { many } from './many.ts'
import { printed } from './printed.ts'
import { configFor } from './project.ts'

const tooMuch: Desk['decide'] = (messages) => {
  const done = messages.filter(({ role }) => role === 'tool').length
  if (done === 1) return { tool: 'refund', args: { order_id: 'A-100', amount: 2500 } }
  return done === 2 ? 'I refunded 2500 EUR.' : usual(messages)
}

describe('a next step that is printed leads on in one step, and names what it is about', () => {
  let desk: Desk
  let cwd = ''
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const run = (...words: readonly string[]): Promise<Answered> =>
    harvest(words, { cwd, env: { DESK_URL: desk.url, CI: '' } })
  const worked = async (words: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(...words)
    expect(code, stdout + stderr).toBe(0)
    return stdout
  }
  const file = (): string => join(cwd, 'src/desk.ts')
  beforeAll(async () => {
    desk = await openDesk(tooMuch)
    cwd = deskProject()
    writeFileSync(join(cwd, 'src/kind.ts'), deskAgent.replace('Look it up first.', 'Look it up, kindly.'))
    writeFileSync(
      join(cwd, 'vitest.config.ts'),
      configFor({ desk: './src/desk.ts#deskAgent', kind: './src/kind.ts#deskAgent' }),
    )
    writeFileSync(
      join(cwd, 'src/oracle.ts'),
      `export const isRight = () => { throw new Error('no db at postgres://ada:tr33house@db.example.com/x') }\n`,
    )
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\nrecordings/forks\n.vitest\n')
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    const head = git('rev-parse', 'HEAD').trim()
    await recordDesk(cwd, desk, 'bad', ['Refund A-100.', head])
    desk.decide = () => ({ status: 500 })
    await expect(recordDesk(cwd, desk, 'thrown', ['Refund A-100.', head])).rejects.toThrow('recording failed')
    desk.decide = usual
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })

  it('a fork whose decision was edited needs models and tools: both are said at once, and that is judged', {
    tags: 'thorough',
  }, async () => {
    const edited = await run('fork', 'bad', '--step', '3', '--edit', 's/2500/10/')
    expect(edited.code).toBe(1)
    expect(edited.stdout).not.toContain('to continue with live models')
    expect(await worked(printed(edited.stdout, 'to run its tools for real'))).toContain('the outcome is another one')
    // Where a model is asked first, what its decision may need is said as well.
    const told = await run('fork', 'bad', '--step', '2', '--set', 'result.total=30')
    const live = printed(told.stdout, 'to continue with live models')
    expect(printed(told.stdout, 'if they decide on other calls')).toEqual([...live, '--tools', 'live'])
  })

  it('a fork that leaves its tape is graded by the calls it made, as in blame, in both spellings of a call', {
    tags: 'thorough',
  }, async () => {
    for (const ok of ['refund(amount: 25)', 'refund(amount=25)']) {
      const { code, stdout } = await run('fork', 'bad', '--step', '3', '--live', '--ok', ok)
      expect(stdout).toContain(`graded by --ok ${ok}: 1 ok by calls made before they left the tape`)
      expect(code).toBe(0)
    }
    // Other decisions of its models are graded so, too.
    const critical = await run('fork', 'bad', '--critical', '--ok', 'refund(amount: 25)')
    expect(critical.stdout).toMatch(
      /refund\(.*25.*\): graded by calls made before it left the tape, ok \(HARVEST_NOT_REC/,
    )
    expect(critical.stdout).toMatch(/\ncritical: .*3/)
    expect(critical.stdout).toMatch(/\nbest alternative: step 3, refund\(.*25/)
    const open = await run('fork', 'bad', '--step', '3', '--live', '--ok', 'answer~25')
    expect([open.code, open.stdout]).toEqual([1, expect.stringContaining('no fork could be judged')])
  })

  it('who may go on is mistyped: it is an invalid option, with the nearest one as the whole command', () => {
    const fork = ['fork', 'bad', '--step', '3']
    const tails = ['tpae', 'lvie', 'nothing-like-it', './src/dekc.ts#answer']
    const [tape, live, none, script] = many(
      tails.map((tail) => [...fork, '--tail', tail]),
      cwd,
    )
    for (const { code, stderr } of [tape, live, none, script].flatMap((one) => one ?? []))
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^Invalid --tail: expected /)])
    expect(printed(tape?.stderr ?? '', 'did you mean tape')).toEqual([...fork, '--tail', 'tape'])
    expect(printed(live?.stderr ?? '', 'did you mean live models')).toEqual([...fork, '--live'])
    expect(printed(none?.stderr ?? '', 'to see the runs')).toEqual(['ls'])
    expect(printed(script?.stderr ?? '', 'did you mean')).toEqual([...fork, '--tail', './src/desk.ts#answer'])
    const [chaos] = many([['chaos', 'bad', '--arbitrary', './src/dekc.ts#all']], cwd)
    expect(chaos?.stderr).toContain('--arbitrary ./src/desk.ts#all')
  })

  it('another agent that goes on is the one that is looked at', { tags: 'thorough' }, async () => {
    const { stdout } = await run('fork', 'bad', '--step', '3', '--continue-with', 'kind')
    expect(stdout).not.toContain('doctor')
    const look = printed(stdout, 'to see what this agent does differently')
    expect(look).toEqual(['replay', 'bad', '--agent', 'kind'])
    expect((await run(...look)).stderr).toContain('Look it up [-first-] {+, kindly+}.')
    expect(printed(stdout, 'to let it go on where it differs').slice(-2)).toEqual(['--step', '1'])
  })

  it('a model that cannot be asked: one count of its forks, and what to see to', { tags: 'thorough' }, async () => {
    const blame = ['blame', 'bad', '--ok', 'refund(amount: 25)', '--live', '--max-cost', '1', '--parallel', '1']
    desk.decide = () => ({ status: 401 })
    const { stdout } = await run(...blame)
    const [, ungraded, all] = /^Undecidable: (\d+) of (\d+) forks are ungraded\.$/m.exec(stdout) ?? []
    expect([ungraded, stdout]).toEqual([all, expect.stringContaining(`\n${all} forks are ungraded and not counted`)])
    expect(stdout).toContain(`${all} × A model answered with status 401`)
    const { stdout: json } = await run(...blame.with(-1, '3'), '--json')
    const { verdict, unclear, spent } = JSON.parse(json) as {
      verdict: object
      unclear: readonly { forks: number }[]
      spent: { forks: number }
    }
    expect(verdict).toMatchObject({ kind: 'undecidable', ungraded: spent.forks, forks: spent.forks })
    expect(unclear[0]?.forks).toBe(spent.forks)
    desk.decide = usual
    const again = printed(stdout, 'once the key (usually OPENAI_API_KEY), quota and address of the model are right')
    expect(again).toEqual(blame)
    expect(await worked(again)).toContain('decided the outcome')
  })

  it('an unchanged run that takes longer than one run may: more time', { tags: 'thorough' }, async () => {
    const blame = ['blame', 'bad', '--ok', 'refund(amount: 25)', '--dry-run', '--timeout', '1ms']
    const { code, stderr } = await run(...blame)
    expect([code, stderr]).toEqual([1, expect.stringContaining('The control run had not ended when its time was up')])
    expect(await worked(printed(stderr, 'with more time'))).toContain('nothing was spent')
  })

  it('a model that does not answer in time: more time', { tags: 'thorough' }, async () => {
    const blame = ['blame', 'bad', '--ok', 'refund(amount: 25)', '--live', '--max-runs', '1', '--timeout', '8s']
    desk.decide = () => undefined
    const { stdout } = await run(...blame, '--no-cache')
    desk.decide = usual
    expect(stdout).toContain(
      '1 fork is ungraded and not counted; most often: A model had not answered when the time of the run was up',
    )
    expect(stdout).not.toContain('once the key')
    expect(printed(stdout, 'if the model needs more time')).toEqual([...blame.slice(0, -2), '--timeout', '40s'])
  })

  it('a dry run without the cache changes nothing: the forks of earlier sessions still count', {
    tags: 'thorough',
  }, async () => {
    const file = join(cwd, 'recordings/inbox/.forks/bad/blame.jsonl')
    const before = readFileSync(file, 'utf8')
    expect(before.length).toBeGreaterThan(0)
    const dry = ['blame', 'bad', '--ok', 'refund(amount: 25)', '--dry-run'] as const
    await worked([...dry, '--no-cache'])
    expect(readFileSync(file, 'utf8')).toBe(before)
    expect(await worked(dry)).toContain('forks of earlier sessions')
    // A script that nothing loads is no other code.
    writeFileSync(join(cwd, 'src/scratch.ts'), 'export {}\n')
    expect(await worked(dry)).toContain('forks of earlier sessions')
    // Who reads another file is unknown.
    renameSync(join(cwd, 'src/scratch.ts'), join(cwd, 'src/scratch.txt'))
    const other = await run(...dry)
    rmSync(join(cwd, 'src/scratch.txt'))
    expect([other.code, other.stderr]).toEqual([4, expect.stringContaining('HARVEST_CROSS_VERSION')])
  })

  it('what an oracle throws is printed without its secrets', { tags: 'thorough' }, async () => {
    const { code, stderr } = await run('blame', 'bad', '--oracle', './src/oracle.ts#isRight', '--dry-run')
    expect([code, stderr]).toEqual([2, expect.stringContaining('error   Error: no db at postgres://ada:')])
    expect(stderr).not.toContain('tr33house')
  })

  it('a changed prompt of an incident: the case that is made of it is known bad, and can be forked', {
    tags: 'thorough',
  }, async () => {
    const code = readFileSync(file(), 'utf8')
    writeFileSync(file(), code.replace('Look it up first.', 'Look it up first, always.'))
    const fork = ['fork', 'bad', '--step', '3', '--say', 'No.'] as const
    const refused = await run(...fork)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('HARVEST_CONTROL')])
    const promoted = printed(refused.stderr, 'if it went wrong, make it a case', { '<id>': 'incident' })
    expect(promoted).toEqual(['promote', 'bad', '--as', 'incident', '--expect', 'fail', '--unverified'])
    await worked(promoted)
    const accept = printed(refused.stderr, 'accept the change there', { '<id>': 'incident', '…': 'always' })
    await worked(accept)
    await worked(['fork', 'incident', ...fork.slice(2)])
    const { stderr } = await run('fork', 'thrown', '--step', '1')
    const thrown = printed(stderr, 'make it a case', { '<id>': 'thrown-500' })
    expect(thrown).toEqual(['promote', 'thrown', '--as', 'thrown-500', '--expect', 'fail', '--unverified'])
    await worked(thrown)
    await worked(['tapes', 'demote', 'thrown-500'])
    const right = printed(refused.stderr, 'if it went right, make it a case', { '<id>': 'other' })
    expect(right).toEqual(['promote', 'bad', '--as', 'other', '--unverified'])
    git('add', '-A')
    git('commit', '--quiet', '-m', 'always')
  })

  it('a replay that is unproven leads to a case where there is none, and to its acceptance where there is one', {
    tags: 'thorough',
  }, async () => {
    for (const exact of [[], ['--exact']]) {
      const { code, stdout, stderr } = await run('replay', 'thrown', ...exact)
      expect([code, stdout + stderr]).toEqual([1, expect.stringContaining('HARVEST_UNPROVEN')])
      expect(stdout + stderr).not.toContain('--change')
      const promoted = printed(stdout + stderr, 'make it a case', { '<id>': 'thrown-500' })
      expect(promoted).toEqual(['promote', 'thrown', '--as', 'thrown-500', '--expect', 'fail', '--unverified'])
      const accept = printed(stdout + stderr, 'accept the change there', { '<id>': 'thrown-500', '…': 'always' })
      await worked(promoted)
      await worked(accept)
      // What was accepted in its case holds for the tape in the inbox, too.
      await worked(['replay', 'thrown'])
      await worked(['tapes', 'demote', 'thrown-500'])
    }
    const code = readFileSync(file(), 'utf8')
    writeFileSync(file(), code.replace('Look it up first, always.', 'Look it up at once.'))
    const { stderr } = await run('replay', 'bad')
    expect(printed(stderr, 'if the agent is fixed')).toEqual(['fix', 'incident'])
    const accept = printed(stderr, 'if you looked and it is meant', { '…': 'at once' })
    expect(accept).toEqual(['accept', 'incident', '--reason', 'at once'])
    await worked(accept)
    await worked(['replay', 'bad'])
    // What is accepted of today's code is no part of a fix.
    const now = readFileSync(file(), 'utf8')
    writeFileSync(file(), now.replace("'gpt-4o', messages", "'gpt-4o', temperature: 0, messages"))
    const fix = await run('fix', 'incident', '--ok', 'refund(amount: 25)')
    expect(fix.stdout).toContain('changed: system prompt (step 1, accepted before): ')
    expect(fix.stdout).toContain('changed: temperature (step 1): ')
    git('checkout', '--quiet', 'recordings')
    writeFileSync(file(), code)
  })

  it('the words that stand for a reason in printed commands are no reason', async () => {
    const [accept, text, hold] = many(
      [
        ['accept', 'incident', '--reason', '…'],
        ['accept', 'incident', '--reason', '<text>'],
        ['tapes', 'hold', 'bad', '--reason', '…'],
      ],
      cwd,
    )
    for (const { code, stderr } of [accept, text, hold].flatMap((one) => one ?? []))
      expect([code, stderr]).toEqual([2, expect.stringContaining('your own words')])
    const update = await run('test', '--update-recordings', '--reason', '…')
    expect([update.code, update.stderr]).toEqual([2, expect.stringContaining('HARVEST_UPDATE_REASON')])
    expect(git('status', '--short')).toBe('')
    expect(existsSync(join(cwd, 'recordings/inbox/bad.tape.jsonl.hold'))).toBe(false)
  })

  it('a tape that was deleted is named by what proves and accepts, with the command that brings it back', {
    tags: 'thorough',
  }, async () => {
    const tape = 'recordings/golden/incident.tape.jsonl'
    rmSync(join(cwd, tape))
    for (const words of [
      ['test', '--prove'],
      ['accept', '--list'],
    ]) {
      const { code, stdout, stderr } = await run(...words)
      const said = stdout + stderr
      expect([code, said]).toEqual([1, expect.stringContaining('not replayed: golden/incident')])
      expect(said).toContain(`tape  ${tape}`)
      expect(said).toContain(`→ to get the committed tape back: git restore --staged --worktree ${tape}\n`)
    }
    git('restore', '--staged', '--worktree', tape)
    expect(git('status', '--short')).toBe('')
  })

  it('what only differs is shown by the command that is printed for it', { tags: 'thorough' }, async () => {
    const code = readFileSync(file(), 'utf8')
    writeFileSync(
      file(),
      code
        .replace('order_id, refunded: amount', 'order_id, refunded: amount + 0')
        .replace('return { answer: message.content }', "return { answer: 'Dear: ' + message.content }"),
    )
    const { stdout } = await run('accept', '--list')
    expect(stdout).toContain('different: golden/incident')
    const shown = await run(...printed(stdout, 'to see the difference'))
    expect(shown).toMatchObject({ code: 1, stderr: expect.stringContaining('Dear') as string })
    // Of a run and of a case it is shown by what reads them, too, as `replay` does.
    const differs = /differs at +answer\n +recorded +I refunded 2500 EUR\.\n +now +Dear: I refunded 2500 EUR\.\n/
    expect((await run('replay', 'bad')).stderr).toMatch(differs)
    for (const name of ['bad', 'incident']) expect((await run('show', name, '--replay')).stdout).toMatch(differs)
    const { stdout: json } = await run('show', 'bad', '--replay', '--json')
    expect(JSON.parse(json)).toMatchObject({
      now: { verdict: 'different', differences: [{ code: 'HARVEST_OUTCOME' }] },
    })
    writeFileSync(file(), code)
    // What a case says otherwise than its tape is shown with it.
    const kase = join(cwd, 'recordings/golden/incident.case.yaml')
    const text = readFileSync(kase, 'utf8')
    writeFileSync(kase, text.replace(/refund\(/, 'refunded('))
    expect((await run('show', 'incident', '--replay')).stdout).toContain('The tool calls differ from the baseline')
    writeFileSync(kase, text)
    expect((await run('show', 'incident', '--replay')).stdout).not.toContain('HARVEST_')
  })

  it('functions of tools are offered once they are written, and not after a success', {
    tags: 'thorough',
  }, async () => {
    const rerun = ['rerun', 'incident', '--live', '--runs', '2', '--cross-version'] as const
    const failed = await run(...rerun, '--ok', 'answer~25')
    const offered = printed(failed.stdout, 'to answer unrecorded calls, once a file such as test/tools.ts')
    // A command that names a file which is not there would not start.
    expect(offered.slice(-2)).toEqual(['--tools', '<file>'])
    const own = [...offered.slice(0, -1), './test/tools.ts']
    mkdirSync(join(cwd, 'test'))
    writeFileSync(join(cwd, 'test/tools.ts'), 'export const refund = ({ amount }: any) => ({ refunded: amount })\n')
    expect(
      printed((await run(...rerun, '--ok', 'answer~25')).stdout, 'to answer unrecorded calls with your own'),
    ).toEqual(own)
    await worked(own)
    expect(await worked([...rerun, '--ok', 'refund(amount: 25)'])).not.toContain('→')
  })

  it('two proofs side by side ask git for the code, and neither takes that for what the agent of the other does', {
    tags: 'thorough',
  }, async () => {
    await recordDesk(cwd, desk, 'again', ['Refund A-100.', git('rev-parse', 'HEAD').trim()])
    await worked(['promote', 'again', '--as', 'second'])
    const code = readFileSync(file(), 'utf8')
    writeFileSync(file(), code.replace('Look it up first, always.', 'Look it up at first.'))
    const { stdout, stderr } = await run('test', '--prove', '--yes', '--max-cost', '1')
    expect(stdout + stderr).not.toMatch(/HARVEST_ESCAPE|HARVEST_GIT_UNREADABLE/)
    expect(stdout).toMatch(/^proven +golden\/second/m)
    writeFileSync(file(), code)
  })

  it('a path of another search is no schedule: that is said, with the command that looks for others', {
    tags: 'thorough',
  }, async () => {
    const chaos = ['chaos', 'incident', '--seed', '3']
    const { code, stderr } = await run(...chaos, '--path', '99:99:99')
    expect([code, stderr]).toEqual([2, expect.stringContaining('No schedule of faults has this path')])
    expect(printed(stderr, 'to try other schedules')).toEqual(chaos)
    const [ending] = many([['chaos', 'bad', '--fail', 'crsh,hang']], cwd)
    expect(printed(ending?.stderr ?? '', 'did you mean crash')).toEqual(['chaos', 'bad', '--fail', 'crash,hang'])
  })
})
