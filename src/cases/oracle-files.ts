import { readFileSync, statSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'

/** Modules that one names by a relative path. Words of a comment that look alike make a file more, and none less. */
const relativeImport = /\b(?:from|import|require)\s*\(?\s*(['"])(\.{1,2}\/[^'"\n]+)\1/g

/** What the compiler or the loader takes for the extension that is written. */
const written: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx'],
  '.mjs': ['.mts'],
  '.cjs': ['.cts'],
  '.jsx': ['.tsx'],
}
const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.json']

/**
 * A file of code and all that it imports by relative paths, with what that imports.
 *
 * @param file - absolute
 * @returns texts with their paths as seen from the folder of `file`, which is the first; empty when it is not there
 */
export function codeOf(file: string): readonly (readonly [path: string, text: string])[] {
  const texts = new Map<string, string>()
  const open = isFile(file) ? [file] : []
  for (const one of open) {
    if (texts.has(one)) continue
    const text = readFileSync(one, 'utf8')
    texts.set(one, text)
    for (const [, , path = ''] of text.matchAll(relativeImport)) {
      const found = resolved(resolve(dirname(one), path))
      if (found !== undefined) open.push(found)
    }
  }
  const named = [...texts].map(([path, text]) => [relative(dirname(file), path).replaceAll('\\', '/'), text] as const)
  const [first, ...others] = named
  return first === undefined ? [] : [first, ...others.sort(([a], [b]) => (a < b ? -1 : 1))]
}

function resolved(path: string): string | undefined {
  const extension = extname(path)
  const bare = path.slice(0, path.length - extension.length)
  const files = [path, ...(written[extension] ?? []).map((one) => bare + one), ...extensions.map((one) => path + one)]
  return [...files, ...extensions.map((one) => join(path, `index${one}`))].find(isFile)
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true
}
