import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import { shellWord } from './neutral.ts'

/** The nearest folder above the current one that has one of these, as `../..`; `undefined` where the current one has one, or none does. */
export function folderAbove(names: readonly string[]): string | undefined {
  const from = process.cwd()
  for (let folder = from; ; folder = dirname(folder)) {
    if (names.some((name) => existsSync(join(folder, name))))
      return folder === from ? undefined : relative(from, folder)
    if (folder === dirname(folder)) return undefined
  }
}

/** What to do where these recordings are not here, and a folder above has some; nothing otherwise. */
export function stepsAbove(recordings: string): readonly string[] {
  const above = isAbsolute(recordings) ? undefined : folderAbove([recordings])
  return above === undefined ? [] : [`there is such a folder above, and commands run beside it: cd ${shellWord(above)}`]
}
