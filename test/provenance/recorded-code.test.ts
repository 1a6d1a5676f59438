import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toRecordedCode } from '../../src/provenance/index.ts'

function scratch(): string {
  const cwd = mkdtempSync(join(tmpdir(), 'harvest-recorded-code-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  return cwd
}

test('the printed command brings the recorded code and keeps a case that was committed later', async () => {
  const cwd = scratch()
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd, encoding: 'utf8' }).trim()
  const [agent, kase] = [join(cwd, 'agent.ts'), join(cwd, 'my recordings/golden/late.case.yaml')]
  const commit = (message: string): string => {
    git('add', '-A')
    git('commit', '--quiet', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '--quiet')
  writeFileSync(agent, 'recorded\n')
  const recorded = commit('the agent')
  expect(await toRecordedCode(cwd, recorded, 'my recordings')).toBeUndefined()
  mkdirSync(join(cwd, 'my recordings/golden'), { recursive: true })
  writeFileSync(kase, 'case: late\n')
  commit('the case')
  writeFileSync(agent, 'changed\n')
  const latest = commit('another agent')
  writeFileSync(agent, 'under way\n')
  const command = (await toRecordedCode(cwd, recorded.slice(0, 12), 'my recordings')) ?? ''
  expect(command).toBe(`git stash && git checkout ${recorded.slice(0, 12)} && git checkout @{-1} -- 'my recordings'`)
  const identity = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  }
  execFileSync('sh', ['-c', command], { cwd, stdio: 'ignore', env: { ...process.env, ...identity } })
  expect({ agent: readFileSync(agent, 'utf8'), kase: existsSync(kase) }).toEqual({ agent: 'recorded\n', kase: true })
  expect(await toRecordedCode(cwd, recorded, 'my recordings')).toBeUndefined()
  // And back, with what was under way.
  git('checkout', '--quiet', '-')
  git('stash', 'pop')
  expect([git('rev-parse', 'HEAD'), readFileSync(agent, 'utf8')]).toEqual([latest, 'under way\n'])
  expect(await toRecordedCode(cwd, latest, 'my recordings')).toBe('git stash')
})

test('no command leads to a commit that is not in the repository, nor anywhere without one', async () => {
  const cwd = scratch()
  const elsewhere = '4f2a9c1d5e6b7a8f90c1d2e3f4a5b6c7d8e9f0a1'
  expect(await toRecordedCode(cwd, elsewhere, 'recordings')).toBeUndefined()
  execFileSync('git', ['init', '--quiet'], { cwd })
  expect(await toRecordedCode(cwd, elsewhere, 'recordings')).toBeUndefined()
  expect(await toRecordedCode(cwd, 'unknown', 'recordings')).toBeUndefined()
})
