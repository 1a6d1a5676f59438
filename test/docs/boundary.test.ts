import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { knownAddOns } from '../../src/seam/known-add-ons.ts'
import { ways } from '../hostile/ways/ways.ts'

/** The table in docs/boundary.md; `test/hostile/ways-out.test.ts` tries every way of it under each mode. */
const rows = readFileSync('docs/boundary.md', 'utf8')
  .split('\n')
  .map((line) =>
    /^\| (.+) \| (refused|listed|served|open|unseen) \| (refused|listed|served|open|unseen) \|$/.exec(line),
  )
  .filter((row) => row !== null)

describe('the table of what a replay refuses', () => {
  test('has every way out that is tried, once', () => {
    const named = rows.flatMap(([, names = '']) => [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
    expect(named.sort()).toEqual(Object.keys(ways).sort())
  })

  test('says of each what becomes of it', () => {
    const said = rows.flatMap(([, names = '', seam, strict]) =>
      [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, seam, strict]),
    )
    const tried = Object.entries(ways).map(([name, way]) => [name, way.seam, way.strict ?? way.seam])
    expect(said.sort()).toEqual(tried.sort())
  })
})

test('the table of native add-ons has every one that is known, under what it reaches', () => {
  const page = readFileSync('docs/boundary.md', 'utf8')
  for (const reach of ['memory', 'files', 'network'] as const) {
    const row = new RegExp(`^\\| ${reach} \\| (.+) \\| .+ \\|$`, 'm').exec(page)?.[1] ?? ''
    const named = [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name)
    const known = Object.entries(knownAddOns).flatMap(([name, one]) => (one.reach === reach ? [name] : []))
    expect(named.sort()).toEqual(known.sort())
  }
})
