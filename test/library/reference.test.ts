import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { rootNames } from '../../scripts/library-reference.ts'
import { specs } from '../../src/cli/spec/index.ts'
import * as faults from '../../src/faults/index.ts'
import * as root from '../../src/index.ts'
import * as tape from '../../src/library/tape.ts'
import * as record from '../../src/record/index.ts'

// That it is what the doc comments say is compared by `npm run check:api`, which has the built types.
const page = readFileSync('docs/library.md', 'utf8')

test('the root has at most 15 names that are not deprecated, and all of them exist', () => {
  expect(rootNames.length).toBeLessThanOrEqual(15)
  expect(Object.keys(root)).toEqual(expect.arrayContaining([...rootNames]))
})

test.each(rootNames.filter((name) => name !== 'HarvestError'))(
  '%s is described with what it takes, what it gives, and an example',
  (name) => {
    const [, section = ''] = new RegExp(`\\n### ${name}\\(([\\s\\S]*?)\\n##`).exec(page) ?? []
    expect(section).toContain('* returns')
    expect(section).toMatch(new RegExp(`\`\`\`ts no-run\\n[\\s\\S]*\\b${name}\\(`))
  },
)

test('every command is in the table of what does the same from code, and every name there can be imported', () => {
  const [, table = ''] = /\| Command \| From code \|\n([\s\S]*?)\n\n/.exec(page) ?? []
  const rows = table.split('\n').map((row) => row.split('|'))
  const commands = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, name]) => name))
  const listed = specs.filter(({ name, now }) => now === undefined && !name.includes(' ')).map(({ name }) => name)
  expect(listed.filter((name) => !commands.includes(name))).toEqual([])
  const names = rows.flatMap(([, , cell = '']) => [...cell.matchAll(/`([a-z]\w+)`/g)].map(([, name = '']) => name))
  // Of Vitest, and of the entry point that patches the process when it is loaded.
  const elsewhere = ['startVitest', 'validateBlame']
  const known = new Set([...[root, tape, record, faults].flatMap((door) => Object.keys(door)), ...elsewhere])
  expect(names.filter((name) => !known.has(name))).toEqual([])
})
