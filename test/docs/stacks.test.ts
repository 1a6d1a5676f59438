import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { mostUsed, rowId, stackRows } from '../../fixtures/stacks/rows.ts'
import type { StackOutcome } from '../../scripts/stacks/outcome.ts'
import { stacksPage } from '../../scripts/stacks/page.ts'

const repository = resolve(import.meta.dirname, '../..')
const page = readFileSync(resolve(repository, 'docs/stacks.md'), 'utf8')
const results = JSON.parse(readFileSync(resolve(repository, 'fixtures/stacks/results.json'), 'utf8')) as Readonly<
  Record<string, StackOutcome>
>

test('the page of stacks says what the saved results of its script say', () => {
  expect(page).toBe(stacksPage(results))
})

test('each row of the page is a row of the table, with an agent that a reader can open', () => {
  const known = new Set(stackRows.map(rowId))
  expect(known.size).toBe(stackRows.length)
  for (const [id, { agent }] of Object.entries(results)) {
    expect(known, id).toContain(id)
    expect(existsSync(resolve(repository, `fixtures/stacks/agents/${agent}.js`)), agent).toBe(true)
  }
})

test('no row of the page has reached a provider in a replay', () => {
  expect(Object.entries(results).filter(([, { canary }]) => canary > 0)).toEqual([])
})

test('a row of the page is replayed and red when broken, or is refused and says what to write', () => {
  for (const [id, { promotes, replays, red, refused, write }] of Object.entries(results)) {
    const isHeld = promotes && replays && red !== undefined
    expect(isHeld || (refused !== undefined && write !== undefined), id).toBe(true)
  }
})

test('CI tries the twenty most used rows of the page', () => {
  expect(new Set(mostUsed).size).toBe(20)
  expect(mostUsed.filter((id) => !(id in results))).toEqual([])
  expect(readFileSync(resolve(repository, '.github/workflows/ci.yml'), 'utf8')).toContain(
    'run: npm run test:stacks -- --most-used',
  )
})
