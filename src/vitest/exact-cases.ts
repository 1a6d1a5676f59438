import fs, { existsSync, statSync } from 'node:fs'
import { join, posix, relative, resolve, sep } from 'node:path'
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
  const meant = meantBy(word, paths, cwd)
  const [only] = meant
  if (only !== undefined && meant.length === 1) return only
  // Vitest looks for a word in any case.
  const has = (path: string): boolean => path.toLowerCase().includes(word.toLowerCase())
  const parts = meant.length > 0 ? meant.map((path) => relative(cwd, path)) : paths.filter(has)
  if (parts.length > 0) throw notExact(word, parts)
  return word
}

/**
 * What a word names: what lies there, or else files that have it as their name or at the end of their path, cases that have it
 * as their id, and folders on the way to a file. Absolute, a folder with a separator behind it.
 *
 * @param paths - of the files there are, from `cwd`
 */
function meantBy(word: string, paths: readonly string[], cwd: string): readonly string[] {
  const given = resolve(cwd, word)
  if (existsSync(given)) return [statSync(given).isDirectory() ? given + sep : given]
  const end = `/${posix.normalize(word.replaceAll(sep, '/')).replace(/\/$/, '')}`
  const named = paths.filter((path) => spellings(path).some((one) => `/${one}`.endsWith(end)))
  const called = named.length > 0 ? [] : casesCalled(join(cwd, 'recordings'), word).map(({ file }) => file)
  const folders = paths.flatMap((path) => {
    const at = `/${path}`.indexOf(`${end}/`)
    return at === -1 ? [] : [resolve(cwd, path.slice(0, at + end.length - 1)) + sep]
  })
  return [...new Set([...[...named, ...called].map((path) => resolve(cwd, path)), ...folders])]
}

/** A path with and without what a case or a test ends in. */
function spellings(path: string): readonly string[] {
  return [path, path.replace(/\.[^./]+$/, ''), path.replace(/(?:\.case|\.test|\.spec)?\.[^./]+$/, '')]
}

/**
 * Those files that a run names none of, although its words are part of their paths.
 *
 * @param files - absolute
 * @param ran - files of the run, absolute; cases and tests apart, for both may have a name
 * @param words - as Vitest was given them
 */
export function beyond(
  files: readonly string[],
  ran: readonly string[],
  words: readonly string[],
  cwd = process.cwd(),
): readonly string[] {
  const paths = ran.map((file) => relative(cwd, file).replaceAll(sep, '/'))
  const meant = words.flatMap((word) => {
    // A line of a file.
    const found = meantBy(word.replace(/:\d+$/, ''), paths, cwd)
    return found.length === 1 ? found.map(realPath) : []
  })
  const ends = words.filter((word) => all.test(word))
  return files.filter((file) => {
    const path = realPath(file)
    const isMeant = (one: string): boolean => (one.endsWith(sep) ? path.startsWith(one) : path === one)
    return !meant.some(isMeant) && !ends.some((end) => path.endsWith(end))
  })
}

/** Whoever wrote a word may have come by a link. */
export function realPath(path: string): string {
  const real = existsSync(path) ? fs.realpathSync(path) : path
  return path.endsWith(sep) && !real.endsWith(sep) ? real + sep : real
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
