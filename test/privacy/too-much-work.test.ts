import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hostileTexts } from '../../bench/secrets/hurt.ts'
import { seventhFinders, sixthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import { masked, work } from '../../src/privacy/work.ts'
import type { Json } from '../../src/tape/index.ts'

/*
 * What the search of a text may cost is counted, and grows with the text. A text that costs more is made to be slow: nothing of
 * it is written but the signs between its words.
 */
const slow = ['one letter in a query', 'new bearers in lines of JSON', 'new addresses in lines of an answer']
const texts = hostileTexts(1 << 19)

test.each(slow)(
  'a text that costs more than it may is stars, as long as it was, and goes through again unchanged: %s',
  (name) => {
    const text = texts.get(name)!
    const redacted = createRedactor().text(text)
    expect(redacted.length).toBe(text.length)
    expect(/[A-Za-z1-9]/.exec(redacted)).toBeNull()
    expect(redacted.replaceAll(/[*0]/g, '')).toBe(text.replaceAll(/[A-Za-z0-9\x80-\uffff]/g, ''))
    expect(scan(text)).not.toEqual([])
    expect(scan(redacted)).toEqual([])
    expect(createRedactor().text(redacted) === redacted).toBe(true)
  },
)

test('it is so too where the text comes in pieces, and in a field of a value', () => {
  const text = texts.get(slow[0]!)!
  const stars = createRedactor().text(text)
  const bytes = Buffer.from(text)
  const pieces = createRedactor().chunks([bytes.subarray(0, 1_000), bytes.subarray(1_000)])
  expect(Buffer.concat(pieces).toString() === stars).toBe(true)
  expect((createRedactor().json({ id: 1, said: text }) as { said: string }).said === stars).toBe(true)
})

test('what is left of JSON is JSON of the same shape, without its letters and numbers', () => {
  const blank = (value: Json): Json => {
    if (typeof value === 'string') return value.length
    if (typeof value === 'number') return 0
    if (typeof value !== 'object' || value === null) return value
    return Array.isArray(value) ? value.map(blank) : Object.values(value).map(blank)
  }
  fc.assert(
    fc.property(fc.array(fc.json({ noUnicodeString: false })), fc.integer({ min: 0, max: 2 }), (all, indent) => {
      const value = all.map((one) => JSON.parse(one) as Json)
      for (const text of [JSON.stringify(value, undefined, indent), JSON.stringify(JSON.stringify(value))]) {
        const stars = masked(text)
        expect(stars.length).toBe(text.length)
        expect(masked(stars)).toBe(stars)
        const again = JSON.parse(stars) as Json
        if (typeof again === 'object') expect(listsOf(again)).toEqual(listsOf(value))
      }
    }),
  )
  expect(masked('{"n":[-12.50e+3,0,true,null],"a\\u00e9\\n":"%41b pin 4711"}')).toBe(
    '{"*":[-10.00e+0,0,true,null],"*\\u002a\\n":"%2a* *** 1000"}',
  )
})

/** How many items each list has, in order. */
function listsOf(value: Json): readonly number[] {
  if (!Array.isArray(value)) return []
  return [value.length, ...value.flatMap((one: Json) => listsOf(one))]
}

test('texts that people and programs write cost less: a table of fifty thousand customers, an answer in pieces, lines of a log', () => {
  const rows = (count: number, row: (n: number) => string): string =>
    Array.from({ length: count }, (_, n) => row(n)).join('\n')
  const written = [
    rows(50_000, (n) => `${n},Ada ${n},ada${n}@shop.example,Paris`),
    rows(50_000, (n) => `ada${n}@shop.example`),
    rows(20_000, (n) => `{"id":${n},"mail":"ada${n}@shop.example","city":"Paris"}`),
    rows(20_000, (n) => `{"id":${n},"a":"x${n}","b":"y","c":"z"}`),
    rows(5_000, (n) => `DB_PASSWORD_${n}=hunter2${n}x`),
    rows(5_000, (n) => `docker run --rm -e A=${n} -u 1000 image-${n} --flag x`),
    rows(8_000, (n) => `data: {"id":"x","choices":[{"index":0,"delta":{"content":"a${n % 10}"}}]}\n`),
  ]
  for (const text of written) {
    const redacted = createRedactor().text(text)
    expect(redacted).not.toContain('***')
    expect(redacted).not.toContain('ada7@')
  }
})

test('what lays bare another secret each time it is replaced is stars in the end, and goes through again unchanged', () => {
  for (const unit of ["secret_key ' -", "password ' -"]) {
    const redacted = createRedactor().text(unit.repeat(200))
    expect(scan(redacted)).toEqual([])
    expect(createRedactor().text(redacted) === redacted).toBe(true)
  }
})

test('a tape of earlier finders is read as it was: no text costs too much', () => {
  const text = texts.get(slow[0]!)!
  expect(createRedactor({}, { finders: sixthFinders }).text(text)).toMatch(
    /^&pwd=redacted-secret-1&pwd=redacted-secret-2/,
  )
})

test('names beyond ASCII are counted for what they take, and as before on a tape of earlier finders', () => {
  const costOf = (text: string, finders?: typeof seventhFinders): number => {
    createRedactor({}, finders && { finders }).scan(text)
    return work.done
  }
  for (const word of ['密码Cookie：', 'пароль: x ']) {
    const text = word.repeat(400)
    expect(costOf(text)).toBeGreaterThan(1.2 * costOf(text, seventhFinders))
  }
  const plain = 'the quick brown fox, 12 of them. '.repeat(400)
  expect(costOf(plain)).toBe(costOf(plain, seventhFinders))
})
