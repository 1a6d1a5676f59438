import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** A repository whose `.git` folder came with it, and names a program wherever git lets one. */
export interface HostileRepository {
  readonly root: string
  /** The first commit; HEAD is the second. */
  readonly first: string
  git(...args: readonly string[]): string
  /** Which programs have run. */
  ran(): readonly string[]
}

/**
 * @param files - committed with it
 * @param canaries - an empty folder, outside of it
 */
export function hostileRepository(
  root: string,
  canaries: string,
  files: Readonly<Record<string, string>> = {},
): HostileRepository {
  const run = (cwd: string, args: readonly string[]): string => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
    return execFileSync('git', ['-C', cwd, ...identity, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  }
  const git = (...args: readonly string[]): string => run(root, args)
  const write = (file: string, text: string): void => {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  const touch = (name: string): string => `touch ${canaries}/${name}`

  git('init', '-q')
  for (const [file, text] of Object.entries(files)) write(file, text)
  write(
    '.gitattributes',
    '*.ts filter=own diff=own\n*.txt filter=included\n*.md filter=worktree\n*.lfs filter=lfs\n*.r filter=a\u2028b\n',
  )
  for (const file of ['agent.ts', 'a.txt', 'b.md', 'c.lfs', 'd.r']) write(file, 'one\n')
  write('sub/.gitattributes', '*.ts filter=below\n')
  write('sub/below.ts', 'one\n')
  run(join(root, 'sub'), ['init', '-q'])
  run(join(root, 'sub'), ['add', '.'])
  run(join(root, 'sub'), ['commit', '-q', '-m', 'One'])
  git('-c', 'advice.addEmbeddedRepo=false', 'add', '.')
  git('commit', '-q', '-m', 'One')
  const first = git('rev-parse', 'HEAD')
  write('agent.ts', 'two\n')
  git('add', '.')
  git('commit', '-q', '-m', 'Two')

  const filter = (name: string, kinds = ['clean', 'smudge']): string =>
    `[filter "${name}"]\n${name === 'lfs' ? '' : ' required = true\n'}${kinds.map((kind) => ` ${kind} = "${touch(`${name}-${kind}`)}; cat"\n`).join('')}`
  for (const hook of ['post-checkout', 'post-index-change', 'reference-transaction'])
    writeFileSync(join(root, '.git/hooks', hook), `#!/bin/sh\n${touch(hook)}\n`, { mode: 0o755 })
  writeFileSync(join(root, '.git/included'), filter('included'))
  writeFileSync(join(root, '.git/config.worktree'), filter('worktree'))
  appendFileSync(
    join(root, 'sub/.git/config'),
    `${filter('below')}[core]\n fsmonitor = "${touch('below-fsmonitor')}; false"\n`,
  )
  appendFileSync(
    join(root, '.git/config'),
    `[extensions]
 worktreeConfig = true
[include]
 path = included
[core]
 fsmonitor = "${touch('fsmonitor')}; false"
 hooksPath = ${join(root, '.git/hooks')}
 sshCommand = ${touch('ssh')}
 askPass = ${touch('askpass')}
 gitProxy = ${touch('proxy')}
 pager = ${touch('pager')}
${filter('own')}${filter('a\u2028b')}${filter('lfs', ['process', 'clean', 'smudge'])}[lfs "extension.evil"]
 clean = ${touch('lfs-extension')}
[diff]
 external = ${touch('diff-external')}
[diff "own"]
 command = ${touch('diff-command')}
 textconv = "${touch('textconv')}; cat"
[alias]
 status = !${touch('alias')}
 log = !${touch('alias')}
[log]
 showSignature = true
[gpg]
 program = ${touch('gpg')}
[credential]
 helper = "!${touch('credential')}"
[hook "evil"]
 event = post-checkout
 command = ${touch('hook')}
[merge "own"]
 driver = ${touch('merge')}
[mergetool "own"]
 cmd = ${touch('mergetool')}
[difftool "own"]
 cmd = ${touch('difftool')}
[tar "own"]
 command = ${touch('tar')}
[trailer "own"]
 command = ${touch('trailer')}
[filter "alias.pager.include.path"]
 clean = ${touch('filter')}
[uploadpack]
 packObjectsHook = ${touch('pack-objects')}
[gc]
 recentObjectsHook = ${touch('gc')}
[protocol "ext"]
 allow = always
[protocol "file"]
 allow = always
[extensions]
 partialClone = evil
[remote "evil"]
 promisor = true
 url = ext::${touch('remote')}
 uploadpack = ${touch('uploadpack')}
`,
  )
  // git looks into what seems to have changed.
  for (const file of ['agent.ts', 'a.txt', 'b.md', 'c.lfs', 'd.r', 'sub/below.ts']) utimesSync(join(root, file), 1, 1)
  return { root, first, git, ran: () => readdirSync(canaries).sort() }
}
