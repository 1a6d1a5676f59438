import { globSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const page = readFileSync('docs/errors.md', 'utf8')
const documented = new Set([...page.matchAll(/^\| `(HARVEST_[A-Z_]+)`/gm)].map(([, code]) => code))
const made = new Set(
  globSync('src/**/*.ts').flatMap((file) =>
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

describe('docs/errors.md', () => {
  test('there are codes to look for', () => {
    expect(made.size).toBeGreaterThan(60)
  })

  test('explains every code the sources make', () => {
    expect([...made].filter((code) => !documented.has(code) && !variables.has(code ?? '')).sort()).toEqual([])
  })

  test('explains no code that nobody makes', () => {
    expect([...documented].filter((code) => !made.has(code)).sort()).toEqual([])
  })
})
