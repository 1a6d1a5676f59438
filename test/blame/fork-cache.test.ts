import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { KeptRun } from '../../src/fork/index.ts'
import { type LedgerOptions, openLedger } from '../../src/blame/fork-cache.ts'
import type { ForkDraw } from '../../src/blame/types.ts'
import type { RunReads } from '../../src/jobs/run-reads.ts'
import type { HarvestError } from '../../src/errors/index.ts'

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
  rechecking: { again: async (_, { grade }) => ({ given: { grade } }) },
}
const refusal = async (file: string, given: LedgerOptions): Promise<HarvestError> =>
  openLedger(file, given).then(
    () => Promise.reject(new Error('it was opened')),
    (error: unknown) => error as HarvestError,
  )
const write = async (file: string, given: LedgerOptions, seed: number): Promise<void> =>
  (await openLedger(file, given)).append(entry(seed), run)
const run: KeptRun = { tape: 'what it did', hasProblems: false }
const draw: ForkDraw = { grade: 'ok', modelCalls: 2, tokens: 120, costUsd: 0.01, fingerprint: 'f', models: ['gpt-5'] }
const entry = (seed: number, more: Partial<ForkDraw> = {}) => ({
  spec: { keep: 1, seed },
  draw: { ...draw, ...more },
  at: '2026-03-04T05:06:07.089Z',
})

test('a fork is one line that says what was asked, what it came to, and what ran', async () => {
  const file = fileOf()
  await write(file, options, 0)
  const text = readFileSync(file, 'utf8')
  expect(JSON.parse(text)).toEqual({
    question: expect.any(String) as string,
    ...entry(0),
    session: expect.any(String) as string,
    ...options.ran,
    reads: expect.any(String) as string,
    run: expect.any(String) as string,
  })
  expect(text.endsWith('\n')).toBe(true)
  expect(readFileSync(join(file, '../.gitignore'), 'utf8')).toBe('*\n')
  expect((await openLedger(file, options)).entries).toMatchObject([entry(0)])
})

test.each([
  ['tape', 'other'],
  ['agent', 'other'],
  ['oracle', '--ok other'],
  ['tools', 'live'],
  ['donor', 'good'],
])('forks of another question are not counted: %s', async (key, value) => {
  const file = fileOf()
  await write(file, options, 0)
  const other = { ...options, question: { ...options.question, [key]: value } } as LedgerOptions
  expect((await openLedger(file, other)).entries).toEqual([])
})

test.each([
  ['nobody paid for it', 'The budget of 1 US dollars is used up (HARVEST_BUDGET_USED)'],
  ['its model could not be reached', 'A model could not be reached: connect ECONNREFUSED'],
  ['its provider was overloaded', 'A model answered with status 529'],
  ['there was no key', 'The agent threw before it asked anything: Error: no key'],
])('a fork is not written down when %s: asked again it may tell something', async (_, because) => {
  const file = fileOf()
  const forkCache = await openLedger(file, options)
  forkCache.append(entry(0, { grade: 'ungraded', because }))
  forkCache.append(
    entry(1, { grade: 'ungraded', because: 'It asked for what is not on the tape (HARVEST_NOT_RECORDED)' }),
    run,
  )
  expect((await openLedger(file, options)).entries.map(({ spec }) => spec.seed)).toEqual([1])
})

test('a session that was killed in the middle of a line loses that line alone', async () => {
  const file = fileOf()
  await write(file, options, 0)
  appendFileSync(file, '{"question":"')
  await write(file, options, 1)
  expect((await openLedger(file, options)).entries.map(({ spec }) => spec.seed)).toEqual([0, 1])
})

