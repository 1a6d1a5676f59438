import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  changedFilesSince,
  codeDigest,
  codeState,
  commitsBefore,
  gitState,
  gitUser,
  inWorktree,
  isInboxIgnored,
  keepsTapeBytes,
  readFormerCases,
  readHistory,
  readRange,
  trackedFiles,
  versionedFiles,
} from '../../src/provenance/index.ts'
import { readIndex } from '../../src/provenance/staged.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type HostileRepository, hostileRepository } from './hostile-repository.ts'

let canaries = ''
let repository: HostileRepository
beforeAll(() => {
  vi.stubEnv('HOME', temporaryFolder('home'))
  vi.stubEnv('XDG_CONFIG_HOME', undefined)
  canaries = temporaryFolder('canaries')
  repository = hostileRepository(temporaryFolder('hostile-git'), canaries, {
    'package.json': '{"name":"one"}\n',
    'recordings/golden/a.case.yaml': 'case: a\n',
  })
})
afterAll(() => vi.unstubAllEnvs())

test('no question to git runs a program that the repository names', async () => {
  const { root, first, ran } = repository
  writeFileSync(join(root, 'package.json'), '{"name":"two"}\n')
  expect((await gitState(root))?.dirty).toBe(true)
  expect(await codeState(root, first)).toMatchObject({ dirty: true })
  expect(await codeDigest(root)).toMatch(/^[\w-]{43}$/)
  const changed = await changedFilesSince(root, first)
  expect(changed?.find(({ path }) => path === 'package.json')?.before).toBe('{"name":"one"}\n')
  expect((await versionedFiles(root))?.(join(root, 'agent.ts'))).toBe(true)
  expect(await trackedFiles(root)).toContain(join(root, 'agent.ts'))
  expect(await isInboxIgnored(root, 'recordings')).toBe(false)
  expect(await keepsTapeBytes(root, 'recordings')).toBe(false)
  expect(await gitUser(root)).toBeUndefined()
  const history = await readHistory(root)
  expect(await history?.newestSince(first, 5)).toMatchObject([{ subject: 'Two' }])
  expect(await history?.changedSince(first)).toEqual(['agent.ts'])
  expect((await readFormerCases(root))?.texts).toEqual(['case: a\n'])
  const index = await readIndex(root)
  expect(await index.contentsOf(index.recordings.map(({ oid }) => oid))).toHaveProperty('size', 1)
  expect((await readRange(root, first, 'HEAD')).changed.map(({ path }) => path)).toEqual(['agent.ts'])
  expect(await commitsBefore(root, first)).toMatchObject([{ about: /^HEAD, without/ }, { commit: first }])
  await inWorktree(root, first, async (tree) => expect(existsSync(join(tree.cwd, 'agent.ts'))).toBe(true))
  expect(ran()).toEqual([])
})

test('what is missing from a partial clone is not asked of a program either', async () => {
  const { root, git, ran } = repository
  git(
    '-c',
    'core.hooksPath=/dev/null',
    '-c',
    'core.fsmonitor=false',
    'commit',
    '-q',
    '-m',
    'Three',
    '--',
    'package.json',
  )
  const missing = git('rev-parse', 'HEAD~1:package.json')
  rmSync(join(root, '.git/objects', missing.slice(0, 2), missing.slice(2)))
  writeFileSync(join(root, 'package.json'), '{"name":"three"}\n')
  const remotes = [`ext::touch ${join(canaries, 'remote')}`, 'ssh://nowhere.invalid/x', root]
  for (const remote of remotes) {
    git('config', '--replace-all', 'remote.evil.url', remote)
    expect(await changedFilesSince(root, git('rev-parse', 'HEAD~1'))).toBeUndefined()
  }
  expect(ran()).toEqual([])
  for (const remote of remotes) {
    git('config', '--replace-all', 'remote.evil.url', remote)
    expect(() => git('cat-file', '-e', missing)).toThrow()
  }
  expect(ran(), 'git by itself asks them').toEqual(['remote', 'ssh', 'uploadpack'])
})

