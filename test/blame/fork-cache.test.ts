import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type LedgerOptions, openLedger } from '../../src/blame/fork-cache.ts'
import type { ForkDraw } from '../../src/blame/types.ts'
import type { RunReads } from '../../src/jobs/run-reads.ts'
import { errorOf } from '../recordings/make.ts'

function fileOf(): string {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-ledger-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return join(dir, '.forks/run.blame.jsonl')
}
const reads: RunReads = { salt: 'salt', set: ['FLAG'], unset: ['OTHER'], values: 'digest', files: {} }
const options: LedgerOptions = {
  question: { tape: 'digest', agent: 'refund', oracle: '--ok refund(*)', tools: 'tape' },
  ran: { commit: '4f2a9c1', code: 'code-1' },
  surroundings: { reads: () => reads, changedSince: () => [] },
}
const draw: ForkDraw = { grade: 'ok', modelCalls: 2, tokens: 120, costUsd: 0.01, fingerprint: 'f', models: ['gpt-5'] }
const entry = (seed: number, more: Partial<ForkDraw> = {}) => ({
  spec: { keep: 1, seed },
  draw: { ...draw, ...more },
  at: '2026-03-04T05:06:07.089Z',
})

test('a fork is one line that says what was asked, what it came to, and what ran', () => {
  const file = fileOf()
  openLedger(file, options).append(entry(0))
  const text = readFileSync(file, 'utf8')
  expect(JSON.parse(text)).toEqual({
    question: expect.any(String) as string,
    ...entry(0),
    ...options.ran,
    reads: expect.any(String) as string,
  })
  expect(text.endsWith('\n')).toBe(true)
  expect(readFileSync(join(file, '../.gitignore'), 'utf8')).toBe('*\n')
  expect(openLedger(file, options).entries).toMatchObject([entry(0)])
})

test.each([
  ['tape', 'other'],
  ['agent', 'other'],
  ['oracle', '--ok other'],
  ['tools', 'live'],
  ['donor', 'good'],
])('forks of another question are not counted: %s', (key, value) => {
  const file = fileOf()
  openLedger(file, options).append(entry(0))
  const other = { ...options, question: { ...options.question, [key]: value } } as LedgerOptions
  expect(openLedger(file, other).entries).toEqual([])
})

test.each([
  ['nobody paid for it', 'The budget of 1 US dollars is used up (HARVEST_BUDGET_USED)'],
  ['its model could not be reached', 'A model could not be reached: connect ECONNREFUSED'],
  ['its provider was overloaded', 'A model answered with status 529'],
  ['there was no key', 'The agent threw before it asked anything: Error: no key'],
])('a fork is not written down when %s: asked again it may tell something', (_, because) => {
  const file = fileOf()
  const forkCache = openLedger(file, options)
  forkCache.append(entry(0, { grade: 'ungraded', because }))
  forkCache.append(
    entry(1, { grade: 'ungraded', because: 'It asked for what is not on the tape (HARVEST_NOT_RECORDED)' }),
  )
  expect(openLedger(file, options).entries.map(({ spec }) => spec.seed)).toEqual([1])
})

test('a session that was killed in the middle of a line loses that line alone', () => {
  const file = fileOf()
  openLedger(file, options).append(entry(0))
  appendFileSync(file, '{"question":"')
  openLedger(file, options).append(entry(1))
  expect(openLedger(file, options).entries.map(({ spec }) => spec.seed)).toEqual([0, 1])
})

test('forks of other code are refused or set aside, and never counted', () => {
  const file = fileOf()
  openLedger(file, options).append(entry(0))
  const now: LedgerOptions = { ...options, ran: { commit: '9ab0c3d', code: 'code-2' } }
  expect(errorOf(() => openLedger(file, now)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
    "The cached forks ran another version of the code

      forks    1
      made at  4f2a9c1
      here     9ab0c3d
      file     <file>

    Forks of two versions of the code are not comparable.
    → to start again (the earlier forks stay in the file): --no-cache
    → to go on without them: --cross-version
    (HARVEST_CROSS_VERSION)"
  `)
  expect(openLedger(file, { ...now, isCrossVersion: true })).toMatchObject({ entries: [], setAside: 1 })
  const fresh = openLedger(file, { ...now, isFresh: true })
  expect(fresh.entries).toEqual([])
  // Nothing is set aside by a session that makes no fork, such as a dry run.
  expect(openLedger(file, { ...now, isCrossVersion: true }).setAside).toBe(1)
  // Begun anew, the earlier ones stay set aside.
  fresh.append(entry(5))
  expect(openLedger(file, now).entries.map(({ spec }) => spec.seed)).toEqual([5])
})

test('what changed since earlier forks is named', () => {
  const file = fileOf()
  const then = { 'agent.ts': '100644 a', 'gone.ts': '100644 b', 'same.ts': '100644 c' }
  openLedger(file, { ...options, ran: { ...options.ran, files: then } }).append(entry(0))
  const files = { 'agent.ts': '100644 d', 'new.ts': '100644 e', 'same.ts': '100644 c' }
  const now: LedgerOptions = { ...options, ran: { commit: '9ab0c3d', code: 'code-2', files } }
  expect(errorOf(() => openLedger(file, now)).facts.where).toMatchObject({ changed: 'agent.ts, gone.ts, new.ts' })
  expect(readFileSync(file, 'utf8')).not.toContain('same.ts')
})

test('code that git does not know is not known to be the same', () => {
  const file = fileOf()
  const unknown: LedgerOptions = { ...options, ran: {} }
  openLedger(file, unknown).append(entry(0))
  expect(errorOf(() => openLedger(file, unknown)).code).toBe('HARVEST_CROSS_VERSION')
})

test('forks whose environment changed are refused or set aside, and never counted', () => {
  const file = fileOf()
  openLedger(file, options).append(entry(0))
  const changedSince = ({ set, unset }: RunReads) => [
    ...unset.map((name) => `environment variable ${name} (was unset, is set)`),
    ...set.map((name) => `environment variable ${name}`),
  ]
  const now: LedgerOptions = { ...options, surroundings: { reads: () => ({ ...reads, salt: 'other' }), changedSince } }
  expect(errorOf(() => openLedger(file, now)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
    "What the cached forks read is not as it was

      forks    1
      changed  environment variable OTHER (was unset, is set), environment variable FLAG
      file     <file>

    Forks that read other environment variables or files are not comparable.
    → to start again (the earlier forks stay in the file): --no-cache
    → to go on without them: --cross-version
    (HARVEST_CROSS_VERSION)"
  `)
  expect(openLedger(file, { ...now, isCrossVersion: true })).toMatchObject({ entries: [], setAside: 1 })
  openLedger(file, { ...now, isFresh: true }).append(entry(5))
  const after: LedgerOptions = {
    ...now,
    surroundings: { ...now.surroundings, changedSince: ({ salt }) => (salt === 'other' ? [] : ['x']) },
  } as LedgerOptions
  expect(openLedger(file, after).entries.map(({ spec }) => spec.seed)).toEqual([5])
  expect(readFileSync(file, 'utf8')).not.toContain('FLAG')
})

test('forks that do not say what they read are not known to have read the same', () => {
  const file = fileOf()
  const { surroundings: _, ...unknown } = options
  openLedger(file, unknown).append(entry(0))
  for (const now of [options, unknown]) {
    const { code, facts } = errorOf(() => openLedger(file, now))
    expect({ code, why: facts.why }).toEqual({
      code: 'HARVEST_CROSS_VERSION',
      why: 'It was not kept which environment variables and files they read, and unknown ones count as changed.',
    })
  }
})
