import { existsSync, globSync, lstatSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import type { Worktree } from '../../provenance/index.ts'

/**
 * Gives a checkout the packages of the work tree it was made of: `node_modules` is not under version control. A link to
 * another package of the same repository leads to the package of the checkout.
 */
export function linkPackages({ root, top }: Worktree): void {
  for (const folder of foldersWithPackages(top, root)) {
    const [from, to] = [join(top, folder, 'node_modules'), join(root, folder, 'node_modules')]
    mkdirSync(to, { recursive: true })
    for (const name of namesIn(from)) {
      const real = realpathSync(join(from, name))
      const inside = relative(top, real)
      const isOwn = !inside.startsWith('..') && !inside.split(sep).includes('node_modules')
      link(isOwn && existsSync(join(root, inside)) ? join(root, inside) : real, join(to, name))
    }
  }
  // Packages that are found above the repository are found above the checkout.
  const above = installedAbove(dirname(top))
  if (above !== undefined) link(above, join(dirname(root), 'node_modules'))
  // What the agent reads its settings from is rarely under version control.
  for (const file of globSync('.env*', { cwd: top }))
    if (lstatSync(join(top, file)).isFile() && !existsSync(join(root, file))) link(join(top, file), join(root, file))
}

function installedAbove(folder: string): string | undefined {
  const packages = join(folder, 'node_modules')
  if (existsSync(packages)) return realpathSync(packages)
  return dirname(folder) === folder ? undefined : installedAbove(dirname(folder))
}

/** Folders of the checkout beside whose original packages are installed. */
function foldersWithPackages(top: string, root: string): readonly string[] {
  const manifests = globSync('**/package.json', { cwd: root, exclude: (name) => name === 'node_modules' })
  const folders = new Set(['.', ...manifests.map((file) => dirname(file))])
  return [...folders].filter((folder) => existsSync(join(top, folder, 'node_modules')))
}

/** `openai`, `@scope/name`; what no import can name is left out. */
function namesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    if (name.startsWith('@')) return readdirSync(join(folder, name)).map((inner) => join(name, inner))
    return name.startsWith('.') ? [] : [name]
  })
}

function link(target: string, at: string): void {
  if (lstatSync(at, { throwIfNoEntry: false }) !== undefined) return
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(target, at, lstatSync(target).isDirectory() ? 'junction' : 'file')
}