test('git by itself runs the others, so those were held back too', () => {
  const { root, ran } = repository
  const lines = [
    ['status'],
    ['diff'],
    ['log', '-p', '-1', 'HEAD~1'],
    ['worktree', 'add', '-q', join(temporaryFolder('worktree'), 'tree')],
  ]
  for (const file of ['agent.ts', 'a.txt', 'b.md', 'c.lfs', 'd.r', 'sub/below.ts']) utimesSync(join(root, file), 2, 2)
  // Most of the programs are not good for what git wants of them.
  for (const line of lines) spawnSync('git', ['-C', root, ...line])
  expect(ran()).toEqual(
    expect.arrayContaining([
      ...[
        'own-clean',
        'own-smudge',
        'included-clean',
        'worktree-clean',
        'below-clean',
        'lfs-process',
        'a\u2028b-clean',
      ],
      ...['fsmonitor', 'below-fsmonitor', 'post-checkout', 'post-index-change', 'reference-transaction'],
      ...['diff-external', 'textconv'],
    ]),
  )
})

test("filters of the user's own settings run, and those of git-lfs wherever they are set", async () => {
  const [root, own] = [temporaryFolder('own-git'), temporaryFolder('own-canaries')]
  const git = (...args: readonly string[]): string => execFileSync('git', ['-C', root, ...args], { encoding: 'utf8' })
  git('init', '-q')
  writeFileSync(join(root, '.gitattributes'), '*.lfs filter=lfs\n*.own filter=own\n')
  for (const name of ['a.lfs', 'a.own']) writeFileSync(join(root, name), 'one\n')
  git('add', '.')
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.com', 'commit', '-q', '-m', 'One')
  // A program called git-lfs, as the user may have installed one.
  writeFileSync(join(own, 'git-lfs'), `#!/bin/sh\ntouch ${join(own, 'lfs')}\ncat\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${own}:${process.env['PATH']}`)
  git('config', 'filter.lfs.clean', 'git-lfs clean -- %f')
  git('config', '--global', 'filter.own.clean', `touch ${join(own, 'own')}; cat`)
  git('config', 'filter.own.clean', `touch ${join(own, 'foreign')}; cat`)
  for (const name of ['a.lfs', 'a.own']) utimesSync(join(root, name), 1, 1)
  expect(await gitState(root)).toMatchObject({ dirty: false })
  expect(readdirSync(own)).toEqual(['git-lfs', 'lfs', 'own'])
})

test.for([
  ['a=b', Buffer.from('a=b')],
  ['a\ufffdb', Buffer.from([0x61, 0xff, 0x62])],
] as const)('a program under the name %s, which git cannot be told, is refused', async ([name, bytes]) => {
  const root = temporaryFolder('named-git')
  execFileSync('git', ['-C', root, 'init', '-q'])
  const section = [Buffer.from('[filter "'), bytes, Buffer.from('"]\n clean = cat\n')]
  appendFileSync(join(root, '.git/config'), Buffer.concat(section))
  await expect(gitState(root)).rejects.toMatchObject({
    code: 'HARVEST_GIT_UNREADABLE',
    message: expect.stringContaining(`nothing of it is run: filter.${name}.clean`),
  })
})

test('which programs must not run is found out once for questions that belong together, and once more for what may fetch', async () => {
  const folder = temporaryFolder('counted-git')
  const asked = join(folder, 'asked')
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  writeFileSync(join(folder, 'git'), `#!/bin/sh\necho "$*" >> '${asked}'\nexec '${git}' "$@"\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`)
  await codeState(repository.root, repository.first)
  const lines = readFileSync(asked, 'utf8').trim().split('\n')
  // Of the repository and of its submodule.
  expect(lines.filter((line) => line.includes(' config --list '))).toHaveLength(2 * 2)
  expect(lines.filter((line) => / (?:status|rev-parse|diff) /.test(line)).length).toBeGreaterThanOrEqual(3)
})
