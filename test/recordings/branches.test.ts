import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { demote, forksFolder, pruneTapes, queryTapes, removeTapes } from '../../src/recordings/index.ts'
import { branchFlag, currentFlags, parseTape } from '../../src/tape/index.ts'
import { errorOf, messageOf, put, putTape, scratch } from './make.ts'
import { tapeText, type TapeParts } from './tape-text.ts'

const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>
const past = '2026-03-05T00:00:00.000Z'
const now = Date.parse('2026-06-01T00:00:00.000Z')
const expired = { retention: { class: 'clean', until: past } } as const

/** A branch that begins with the only event of its parent. */
function putBranch(
  recordings: string,
  name: string,
  parent: string,
  close: NonNullable<TapeParts['close']> = {},
): string {
  const { header, digest, events } = parseTape(tapeText({ header: { id: 'first' }, close: expired }), 'first')
  return putTape(recordings, `inbox/${name}`, {
    header: {
      id: name,
      flags: [...currentFlags, branchFlag],
      parent: { id: header.id, file: parent, digest, events: events.length, keep: 1 },
    },
    events: [],
    close,
  })
}

function family(close: NonNullable<TapeParts['close']> = {}) {
  const recordings = scratch()
  const parent = putTape(recordings, 'inbox/first', { header: { id: 'first' }, close: expired })
  const branch = putBranch(recordings, 'second', 'first.tape.jsonl', close)
  return { recordings, parent, branch }
}

test('a tape is not removed while a branch that stays begins with it', () => {
  const { recordings, parent, branch } = family()
  expect(messageOf(() => removeTapes(recordings, [parent]))).toMatchInlineSnapshot(`
    "The tape has branches, so it stays

      tape      <root>/recordings/inbox/first.tape.jsonl
      branches  <root>/recordings/inbox/second.tape.jsonl

    A branch stores only its own steps and is unreadable without this tape.
    → to remove the branches first: npx vitest-harvest tapes rm <root>/recordings/inbox/second.tape.jsonl
    → to keep one as a whole tape of the golden set: npx vitest-harvest promote <root>/recordings/inbox/second.tape.jsonl --as '<id>'
    (HARVEST_RECORDINGS_BRANCHES)"
  `)
  expect([parent, branch].every(existsSync)).toBe(true)
  removeTapes(recordings, [branch])
  removeTapes(recordings, [parent])
  expect(readdirSync(dirname(parent))).toEqual([])
})

test('a tape and all its branches are removed together, the branches first', () => {
  const { recordings, parent, branch } = family()
  const third = putBranch(recordings, 'third', 'second.tape.jsonl')
  // Folders where the forks of a tape are forgotten: the last step of its removal.
  const folder = forksFolder(recordings, branch)
  mkdirSync(folder, { recursive: true })
  const seen: boolean[][] = []
  const { rmSync } = fs
  fs['rmSync'] = (...args: unknown[]) => {
    if (args[0] === folder) seen.push([parent, branch, third].map(existsSync))
    return rmSync!(...args)
  }
  syncBuiltinESMExports()
  onTestFinished(() => {
    fs['rmSync'] = rmSync!
    syncBuiltinESMExports()
  })
  removeTapes(recordings, [parent, branch, third])
  expect(seen).toEqual([[true, false, false]])
  expect(existsSync(parent)).toBe(false)
})

test('pruning leaves what a branch begins with, says so, and takes it when the branch goes too', async () => {
  const { recordings, parent, branch } = family()
  for (const dryRun of [true, false]) {
    const kept = await pruneTapes({ recordings, now, dryRun })
    expect(kept.removed).toEqual([])
    expect(kept.needed).toMatchObject([{ tape: { id: 'first' }, branches: [branch] }])
  }
  expect(existsSync(parent)).toBe(true)
  const both = family(expired)
  const { removed, needed } = await pruneTapes({ recordings: both.recordings, now })
  expect(removed.map(({ id }) => id)).toEqual(['second', 'first'])
  expect(needed).toEqual([])
})

test('a branch under a hold holds its parent as well', async () => {
  const { recordings, parent } = family(expired)
  put(recordings, 'inbox/second.hold.json', '{"hold":"claim 4711"}')
  const { removed, held, needed } = await pruneTapes({ recordings, now })
  expect([removed, held.length, needed.map(({ tape }) => tape.file)]).toEqual([[], 1, [parent]])
})

test('a branch is found by whatever links it names its parent', () => {
  const recordings = scratch()
  const parent = putTape(recordings, 'inbox/first')
  symlinkSync(recordings, `${recordings}-link`)
  putBranch(recordings, 'second', '../../recordings-link/inbox/first.tape.jsonl')
  expect(errorOf(() => removeTapes(recordings, [parent])).code).toBe('HARVEST_RECORDINGS_BRANCHES')
  expect(existsSync(parent)).toBe(true)
})

test('a golden tape does not leave its place while a branch in the inbox begins with it', () => {
  const recordings = scratch()
  putTape(recordings, 'golden/case', { header: { id: 'first' }, close: expired })
  put(recordings, 'golden/case.case.yaml', 'case: case\nagent: refund\ntape: case.tape.jsonl\nexpect: pass\n')
  const branch = putBranch(recordings, 'second', '../golden/case.tape.jsonl')
  expect(errorOf(() => demote(recordings, 'case')).code).toBe('HARVEST_RECORDINGS_BRANCHES')
  removeTapes(recordings, [branch])
  expect(demote(recordings, 'case').removed).toHaveLength(2)
})

test('all that was kept of the forks of a tape goes with it', () => {
  const { recordings, branch } = family()
  const folder = forksFolder(recordings, branch)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'blame.jsonl'), '{}\n')
  removeTapes(recordings, [branch])
  expect(existsSync(folder)).toBe(false)
})

test('a list of tapes tells a branch from the tape it begins like', async () => {
  const { recordings } = family()
  const { tapes } = await queryTapes(recordings)
  expect(tapes.map(({ id, branchOf }) => [id, branchOf])).toEqual([
    ['first', undefined],
    ['second', 'first'],
  ])
})
