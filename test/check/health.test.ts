import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkHealth } from '../../src/check/index.ts'
import { readFormerCases } from '../../src/provenance/index.ts'
import { keepLiveRuns } from '../../src/recordings/index.ts'
import { ask } from '../cli/in-process.ts'
import { call, put, putTape, scratch } from '../recordings/make.ts'
import { modelCall } from '../recordings/model-call.ts'

interface Parts {
  /** Tools called, one after the other, with these arguments. */
  readonly calls?: readonly (readonly [name: string, args: Record<string, string>])[]
  readonly more?: string
  readonly agent?: string
  readonly returns?: Record<string, number>
}

/** A case whose agent makes these calls. */
function add(
  recordings: string,
  id: string,
  { calls = [], more = '', agent = 'refund', returns = { refunded: 25 } }: Parts,
): void {
  const events = calls.map(([name, args], at) => call(10 * at + 1, name, args))
  putTape(recordings, `golden/${id}`, {
    header: { id, agent },
    events,
    close: { n: 990, outcome: { status: 'returned', value: returns } },
  })
  const baseline = calls.map(([name, args]) => `  - ${name}(${Object.keys(args).join(', ')})\n`).join('')
  write(recordings, id, `agent: ${agent}\ntape: ${id}.tape.jsonl\nexpect: pass\n${more}baseline:\n${baseline}`)
}

const write = (recordings: string, id: string, text: string): void =>
  void put(
    recordings,
    `golden/${id}.case.yaml`,
    `case: ${id}\n${text.replace('expect: pass\nexpect: fail\n', 'expect: fail\n')}`,
  )
const proven = (control: string): string =>
  `proven:\n  - { key: 4f9kQ2mXw7TzB1aL, model: gpt-5, asked: 6, good: 6, atLeast: 0.6, control: ${control}, at: '2026-03-04T05:06:07Z', judgedBy: baseline }\n`
const lookUp = ['lookup', { id: 'A-1' }] as const
const pay = ['pay', { id: 'A-1', amount: '5' }] as const
const mail = ['mail', { to: 'jane' }] as const

