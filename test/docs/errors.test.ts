import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const page = readFileSync('docs/errors.md', 'utf8')
const documented = new Set([...page.matchAll(/^\| `(HARVEST_[A-Z_]+)`/gm)].map(([, code]) => code))
const listed = [...readFileSync('src/errors/codes.ts', 'utf8').matchAll(/^ {2}\| '(HARVEST_[A-Z_]+)'$/gm)].map(
  ([, code]) => code,
)
const made = new Set(
  globSync('src/**/*.ts', { exclude: ['src/errors/codes.ts'] }).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/'(HARVEST_[A-Z]+(?:_[A-Z]+)*)'/g)].map(([, code]) => code),
  ),
)
/** Quoted in the sources and no error codes: environment variables. */
const variables = new Set([
  'HARVEST_ALLOW_CI_PROVE',
  'HARVEST_ALLOW_CI_RECORD',
  'HARVEST_ALLOW_CI_UPDATE',
  'HARVEST_FINGERPRINT_KEY',
  'HARVEST_UPDATE_REASON',
])

/** What is handed to each `new HarvestError(…)` of the sources: file, line and text. */
const errors = globSync('src/**/*.ts').flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  return Array.from(text.matchAll(/new HarvestError\(/g), ({ index }) => ({
    at: `${file}:${text.slice(0, index).split('\n').length}`,
    given: bracketed(text, text.indexOf('(', index)),
  }))
})

describe('an error', () => {
  test('has a next action, wherever it is made', () => {
    expect(errors.length).toBeGreaterThan(200)
    // Those without `what` pass on the facts of another one; those with a spread have theirs nearby.
    const without = errors.filter(({ given }) => /\bwhat\b/.test(given) && !/\bfix\b|\.\.\.facts/.test(given))
    expect(without.map(({ at }) => at)).toEqual([])
  })

  test('of a case, a tape, a store or an import names a command, an option or a line to write', () => {
    const rooms = /^src\/(?:cases|cli|importers|provenance|store|tape|vitest)\//
    const vague = errors.filter(({ at, given }) => {
      const fix = /\bfix: (\[[^\]]*\])/.exec(given)?.[1]
      // One that is put together elsewhere is read there.
      if (fix === undefined || !/^\[\s*['"`]/.test(fix) || !rooms.test(at)) return false
      return !/npx |npm |git |harvest |(?:ls|df|du|cat) |--[a-z]|`[a-z]+:|\w\(|: \S|[{}=]/.test(fix)
    })
    expect(vague.map(({ at, given }) => `${at} ${/\bfix: \[[^\]]*\]/.exec(given)?.[0]}`)).toEqual([])
  })
})

/** The text from a bracket to the one that closes it; brackets in texts do not count. */
function bracketed(text: string, from: number): string {
  let depth = 0
  const parts = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|[([{]|[)\]}]/g
  parts.lastIndex = from
  for (let part = parts.exec(text); part !== null; part = parts.exec(text)) {
    if (/^[([{]/.test(part[0])) depth++
    else if (/^[)\]}]/.test(part[0]) && --depth === 0) return text.slice(from, parts.lastIndex)
  }
  return text.slice(from)
}

describe('docs/errors.md', () => {
  test('there are codes to look for', () => {
    expect(made.size).toBeGreaterThan(60)
  })

  test('and the type ErrorCode list the same codes, in order, once', () => {
    expect(listed).toEqual([...documented].sort())
  })

  test('explains every code the sources make', () => {
    expect([...made].filter((code) => !documented.has(code) && !variables.has(code ?? '')).sort()).toEqual([])
  })

  test('explains no code that nobody makes', () => {
    expect([...documented].filter((code) => !made.has(code)).sort()).toEqual([])
  })
})
