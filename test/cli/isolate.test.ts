import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printIsolated } from '../../src/cli/blame/isolated.ts'
import type { IsolatedRun, IsolationEstimate } from '../../src/isolate/index.ts'
import { built } from '../support/built.ts'
import { type Desk, deskProject, openDesk } from './desk.ts'
import { warmHarvest as harvest, warmRun as run } from './harvest.ts'
import { printed } from './printed.ts'

/** Refunds too much: for a ticket of its code, at an hour of the day, by a wrong total, or by a wrong decision. */
const agent = `import { tools } from 'vitest-harvest/record'

const shop = tools({
  lookup_order: async () => ({ total: process.env['GLITCH'] === undefined ? 25 : 2500 }),
  refund: async ({ amount }: { amount: number }) => ({ refunded: amount }),
})

let refunds = 0

export async function deskAgent(ticket: { text: string; hour: number; base: string }) {
  const messages: any[] = [{ role: 'user', content: ticket.text }]
  let refunded = 0
  for (;;) {
    const response = await fetch(ticket.base + '/v1/chat/completions', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    })
    const { choices } = await response.json()
    const { message } = choices[0]
    messages.push(message)
    const [call] = message.tool_calls ?? []
    if (!call) return { refunded }
    const args = JSON.parse(call.function.arguments)
    const isFirst = call.function.name === 'refund' && refunds++ === 0
    const desk = globalThis as { deskRefunds?: number }
    const isNew = ticket.text === 'kept' && (desk.deskRefunds = (desk.deskRefunds ?? 0) + 1) <= 3
    const isBad = ticket.text === 'code' || isNew || (ticket.text === 'state' && isFirst) || (ticket.text === 'timing' && new Date().getUTCHours() === ticket.hour)
    const result: any =
      call.function.name === 'refund'
        ? await shop.refund({ amount: isBad ? args.amount * 100 : args.amount })
        : await shop.lookup_order()
    refunded += result.refunded ?? 0
    messages.push({ role: 'tool', tool_call_id: call.id, content: JSON.stringify(result) })
  }
}
`

const record = `import { createRecorder } from 'vitest-harvest/record'
import { deskAgent } from './desk.ts'
const [text = '', commit = '', base = ''] = process.argv.slice(2)
const input = { text, hour: new Date().getUTCHours(), base }
await createRecorder({ commit }).run({ agent: 'desk', id: text, input }, () => deskAgent(input))
`

/** Knows a bad run, and a good one only once a file is there. */
const oracle = `import { existsSync } from 'node:fs'
export const grade = ({ value }: { value: { refunded: number } }) =>
  value.refunded === 2500 ? false : existsSync('node_modules/able') ? true : undefined
`

