import fs, { existsSync } from 'node:fs'
import path from 'node:path'
import { isInside } from '../recordings/files.ts'
import { flagValues } from './flag-values.ts'
import { toPosix } from './posix.ts'

const pattern = '**/*.case.{yaml,yml}'

/**
 * The folder of `--dir`, where there are cases in it: then the run is of those. Any other folder says where tests lie, as `dir`
 * in a config does, and has no say in the cases. Absolute.
 */
export function folderOfCases(argv: readonly string[] = process.argv): string | undefined {
  const dir = flagValues(argv, ['--dir']).at(-1)
  if (dir === undefined) return undefined
  // As Vitest reads it, whose `root` is that of the command line.
  const folder = path.resolve(flagValues(argv, ['--root', '-r']).at(-1) ?? '.', dir)
  if (!existsSync(folder)) return undefined
  const exclude = (name: string): boolean => name === 'node_modules' || name === '.git'
  return fs.globSync(pattern, { cwd: folder, exclude }).length === 0 ? undefined : folder
}

/** What of a pattern of cases, or of their paths, lies in the folder of `--dir`. */
export function casesBelow(
  folder: string | undefined,
  {
    root,
    recordings,
    cases,
  }: { readonly root: string; readonly recordings: string; readonly cases?: readonly string[] },
): readonly string[] {
  const all = path.resolve(root, recordings)
  if (cases !== undefined)
    return cases.filter((file) => folder === undefined || isWithin(path.resolve(root, file), folder))
  if (folder === undefined || isWithin(all, folder)) return [`${recordings}/${pattern}`]
  if (!isWithin(folder, all)) return []
  const below = toPosix(path.relative(all, folder)).replace(/[()[\]{}!*?@+|\\]/g, String.raw`\$&`)
  return [`${recordings}/${below}/${pattern}`]
}

/** Absolute paths; a folder is within itself. */
export function isWithin(file: string, folder: string): boolean {
  return path.relative(folder, file) === '' || isInside(folder, file)
}
