import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Desk, deskProject, openDesk, recordDesk, usual } from './desk.ts'
import { warmHarvest as harvest } from './harvest.ts'
import { printed } from './printed.ts'

const answered = 'return { answer: message.content }'
const kindly = "return { answer: 'Dear customer, ' + message.content }"
const told = 'Look it up first.'

describe('what commands compare with, once the code of an agent has changed', () => {
  let cwd = ''
  let desk: Desk
  beforeAll(async () => {
    desk = await openDesk(usual)
    cwd = deskProject()
    writeFileSync(join(cwd, '.gitignore'), 'node_modules\nrecordings/inbox\nrecordings/forks\n.vitest\n')
    git('init', '--quiet')
    commit('the agent')
    await recordDesk(cwd, desk, 'first', ['Refund A-100.', head()])
    expect((await run('promote', 'first', '--as', 'refund', '--unverified')).code).toBe(0)
    commit('the case')
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
  const commit = (subject: string): void => {
    git('add', '-A')
    git('commit', '--quiet', '-m', subject)
  }
  const head = (): string => git('rev-parse', 'HEAD').trim()
  const run = (...args: string[]) => harvest(args, { cwd, env: { DESK_URL: desk.url, CI: '' } })
  const edit = (from: string, to: string): void => {
    const file = join(cwd, 'src/desk.ts')
    const text = readFileSync(file, 'utf8')
    expect(text).toContain(from)
    writeFileSync(file, text.replace(from, to))
  }
  const json = async <T>(...args: string[]): Promise<T> => {
    const { stdout, stderr } = await run(...args, '--json')
    expect(stderr).toBe('')
    return JSON.parse(stdout) as T
  }
  const decisions = async () => {
    const { stdout } = await run('fork', 'refund', '--critical')
    return stdout.split('\n').filter((line) => /^(?:critical|no judged|nothing could)/.test(line))
  }
  const critical = ['critical: 1, 3', 'no judged alternative changes the grade: none', 'nothing could be judged: 5']
  const notRefunded = ['fork', 'refund', '--step', '3', '--say', 'I refunded nothing.'] as const
  const late = ['fork', 'refund', '--step', '1', '--clock', '+2h'] as const
  const sameInput = ['patch', 'refund', '--step', '4', '--set', 'result.order_id=A-100'] as const

  it('code as recorded: nothing more is printed, and a change has the effect it has', async () => {
    const { stdout } = await run(...notRefunded)
    expect(stdout).not.toContain("today's code")
    expect(stdout).toContain('the outcome is another one')
    expect(await json(...sameInput)).toMatchObject({ survives: true, alreadyDiffers: null })
    expect(await decisions()).toEqual(critical)
  })

  it('a variable that decides what the agent does leads to the doctor, which names its line', {
    tags: 'thorough',
  }, async () => {
    edit('JSON.parse(call.function.arguments) as never', 'inUnits(JSON.parse(call.function.arguments)) as never')
    edit(
      'export async function',
      `const inUnits = (args: any) =>
  args.amount === undefined ? args : { ...args, amount: args.amount * Number(process.env.MINOR_UNITS ?? 1) }
export async function`,
    )
    const env = { DESK_URL: desk.url, CI: '', MINOR_UNITS: '100' }
    const { stderr } = await harvest(notRefunded, { cwd, env })
    expect(stderr).toContain('(HARVEST_CONTROL)')
    const doctor = printed(stderr, 'if its code did not change, to find what its runs depend on')
    expect(doctor).toEqual(['doctor', 'refund'])
    const { code, stdout } = await harvest(doctor, { cwd, env })
    expect(stdout).toMatch(/^src\/desk\.ts:\d+:\d+\n {2}environment: process\.env\.MINOR_UNITS\n/m)
    expect(code).toBe(1)
    git('checkout', '--quiet', '--', 'src/desk.ts')
  })

  it('accepted code: what it alone changes is no effect of a fork, a decision, a patch or a fault', {
    tags: 'thorough',
  }, async () => {
    edit(answered, kindly)
    const update = await run('test', '--update-recordings', '--reason', 'kinder')
    expect(update.code, update.stdout + update.stderr).toBe(0)

    const clock = await run(...late)
    expect(clock.stdout).toContain(
      "compared with today's code: it already differs from the recording at step 5 (outcome.answer)",
    )
    expect(clock.stdout).toContain('the outcome survives')
    expect((await run(...notRefunded)).stdout).toContain('the outcome is another one')
    // As before the update.
    expect(await decisions()).toEqual(critical)
    expect(await json(...sameInput)).toMatchObject({
      survives: true,
      traceChanged: false,
      alreadyDiffers: { step: 5, what: 'outcome.answer' },
    })
    const chaos = await json<{ survived: boolean }>(
      'chaos',
      'refund',
      '--faults',
      'http-slow',
      '--runs',
      '3',
      '--seed',
      '1',
    )
    expect(chaos).toMatchObject({ survived: true, control: { differs: { step: 5, what: 'outcome.answer' } } })
    for (const more of [[], ['--isolate']]) {
      const plan = await run('blame', 'refund', '--bad', 'refund(*)', '--dry-run', '--cross-version', ...more)
      expect(plan.stdout, plan.stderr).toContain(
        "is compared with today's code: it already differs from the recording at step 5 (outcome.answer); unchanged, that code is graded bad (by --bad refund(*))",
      )
    }
  })

  it('a branch names both: the recording that stays, and what was accepted', { tags: 'thorough' }, async () => {
    const { pins, branches } = await json<{
      readonly pins: { readonly recorded: string; readonly accepted: string }
      readonly branches: readonly { readonly saved: string }[]
    }>(...notRefunded, '--save')
    const [header = ''] = readFileSync(join(cwd, branches[0]?.saved ?? ''), 'utf8').split('\n', 1)
    expect(JSON.parse(header)).toMatchObject({
      parent: { digest: pins.recorded },
      pins: {
        recorded: pins.recorded,
        accepted: { digest: pins.accepted, commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string },
      },
    })
    const kase = readFileSync(join(cwd, 'recordings/golden', caseFile(cwd)), 'utf8')
    expect(kase).toContain(`digest: ${pins.accepted}`)
    // The recorded commit is still there.
    expect(kase).toContain(git('rev-list', '--max-parents=0', 'HEAD').trim())
    // A branch can be read, and forked again.
    expect((await run('show', branches[0]?.saved ?? '')).code).toBe(0)
  })

  it('a live run is refused for the code that was accepted, not for the recorded one, until that is committed', {
    tags: 'thorough',
  }, async () => {
    commit('kinder')
    const live = ['fork', 'refund', '--step', '5', '--live'] as const
    const refused = await run(...live)
    expect(refused.code).toBe(4)
    const next = printed(refused.stderr, 'once the accepted code is committed')
    const renewed = await run(...next)
    expect(renewed.code, renewed.stdout + renewed.stderr).toBe(0)
    commit('the pin')
    const { code, stdout, stderr } = await run(...live)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // Nothing is changed: there is nothing to draw beside it.
    expect(stdout).not.toContain('sampled in pairs')
    const change = `what_if 5 'I refunded 25 EUR.'`
    for (const word of ['refund', caseTape(cwd)]) {
      const asked = await run('debug', word, '--live', '-x', change)
      expect(asked.stdout).not.toContain('Unknown whether this code made the tape')
      expect(asked.stdout).toMatch(/^I refunded 25 /m)
    }
    const pinned = await run('pins', 'refund')
    expect(pinned.stdout).toMatch(/made at +[0-9a-f]{40}\n +accepted +[0-9a-f]{40}/)
  })

  it('a question that nobody accepted is refused, and the printed command makes the next one work', {
    tags: 'thorough',
  }, async () => {
    edit(told, 'Look it up first, always.')
    const refused = await run(...late)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('HARVEST_CONTROL')
    expect((await run(...sameInput)).stderr).toContain('HARVEST_CONTROL')
    const accepted = await run(...printed(refused.stderr, 'if the change is intended', { '…': 'always' }))
    expect(accepted.code, accepted.stdout + accepted.stderr).toBe(0)
    const clock = await run(...late)
    expect(clock.stdout).toContain('it already differs from the recording at step 1 (system prompt)')
    expect(clock.stdout).toContain('the outcome survives')
  })

  it('a case that is different beside its question is neither proven nor accepted: one update takes both', {
    tags: 'thorough',
  }, async () => {
    edit(kindly, kindly.replace('customer', 'Ada'))
    edit('first, always.', 'first, please.')
    const refused = await run(...late)
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain('The question to a model changed, and its case is different')
    expect(refused.stderr).not.toContain('accept refund')
    const tested = await run(...printed(refused.stderr, 'to see the difference'))
    expect(tested.stdout).toContain('1 case: golden/refund; red for more than this')
    expect(tested.stdout).not.toContain('to accept it')
    expect((await run('accept', '--list')).stdout).not.toContain('to accept one')
    const before = desk.asked.length
    const proof = await harvest(['test', '--prove', '--yes', '--max-cost', '5'], {
      cwd,
      env: { DESK_URL: desk.url, CI: '', HARVEST_ALLOW_CI_PROVE: '1' },
    })
    expect(proof).toMatchObject({ code: 1, stdout: 'no case is unproven\n' })
    expect(proof.stderr).toContain('different: golden/refund: only what is unproven can be proven')
    expect(desk.asked.length).toBe(before)
    const both = await run(...printed(refused.stderr, 'if both are intended', { '…': 'both' }))
    expect(both.code, both.stdout + both.stderr).toBe(0)
    expect((await run(...late)).stdout).toContain('the outcome survives')
  })

  it('live runs with a change are drawn in pairs with runs without it, and both are counted', {
    tags: 'thorough',
  }, async () => {
    let asked = 0
    // A provider that gets worse while it is asked, whatever it is asked.
    desk.decide = (messages) => (asked++ < 3 ? usual(messages) : 'I refunded nothing.')
    const { stdout } = await run(
      ...notRefunded.slice(0, 4),
      '--decide',
      'refund(order_id=A-100, amount=25)',
      '--live',
      '--runs',
      '3',
      '--parallel',
      '1',
      '--cross-version',
    )
    expect(stdout).toContain('sampled in pairs')
    expect(stdout).toContain('no effect of the change is shown')
    expect(stdout).toMatch(/6 model calls/)
    const finer = printed(stdout, 'for a finer answer, with more runs')
    expect(finer.slice(-2)).toEqual(['--runs', '12'])
    expect((await run(...finer)).stdout).toMatch(
      /with the change \d+ of 12 \(95 %: [^)]+\) [a-z ]+; without it, sampled in pairs, \d+ of 12 \(95 %: [^)]+\) /,
    )
    desk.decide = usual
  })

  it('a provider that takes turns is no effect of a change', { tags: 'thorough' }, async () => {
    let asked = 0
    // Two servers behind one address: what one answers depends on when it is asked alone.
    desk.decide = (messages) => (asked++ % 2 === 0 ? usual(messages) : 'I refunded nothing.')
    const decided = ['--decide', 'refund(order_id=A-100, amount=25)', '--live', '--runs', '14', '--cross-version']
    const { stdout } = await run(...notRefunded.slice(0, 4), ...decided, '--parallel', '1', '--no-cache')
    expect(stdout).toMatch(/28 model calls/)
    expect(stdout).toContain('no effect of the change is shown')
    desk.decide = usual
  })

  it('a run that is kept counts beside its control of the same session alone', { tags: 'thorough' }, async () => {
    const line = [
      ...notRefunded.slice(0, 4),
      '--decide',
      'refund(order_id=A-100, amount=25)',
      '--live',
      '--cross-version',
    ]
    const asks = async (...more: string[]) => {
      const before = desk.asked.length
      const { stderr } = await run(...line, '--runs', '2', ...more)
      return { asked: desk.asked.length - before, stderr }
    }
    expect(await asks('--no-cache')).toMatchObject({ asked: 4 })
    expect(await asks()).toMatchObject({ asked: 0 })
    interface Kept {
      readonly fork?: { readonly seed: string; readonly madeAt: string }
    }
    const kept = readdirSync(cwd, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.startsWith('recordings') && name.endsWith('.json'))
      .map((name) => ({ name, is: JSON.parse(readFileSync(join(cwd, name), 'utf8')) as Kept }))
      .filter(({ is }) => is.fork?.seed === '2')
      .toSorted((a, b) => a.is.fork!.madeAt.localeCompare(b.is.fork!.madeAt))
    const { name, is } = kept.at(-1)!
    writeFileSync(join(cwd, name), JSON.stringify({ ...is, session: 'another' }))
    const again = await asks()
    expect(again.stderr).toContain(
      '2 kept forks made again: a run and its control count where both were made in one session',
    )
    expect(again.asked).toBe(2)
    expect(await asks()).toMatchObject({ asked: 0 })
  })

  it('the doctor blames no variable for what the code does, and sends on to what shows it', {
    tags: 'thorough',
  }, async () => {
    edit(
      "{ role: 'user', content: ticket.text }",
      "{ role: 'user', content: ticket.text }, { role: 'user', content: 'Please.' }",
    )
    const { code, stdout } = await run('doctor', 'refund')
    expect(stdout).toContain('refund replays the same each time, but not as recorded')
    // Behind where it left the tape nothing was looked at.
    expect({ code, isBlamed: stdout.includes('environment') }).toEqual({ code: 1, isBlamed: false })
    const shown = await run(...printed(stdout, 'to see the difference'))
    expect(shown).toMatchObject({ code: 0 })
    expect(shown.stdout).toContain('diverges from the tape')
    expect(shown.stdout).not.toContain('harvest doctor')
  })
})

function caseTape(cwd: string): string {
  const golden = 'recordings/golden'
  return join(golden, readdirSync(join(cwd, golden)).find((name) => name.endsWith('.tape.jsonl')) ?? '')
}

function caseFile(cwd: string): string {
  return readdirSync(join(cwd, 'recordings/golden')).find((name) => name.endsWith('.case.yaml')) ?? ''
}
