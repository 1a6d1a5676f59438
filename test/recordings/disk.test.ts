import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { compileCache } from '../../fixtures/child/compile-cache.ts'
import { demote, holdOf, listCases, placeHold, queryTapes, removeTapes } from '../../src/recordings/index.ts'
import { readTape } from '../../src/tape/index.ts'
import { type Failure, failingAt, namesIn, restoreDisk } from './failing-disk.ts'
import { call, errorOf, put, putTape, scratch, tapeText } from './make.ts'

afterEach(restoreDisk)

const events = Array.from({ length: 40 }, (_, n) => call(n + 1, 'search', { query: `order ${n} `.repeat(30) }))
const text = tapeText({ events })
const caseText = 'case: old\nagent: refund\ntape: old.tape.jsonl\nexpect: pass\n'

/** An inbox with `run-1`, whose retention has ended, and a case `old` with another tape. */
function recordingsWithBoth(): string {
  const recordings = scratch()
  putTape(recordings, 'inbox/run-1', {
    events,
    close: { retention: { class: 'clean', until: '2026-03-05T00:00:00.000Z' } },
  })
  put(recordings, 'golden/old.tape.jsonl', text)
  put(recordings, 'golden/old.case.yaml', caseText)
  return recordings
}

describe.each<Failure>(['before', 'after', 'for good'])('a disk that fails %s, at any one call,', (failure) => {
  test('never loses the tape of a case that is demoted, and doing it again works', () => {
    for (let n = 1; ; n++) {
      const recordings = scratch()
      put(recordings, 'golden/old.tape.jsonl', text)
      put(recordings, 'golden/old.case.yaml', caseText)
      const { error, calls } = failingAt(n, failure, () => demote(recordings, 'old'))
      const [back, evidence] = ['inbox/run-1', 'golden/old'].map((name) => join(recordings, `${name}.tape.jsonl`))
      const places = [back!, evidence!].filter((file) => existsSync(file))
      expect(places.length).toBeGreaterThan(0)
      for (const file of places) expect(readFileSync(file, 'utf8') === text).toBe(true)
      expect(listCases(recordings).filter((each) => each.error !== undefined)).toEqual([])
      if (error !== undefined)
        expect((error as { code?: string }).code).toMatch(
          /^HARVEST_(RECORDINGS_(WRITE|REMOVE)|CASE_.+|TAPE_UNREADABLE)$/,
        )
      if (existsSync(evidence!)) demote(recordings, 'old')
      expect([readFileSync(back!, 'utf8') === text, readdirSync(join(recordings, 'golden'))]).toEqual([true, []])
      if (calls < n) return
    }
  })

  test('leaves a tape that is removed where it was, or aside, and doing it again works', () => {
    for (let n = 1; ; n++) {
      const recordings = scratch()
      const tape = putTape(recordings, 'inbox/run-1')
      const other = putTape(recordings, 'inbox/run-2')
      const { error, calls } = failingAt(n, failure, () => removeTapes(recordings, [tape]))
      if (error !== undefined)
        expect((error as { code?: string }).code).toMatch(/^HARVEST_(RECORDINGS_(REMOVE|HELD)|TAPE_UNREADABLE)$/)
      removeTapes(recordings, existsSync(tape) ? [tape, other] : [other])
      expect(readdirSync(join(recordings, 'inbox'))).toEqual([])
      if (calls < n) return
    }
  })

  test('never says that a hold stands which does not', () => {
    for (let n = 1; ; n++) {
      const recordings = scratch()
      const tape = putTape(recordings, 'inbox/run-1')
      const { error, calls } = failingAt(n, failure, () => placeHold(recordings, tape, 'claim 4711'))
      if (error === undefined) expect(holdOf(tape, undefined)?.reason).toBe('claim 4711')
      else expect(error).toMatchObject({ code: 'HARVEST_RECORDINGS_WRITE' })
      expect(namesIn(join(recordings, 'inbox'), failure).filter((name) => name !== 'run-1.hold.json')).toEqual([
        'run-1.tape.jsonl',
      ])
      placeHold(recordings, tape, `claim 4711 with ghp_${'a1B2c3D4e5F6'.repeat(3)}`)
      expect(holdOf(tape, undefined)?.reason).toBe('claim 4711 with redacted-github-token-1')
      expect(errorOf(() => removeTapes(recordings, [tape])).code).toBe('HARVEST_RECORDINGS_HELD')
      if (calls < n) return
    }
  })
})

interface Said {
  readonly code?: string
  readonly facts?: { readonly where?: Readonly<Record<string, string>> }
  readonly result?: unknown
  readonly crash?: string
}

const child = join(import.meta.dirname, 'disk.child.ts')

/** Lets a process do one thing; `file` is a shell's limit of file sizes, in blocks of 1 KiB. */
function say(
  operation: string,
  recordings: string,
  limits: { readonly blocks?: number; readonly asNobody?: boolean },
): Said {
  const { blocks, asNobody } = limits
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', child, operation, recordings]
  const [program = '', ...args] =
    blocks === undefined ? node : ['bash', '-c', `ulimit -f ${blocks}; exec "$@"`, 'bash', ...node]
  // The process gives up being root itself, once it is loaded: this repository may lie where nobody else can read.
  const own = asNobody === true && process.getuid?.() === 0 ? { AS_NOBODY: '1' } : {}
  const { stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...compileCache, ...own },
  })
  if (stdout === '') throw new Error(`nothing was said: ${stderr}`)
  return JSON.parse(stdout) as Said
}

