import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocksRun, sentencesOf, titlesOf } from './claims.ts'

interface Claim {
  readonly says: string
  readonly by?: readonly string[]
  readonly not?: string
}

const claims = parse(readFileSync('test/docs/claims.yaml', 'utf8')) as Readonly<Record<string, readonly Claim[]>>
const claimless = ['introduces', 'advises', 'explains', 'elsewhere']

describe('every sentence of a page about secrets, boundary or production', () => {
  const pages = ['docs/privacy.md', 'docs/boundary.md', 'docs/production.md']

  test('is on the list of claims, and nothing else is', () => {
    expect(Object.keys(claims)).toEqual(pages)
    for (const page of pages)
      expect(
        claims[page]?.map(({ says }) => says),
        page,
      ).toEqual(sentencesOf(readFileSync(page, 'utf8')))
  })

  test('has a test that is there, or claims nothing', () => {
    const without = pages.flatMap((page) => {
      const blocks = blocksRun(readFileSync(page, 'utf8'))
      return claims[page]!.flatMap(({ says, by = [], not }) => {
        const lost = by.filter((one) => !isThere(one, blocks))
        const isProven = not === undefined ? by.length > 0 : by.length === 0 && claimless.includes(not)
        return isProven && lost.length === 0 ? [] : [[says, ...lost]]
      })
    })
    expect(without).toEqual([])
  })

  test('nine of ten are executed', () => {
    const all = Object.values(claims).flat()
    expect(all.length).toBeGreaterThan(300)
    expect(all.filter(({ by }) => by !== undefined).length / all.length).toBeGreaterThan(0.9)
  })
})

const titles = new Map<string, ReadonlySet<string>>()

/** Whether a test of this name, or a block with this text, is there to be run. */
function isThere(name: string, blocks: readonly string[]): boolean {
  if (name.startsWith('block: ')) return blocks.some((text) => text.includes(name.slice(7)))
  const [file = '', title = ''] = name.split(' › ')
  if (!existsSync(file)) return false
  const known = titles.get(file) ?? titlesOf(readFileSync(file, 'utf8'))
  titles.set(file, known)
  return known.has(title)
}

test('a sentence ends at its full stop, a row of a table is one, and blocks and headings are none', () => {
  const page = [
    '# Head',
    'One of `a.b` here. Two: `x` (of y).',
    '',
    '* **Lead.** Three.',
    '',
    '| A | B |',
    '|---|---|',
    '| c | d. E |',
    '',
    '```sh',
    'Four.',
    '```',
    '',
    '```ts no-run',
    'Five.',
    '```',
  ].join('\n')
  expect(sentencesOf(page)).toEqual(['One of `a.b` here.', 'Two: `x` (of y).', '**Lead.** Three.', '| c | d. E |'])
  expect(blocksRun(page)).toEqual(['Four.\n'])
  expect([...titlesOf(`it('a', () => {})\ntest.each([1])(\n  'b %s',\n  f)\nexpect('c')`)]).toEqual(['a', 'b %s'])
})
