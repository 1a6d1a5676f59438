import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { judge, type PinnedCase } from '../../src/provenance/stale.ts'
import { call } from '../tape/make.ts'
import { putTape } from '../recordings/make.ts'
import { type Answered, scratch, warmHarvest as harvest } from './harvest.ts'

let root: string
beforeEach(() => {
  root = scratch()
})

function git(args: readonly string[], at = '2026-01-01T00:00:00Z', cwd = root): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  const env = { ...process.env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at }
  return execFileSync('git', [...identity, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

function commit(subject: string, at?: string): string {
  writeFileSync(join(root, 'agent.ts'), subject)
  git(['add', 'agent.ts'])
  git(['commit', '-q', '-m', subject], at)
  return git(['rev-parse', 'HEAD'])
}

/** A case and its tape, with these pins. */
function put(
  id: string,
  pins: Record<string, unknown>,
  { agent = 'refund', startedAt = '2026-01-01T00:00:00.000Z' } = {},
): void {
  putTape(join(root, 'recordings'), `golden/${id}`, {
    header: { startedAt, pins: { node: '24.21.0' } },
    events: [{ ...call(1, 'lookup'), site: 'agent.ts:12:3' }],
  })
  const lines = [`case: ${id}`, `agent: ${agent}`, `tape: ${id}.tape.jsonl`, 'expect: pass', 'baseline: [lookup()]']
  writeFileSync(
    join(root, `recordings/golden/${id}.case.yaml`),
    `${[...lines, `pins: ${JSON.stringify(pins)}`].join('\n')}\n`,
  )
}

const pins = (...args: readonly string[]): Promise<Answered> => harvest(['check', '--pins', ...args], { cwd: root })
/** Hashes of commits differ with every git; what they are called does not. */
const named = (text: string, commits: Readonly<Record<string, string>>): string =>
  Object.entries(commits).reduce(
    (all, [name, hash]) => all.replaceAll(hash, name).replaceAll(hash.slice(0, 10), `${name}……`),
    text,
  )

describe('harvest pins', () => {
  it('says what every case was made with, what was committed since, and why one is stale', async () => {
    git(['init', '-q'])
    const first = commit('First')
    const later = commit('Refund \u001b[2J at once', '2026-01-20T00:00:00Z')
    put('old', { commit: first, models: ['gpt-4'], prompt: 'sha256-aaaaaaaa', tools: 'sha256-tttttttt' })
    put(
      'new',
      { commit: later, models: ['gpt-5'], prompt: 'sha256-bbbbbbbb', tools: 'sha256-tttttttt' },
      { startedAt: '2026-02-01T00:00:00.000Z' },
    )
    put('unknown', {}, { agent: 'billing' })
    const { code, stdout, stderr } = await pins()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(named(stdout, { FIRST: first, LATER: later })).toMatchInlineSnapshot(`
      "case     agent    commit      since          models  prompt  tools
      new      refund   LATER……  HEAD           gpt-5   bbbbbb  tttttt
      old      refund   FIRST……  1 commit, 19d  gpt-4   aaaaaa  tttttt
      unknown  billing  –           unknown        none    –       –

      stale  old  prompt not as in new, the newest case of this agent
      hint   old  new, the newest case of this agent, uses gpt-5

      since FIRST……
        LATER……  Refund \\x1b[2J at once

      made by vitest-harvest/0.1.0, node 24.21.0: 3 cases

      1 stale: 3 cases looked at; 1 without a commit that is known here
      "
    `)
    expect(stdout).not.toContain('\u001b')
    const one = await pins('old')
    expect(named(one.stdout, { FIRST: first, LATER: later })).toMatchInlineSnapshot(`
      "old  recordings/golden/old.case.yaml
        agent     refund
        recorded  2026-01-01T00:00:00.000Z
        commit    FIRST
        since     1 commit, 19d
                  LATER……  Refund \\x1b[2J at once
        files     changed since: agent.ts
        models    gpt-4
        prompt    sha256-aaaaaaaa
        tools     sha256-tttttttt
        made by   vitest-harvest/0.1.0, node 24.21.0
        stale     prompt not as in new, the newest case of this agent
        hint      new, the newest case of this agent, uses gpt-5

      1 stale: 1 case looked at
      "
    `)
  })

  it('--stale is a gate: exit code 1 with every reason, 0 and how many were looked at, 2 when there were none', async () => {
    git(['init', '-q'])
    const first = commit('First')
    commit('Second', '2026-04-20T00:00:00Z')
    expect(await pins('--stale')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HARVEST_NO_CASES') as string,
    })
    put('a', { commit: first, models: ['gpt-4'] })
    put('b', {}, { agent: 'billing' })
    expect(await pins('--stale')).toMatchObject({
      code: 0,
      stdout: 'no case is stale: 2 cases looked at; 1 without a commit that is known here\n',
    })
    const reasonsOf = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout } = await pins('--stale', '--json', ...args)
      const { cases } = JSON.parse(stdout) as { cases: { id: string; stale: string[] }[] }
      return { code, stale: Object.fromEntries(cases.map(({ id, stale }) => [id, stale])) }
    }
    expect(await reasonsOf('--max-commits', '0')).toEqual({
      code: 1,
      stale: {
        a: ['1 commit behind HEAD, at most 0 allowed'],
        b: ['how many commits it is behind is unknown: the case pins no commit'],
      },
    })
    expect(await reasonsOf('--max-age', '90d')).toMatchObject({
      code: 1,
      stale: { a: ['109 days behind HEAD, at most 90 allowed'] },
    })
    expect(await reasonsOf('--max-age', '200')).toEqual({ code: 0, stale: {} })
    expect(await reasonsOf('--retired', 'gpt-3,gpt-4')).toEqual({ code: 1, stale: { a: ['model gpt-4 is retired'] } })
    mkdirSync(join(root, 'recordings'), { recursive: true })
    writeFileSync(
      join(root, 'recordings/models.json'),
      '{ "retired": { "gpt-4": "2020-01-01", "gpt-5": "2999-01-01" } }',
    )
    expect(await reasonsOf()).toEqual({ code: 1, stale: { a: ['model gpt-4 is retired since 2020-01-01'] } })
    put('c', { models: ['gpt-5'] }, { agent: 'other' })
    expect((await pins('c')).stdout).toContain('hint      model gpt-5 retires on 2999-01-01')
    writeFileSync(join(root, 'recordings/models.json'), '{ "retired": ["gpt-4"] }')
    expect(await pins('--stale')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HARVEST_CLI_MODELS') as string,
    })
  })

  it('a commit of another line and one of nowhere are stale; in a shallow clone the gate refuses to judge', async () => {
    git(['init', '-q'])
    const base = commit('Base')
    git(['checkout', '-q', '-b', 'side'])
    const side = commit('Side')
    git(['checkout', '-q', '-b', 'main2', base])
    put('side', { commit: side })
    put('nowhere', { commit: '4f2a9c1' })
    const { code, stdout } = await pins('--stale')
    expect(code).toBe(1)
    expect(stdout).toContain(`commit ${side.slice(0, 10)} is not an ancestor of HEAD`)
    expect(stdout).toContain('commit 4f2a9c1 is not in this repository')
    git(['add', '.'])
    git(['commit', '-q', '-m', 'Cases'])
    git(['clone', '-q', '--depth', '1', `file://${root}`, 'clone'])
    const clone = join(root, 'clone')
    expect((await harvest(['check', '--pins'], { cwd: clone })).stdout).toMatch(
      /nowhere +refund +4f2a9c1 +shallow clone/,
    )
    expect(await harvest(['check', '--pins', '--stale'], { cwd: clone })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('HARVEST_GIT_SHALLOW') as string,
    })
  })

  it('a case that cannot be read is named, and the gate is not green', async () => {
    put('a', {})
    writeFileSync(join(root, 'recordings/golden/bad.case.yaml'), 'case: bad\n')
    const { code, stdout, stderr } = await pins('--stale')
    expect({ code, stdout }).toMatchObject({ code: 2, stdout: expect.stringContaining('1 case looked at') as string })
    expect(stderr).toMatch(/bad\.case\.yaml: .+\n[^]*\n→ .+\n\(HARVEST_CASE_\w+\)/)
    expect((await pins('--max-age', 'soon')).stderr).toContain('Invalid --max-age: expected a number of days')
  })
})