describe('npx vitest-harvest isolate', () => {
  let desk: Desk
  let cwd = ''
  let sampled = 0
  let hasKey = true
  let isWrong = true
  /** Which runs are right, by their number, where the ticket is one of sampling. */
  let isRight = (_number: number): boolean => true
  beforeAll(async () => {
    desk = await openDesk((messages) => {
      if (!hasKey) return { status: 401 }
      const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => JSON.parse(String(content)))
      const [looked, refunded] = answers as { total: number }[]
      if (looked === undefined) return { tool: 'lookup_order', args: {} }
      if (refunded !== undefined) return `Done, and this is message ${desk.asked.length}.`
      const isSampled = messages[0]?.content === 'sampling' && (isWrong || !isRight(sampled++))
      return { tool: 'refund', args: { amount: isSampled ? 2500 : looked.total } }
    })
    cwd = deskProject()
    writeFileSync(join(cwd, 'src/desk.ts'), agent)
    writeFileSync(join(cwd, 'src/record.ts'), record)
    writeFileSync(join(cwd, 'src/grade.ts'), oracle)
    writeFileSync(join(cwd, '.gitignore'), 'node_modules/\nrecordings/\n')
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' })
    git('init', '--quiet')
    git('add', '-A')
    git('commit', '--quiet', '-m', 'the desk')
    const commit = git('rev-parse', 'HEAD').trim()
    for (const text of ['code', 'sampling', 'data', 'timing', 'state', 'kept']) {
      const env: Record<string, string> = text === 'data' ? { GLITCH: '1' } : {}
      const { code, stderr } = await run(process.execPath, ['src/record.ts', text, commit, desk.url], { cwd, env })
      expect(stderr).toBe('')
      expect(code).toBe(0)
    }
    isWrong = false
  })
  afterAll(async () => {
    rmSync(cwd, { recursive: true, force: true })
    await desk.close()
  })
  const ask = (...args: readonly string[]) => harvest(args, { cwd, env: { CI: '1' } })
  const right = ['--ok', 'refunded=25'] as const
  const asked = [...right, '--max-cost', '1', '--live', '--tools', 'live', '--min-effect', '0.4'] as const
  const live = ['--budget', '1', '--tools', 'live', '--min-effect', '0.4'] as const

  it('blames no layer for what an agent keeps from run to run: it says where, and doctor names the line', {
    tags: 'thorough',
  }, async () => {
    const { code, stderr } = await ask('isolate', 'kept', ...right, ...live)
    expect([code, stderr]).toEqual([1, expect.stringMatching(/kept in +globalThis\.deskRefunds\n/)])
    const looked = await ask(...printed(stderr, 'to find what its runs depend on'))
    expect(looked.stdout).toContain('kept state: globalThis.deskRefunds')
  })

  it.each([
    ['code', 'to see what the code depends on', ['doctor', 'code'], 'nothing found', 0],
    ['sampling', 'to find the decision', ['blame', 'sampling', ...asked], "the model's decision refund", 0],
    ['data', 'to find the answer', ['blame', 'data', ...asked, '--repairs'], 'lookup_order', 0],
    [
      'timing',
      'to find the delay',
      ['chaos', 'timing', '--faults', 'clock', '--fail', 'trace,outcome,off-tape'],
      'the clock is',
      1,
    ],
  ])('names %s, and the next command works', { tags: 'thorough' }, async (layer, about, next, says, exitCode) => {
    const { code, stdout, stderr } = await ask('isolate', layer, ...right, ...live)
    // Its tools gave, and its models asked for, nothing like the 25 that is right.
    const unseen =
      '--ok refunded=25: no known run returned that (there: 2500); without a good fork nothing is claimed\n'
    expect({ code, stderr }).toEqual({ code: 0, stderr: layer === 'data' ? unseen : '' })
    expect(stdout.startsWith(`${layer}: `), stdout).toBe(true)
    expect(Number(/model calls, \$([\d.]+)/.exec(stdout)?.[1] ?? 0)).toBeLessThanOrEqual(1)
    const words = printed(stdout, about)
    expect(words).toEqual(next)
    const followed = await ask(...words)
    expect(followed.stdout).toContain(says)
    expect(followed.code).toBe(exitCode)
    // Nothing that a run depends on is to be found in wrong code: it becomes a test.
    if (layer === 'code')
      expect(printed(stdout, 'to make it a test, before it is fixed')).toEqual([
        'promote',
        'code',
        '--as',
        '<id>',
        '--expect',
        'fail',
        ...right,
      ])
  })

  it('what a module keeps is fresh in each of the runs that are made at once: it is no doing of the model', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout, stderr } = await ask('isolate', 'state', ...right, ...live)
    expect([code, stdout], stderr).toEqual([0, expect.stringMatching(/^code: /)])
  })

  it('prints each arm with its interval and cost, and asks before tools run for real', {
    tags: 'thorough',
  }, async () => {
    const { code, stdout, stderr } = await ask('blame', 'data', '--isolate', ...right, '--live', '--max-cost', '1')
    expect(stderr).toContain('so a wrong answer of theirs cannot be told from wrong code.')
    expect(stderr).toContain('--ok refunded=25 --live --max-cost 1 --tools live')
    expect(stdout.replaceAll(/\$0\.\d+/g, '$…')).toMatchInlineSnapshot(`
      "Not resolved: code, data are still possible.
      tools run for real only with --tools live

      other than on the tape  fails     95 %              model calls     cost  says
      nothing (control)       1 of 1    exact                       0       $0  bad
      clock and order                                                           it reads no clock, and no
                                                                                answers overlap
      model                   32 of 32  89.3 % – 100.0 %           96  $…  fails
      tools                                                                     tools run for real only
                                                                                with --tools live

      graded by --ok refunded=25; the recorded run: bad
      confidence 0.95, minimum effect 0.2; claims: Wald's sequential test of the share of cured runs, 0.2 against 0.05; all claims together are false at most 1 − confidence of the time
      intervals: Wilson, 95 % at a fixed number of runs; for display only
      32 forks, 96 model calls, $…
      → to run tools for real, with their side effects: npx vitest-harvest blame data --isolate --ok refunded=25 --live --max-cost 1 --tools live
      "
    `)
    expect(code).toBe(1)
    const cured = await ask(...printed(stdout, 'to run tools for real'))
    expect([cured.code, cured.stdout]).toEqual([0, expect.stringMatching(/^data: /)])
  })

  it('a limit of time that left no room leads on to the verdict', { tags: 'thorough' }, async () => {
    const stopped = await ask('isolate', 'code', ...asked, '--max-time', '1ms', '--no-cache')
    expect([stopped.code, stopped.stdout]).toEqual([1, expect.stringContaining('stopped by the limit of time')])
    const on = printed(stopped.stdout, 'to go on, with all runs so far')
    // Whether a run fits into a millisecond is chance; then the next session has room for one as well.
    const kept = /^0 forks/m.test(stopped.stdout) ? [] : ['--max-time', '1ms']
    expect(on, stopped.stdout).toEqual(['blame', '--isolate', 'code', ...asked, ...kept])
    expect((await ask(...on.slice(0, on.length - kept.length))).stdout).toMatch(/^code: /)
  })

  it('an effect that is too small leads to a larger one, and runs that nobody could grade to new ones', {
    tags: 'thorough',
  }, async () => {
    // So often that it is neither here nor there.
    isRight = (number) => number % 4 === 0
    const open = await ask('isolate', 'sampling', ...asked.slice(0, -1), '0.45', '--no-cache')
    expect([open.code, open.stdout]).toEqual([1, expect.stringContaining('still open after 150 runs')])
    const larger = printed(open.stdout, 'to look for a larger effect')
    expect(larger).toEqual([
      'blame',
      '--isolate',
      'sampling',
      ...asked.slice(0, -2),
      '--no-cache',
      '--min-effect',
      '0.9',
    ])
    expect((await ask(...larger)).stdout).toMatch(/^code: /)
    isRight = () => true
    hasKey = false
    const gone = await ask('isolate', 'sampling', ...asked, '--no-cache')
    hasKey = true
    expect(gone.code, gone.stdout + gone.stderr).toBe(1)
    const again = printed(
      gone.stdout,
      'once the key (usually OPENAI_API_KEY), quota and address of the model are right',
    )
    expect((await ask(...again)).stdout).toMatch(/^sampling: /)
  })

  it('runs of which an oracle cannot say anything are made again once it can', { tags: 'thorough' }, async () => {
    const graded = ['--oracle', './src/grade.ts#grade', ...asked.slice(right.length), '--no-cache']
    const open = await ask('isolate', 'sampling', ...graded)
    expect([open.code, open.stdout], open.stderr).toEqual([1, expect.stringContaining('cannot say')])
    writeFileSync(join(cwd, 'node_modules/able'), '')
    const again = printed(open.stdout, 'once runs can be graded')
    expect(again).toEqual(['blame', '--isolate', 'sampling', ...graded])
    expect((await ask(...again)).stdout).toMatch(/^sampling: /)
  })

  it('Ctrl-C ends it with how many runs had ended until then and what they used, and how to go on', {
    tags: 'thorough',
  }, async () => {
    const words = ['isolate', 'sampling', ...asked, '--parallel', '1', '--no-cache']
    const child = spawn(process.execPath, [built('cli/main.js'), ...words], {
      cwd,
      env: { ...process.env, CI: '1', VITEST: '' },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const decide = desk.decide
    const before = desk.asked.length
    // Two runs have ended when the question that is left open is asked.
    desk.decide = (...told) => (desk.asked.length - before < 7 ? decide(...told) : void child.kill('SIGINT'))
    const [said, [code]] = await Promise.all([textOf(child.stderr), once(child, 'close')])
    desk.decide = decide
    expect([code, desk.asked.length - before]).toEqual([130, 7])
    expect(said).toMatch(/^Until then: 2 forks in this session\. Nothing is certified\.$/m)
    expect(said).toMatch(/^ *spent +6 model calls, \$0\.0027; 1 more call still open, cost not known$/m)
    expect(said.match(/\$/g)).toHaveLength(1)
    expect(printed(said, 'to go on')).toEqual(['blame', '--isolate', ...words.slice(1, -1)])
  })

  it('says with --dry-run which runs it would make and what they cost, and asks nobody', {
    tags: 'thorough',
  }, async () => {
    const asked = desk.asked.length
    const refunds = ['isolate', 'data', ...right, '--tools', 'live', '--dry-run'] as const
    const { code, stdout, stderr: refused } = await ask(...refunds)
    expect(code, refused).toBe(0)
    // What other tests of this file asked before is counted, and said.
    const said = stdout.replace(/^\d+ forks of earlier sessions .*\n/m, '')
    expect(said.replaceAll(/\$\d+\.\d+/g, '$…')).toMatchInlineSnapshot(`
      "data replays byte for byte and is graded bad (by --ok refunded=25)

      other than on the tape  runs  model calls  cost
      clock and order                            it reads no clock, and no answers overlap
      model                     32           96  $…
      tools                     32            0  $0
      model and tools           32           96  $…
      all, if it is the code    96          192  $…
      at most                  400          800  $…

      tools run for real, with its side effects, in up to 300 runs, and in the others where the tape has no answer
      nothing was spent
      → to ask the models: npx vitest-harvest blame --isolate data --ok refunded=25 --tools live --live --max-cost 0.37
      "
    `)
    expect(desk.asked).toHaveLength(asked)
    const { stdout: json } = await ask(...refunds, '--json')
    const estimate = JSON.parse(json) as IsolationEstimate
    expect(estimate).toMatchObject({ recorded: 'bad', high: { forks: 400 }, realTools: 300 })
    expect(estimate.stays.costUsd).toBeLessThan(estimate.high.costUsd ?? 0)
    // Without consent to run tools for real their runs are not made: what is left to say is told.
    const { stdout: taped, stderr } = await ask('blame', 'data', '--isolate', ...right, '--dry-run')
    const real = await ask(...printed(stderr, 'to call the tools for real'))
    expect([real.code, real.stdout]).toEqual([0, expect.stringContaining('with its side effects')])
    expect(taped).toContain('tools run for real only with --tools live')
    expect(taped).not.toContain('with their side effects')
    expect(desk.asked).toHaveLength(asked)
  })
})

