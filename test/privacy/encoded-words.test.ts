import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import { encodedWords } from '../../src/privacy/words.ts'

const plain = fc.string({ unit: fc.constantFrom('a', 'Z', ' ', '{', '"', ':', '0'), minLength: 18, maxLength: 40 })
const word = fc
  .tuple(plain, fc.constantFrom('base64' as const, 'base64url' as const))
  .map(([text, alphabet]) => Buffer.from(text).toString(alphabet))
const between = fc.constantFrom(' ', '"', '\\n', '/', '=', 'Ł', 'ŁA', '\u0141B', 'é', '🙂', ', x ')
const texts = fc
  .array(fc.oneof(word, between), { maxLength: 6 })
  .map((parts) => parts.join(''))
  .filter(({ length }) => length < 128)

test('what says text in base64 is found in a long text as in a short one, whatever else stands there', () => {
  const spotsIn = (text: string, from = 0): readonly unknown[] =>
    encodedWords(text).map(({ start, end, plain: said }) => [start - from, end - from, said])
  let found = 0
  fc.assert(
    fc.property(texts, fc.constantFrom(' ', '\u0141'), fc.constantFrom(5, 10, 11_000), (text, filler, times) => {
      const before = filler.repeat(24 * times)
      found += spotsIn(text).length
      expect(spotsIn(before + text, before.length)).toEqual(spotsIn(text))
    }),
    { seed: 21, numRuns: 400 },
  )
  expect(found).toBeGreaterThan(200)
})

test('a word of base64 says the same wherever in a long text it stands, however long it is', () => {
  const said = fc.integer({ min: 18, max: 60 }).map((length) => 'a note of zoë, '.repeat(length).slice(0, length))
  const long = fc.constantFrom(4_093, 4_096, 4_099, 49_152, 70_000).map((length) => 'a note, '.repeat(length / 8))
  fc.assert(
    fc.property(
      fc.oneof(said, long),
      fc.constantFrom('base64' as const, 'base64url' as const),
      fc.integer({ min: -100, max: 4 }),
      fc.constantFrom(1, 2),
      (plain, alphabet, behind, blocks) => {
        const start = blocks * 65_536 + behind
        const spelled = Buffer.from(plain).toString(alphabet)
        const text = `${'. '.repeat(start).slice(-start)}${spelled} and more`
        expect(encodedWords(text)).toEqual([{ start, end: start + spelled.length, plain }])
      },
    ),
    { seed: 22, numRuns: 300 },
  )
})

test('a text that was scanned and holds nothing is searched again once a secret is known', () => {
  const redactor = createRedactor()
  const text = `the note ${'says '.repeat(60)}correct-7-horse and no more`
  expect(redactor.scan(text)).toEqual([])
  expect(redactor.text(text)).toBe(text)
  redactor.json({ password: 'correct-7-horse' })
  expect(redactor.text(text)).toBe(text.replace('correct-7-horse', 'redacted-secret-1'))
})
