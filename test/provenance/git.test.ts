import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HarvestError } from '../../src/errors/index.ts'
import { changedFilesSince, codeDigest, codeState, gitState, gitUser } from '../../src/provenance/index.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'harvest-git-')))
})
afterEach(() => vi.unstubAllEnvs())
afterEach(() => rmSync(root, { recursive: true, force: true }))

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
  return execFileSync('git', ['-C', root, ...identity, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim()
}

function commitFile(name: string, text: string): string {
  writeFileSync(join(root, name), text)
  git('add', name)
  git('commit', '-q', '-m', 'Add a file')
  return git('rev-parse', 'HEAD')
}

test('a clean work tree is its commit', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  expect(await gitState(root)).toEqual({ commit, dirty: false })
  mkdirSync(join(root, 'deep/er'), { recursive: true })
  expect(await gitState(join(root, 'deep/er')), 'from a folder below').toEqual({ commit, dirty: false })
})

test('a changed tracked file makes it dirty, wherever one asks from', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  mkdirSync(join(root, 'deep'))
  writeFileSync(join(root, 'agent.ts'), 'export const changed = 1\n')
  expect(await gitState(join(root, 'deep'))).toEqual({ commit, dirty: true })
})

test('untracked files, changed tapes and changed cases leave it clean: none of them is code that ran', async () => {
  git('init', '-q')
  mkdirSync(join(root, 'recordings'))
  commitFile('recordings/a.case.yaml', 'case: a\n')
  const commit = commitFile('recordings/a.tape.jsonl', '{}\n')
  writeFileSync(join(root, 'recordings/a.case.yaml'), 'case: b\n')
  writeFileSync(join(root, 'recordings/a.tape.jsonl'), '[]\n')
  writeFileSync(join(root, 'notes.txt'), 'not added\n')
  expect(await gitState(root)).toEqual({ commit, dirty: false })
})

test('a repository without commits has no commit', async () => {
  git('init', '-q')
  expect(await gitState(root)).toEqual({ dirty: false })
  writeFileSync(join(root, 'agent.ts'), 'export {}\n')
  git('add', 'agent.ts')
  expect(await gitState(root)).toEqual({ dirty: true })
})

test('outside a repository nothing is said, and git is not started to hear so', async () => {
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const bin = join(root, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), `#!/bin/sh\necho asked >> ${join(bin, 'asked')}\nexec ${real} "$@"\n`, {
    mode: 0o755,
  })
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`)
  expect(await gitState(root)).toBeUndefined()
  expect(existsSync(join(bin, 'asked')), 'outside').toBe(false)
  git('init', '-q')
  expect(await gitState(bin)).toEqual({ dirty: false })
  expect(existsSync(join(bin, 'asked')), 'inside, in a folder below').toBe(true)
})

test('a repository is found wherever git finds it', async () => {
  const [main, tree, separate] = ['main', 'tree', 'separate'].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(main)
  git('-C', main, 'init', '-q')
  git('-C', main, 'commit', '-q', '--allow-empty', '-m', 'One')
  const commit = git('-C', main, 'rev-parse', 'HEAD')
  git('-C', main, 'worktree', 'add', '-q', '--detach', tree)
  git('init', '-q', '--separate-git-dir', join(root, 'elsewhere'), separate)
  symlinkSync(main, join(root, 'link'))
  expect(await gitState(tree), 'a linked work tree').toEqual({ commit, dirty: false })
  expect(await gitState(separate), 'whose .git is elsewhere').toEqual({ dirty: false })
  expect(await gitState(join(root, 'link')), 'through a link').toEqual({ commit, dirty: false })
  git('clone', '-q', '--bare', main, join(root, 'bare'))
  await expect(gitState(join(root, 'bare')), 'without a work tree').rejects.toThrow('must be run in a work tree')
  expect(await gitState(root)).toBeUndefined()
})

test('a branch named like an option is read as a name', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  git('update-ref', 'refs/heads/--output=stolen', 'HEAD')
  git('symbolic-ref', 'HEAD', 'refs/heads/--output=stolen')
  expect(await gitState(root)).toEqual({ commit, dirty: false })
})

test('asking git runs no program the repository configures', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  const proof = join(root, 'it-ran')
  const hook = join(root, 'fsmonitor.sh')
  writeFileSync(hook, `#!/bin/sh\ntouch ${proof}\n`, { mode: 0o755 })
  git('config', 'core.fsmonitor', hook)
  expect(await gitState(root)).toEqual({ commit, dirty: false })
  expect(() => realpathSync(proof)).toThrow('ENOENT')
  git('status')
  expect(realpathSync(proof), 'git by itself does run it, so the setting above is what held it back').toBe(proof)
})