test('forks of other code are refused or set aside, and never counted', async () => {
  const file = fileOf()
  await write(file, options, 0)
  const now: LedgerOptions = { ...options, ran: { commit: '9ab0c3d', code: 'code-2' } }
  expect((await refusal(file, now)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
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
  expect(await openLedger(file, { ...now, isCrossVersion: true })).toMatchObject({ entries: [], setAside: 1 })
  const fresh = await openLedger(file, { ...now, isFresh: true })
  expect(fresh.entries).toEqual([])
  // Nothing is set aside by a session that makes no fork, such as a dry run.
  expect((await openLedger(file, { ...now, isCrossVersion: true })).setAside).toBe(1)
  // Begun anew, the earlier ones stay set aside.
  fresh.append(entry(5), run)
  expect((await openLedger(file, now)).entries.map(({ spec }) => spec.seed)).toEqual([5])
})

test('forks of this very code count when it is back, and those of other code are left alone', async () => {
  const file = fileOf()
  const at = (code: string, more: Partial<LedgerOptions> = {}): LedgerOptions => ({
    ...options,
    ran: { code },
    ...more,
  })
  for (const seed of [0, 1]) await write(file, at('code-1'), seed)
  for (const seed of [5, 6, 7]) await write(file, at('code-2', { isCrossVersion: true }), seed)
  const seeds = async (given: LedgerOptions) => {
    const { entries, setAside } = await openLedger(file, given)
    return { seeds: entries.map(({ spec }) => spec.seed), setAside }
  }
  for (const isCrossVersion of [false, true]) {
    expect(await seeds(at('code-1', { isCrossVersion }))).toEqual({ seeds: [0, 1], setAside: 3 })
    expect(await seeds(at('code-2', { isCrossVersion }))).toEqual({ seeds: [5, 6, 7], setAside: 2 })
  }
  expect((await refusal(file, at('code-3'))).facts.where).toMatchObject({ forks: '5' })
  // What the other code read or did otherwise is none of this one's.
  const doesOtherwise: LedgerOptions = at('code-2', { rechecking: { again: async () => ({ changedHeaders: [] }) } })
  expect((await refusal(file, doesOtherwise)).facts.where).toMatchObject({ forks: '3' })
  await write(file, { ...doesOtherwise, isCrossVersion: true }, 8)
  expect(await seeds(at('code-2'))).toEqual({ seeds: [8], setAside: 0 })
  await write(file, at('code-1', { isFresh: true }), 9)
  expect(await seeds(at('code-2'))).toEqual({ seeds: [8], setAside: 1 })
  expect(await seeds(at('code-1'))).toEqual({ seeds: [9], setAside: 0 })
})

test('what changed since earlier forks is named', async () => {
  const file = fileOf()
  const then = { 'agent.ts': '100644 a', 'gone.ts': '100644 b', 'same.ts': '100644 c' }
  await write(file, { ...options, ran: { ...options.ran, files: then } }, 0)
  const files = { 'agent.ts': '100644 d', 'new.ts': '100644 e', 'same.ts': '100644 c' }
  const now: LedgerOptions = { ...options, ran: { commit: '9ab0c3d', code: 'code-2', files } }
  expect((await refusal(file, now)).facts.where).toMatchObject({ changed: 'agent.ts, gone.ts, new.ts' })
  expect(readFileSync(file, 'utf8')).not.toContain('same.ts')
})

test('code that git does not know is not known to be the same', async () => {
  const file = fileOf()
  const unknown: LedgerOptions = { ...options, ran: {} }
  await write(file, unknown, 0)
  expect((await refusal(file, unknown)).code).toBe('HARVEST_CROSS_VERSION')
})

test('forks whose environment changed are refused or set aside, and never counted', async () => {
  const file = fileOf()
  await write(file, options, 0)
  const changedSince = ({ set, unset }: RunReads) => [
    ...unset.map((name) => `environment variable ${name} (was unset, is set)`),
    ...set.map((name) => `environment variable ${name}`),
  ]
  const now: LedgerOptions = { ...options, surroundings: { reads: () => ({ ...reads, salt: 'other' }), changedSince } }
  expect((await refusal(file, now)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
    "What the cached forks read is not as it was

      forks    1
      changed  environment variable OTHER (was unset, is set), environment variable FLAG
      file     <file>

    Forks that read other environment variables or files are not comparable.
    → to start again (the earlier forks stay in the file): --no-cache
    → to go on without them: --cross-version
    (HARVEST_CROSS_VERSION)"
  `)
  expect(await openLedger(file, { ...now, isCrossVersion: true })).toMatchObject({ entries: [], setAside: 1 })
  await write(file, { ...now, isFresh: true }, 5)
  const after: LedgerOptions = {
    ...now,
    surroundings: { ...now.surroundings, changedSince: ({ salt }) => (salt === 'other' ? [] : ['x']) },
  } as LedgerOptions
  expect((await openLedger(file, after)).entries.map(({ spec }) => spec.seed)).toEqual([5])
  expect(readFileSync(file, 'utf8')).not.toContain('FLAG')
})

test('forks that differ in the key they were sent with alone count where their replays are sent with it too', async () => {
  const file = fileOf()
  const wrote: (readonly string[] | undefined)[] = []
  const surroundings: LedgerOptions['surroundings'] = {
    reads(sentKeys) {
      wrote.push(sentKeys)
      return reads
    },
    changedSince: (_, isFree) => (isFree?.('GATEWAY', false) === true ? [] : ['environment variable GATEWAY']),
  }
  const sending = (keyVariables: readonly string[]): LedgerOptions => ({
    ...options,
    surroundings,
    rechecking: { again: async (_, { grade }) => ({ given: { grade }, keyVariables }) },
  })
  const ledger = await openLedger(file, sending([]))
  ledger.append(entry(0), { ...run, keyVariables: ['GATEWAY'] })
  expect(wrote).toEqual([['GATEWAY']])
  expect((await openLedger(file, sending(['GATEWAY']))).entries).toHaveLength(1)
  expect((await refusal(file, sending(['OTHER']))).facts).toMatchObject({
    what: 'What the cached forks read is not as it was',
    where: { changed: 'environment variable GATEWAY' },
  })
  const over = await openLedger(file, { ...sending([]), isCrossVersion: true })
  expect(over).toMatchObject({ entries: [], setAside: 1 })
})

test('of forks that count it is known which headers of any of them were not compared', async () => {
  const file = fileOf()
  const ledger = await openLedger(file, options)
  for (const seed of [0, 1]) ledger.append(entry(seed), { ...run, tape: `run ${seed}` })
  const by: LedgerOptions = {
    ...options,
    rechecking: {
      again: async ({ tape }, { grade }) => {
        const varying = tape === 'run 1' ? ['x-ctx'] : []
        return { given: { grade }, notCompared: { unkept: ['authorization'], varying } }
      },
    },
  }
  expect(await openLedger(file, by)).toMatchObject({ notCompared: { unkept: ['authorization'], varying: ['x-ctx'] } })
  expect(await openLedger(file, options)).not.toHaveProperty('notCompared')
})

test('forks that do not say what they read are not known to have read the same', async () => {
  const file = fileOf()
  const { surroundings: _, ...unknown } = options
  await write(file, unknown, 0)
  for (const now of [options, unknown]) {
    const { code, facts } = await refusal(file, now)
    expect({ code, why: facts.why }).toEqual({
      code: 'HARVEST_CROSS_VERSION',
      why: 'It was not kept which environment variables and files they read, and unknown ones count as changed.',
    })
  }
})

test('forks that end otherwise when they are replayed are refused or set aside, all of them, and never counted', async () => {
  const file = fileOf()
  const ledger = await openLedger(file, options)
  for (const seed of [0, 1, 2]) ledger.append(entry(seed), { ...run, tape: `run ${seed}` })
  expect(readdirSync(join(file, '..')).filter((name) => name.startsWith('run-'))).toHaveLength(3)
  const progress: string[] = []
  const now: LedgerOptions = {
    ...options,
    rechecking: {
      again: async ({ tape }, { grade }) => (tape === 'run 1' ? { changedHeaders: [] } : { given: { grade } }),
      onRecheck: (done, of) => progress.push(`${done} of ${of}`),
    },
  }
  expect((await refusal(file, now)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
    "The cached forks end otherwise today

      forks      3
      otherwise  1
      file       <file>

    Replayed with the answers they got then, some do something else: the code reads what is not as it was.
    → to start again (the earlier forks stay in the file): --no-cache
    → to go on without them: --cross-version
    (HARVEST_CROSS_VERSION)"
  `)
  expect(progress).toEqual(['1 of 3', '2 of 3', '3 of 3'])
  const after = await openLedger(file, { ...now, isCrossVersion: true })
  expect(after).toMatchObject({ entries: [], setAside: 3, unchecked: 0 })
  // They do not come back in a later session, whichever of them is like today's.
  after.append(entry(7), run)
  expect((await openLedger(file, now)).entries.map(({ spec }) => spec.seed)).toEqual([7])
})

test('forks of which it is unknown what they did do not count, and none beside them', async () => {
  const file = fileOf()
  const ledger = await openLedger(file, options)
  ledger.append(entry(0), run)
  ledger.append(entry(1))
  const unknown = { entries: [], setAside: 0, unchecked: 2 }
  const after = await openLedger(file, options)
  expect(after).toMatchObject(unknown)
  const { rechecking: _, ...without } = options
  expect(await openLedger(file, without)).toMatchObject(unknown)
  after.append(entry(2), run)
  for (const name of readdirSync(join(file, '..')))
    if (name.startsWith('run-')) writeFileSync(join(file, '..', name), '')
  expect(await openLedger(file, options)).toMatchObject({ ...unknown, unchecked: 1 })
})

test('forks that were compared with another unchanged run are refused or set aside', async () => {
  const file = fileOf()
  const then: LedgerOptions = { ...options, ran: { ...options.ran, control: 'then' } }
  await write(file, then, 0)
  expect((await refusal(file, options)).message.replace(file, '<file>')).toMatchInlineSnapshot(`
    "The unchanged run is not what it was for the cached forks

      forks  1
      file   <file>

    Forks are compared with the unchanged run, and the code reads what is not as it was.
    → to start again (the earlier forks stay in the file): --no-cache
    → to go on without them: --cross-version
    (HARVEST_CROSS_VERSION)"
  `)
  const after = await openLedger(file, { ...options, isCrossVersion: true })
  expect(after).toMatchObject({ entries: [], setAside: 1 })
  after.append(entry(1), run)
  expect((await openLedger(file, { ...then, isCrossVersion: true })).entries.map(({ spec }) => spec.seed)).toEqual([0])
})

test('forks that other models answered do not count, and stay for the day those answer again', async () => {
  const file = fileOf()
  const ledger = await openLedger(file, options)
  for (const [seed, models] of [['gpt-5'], ['gpt-5', 'gpt-6'], []].entries())
    ledger.append(entry(seed, { models }), run)
  const counted = async (models: readonly string[]) => {
    const { entries, ofOtherModels } = await openLedger(file, { ...options, models: new Set(models) })
    return { seeds: entries.map(({ spec }) => spec.seed), ofOtherModels }
  }
  expect(await counted(['gpt-5'])).toEqual({ seeds: [0, 2], ofOtherModels: 1 })
  expect(await counted(['gpt-6'])).toEqual({ seeds: [2], ofOtherModels: 2 })
  expect(await counted(['gpt-5', 'gpt-6'])).toEqual({ seeds: [0, 1, 2], ofOtherModels: 0 })
})

test('forks of a session that began before another environment was read do not count without the others', async () => {
  const file = fileOf()
  const early: RunReads = { ...reads, set: [] }
  for (const [seed, now] of [early, reads].entries())
    (await openLedger(file, { ...options, surroundings: { reads: () => now, changedSince: () => [] } })).append(
      entry(seed),
      run,
    )
  const changedSince = ({ set }: RunReads) => set
  const now: LedgerOptions = { ...options, surroundings: { reads: () => reads, changedSince }, isCrossVersion: true }
  expect(await openLedger(file, now)).toMatchObject({ entries: [], setAside: 2 })
})
