import { stripVTControlCharacters, styleText } from 'node:util'
import { describe, expect, it } from 'vitest'
import { columnsOf } from '../../src/report/fold.ts'
import { table } from '../../src/report/output.ts'

describe('a table', () => {
  it.each([
    ['abc', 3],
    ['日本語', 6],
    ['한글', 4],
    ['𠮷', 2],
    ['e\u0301', 1],
    ['👨‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['✅', 2],
    ['☺', 1],
    ['☺\ufe0f', 2],
  ])('counts %s as the columns a terminal gives it', (text, columns) => {
    expect(columnsOf(text)).toBe(columns)
  })

  it('aligns columns behind wide characters, and numbers at their right', () => {
    const rows = [
      ['日本', '1', 'x'],
      ['abcdef', '22', 'y'],
    ]
    expect(table(rows, [1])).toBe('日本     1  x\nabcdef  22  y')
  })

  it('is no wider than 100 columns: its widest texts are wrapped, names and paths stay whole', () => {
    const words = 'a reason that somebody wrote at length '.repeat(5).trim()
    const path = 'recordings/golden/billing/refund-of-a-broken-item.case.yaml'
    const rows = [
      ['case', 'n', 'why'],
      [path, '12', words],
    ]
    const [head = '', ...lines] = table(rows, [1]).split('\n')
    expect(Math.max(...lines.map(columnsOf))).toBeLessThanOrEqual(100)
    expect(lines[0]).toMatch(new RegExp(`^${path}  12  a reason`))
    expect(lines.map((line) => line.slice(head.indexOf('why'))).join(' ')).toBe(words)
  })

  it('colours every line of a wrapped text alone', () => {
    const red = styleText('red', 'wrong '.repeat(40).trim(), { validateStream: false })
    const lines = table([['x', red, 'y']]).split('\n')
    expect(lines.length).toBeGreaterThan(2)
    for (const line of lines) {
      expect(line.split('\u001b').length).toBe(3)
      expect(columnsOf(stripVTControlCharacters(line))).toBeLessThanOrEqual(100)
    }
  })
})
