import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type ForkIdentity, forkKey, keepFork, readKeptForks, thisSession } from '../../src/fork/kept-forks.ts'
import type { FinishedFork } from '../../src/fork/request.ts'
import type { KeptRun, ReplayedFork } from '../../src/fork/kept-run.ts'
import type { RunReads, Surroundings } from '../../src/jobs/run-reads.ts'

const identity: ForkIdentity = {
  tape: 'digest',
  agent: 'refund',
  code: 'code',
  version: '1',
  request: { keep: 2, tail: { from: 'tape' }, seed: '1', changes: [{ step: 2, path: 'result', value: 1 }] },
}
const fork: FinishedFork = {
  seed: '1',
  outcome: { status: 'returned', value: 1 },
  prefix: { steps: 2, isExact: true },
  problems: [],
  spent: { modelCalls: 0, inputTokens: 0, outputTokens: 0 },
  isInert: false,
  fingerprint: 'x',
  branch: '',
  run: { tape: 'what it did', hasProblems: false },
  madeAt: '2026-01-02T03:04:05.000Z',
}

const reads: RunReads = { salt: 'salt', set: ['FLAG'], unset: [], values: 'digest', files: {} }
const asItWas = { changedSince: () => [] }

const read = (
  at: string,
  keys: readonly string[],
  around: Pick<Surroundings, 'changedSince'>,
  doesAgain: (run: KeptRun) => Promise<boolean | undefined> = async () => true,
) =>
  readKeptForks(
    keys.map((key) => ({ folder: at, key })),
    around,
    async (run) => {
      const does = await doesAgain(run)
      return does === undefined ? undefined : does ? { replayed: {} as ReplayedFork } : { changedHeaders: [] }
    },
  ).then(({ forks }) => forks)

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'harvest-forks-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return join(root, '.forks', 'run')
}

describe('a kept fork', () => {
  it('is found by all that makes it the same fork', () => {
    const { request } = identity
    const others: readonly ForkIdentity[] = [
      { ...identity, tape: 'other' },
      { ...identity, agent: 'other' },
      { ...identity, code: 'other' },
      { ...identity, version: '2' },
      { ...identity, source: 'reference' },
      { ...identity, request: { ...request, keep: 3 } },
      { ...identity, request: { ...request, seed: '2' } },
      { ...identity, request: { ...request, clockOffsetMs: 1 } },
      { ...identity, request: { ...request, modes: { 3: 'replayed' } } },
      { ...identity, request: { ...request, tail: { from: 'live' } } },
      { ...identity, request: { ...request, changes: [{ step: 2, path: 'result', value: '1' }] } },
    ]
    expect(new Set([identity, ...others].map(forkKey)).size).toBe(others.length + 1)
    expect(forkKey({ request: { ...request }, version: '1', code: 'code', agent: 'refund', tape: 'digest' })).toBe(
      forkKey(identity),
    )
  })

  it('does not ask where a donor lies, only what it says', () => {
    const from = (file: string, source: string): string =>
      forkKey({ ...identity, source, request: { ...identity.request, tail: { from: 'reference', file } } })
    expect(from('/a/x', 'd')).toBe(from('/b/y', 'd'))
    expect(from('/a/x', 'd')).not.toBe(from('/a/x', 'e'))
  })

  it('is read as it was written, by its owner alone, and out of git', async () => {
    const at = folder()
    keepFork(at, 'key', fork, reads)
    expect(await read(at, ['key'], asItWas)).toEqual([fork])
    expect(statSync(join(at, 'key.json')).mode & 0o077).toBe(0)
    expect(readdirSync(join(at, '..')).sort()).toEqual(['.gitignore', 'run'])
    expect(readdirSync(at)).toEqual(['key.json'])
  })

  it.each(['HARVEST_BUDGET_USED', 'HARVEST_RUN_ABORTED', 'HARVEST_FORK_MODEL_UNREACHABLE'])(
    'is not one that ended with %s: asked again it may go on',
    async (code) => {
      const at = folder()
      keepFork(at, 'key', { ...fork, problems: [{ code, message: '' }] }, reads)
      expect(await read(at, ['key'], asItWas)).toEqual([undefined])
    },
  )

  it('is made anew where something it read is not as it was, or where it does not say what it read', async () => {
    const at = folder()
    keepFork(at, 'key', fork, reads)
    const changedSince = ({ set }: RunReads) => set.map((name) => `environment variable ${name}`)
    expect(await read(at, ['key'], { changedSince })).toEqual([undefined])
    writeFileSync(join(at, 'old.json'), JSON.stringify({ fork }))
    expect(await read(at, ['old'], asItWas)).toEqual([undefined])
  })

  it('is made anew, and all that are asked for with it, where one does something else today, or may', async () => {
    const at = folder()
    for (const key of ['one', 'two']) keepFork(at, key, { ...fork, run: { tape: key, hasProblems: false } }, reads)
    const { run: _, ...unknown } = fork
    keepFork(at, 'unknown', unknown, reads)
    const doesAgain = async ({ tape }: KeptRun) => tape !== 'two'
    expect(await read(at, ['one', 'none'], asItWas, doesAgain)).toMatchObject([{ run: { tape: 'one' } }, undefined])
    expect(await read(at, ['one', 'two'], asItWas, doesAgain)).toEqual([undefined, undefined])
    expect(await read(at, ['one', 'unknown'], asItWas, doesAgain)).toEqual([undefined, undefined])
  })

  it('is made anew where what was the key of its requests is another value, and is not their key today', async () => {
    const at = folder()
    keepFork(at, 'key', fork, reads)
    const changedSince: Surroundings['changedSince'] = (_, isFree) =>
      isFree?.('GATEWAY', false) === true ? [] : ['environment variable GATEWAY']
    const asked = [{ folder: at, key: 'key' }]
    const again = (keyVariables: readonly string[]) =>
      readKeptForks(asked, { changedSince }, async () => ({ replayed: {} as ReplayedFork, keyVariables }))
    expect(await again(['GATEWAY'])).toEqual({ forks: [fork], sessions: [thisSession] })
    const anew = { forks: [undefined], anew: { because: 'changed since: environment variable GATEWAY' } }
    expect(await again([])).toMatchObject(anew)
    const said = { replayed: {} as ReplayedFork, keyVariables: ['GATEWAY'], saidVariables: ['GATEWAY'] }
    expect(await readKeptForks(asked, { changedSince }, async () => said)).toMatchObject(anew)
  })

  it('that is damaged is made anew', async () => {
    const at = folder()
    keepFork(at, 'key', fork, reads)
    writeFileSync(join(at, 'key.json'), '{"fork":{"se')
    expect(await read(at, ['key'], asItWas)).toEqual([undefined])
    expect(await read(at, ['none'], asItWas)).toEqual([undefined])
  })
})
