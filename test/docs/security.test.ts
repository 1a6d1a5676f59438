import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

const page = readFileSync('SECURITY.md', 'utf8')
const rows = page
  .split('\n')
  .filter((line) => /^\| (?!Attacker|-)/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))

describe('SECURITY.md', () => {
  test('has a test for every threat that it says is met', () => {
    expect(rows.length).toBeGreaterThan(10)
    const unproven = rows.filter(
      ([, , , , tests = '']) => !/^`test\/[\w/.-]+\.test\.ts`(?:, `test\/[\w/.-]+\.test\.ts`)*$/.test(tests),
    )
    expect(unproven).toEqual([])
  })

  test('has the tests that attack the installed package begin with it', () => {
    const named = [...page.matchAll(/`(test\/hostile\/[^`]+)`/g)].map(([, file = '']) => file)
    const packed = [...new Set(named)].filter((file) => /\.test\.ts$/.test(file) && !file.endsWith('/fuzz.test.ts'))
    expect(packed.length).toBeGreaterThan(3)
    expect(packed.filter((file) => !readFileSync(file, 'utf8').startsWith("import '../support/packed.ts'\n"))).toEqual(
      [],
    )
  })

  test('names tests and pages that are there', () => {
    const named = [...page.matchAll(/`(test\/[^`]+)`|\]\((docs\/[^)#]+)/g)].map(([, file, link]) => file ?? link ?? '')
    expect(named.filter((file) => !existsSync(file))).toEqual([])
  })
})