it('a clock that was moved is said to be moved within a day, by the verdict and by its arm', () => {
  const lines: string[] = []
  const line = (text = ''): void => void lines.push(text)
  const arm = { varied: ['timing'], says: 'fails', runs: 32, failed: 32, ungraded: 0, modelCalls: 0 } as const
  const nothing = { forks: 0, modelCalls: 0, tokens: 0, costUsd: 0 }
  const isolated = (timing: readonly string[]): IsolatedRun => ({
    verdict: { kind: 'found', layers: ['code'] },
    arms: [arm],
    tape: 'offer',
    agent: 'offer',
    gradedBy: '--ok refund(amount: 25)',
    recorded: 'bad',
    delta: 0.05,
    minEffect: 0.2,
    timing,
    spent: { now: nothing, reused: nothing },
    methods: {},
  })
  const screen = { line, note: line, json: () => {}, paint: (_: unknown, text: string) => text, progress: () => {} }
  printIsolated(isolated(['clock']), screen)
  expect(lines[0]).toMatch(
    /^code: .*another clock \(within a day\) and order fewer than 20 % of runs end well: its code, its prompt, a random number or id it drew, a date more than a day away, or its environment decides, or a model/,
  )
  expect(lines.join('\n')).toMatch(/^clock \(within a day\) and order +32 of 32/m)
  lines.length = 0
  printIsolated(isolated(['order']), screen)
  expect(lines[0]).toMatch(/^code: .*, another clock and order fewer than 20 %/)
})