describe('judging', () => {
  const one: PinnedCase = {
    id: 'a',
    file: 'a.case.yaml',
    tape: 'a.tape.jsonl',
    agent: 'refund',
    pins: { prompt: 'p', tools: 't', models: ['gpt-4'] },
    recordedAt: '2026-01-01T00:00:00.000Z',
    format: 1,
  }
  const limits = { retired: new Map(), today: '2026-06-01' }

  it('compares hashes with those of the case recorded last, of the same agent, and only where both are known', () => {
    const last = {
      ...one,
      id: 'last',
      recordedAt: '2026-02-01T00:00:00.000Z',
      pins: { prompt: 'q', models: ['gpt-5'] },
    }
    const other = { ...last, id: 'other', agent: 'billing', pins: { prompt: 'r' } }
    const judged = judge([one, last, other], limits)
    expect(judged.get(one)).toEqual({
      stale: ['prompt not as in last, the newest case of this agent'],
      hints: ['last, the newest case of this agent, uses gpt-5'],
    })
    expect(judged.get(last)).toEqual({ stale: [], hints: [] })
    expect(judged.get(other)).toEqual({ stale: [], hints: [] })
  })

  it('a case whose new code was accepted is not compared with one that is older by its commit, nor where commits cannot tell', () => {
    const behind = (commits: number) => ({ state: 'ancestor' as const, commit: 'f'.repeat(40), commits, daysBehind: 0 })
    const accepted = { ...one, id: 'accepted', recorded: { prompt: 'o' } }
    const red = { ...one, id: 'red', recordedAt: '2026-01-01T00:00:01.000Z', pins: { prompt: 'o' } }
    const stale = (...cases: readonly PinnedCase[]) => [...judge(cases, limits).values()].map((one) => one.stale)
    expect(stale(accepted, red)).toEqual([[], []])
    expect(stale({ ...accepted, standing: behind(0) }, { ...red, standing: behind(2) })).toEqual([
      [],
      ['prompt not as in accepted, the newest case of this agent'],
    ])
    expect(stale({ ...accepted, standing: behind(2) }, { ...red, standing: behind(0) })).toEqual([
      ['prompt not as in red, the newest case of this agent'],
      [],
    ])
    const early = { ...one, id: 'early', recordedAt: '2025-12-01T00:00:00.000Z', pins: { prompt: 'n' } }
    expect(stale(early, accepted)).toEqual([['prompt not as in accepted, the newest case of this agent'], []])
  })

  it('one case is the newest of its agent, whatever is known of the others', () => {
    const at = (id: string, recordedAt: string, commits?: number): PinnedCase => ({
      ...one,
      id,
      recordedAt,
      pins: { prompt: id },
      ...(commits === undefined
        ? {}
        : { standing: { state: 'ancestor', commit: 'f'.repeat(40), commits, daysBehind: 0 } }),
    })
    const head = at('head', '2026-02-01', 0)
    const early = at('early', '2026-01-01')
    // By its commit older than the first, by its time newer than one that is newer than the first.
    const circle = [head, at('elsewhere', '2026-03-01'), at('behind', '2026-04-01', 5), early]
    for (const cases of [circle, circle.toReversed()])
      expect(
        [...judge(cases, limits)].flatMap(([{ id }, { stale }]) => stale.map((text) => [id, text])).sort(),
      ).toEqual([
        ['behind', 'prompt not as in head, the newest case of this agent'],
        ['early', 'prompt not as in head, the newest case of this agent'],
      ])
  })

  it('each case is looked at a few times, however many the agent has', () => {
    let looks = 0
    const cases = Array.from({ length: 500 }, (_, index) => ({
      ...one,
      get recordedAt() {
        looks++
        return new Date(index * 1000).toISOString()
      },
    }))
    judge(cases, limits)
    expect(looks).toBeLessThan(10 * cases.length)
  })

  it('an old format is stale, uncommitted changes are a hint', () => {
    const old = { ...one, format: 0, pins: { dirty: true } }
    expect(judge([old], limits).get(old)).toEqual({
      stale: ['its tape has format 0, written today is 1'],
      hints: ['it was made with uncommitted changes'],
    })
  })
})
