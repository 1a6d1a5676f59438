import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The nearest folder above the current one that has one of these, as `../..`; `undefined` where the current one has one, or none does. */
export function folderAbove(names: readonly string[]): string | undefined {
  const from = process.cwd()
  for (let folder = from; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name))))
      return folder === from ? undefined : relative(from, folder)
    if (folder === dirname(folder)) return undefined
  }
}