test('asking git writes nothing, not even its index', async () => {
  git('init', '-q')
  commitFile('agent.ts', 'export {}\n')
  utimesSync(join(root, 'agent.ts'), 1, 1)
  const index = readFileSync(join(root, '.git/index'))
  expect(await gitState(root)).toMatchObject({ dirty: false })
  expect(readFileSync(join(root, '.git/index')).equals(index)).toBe(true)
  git('status')
  expect(readFileSync(join(root, '.git/index')).equals(index), 'git by itself does').toBe(false)
})

test('the git of a hook is not the git of the folder asked about', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  process.env['GIT_DIR'] = join(root, 'elsewhere')
  try {
    expect(await gitState(root)).toEqual({ commit, dirty: false })
  } finally {
    delete process.env['GIT_DIR']
  }
})

test('a repository git cannot read is an error that shows what git said', async () => {
  git('init', '-q')
  commitFile('agent.ts', 'export {}\n')
  writeFileSync(join(root, '.git/config'), '[core\n')
  const error = await gitState(root).catch((caught: unknown) => caught)
  expect(HarvestError.is(error, 'HARVEST_GIT_UNREADABLE')).toBe(true)
  const { message } = error as Error
  expect(message).toContain('bad config')
  // Versions of git say it in different words.
  expect(message.replaceAll(root, '<root>').replace(/(?<=  git +).*/, '<what git said>')).toMatchInlineSnapshot(`
    "git cannot read this repository

      folder  <root>
      git <what git said>

    In containers, git refuses a work tree owned by another user.
    → to see it by hand: git -C <root> status
    → or set the commit: GIT_SHA=<commit>
    (HARVEST_GIT_UNREADABLE)"
  `)
})

test('a git that is killed before it has answered has not said that nothing changed', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'export {}\n')
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  const bin = join(root, '.git/bin')
  mkdirSync(bin)
  writeFileSync(join(root, 'agent.ts'), 'export default 1\n')
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *--name-only*) kill -KILL $$;; esac\nexec ${real} "$@"\n`)
  expect(await changedFilesSince(root, commit)).toMatchObject([{ path: 'agent.ts' }])
  chmodSync(join(bin, 'git'), 0o755)
  vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`)
  expect(await changedFilesSince(root, commit), 'with the program that dies').toBeUndefined()
  writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *status*) kill -PIPE $$;; esac\nexec ${real} "$@"\n`)
  await expect(gitState(root)).rejects.toThrow('git was killed before it had answered')
})

test('who works in a folder is what git is configured with, and nobody where it is not', async () => {
  vi.stubEnv('HOME', root)
  vi.stubEnv('XDG_CONFIG_HOME', root)
  git('init', '-q')
  expect(await gitUser(root)).toBeUndefined()
  git('config', 'user.email', 'ada@example.com')
  expect(await gitUser(root)).toBe('<ada@example.com>')
  git('config', '--add', 'user.name', 'old')
  git('config', '--add', 'user.name', 'Ada Lovelace')
  expect(await gitUser(root)).toBe('Ada Lovelace <ada@example.com>')
  expect(await gitUser(realpathSync(tmpdir()))).toBeUndefined()
})

test('the digest of the code is another one for every change of it, and the same for tapes, cases, ignored files and what runs leave', async () => {
  git('init', '-q')
  commitFile('agent.ts', 'export {}\n')
  commitFile('.gitignore', 'ignored/\n')
  const clean = await codeDigest(root)
  expect(clean).toMatch(/^[\w-]{43}$/)
  mkdirSync(join(root, 'ignored'))
  writeFileSync(join(root, 'ignored/a.ts'), 'x')
  writeFileSync(join(root, 'a.case.yaml'), 'case: a\n')
  writeFileSync(join(root, 'a.tape.jsonl'), '{}\n')
  for (const folder of ['.harvest/report/golden', '.vitest/attachments', 'app/.vitest-attachments']) {
    mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(root, folder, 'a.html'), 'x')
  }
  for (const file of ['.reruns.json', '.forks/one/a.json', 'one.hold.json']) {
    mkdirSync(dirname(join(root, 'recordings/inbox', file)), { recursive: true })
    writeFileSync(join(root, 'recordings/inbox', file), '{}\n')
  }
  expect(await codeDigest(root)).toBe(clean)
  const seen = new Set([clean])
  const isOther = async (): Promise<void> => {
    const digest = await codeDigest(root)
    expect(seen).not.toContain(digest)
    seen.add(digest)
  }
  writeFileSync(join(root, 'agent.ts'), 'export const changed = 1\n')
  await isOther()
  writeFileSync(join(root, 'unknown.ts'), 'export const one = 1\n')
  await isOther()
  writeFileSync(join(root, 'unknown.ts'), 'export const two = 1\n')
  await isOther()
  const written = await codeDigest(root)
  git('add', '-A')
  expect(await codeDigest(root)).toBe(written)
  git('commit', '-q', '-m', 'Change the agent')
  expect(await codeDigest(root)).toBe(written)
  chmodSync(join(root, 'agent.ts'), 0o755)
  await isOther()
  git('rm', '-q', '-f', 'unknown.ts')
  await isOther()
  symlinkSync('agent.ts', join(root, 'link.ts'))
  await isOther()
  const linked = await codeDigest(root)
  git('add', '-A')
  expect(await codeDigest(root)).toBe(linked)
})

test('what commands write or ask for is no code, committed or not; a file of the same name elsewhere is', {
  tags: 'thorough',
}, async () => {
  git('init', '-q')
  const first = commitFile('agent.ts', 'export {}\n')
  const same = await codeDigest(root)
  const isSame = async (): Promise<void> => {
    expect(await codeDigest(root)).toBe(same)
    expect(await gitState(root)).toMatchObject({ dirty: false })
    expect(await codeState(root, first)).toEqual({ commit: first, dirty: false })
    expect(await changedFilesSince(root, first)).toEqual([])
  }
  mkdirSync(join(root, 'app/runs/golden'), { recursive: true })
  mkdirSync(join(root, '.github/workflows'), { recursive: true })
  const own = ['golden/a.case.yaml', 'golden/a.tape.jsonl', 'prices.json', 'accepted.yaml'].map(
    (name) => `app/runs/${name}`,
  )
  for (const text of ['one\n', 'two\n']) {
    for (const name of [...own, '.gitignore', '.gitattributes', '.github/workflows/test.yml'])
      writeFileSync(join(root, name), name.endsWith('.gitignore') ? `# ${text}` : text)
    await isSame()
    git('add', '-A')
    git('commit', '-q', '-m', 'Keep a case')
    await isSame()
  }
  // The prices of a shop are what its agent says.
  mkdirSync(join(root, 'shop/inbox'), { recursive: true })
  writeFileSync(join(root, 'shop/inbox/mail.txt'), 'hello\n')
  writeFileSync(join(root, 'shop/prices.json'), '{}\n')
  expect((await changedFilesSince(root, first))?.map(({ path }) => path).sort()).toEqual([
    'shop/inbox/mail.txt',
    'shop/prices.json',
  ])
  git('add', '-A')
  expect(await gitState(root)).toMatchObject({ dirty: true })
  expect(await codeDigest(root)).not.toBe(same)
})

