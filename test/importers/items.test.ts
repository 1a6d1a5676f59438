import { expect, test } from 'vitest'
import { Cursor } from '../../src/importers/cursor.ts'
import { firstKept } from '../../src/importers/document.ts'

/** Items that are read one by one, with a list of those that were. */
function items(count: number): { readonly ask: () => Iterable<Cursor>; readonly read: number[] } {
  const read: number[] = []
  const ask = firstKept(function* () {
    for (let n = 0; n < count; n++) {
      read.push(n)
      yield new Cursor(n, { file: 'calls.json', lineOf: () => n })
    }
  })
  return { ask, read }
}

const valuesOf = (asked: Iterable<Cursor>): unknown[] => [...asked].map(({ value }) => value)

test('the first item of a recording is read once, however many formats look at it, and the others after it', () => {
  const { ask, read } = items(3)
  for (let looks = 0; looks < 5; looks++) for (const _ of ask()) break
  expect(read).toEqual([0])
  expect(valuesOf(ask())).toEqual([0, 1, 2])
  expect(read).toEqual([0, 1, 2])
})

test('who asks for the items of a recording again gets all of them, also while another one reads', () => {
  const { ask } = items(3)
  const one = ask()[Symbol.iterator]()
  one.next()
  one.next()
  expect(valuesOf(ask())).toEqual([0, 1, 2])
  expect(one.next().value?.value).toBe(2)
  expect(valuesOf(ask())).toEqual([0, 1, 2])
  expect(valuesOf(items(0).ask())).toEqual([])
})

test('a first item that cannot be read is refused each time', () => {
  const ask = firstKept(function* () {
    yield* []
    throw new Error('line 1 is broken')
  })
  for (let looks = 0; looks < 2; looks++) expect(() => [...ask()]).toThrow('line 1 is broken')
})
