import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inWorktree } from '../../src/provenance/index.ts'
import { temporaryFolderName } from '../../src/tape/temporary-folder.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const folder = temporaryFolder('worktrees')
const root = join(folder, 'project')
mkdirSync(root)

function git(...words: readonly string[]): string {
  return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd: root, encoding: 'utf8' })
}

const listed = (): readonly string[] =>
  [...git('worktree', 'list', '--porcelain').matchAll(/^worktree (.+)$/gm)].map(([, path = '']) => path)

/** A checkout as a process of this id makes it. */
function checkoutOf(pid: number): string {
  const tree = join(folder, temporaryFolderName('worktree').replace(`.${process.pid}.`, `.${pid}.`), 'tree')
  git('worktree', 'add', '--quiet', '--detach', tree)
  return tree
}

test('a checkout of a process that is gone is taken away; one of a process that runs and those of the user stay', async () => {
  git('init', '--quiet')
  writeFileSync(join(root, 'agent.ts'), '')
  git('add', '-A')
  git('commit', '--quiet', '-m', 'one')
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const [gone, half, swept, runs] = [checkoutOf(pid), checkoutOf(pid), checkoutOf(pid), checkoutOf(process.ppid)]
  // As git leaves one that is killed while it checks out: locked, and without its files.
  git('worktree', 'lock', '--reason', 'initializing', half)
  rmSync(join(half, '.git'))
  rmSync(join(swept, '..'), { recursive: true })
  const [own, away] = [join(folder, 'own/tree'), join(folder, 'away/tree')]
  for (const tree of [own, away]) git('worktree', 'add', '--quiet', '--detach', tree)
  // Of a disk that is not there now.
  rmSync(away, { recursive: true })
  let made = ''
  await inWorktree(root, 'HEAD', async (tree) => {
    made = tree.root
    expect(existsSync(join(made, 'agent.ts'))).toBe(true)
    expect(listed().toSorted()).toEqual([root, runs, own, away, made].toSorted())
  })
  expect(listed().toSorted()).toEqual([root, runs, own, away].toSorted())
  expect([gone, half, swept, made, runs, own].map((tree) => existsSync(join(tree, '..')))).toEqual([
    false,
    false,
    false,
    false,
    true,
    true,
  ])
})
