import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readHistory } from '../../src/provenance/index.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-history-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', ['-C', root, ...identity, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

function commit(subject: string, at: string, file = 'agent.ts'): string {
  writeFileSync(join(root, file), subject)
  git('add', '.')
  const env = { ...process.env, GIT_AUTHOR_DATE: at, GIT_COMMITTER_DATE: at }
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  execFileSync('git', ['-C', root, ...identity, 'commit', '-q', '-m', subject], { env })
  return git('rev-parse', 'HEAD')
}

test('a commit HEAD goes back to is so many commits and days behind, and the newest since are named', async () => {
  git('init', '-q')
  const first = commit('First', '2026-01-01T00:00:00Z')
  const second = commit('Refund \u001b[2J ò twice\n\nbody', '2026-01-05T00:00:00Z', 'other.ts')
  const third = commit('--output=stolen', '2026-01-11T12:00:00Z')
  const history = (await readHistory(root))!
  expect(history.head).toBe(third)
  expect(history.headAt).toBe('2026-01-11T12:00:00.000Z')
  expect(await history.standingOf(first)).toEqual({ state: 'ancestor', commit: first, commits: 2, daysBehind: 10 })
  expect(await history.standingOf(first.slice(0, 9)), 'shortened').toEqual(await history.standingOf(first))
  expect(await history.standingOf(third)).toEqual({ state: 'ancestor', commit: third, commits: 0, daysBehind: 0 })
  expect(await history.newestSince(first, 5)).toEqual([
    { commit: third, subject: '--output=stolen' },
    { commit: second, subject: 'Refund \u001b[2J ò twice' },
  ])
  expect(await history.newestSince(first, 1)).toHaveLength(1)
  expect(await history.changedSince(first)).toEqual(['agent.ts', 'other.ts'])
  expect(await history.changedSince(second)).toEqual(['agent.ts'])
})

test('a commit of another line, one that is not here and a text that is no hash are told apart', async () => {
  git('init', '-q')
  const base = commit('Base', '2026-01-01T00:00:00Z')
  git('checkout', '-q', '-b', 'side')
  const side = commit('Side', '2026-01-02T00:00:00Z')
  git('checkout', '-q', '-b', 'main2', base)
  commit('Main', '2026-01-03T00:00:00Z')
  const history = (await readHistory(root))!
  expect(await history.standingOf(side)).toEqual({ state: 'elsewhere', commit: side })
  expect(await history.newestSince(side, 5)).toEqual([])
  expect(await history.standingOf('4f2a9c1')).toEqual({ state: 'missing' })
  expect(await history.standingOf('--all')).toEqual({ state: 'missing' })
  git('branch', 'abcdef1')
  expect(await history.standingOf('abcdef1'), 'a branch that is called like a hash').toEqual({ state: 'missing' })
})

test('a shallow clone says that it does not know, not that there is no such commit', async () => {
  git('init', '-q')
  const first = commit('First', '2026-01-01T00:00:00Z')
  const last = commit('Last', '2026-01-02T00:00:00Z')
  const clone = join(root, 'clone')
  git('clone', '-q', '--depth', '1', `file://${root}`, clone)
  const history = (await readHistory(clone))!
  expect(await history.standingOf(first)).toEqual({ state: 'shallow' })
  expect(await history.standingOf(last)).toMatchObject({ state: 'ancestor', commits: 0 })
})

test('outside a repository, and in one without commits, there is no history', async () => {
  expect(await readHistory(root)).toBeUndefined()
  git('init', '-q')
  expect(await readHistory(root)).toBeUndefined()
})

test('a repository git cannot read is an error', async () => {
  git('init', '-q')
  commit('First', '2026-01-01T00:00:00Z')
  writeFileSync(join(root, '.git/config'), '[core\n')
  await expect(readHistory(root)).rejects.toThrow('git cannot read this repository')
})
