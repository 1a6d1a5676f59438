import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holdsNeedle, needleOf } from '../../src/privacy/rare.ts'
import { createRedactor, type Redactor } from '../../src/privacy/index.ts'
import { decodeBytes } from '../../src/tape/index.ts'
import { arbitraryBody, arbitraryText } from './arbitrary.ts'

/** With options of its own it shares nothing with any redactor made before, and looks for the same. */
function unshared(): Redactor {
  return createRedactor({ headers: [] })
}

test('what is plain in one run is secret in another that knows it by its name', () => {
  const value = 'opaque-0a1b2c3d'
  expect(createRedactor().text(value)).toBe(value)
  const other = createRedactor()
  expect(other.text(`password=${value}`)).toBe('password=redacted-secret-1')
  expect(other.text(value)).toBe('redacted-secret-1')
  expect(createRedactor().text(value)).toBe(value)
})

test('rules of one recorder do not find for another, whichever was asked first', () => {
  const own = { rules: [{ kind: 'customer', pattern: /C-\d+/g }] }
  expect(createRedactor().text('C-4711')).toBe('C-4711')
  expect(createRedactor(own).text('C-4711')).toBe('redacted-customer-1')
  expect(createRedactor(own).text('C-4712')).toBe('redacted-customer-1')
  expect(createRedactor().text('C-4711')).toBe('C-4711')
})

test('for every run, a redactor that shares its means with runs before gives what one of its own gives', () => {
  const part = fc.oneof(arbitraryText, fc.constantFrom('application/json', 'Cookie', 'x-api-key', 'password', ''))
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part), { maxLength: 4 }), (run) => {
      const [shared, alone] = [createRedactor(), unshared()]
      for (const [name, text] of run) {
        expect(shared.text(text)).toBe(alone.text(text))
        expect(shared.json({ [name]: text })).toEqual(alone.json({ [name]: text }))
        expect(shared.headers([['date', text]])).toEqual(alone.headers([['date', text]]))
      }
    }),
  )
})

test('for every body and every cut of it, the pieces as a tape holds them are the redacted pieces', () => {
  const bytes = fc.oneof(
    arbitraryBody.map((text) => Buffer.from(text)),
    fc.uint8Array({ maxLength: 40 }).map((some) => Buffer.from(some)),
  )
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(300), { maxLength: 3 }), (body, cuts) => {
      const ends = [...cuts.map((cut) => cut % (body.length + 1)).sort((a, b) => a - b), body.length]
      const pieces = ends.map((end, at) => body.subarray(ends[at - 1] ?? 0, end))
      const encoded = unshared().encoded(pieces)
      expect(encoded.map(decodeBytes)).toEqual(
        unshared()
          .chunks(pieces)
          .map((piece) => Buffer.from(piece)),
      )
    }),
  )
})

test('for every text and every part of it, the part is found by its rarest character', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '-', '_'), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(letters, letters, (text, needle) => {
      expect(holdsNeedle(text, needleOf(needle))).toBe(text.includes(needle))
    }),
    { numRuns: 500 },
  )
})
