import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Bar, holds, type KeptResult } from '../../bench/kit/contract.ts'
import { claims, renderResults, withClaims } from '../../bench/kit/report.ts'

const bench = resolve(import.meta.dirname, '../../bench')
const results = globSync('results/*.json', { cwd: bench })
  .sort()
  .map((file) => JSON.parse(readFileSync(join(bench, file), 'utf8')) as KeptResult)
const benches = globSync('*/bench.ts', { cwd: bench }).map((file) => dirname(file))

describe('figures in the documents', () => {
  test('every bench has a result that is kept, and a page that says why it is fair', () => {
    expect(results.map(({ name }) => name).sort()).toEqual([...benches].sort())
    for (const name of benches) expect(readFileSync(join(bench, name, 'README.md'), 'utf8')).toMatch(/^# /)
  })

  test('bench/RESULTS.md says what was measured last, and nothing else', () => {
    expect(readFileSync(join(bench, 'RESULTS.md'), 'utf8')).toBe(renderResults(results))
  })

  test('docs/benchmarks.md claims the figures of the results, and no others', () => {
    const page = readFileSync(resolve(bench, '../docs/benchmarks.md'), 'utf8')
    expect(page).toBe(withClaims(page, results))
  })

  test('the README has the figures of bench/verdict, of both lists of edits', () => {
    const { tables } = results.find(({ name }) => name === 'verdict')!
    const sentences = ['', ' (second list, written after the rules)'].flatMap((list) => {
      const [changed, alone, asked] = [
        'changes what is asked or done',
        'leaves every question alone',
        'harmless, and changes a question',
      ].map((edit) => {
        const row = tables[0]!.rows.find(([name, where]) => name === edit + list && where === 'case')!
        const [edits, same, unproven, different] = row.slice(2).map((cell) => Number.parseInt(cell, 10))
        return { edits, same, unproven, different }
      })
      return [
        `of ${changed!.edits} edits that change the meaning, ${changed!.different} were different, ${changed!.unproven} unproven and ${changed!.same} same.`,
        `Of ${alone!.edits} harmless edits, ${alone!.same} were same; of ${asked!.edits} harmless edits of a question, ${asked!.unproven} were unproven.`,
      ]
    })
    expect(sentences).toHaveLength(4)
    const readme = readFileSync(resolve(bench, '../README.md'), 'utf8')
    expect(sentences.filter((sentence) => !readme.includes(sentence))).toEqual([])
  })

  test('a figure says how much of it is different, and how much unproven', () => {
    const bar: Bar = {
      what: 'not green',
      claim: 'Not green',
      value: 0.98,
      parts: { different: 0.74, unproven: 0.24 },
      limit: { atLeast: 0.97 },
    }
    const result = { ...results[0]!, name: 'catch', bars: [bar] }
    expect(claims([result]).rows).toEqual([
      ['Not green', '0.98 (different: 0.74; unproven: 0.24)', '', '[catch](../bench/catch/README.md)'],
    ])
  })

  test('a promise that is not kept is explained', () => {
    const short = results.flatMap(({ bars }) => bars.filter((bar) => !holds(bar)))
    for (const bar of short) expect(bar.shortfall, bar.what).toMatch(/\w{3,}/)
  })

  test('a result is kept under the name of its bench', () => {
    const files = globSync('results/*.json', { cwd: bench }).map((file) => basename(file, '.json'))
    expect(new Set(files)).toEqual(new Set(results.map(({ name }) => name)))
  })
})