/** Everything below a folder that is no index, with its bytes. */
function snapshot(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => !name.includes('.index'))
  return Object.fromEntries(
    files
      .sort()
      .map((name) => [name, statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), 'utf8') : '']),
  )
}

// What the process compiles is kept once, for all that follow: those that a limit stops could not write it.
beforeAll(() => void say('index', join(import.meta.dirname, 'no-recordings'), {}))

// A file can be no longer than a limit: the system answers writes beyond it as it does when the disk is full.
describe.skipIf(process.platform === 'win32')('a disk that takes no more bytes', () => {
  test.for(['promote', 'update', 'demote', 'hold'])(
    'makes %s a clear error, and everything stays as it was',
    (operation) => {
      const recordings = recordingsWithBoth()
      const before = snapshot(recordings)
      const { code, facts } = say(operation, recordings, { blocks: 4 })
      expect(code).toBe('HARVEST_RECORDINGS_WRITE')
      expect(facts?.where?.['system']).toBe('EFBIG on write')
      expect(snapshot(recordings)).toEqual(before)
    },
  )

  test('leaves the list of tapes right, and says that there is no index', { tags: 'thorough' }, () => {
    const recordings = recordingsWithBoth()
    const { result } = say('index', recordings, { blocks: 8 }) as { result: { tapes: string[]; note: string } }
    expect(result.tapes).toEqual(['run-1', 'run-1'])
    expect(result.note).toMatch(/^the index of the tapes could not be used, so every tape was read: /)
  })

  test('in the middle of an index leaves one that the next list is right with', { tags: 'thorough' }, async () => {
    const recordings = scratch()
    for (let n = 0; n < 60; n++) putTape(recordings, `inbox/run-${n}`, { header: { id: `run-${n}` } })
    let indexed = 0
    for (let blocks = 16; blocks <= 256; blocks *= 2) {
      const { result } = say('index', recordings, { blocks }) as { result: { tapes: string[]; note?: string } }
      expect(result.tapes).toHaveLength(60)
      if (result.note === undefined) indexed++
    }
    expect(indexed).toBeGreaterThan(0)
    const { tapes, note } = await queryTapes(recordings)
    expect([tapes.length, note]).toEqual([60, undefined])
  })

  test('does not disturb an agent that is recorded; its tape is readable up to there', () => {
    const recordings = scratch()
    mkdirSync(join(recordings, 'inbox'), { recursive: true })
    const { result } = say('record', recordings, { blocks: 4 })
    expect(result).toEqual({ answered: 14_000, warnings: ['HARVEST_RECORDING_FAILED'] })
    const { header, close } = readTape(join(recordings, 'inbox/new.tape.jsonl'))
    expect([header.id, close?.outcome.status === 'returned' && close.incomplete === undefined]).toEqual(['new', false])
  })
})

// Root may write everywhere, so the process gives that up first.
describe.skipIf(process.platform === 'win32')('folders that are not ours to write to', () => {
  function readOnly(): string {
    const recordings = recordingsWithBoth()
    chmodSync(dirname(recordings), 0o755)
    for (const folder of ['inbox', 'golden', '']) chmodSync(join(recordings, folder), 0o555)
    return recordings
  }

  test.for([
    ['promote', 'HARVEST_RECORDINGS_WRITE'],
    ['update', 'HARVEST_RECORDINGS_WRITE'],
    ['demote', 'HARVEST_RECORDINGS_WRITE'],
    ['hold', 'HARVEST_RECORDINGS_WRITE'],
    ['rm', 'HARVEST_RECORDINGS_REMOVE'],
  ])('make %s a clear error, and everything stays as it was', ([operation, code]) => {
    const recordings = readOnly()
    const before = snapshot(recordings)
    const said = say(operation!, recordings, { asNobody: true })
    expect([said.code, JSON.stringify(said.facts)]).toEqual([code, expect.stringContaining('EACCES')])
    expect(snapshot(recordings)).toEqual(before)
  })

  test('leave the list of tapes right, make pruning say what it could not do, and leave an agent alone', {
    tags: 'thorough',
  }, () => {
    const recordings = readOnly()
    const before = snapshot(recordings)
    const said = (operation: string): unknown => say(operation, recordings, { asNobody: true }).result
    expect(said('index')).toEqual({ tapes: ['run-1', 'run-1'], note: expect.stringContaining('EACCES') as string })
    expect(said('prune')).toEqual(['HARVEST_RECORDINGS_REMOVE'])
    expect(said('record')).toEqual({ answered: 14_000, warnings: ['HARVEST_RECORDING_FAILED'] })
    expect(snapshot(recordings)).toEqual(before)
  })

  test.for(['index', 'demote'])('that cannot be looked through are an error for %s, not an empty list', (operation) => {
    const recordings = readOnly()
    chmodSync(join(recordings, 'golden'), 0o333)
    const { code, facts } = say(operation, recordings, { asNobody: true })
    expect([code, facts?.where?.['folder']]).toEqual(['HARVEST_RECORDINGS_FOLDER', join(recordings, 'golden')])
  })
})
