import { existsSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findCase, listCases, promote, removeCase } from '../../src/recordings/index.ts'
import { errorOf, messageOf, put, putTape, scratch } from './make.ts'

function goldenSet(): string {
  const recordings = scratch()
  const tape = putTape(recordings, 'inbox/run-1')
  promote({ recordings, tape, as: 'refund-100x', group: 'limits' })
  promote({ recordings, tape, as: 'lookup' })
  return recordings
}

describe('a list of cases', () => {
  test('has every case outside the inbox, with group and id', () => {
    const recordings = goldenSet()
    put(recordings, 'inbox/draft.case.yaml', 'case: draft\n')
    const shown = listCases(recordings).map(({ file, group, id, case: loaded }) => [
      relative(recordings, file),
      group,
      id,
      loaded?.id,
    ])
    expect(shown).toEqual([
      ['golden/limits/refund-100x.case.yaml', 'limits', 'refund-100x', 'refund-100x'],
      ['golden/lookup.case.yaml', '', 'lookup', 'lookup'],
    ])
  })

  test('has the broken ones with their error, and those whose tape is gone', () => {
    const recordings = goldenSet()
    put(recordings, 'golden/broken.case.yaml', 'case: [\n')
    put(recordings, 'golden/huge.case.yml', '#'.repeat(300_000))
    symlinkSync('lookup.case.yaml', join(recordings, 'golden/link.case.yaml'))
    rmSync(join(recordings, 'golden/limits/refund-100x.tape.jsonl'))
    expect(listCases(recordings).map(({ id, error }) => [id, error?.code])).toEqual([
      ['broken', 'HARVEST_CASE_SYNTAX'],
      ['huge', 'HARVEST_CASE_TOO_LARGE'],
      ['refund-100x', 'HARVEST_CASE_TAPE_MISSING'],
      ['link', 'HARVEST_CASE_LINK'],
      ['lookup', undefined],
    ])
  })

  test('of a folder that is not there is empty', () => {
    expect(listCases(scratch())).toEqual([])
  })
})

describe('a case is found', () => {
  test('by its id, with its group, or by its path', () => {
    const recordings = goldenSet()
    for (const word of [
      'refund-100x',
      'limits/refund-100x',
      'golden/limits/refund-100x',
      'golden/limits/refund-100x.case.yaml',
      join(recordings, 'golden/limits/refund-100x.case.yaml'),
    ]) {
      expect(findCase(recordings, word), word).toMatchObject({ id: 'refund-100x', group: 'limits' })
    }
    expect(findCase(recordings, 'golden/lookup').id).toBe('lookup')
  })

  test('also when it is broken: what is wrong comes with it', () => {
    const recordings = goldenSet()
    put(recordings, 'golden/broken.case.yaml', 'case: [\n')
    expect(findCase(recordings, 'broken').error?.code).toBe('HARVEST_CASE_SYNTAX')
  })

  test('not when several have the id', () => {
    const recordings = goldenSet()
    put(recordings, 'golden/other/refund-100x.case.yaml', 'case: [\n')
    expect(messageOf(() => findCase(recordings, 'refund-100x'))).toMatchInlineSnapshot(`
      "2 cases have the name 'refund-100x'

        cases  <root>/recordings/golden/limits/refund-100x.case.yaml
               <root>/recordings/golden/other/refund-100x.case.yaml

      → name one of them with its group: <group>/<id>
      → and give the others another id: ids are unique
      (HARVEST_CASE_AMBIGUOUS)"
    `)
    expect(findCase(recordings, 'limits/refund-100x').group).toBe('limits')
  })

  test('not when there is none: the nearest id is named', () => {
    expect(messageOf(() => findCase(goldenSet(), 'refund-10x'))).toMatchInlineSnapshot(`
      "Unknown case 'refund-10x'

        recordings  <root>/recordings
        cases       2

      → did you mean: refund-100x instead of refund-10x
      → to list them: npx vitest-harvest ls --golden
      (HARVEST_CASE_MISSING)"
    `)
    expect(errorOf(() => findCase(goldenSet(), 'golden/none.case.yaml')).code).toBe('HARVEST_CASE_MISSING')
  })

  test('by an id that its file writes with an escape, or has since a moment ago', () => {
    const recordings = goldenSet()
    const file = join(recordings, 'golden/lookup.case.yaml')
    const text = readFileSync(file, 'utf8')
    const { atime, mtime } = statSync(file)
    // As long as before, and of the same time: what was read before must not count.
    put(recordings, 'golden/lookup.case.yaml', text.replace('case: lookup', 'case: lookap'))
    utimesSync(file, atime, mtime)
    expect(findCase(recordings, 'lookap').file).toBe(file)
    put(recordings, 'golden/lookup.case.yaml', text.replace('case: lookup', 'case: "look\\x75p-2"'))
    expect(findCase(recordings, 'lookup-2').file).toBe(file)
  })

  test('not outside of the recordings', () => {
    const recordings = goldenSet()
    const outside = put(dirname(recordings), 'a.case.yaml', 'case: a\n')
    expect(errorOf(() => findCase(recordings, outside)).code).toBe('HARVEST_RECORDINGS_OUTSIDE')
  })
})

describe('removing a case', () => {
  test('takes its file and its tape', () => {
    const recordings = goldenSet()
    const gone = removeCase(recordings, 'refund-100x')
    expect(gone.map((file) => relative(recordings, file))).toEqual([
      'golden/limits/refund-100x.case.yaml',
      'golden/limits/refund-100x.tape.jsonl',
    ])
    expect(gone.some((file) => existsSync(file))).toBe(false)
    expect(listCases(recordings).map(({ id }) => id)).toEqual(['lookup'])
  })

  test('leaves a tape that another case has as well', () => {
    const recordings = goldenSet()
    put(recordings, 'golden/second.case.yaml', 'case: second\nagent: refund\ntape: lookup.tape.jsonl\nexpect: pass\n')
    expect(removeCase(recordings, 'second')).toHaveLength(1)
    expect(existsSync(join(recordings, 'golden/lookup.tape.jsonl'))).toBe(true)
    expect(removeCase(recordings, 'lookup')).toHaveLength(2)
  })

  test('of a broken case takes its file alone: nobody knows its tape', () => {
    const recordings = goldenSet()
    put(recordings, 'golden/broken.case.yaml', 'case: [\n')
    expect(removeCase(recordings, 'broken')).toEqual([join(recordings, 'golden/broken.case.yaml')])
  })
})
