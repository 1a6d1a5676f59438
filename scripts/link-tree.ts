import { copyFileSync, cpSync, linkSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Lays a folder out at another place as if it were copied: each file there is another name of the same file. Only for
 * what nobody writes to, such as a built package; it costs a fifteenth of a copy, and tests need one each.
 */
export function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) linkTree(source, target)
    else linkFile(source, target)
  }
}

/** Copies a project, with the package it has installed as {@link linkTree} does it. */
export function copyProject(from: string, to: string): void {
  const own = 'node_modules/vitest-harvest'
  const isOwn = (path: string): boolean => path === join(from, own)
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, filter: (path) => !isOwn(path) })
  linkTree(join(from, own), join(to, own))
}

function linkFile(source: string, target: string): void {
  try {
    linkSync(source, target)
  } catch (error) {
    // The folder for temporary files may be on another disk, or on one that knows no links.
    if (!['EXDEV', 'EPERM', 'ENOTSUP'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    copyFileSync(source, target)
  }
}
