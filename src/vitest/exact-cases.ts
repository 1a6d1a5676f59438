import fs, { existsSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { HarvestError, neutralLine, shellWord } from '../errors/index.ts'
import { casesCalled } from '../recordings/index.ts'

/**
 * The words of a run that updates, for Vitest: Vitest looks for parts of paths, and what is renewed or accepted is what was
 * named, not each case whose name has that of another in it. A word that names one case becomes the path of its file, a folder
 * that of itself. Other words stay as they are where no case has them in its path.
 *
 * @throws HarvestError `HARVEST_UPDATE_PARTIAL` for a word that is part of the paths of cases and names none, or several
 */
export function exactCases(words: readonly string[], cwd = process.cwd()): readonly string[] {
  const stop = words.indexOf('--')
  // Named by its module: a Node that is too old for it has to get as far as saying so.
  const paths = fs
    .globSync('**/*.case.{yaml,yml}', {
      cwd,
      exclude: (name) => name === 'node_modules' || name === '.git',
    })
    .map((path) => path.replaceAll(sep, '/'))
    .sort()
  return words.map((word, at) => {
    // What follows an option may be its value, where that does not stand in it.
    const isValue = /^-[^=]*$/.test(words[at - 1] ?? '') || (at === 0 && commands.has(word))
    return word.startsWith('-') || isValue || (stop !== -1 && at > stop) ? word : exact(word, paths, cwd)
  })
}

/** Of Vitest, which come first. */
const commands = new Set(['run', 'watch', 'dev', 'related', 'list', 'bench', 'init'])
const all = /^\.case\.ya?ml$/

function exact(word: string, paths: readonly string[], cwd: string): string {
  if (all.test(word)) return word
  const given = resolve(cwd, word)
  if (existsSync(given)) return statSync(given).isDirectory() ? given + sep : given
  const named = paths.filter((path) => `/${path.replace(/\.case\.ya?ml$/, '')}`.endsWith(`/${word}`))
  const called = named.length > 0 ? [] : casesCalled(join(cwd, 'recordings'), word).map(({ file }) => file)
  const folder = word.replace(/\/$/, '')
  const folders = new Set(
    paths.flatMap((path) => {
      const at = `/${path}`.indexOf(`/${folder}/`)
      return at === -1 ? [] : [path.slice(0, at + folder.length)]
    }),
  )
  const meant = [...named, ...called, ...folders]
  const [only] = meant
  if (meant.length === 1 && only !== undefined) return folders.has(only) ? resolve(cwd, only) + sep : resolve(cwd, only)
  const parts = meant.length > 0 ? meant : paths.filter((path) => path.includes(word))
  if (parts.length > 0) throw notExact(word, parts)
  return word
}

function notExact(word: string, parts: readonly string[]): HarvestError {
  const shown = parts.slice(0, 10).map((path) => neutralLine(path, 200))
  return new HarvestError('HARVEST_UPDATE_PARTIAL', {
    what: `Cannot update '${neutralLine(word, 100)}': it does not name one case; nothing was run`,
    where: {
      cases: [...shown, ...(parts.length > shown.length ? [`and ${parts.length - shown.length} more`] : [])].join('\n'),
    },
    why: 'An update renews and accepts what was reviewed, case by case.',
    fix: [`name the file: npx vitest-harvest test ${shellWord(parts[0] ?? '')} --update-recordings --reason "…"`],
  })
}