describe('the health of a golden set', () => {
  it('names a case whose calls, order, failures and ending others have, and the fewest that have them', async () => {
    const recordings = scratch()
    add(recordings, 'whole', { calls: [lookUp, pay] })
    add(recordings, 'twin', {
      calls: [
        ['lookup', { id: 'B-2' }],
        ['pay', { id: 'B-2', amount: '7' }],
      ],
    })
    add(recordings, 'long', { calls: [lookUp, pay, mail] })
    add(recordings, 'short', { calls: [lookUp] })
    add(recordings, 'other-keys', { calls: [['lookup', { order: 'A-1' }], pay] })
    add(recordings, 'other-order', { calls: [pay, lookUp] })
    add(recordings, 'other-ending', { calls: [lookUp, pay], returns: { refused: 1 } })
    add(recordings, 'other-agent', { calls: [lookUp, pay], agent: 'triage' })
    add(recordings, 'other-rule', { calls: [lookUp, pay], more: 'rules: [never pay(amount > 5)]\n' })
    // An incident guards the values it happened with.
    add(recordings, 'incident', { calls: [lookUp, pay], more: 'lesson: { wrong: paid twice }\n' })
    const { redundant } = await checkHealth(recordings)
    expect(redundant.map(({ id, coveredBy }) => [id, coveredBy])).toEqual([
      // Its one call ends a run elsewhere.
      ['short', ['incident', 'other-order']],
      ['whole', ['incident']],
      ['twin', ['incident']],
    ])
  })

  it('never calls so many redundant that something is lost without them', async () => {
    const recordings = scratch()
    for (const id of ['a', 'b', 'c']) add(recordings, id, { calls: [lookUp, pay] })
    const { redundant } = await checkHealth(recordings)
    expect(redundant.map(({ id, coveredBy }) => [id, coveredBy])).toEqual([
      ['c', ['a']],
      ['b', ['a']],
    ])
  })

  it('names tools that were offered or that production called, and that no case calls', async () => {
    const recordings = scratch()
    add(recordings, 'plain', { calls: [lookUp] })
    const asked = modelCall(1, { tools: ['refund'] })
    const body = JSON.stringify({
      model: 'invented-1',
      messages: [{ role: 'user', content: 'Refund?' }],
      tools: ['refund', 'escalate'].map((name) => ({ type: 'function', function: { name } })),
    })
    putTape(recordings, 'golden/offered', {
      header: { id: 'offered' },
      events: [{ ...asked, request: { ...asked.request, body } }, call(20, 'refund', {})],
    })
    write(recordings, 'offered', 'agent: refund\ntape: offered.tape.jsonl\nexpect: pass\nbaseline: [refund()]\n')
    putTape(recordings, 'inbox/fresh', {
      header: { id: 'fresh' },
      events: [call(1, 'cancel', {}), call(9, 'lookup', {})],
    })
    putTape(recordings, 'inbox/strange', { header: { id: 'strange', agent: 'stranger' }, events: [call(1, 'fly', {})] })
    expect((await checkHealth(recordings)).idleTools).toEqual([
      { agent: 'refund', tool: 'cancel', offeredIn: 0, calledInInbox: 1 },
      { agent: 'refund', tool: 'escalate', offeredIn: 1, calledInInbox: 0 },
    ])
  })

  it('calls flaky what did not pass each live run, by the newest that is known; without one it is unknown', async () => {
    const recordings = scratch()
    add(recordings, 'steady', { calls: [lookUp], more: proven('6/6') })
    add(recordings, 'flaky', { calls: [pay], more: proven('4/6') })
    add(recordings, 'rerun', { calls: [mail] })
    add(recordings, 'better', { calls: [mail, pay], more: proven('4/6') })
    add(recordings, 'known-bad', { calls: [pay, pay], more: 'expect: fail\n' })
    add(recordings, 'unknown', { calls: [mail, mail] })
    const at = '2026-04-01T00:00:00.000Z'
    keepLiveRuns(recordings, new Map([['rerun', { at, runs: 10, passed: 9 }]]))
    keepLiveRuns(recordings, new Map([['better', { at, runs: 8, passed: 8 }]]))
    const { flaky, flakyUnknown } = await checkHealth(recordings)
    expect(flaky.map(({ id, passed, runs, by }) => [id, passed, runs, by])).toEqual([
      ['flaky', 4, 6, 'proof'],
      ['rerun', 9, 10, 'rerun'],
    ])
    expect([...flakyUnknown].sort()).toEqual(['known-bad', 'unknown'])
  })

  it('calls never red what has no trace of it in its file or in a commit; without git that is unknown', {
    tags: 'thorough',
  }, async () => {
    const recordings = scratch()
    const root = dirname(recordings)
    const git = (...args: readonly string[]): void =>
      void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root, stdio: 'pipe' })
    add(recordings, 'green', { calls: [lookUp] })
    add(recordings, 'bad', { calls: [pay], more: 'expect: fail\n' })
    add(recordings, 'updated', { calls: [mail], more: 'approved: { reason: asks first }\n' })
    add(recordings, 'once-bad', { calls: [lookUp, mail], more: 'expect: fail\n' })
    add(recordings, 'proven', { calls: [mail, lookUp], more: proven('6/6') })
    const ids = async (): Promise<readonly string[]> => (await checkHealth(recordings)).neverRed.map(({ id }) => id)
    expect((await checkHealth(recordings)).historyUnknown).toBe('there is no git history here')
    git('init', '-q')
    git('add', '-A')
    git('commit', '-qm', 'Start')
    add(recordings, 'once-bad', { calls: [lookUp, mail] })
    git('commit', '-qam', 'Fixed')
    expect(await ids()).toEqual(['green'])
    // Also where the case has moved since.
    git('mv', 'recordings/golden/once-bad.case.yaml', 'recordings/golden/moved.case.yaml')
    git('commit', '-qm', 'Moved')
    expect(await ids()).toEqual(['green'])
    expect((await checkHealth(recordings)).historyUnknown).toBeUndefined()
    execFileSync('git', ['clone', '-q', '--depth=1', `file://${root}`, join(root, 'shallow')], { stdio: 'pipe' })
    const shallow = await checkHealth(join(root, 'shallow/recordings'))
    expect(shallow.neverRed.map(({ id }) => id).sort()).toEqual(['green', 'once-bad'])
    expect(shallow.historyUnknown).toBe('this clone is shallow')
  })

  it('does not take a repository that git cannot read for none', async () => {
    const recordings = scratch()
    const root = dirname(recordings)
    add(recordings, 'a', { calls: [lookUp] })
    expect(await readFormerCases(recordings)).toBeUndefined()
    execFileSync('git', ['init', '-q'], { cwd: root })
    expect(await readFormerCases(recordings)).toBeUndefined()
    writeFileSync(join(root, '.git/config'), '[core\n')
    await expect(readFormerCases(recordings)).rejects.toMatchObject({ code: 'HARVEST_GIT_UNREADABLE' })
  })

  it('is printed with what to do about each, and ends with 0; a case that cannot be read ends it with 2', async () => {
    const recordings = scratch()
    add(recordings, 'a', { calls: [lookUp, pay], more: 'pins: { models: [gpt-4] }\n' })
    add(recordings, 'b', { calls: [lookUp, pay] })
    keepLiveRuns(recordings, new Map([['a', { at: '2026-04-01T00:00:00.000Z', runs: 10, passed: 9 }]]))
    const { code, out } = await ask('check', '--health', '--retired', 'gpt-4', '--dir', recordings)
    expect(code).toBe(0)
    expect(out).toMatchInlineSnapshot(`
      "stale      a  commit 4f2a9c1 is not in this repository
      stale      a  model gpt-4 is retired
      stale      b  commit 4f2a9c1 is not in this repository
      flaky      a  9 of 10 live runs passed, 2026-04-01
      redundant  b  a does all it does, with other values
      unknown    a  the case has no trace of a red test, and there is no git history here
      unknown    b  the case has no trace of a red test, and there is no git history here

      2 cases: 2 stale, 1 flaky, 1 redundant, 2 not known to have been red; every tool has a case
      flakiness unknown for 1 case: no live run is known here
      → what changed since: npx vitest-harvest check --pins a
      → which answers decide: npx vitest-harvest blame a --mutate --dry-run --cross-version
      → how often do they pass live: npx vitest-harvest rerun --golden --live
      → if its values guard nothing: npx vitest-harvest tapes demote b
      → break the agent once, and see it red: npx vitest-harvest test a"
    `)
    const json = await ask('check', '--health', '--json', '--dir', recordings)
    expect(Object.keys(JSON.parse(json.out) as object)).toEqual([
      'cases',
      'stale',
      'flaky',
      'flakyUnknown',
      'redundant',
      'idleTools',
      'neverRed',
      'historyUnknown',
      'unreadable',
    ])
    writeFileSync(join(recordings, 'golden/b.case.yaml'), 'case: [')
    expect((await ask('check', '--health', '--dir', recordings)).code).toBe(2)
  })
})
