import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as library from '../../src/index.ts'

const names = [
  'HarvestError',
  'blame',
  'chaos',
  'checkRecordings',
  'diagnose',
  'diffRuns',
  'exportTape',
  'fork',
  'importTapes',
  'listTapes',
  'loadCase',
  'openRecordings',
  'promote',
  'readTape',
  'replay',
]

/** Names of earlier versions, for one minor version. */
const deprecated = [
  'compareBranches',
  'compareTraces',
  'decodeValue',
  'forkTape',
  'guardLoading',
  'installReplay',
  'openBudget',
  'parseBaseline',
  'parseTape',
  'readModelCall',
  'readModelRequest',
  'readTapeHeader',
  'renderBaseline',
  'replayTape',
  'standInKeys',
  'stepsOf',
  'streamTape',
  'traceOf',
]

describe('the library', () => {
  let said: Record<string, unknown> = {}
  const folder = mkdtempSync(join(tmpdir(), 'harvest-library-'))
  beforeAll(() => {
    const recordings = join(folder, 'recordings')
    mkdirSync(recordings)
    const node = (...args: string[]): string =>
      execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
    node(join(import.meta.dirname, '../cli/record-refund.child.ts'), join(recordings, 'inbox'), 'a1')
    said = JSON.parse(node(join(import.meta.dirname, 'story.child.ts'), recordings, folder)) as typeof said
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('has these fifteen names, and those of earlier versions', () => {
    expect(
      Object.keys(library)
        .filter((name) => !deprecated.includes(name))
        .sort(),
    ).toEqual(names)
    expect(Object.keys(library)).toEqual(expect.arrayContaining(deprecated))
  })

  it('lists tapes and replays one with its verdict', () => {
    expect(said).toMatchObject({ listed: [['a1', 'returned']], replayed: 'same', other: 'different' })
  })

  it('sees what an agent does after it returned', () => {
    expect(said).toMatchObject({
      late: [
        ['different', 'HARVEST_RUN_OVER'],
        ['different', 'HARVEST_UNCAUGHT_EXCEPTION'],
        ['different', 'HARVEST_UNHANDLED_REJECTION'],
        ['same'],
      ],
      redLate: 'HARVEST_PROMOTE_DIVERGED',
    })
  })

  it('promotes a tape that replays, and writes nothing for one that does not', () => {
    expect(said).toMatchObject({ red: 'HARVEST_PROMOTE_DIVERGED', kase: ['refund-a1', 'refund', true] })
  })

  it('checks recordings', () => {
    expect(said['checked']).toEqual([2, []])
    expect(said['broken']).toContain('HARVEST_CASE_MISSING_KEY')
  })

  it('forks a run and compares the branch with it', () => {
    expect(said).toMatchObject({ branch: 'threw', diff: 'number of calls' })
  })

  it('exports a run, with and without what was said', () => {
    expect(said).toMatchObject({ exported: ['log'], silent: false })
  })

  it('imports a recording into memory and into the inbox', () => {
    expect(said).toMatchObject({
      imported: [['refund', 'har', true]],
      ofBytes: ['from-bytes'],
      written: [[true, 'refund']],
    })
  })

  it('finds what makes a run irreproducible', () => {
    expect(said).toMatchObject({
      findings: ['process.env.REFUND_PROMPT', 'process.env.REFUND_TWICE'],
      resampled: expect.arrayContaining(['process.env.REFUND_REGION']) as string[],
    })
  })

  it('runs a tape with injected faults', () => {
    expect(said['tried']).toBeGreaterThan(0)
  })

  it('refuses to blame without a limit', () => {
    expect(said['unlimited']).toBe('HARVEST_BLAME_LIMITS')
  })
})
