import { readFileSync } from 'node:fs'

/**
 * What was asked, as the source has it at the reported line: `hostname()` for `os.hostname()`, where that is imported by its
 * name. A property is looked for behind a dot or in brackets, since a variable may be called so, too.
 *
 * @param site - `file:line:column`
 * @returns `undefined` where the line does not have it
 */
export function writtenAt(site: string | undefined, name: string): string | undefined {
  const line = lineAt(site)
  const [, last = '', call] = /(?:^|[.#])(\w+)(\(\))?$/.exec(name) ?? []
  if (line === undefined || last === '' || line.length > longestLine) return undefined
  const owner = String.raw`(?<![\w$.])(?:[\w$]+\s*\??\.\s*)`
  if (call === undefined) {
    const property = String.raw`${owner}+${last}\b|(?<![\w$.])[\w$]+(?:\.\w+)*\[(['"])${last}\1\]`
    const [one, ...others] = line.matchAll(new RegExp(property, 'g'))
    // Of several it may be any.
    return others.length === 0 ? one?.[0] : undefined
  }
  const start = String.raw`${owner}*(?<![\w$])${last}`
  // Its arguments stay as they are.
  const found = new RegExp(String.raw`${start}\((\s*\))?`).exec(line)
  if (found === null) return undefined
  return found[1] === undefined ? `${found[0]}…)` : found[0]
}

/** Longer ones are made by programs. */
const longestLine = 2_000

function lineAt(site: string | undefined): string | undefined {
  const [, file = '', line = ''] = /^(.*?):(\d+):\d+$/.exec(site ?? '') ?? []
  try {
    return file === '' ? undefined : readFileSync(file, 'utf8').split('\n')[Number(line) - 1]
  } catch {
    // Code that is no file here.
    return undefined
  }
}