test('code that has no commit is every file of the folder but packages, tapes and hidden ones', async () => {
  mkdirSync(join(root, 'src'))
  writeFileSync(join(root, 'src/agent.ts'), 'export {}\n')
  const same = await codeDigest(root)
  expect(same).toMatch(/^[\w-]{43}$/)
  git('init', '-q')
  mkdirSync(join(root, 'node_modules/a'), { recursive: true })
  mkdirSync(join(root, 'recordings/inbox/.forks'), { recursive: true })
  for (const file of [
    'node_modules/a/index.js',
    'recordings/inbox/a.tape.jsonl',
    'recordings/inbox/.forks/a',
    'recordings/prices.json',
    '.env',
  ])
    writeFileSync(join(root, file), 'x')
  expect(await codeDigest(root)).toBe(same)
  writeFileSync(join(root, 'src/agent.ts'), 'export const changed = 1\n')
  expect(await codeDigest(root)).not.toBe(same)
  // A folder with more files than a project has is not read.
  for (let index = 0; index < 500; index++) writeFileSync(join(root, `${index}.txt`), '')
  expect(await codeDigest(root)).toBeUndefined()
})

test('what git says late is waited for: that it could not look is not taken for "nothing changed"', async () => {
  git('init', '-q')
  const commit = commitFile('agent.ts', 'one\n')
  // It ends first, and what it says of that comes when a busy machine has time to hand it over.
  const late = `case " $* " in *" diff "*) (sleep 0.3; echo 'fatal: bad object' >&2) & exit 128;; esac`
  const real = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const programs = join(root, '.git/late')
  mkdirSync(programs)
  writeFileSync(join(programs, 'git'), `#!/bin/sh\n${late}\nexec ${real} "$@"\n`, { mode: 0o755 })
  vi.stubEnv('PATH', `${programs}:${process.env['PATH']}`)
  expect(await changedFilesSince(root, commit)).toBeUndefined()
})
