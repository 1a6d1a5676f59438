import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Kind } from './edits.ts'
import { firstVariants, type Variant } from './project.ts'
import { chosen } from './random.ts'
import type { Replayed } from './replayed.ts'
import { mislabelledOf, prepare, replayAll } from './steps.ts'
import { built } from '../../test/support/built.ts'

/** A slice of this bench, for `npm test`: the same edits in every run, of every agent and every kind. */
describe('of sixty edits of ten agents', () => {
  const slice = sliceOf(firstVariants())
  const scratch = mkdtempSync(join(tmpdir(), 'vitest-harvest-verdict-'))
  let replayed: ReadonlyMap<string, Replayed>

  beforeAll(async () => {
    built('index.js')
    await prepare(scratch, slice)
    expect(await mislabelledOf(scratch, slice)).toEqual([])
    replayed = await replayAll(scratch, slice)
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  test('none that changes what is asked or done is green', () => {
    expect(verdictsOf('meaning').filter(([, ...verdicts]) => verdicts.includes('same'))).toEqual([])
  })

  test('each that leaves every question alone is green', () => {
    expect(verdictsOf('harmless').filter(([, ...verdicts]) => verdicts.some((verdict) => verdict !== 'same'))).toEqual(
      [],
    )
  })

  test('each that changes a question and nothing else is unproven', () => {
    expect(
      verdictsOf('question').filter(([, ...verdicts]) => verdicts.some((verdict) => verdict !== 'unproven')),
    ).toEqual([])
  })

  function verdictsOf(kind: Kind): readonly (readonly string[])[] {
    const rows = slice.flatMap(({ id, edit }) => {
      if (edit?.kind !== kind) return []
      const of = replayed.get(id)
      return [[`${id}, ${edit.name}`, of?.case.verdict ?? 'none', of?.hand.verdict ?? 'none']]
    })
    expect(rows.length).toBeGreaterThanOrEqual(10)
    return rows
  }
})

function sliceOf(variants: readonly Variant[]): readonly Variant[] {
  const of = (kind: Kind, count: number) =>
    chosen(
      variants.filter(({ edit }) => edit?.kind === kind),
      count,
      13,
    )
  const wanted = new Set([...of('meaning', 38), ...of('harmless', 12), ...of('question', 10)])
  return variants.filter((variant) => variant.edit === undefined || wanted.has(variant))
}
