import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Endings } from '../../src/privacy/endings.ts'
import { KnownSecrets } from '../../src/privacy/known.ts'

const repeating = fc
  .tuple(
    fc.array(fc.constantFrom('a', 'ab', 'aab', 'b', 'é'), { minLength: 1, maxLength: 6 }),
    fc.integer({ min: 1, max: 40 }),
  )
  .map(([parts, times]) => parts.join('').repeat(times))

test('for every long secret and text, it is found where it stands, however often both repeat themselves', () => {
  fc.assert(
    fc.property(repeating, fc.array(repeating, { maxLength: 4 }), repeating, (end, parts, between) => {
      const secret = `.${'ab'.repeat(40)}${end}.`
      const text = [...parts, 'ab'.repeat(39), between].map((part) => `.${part}.${secret}`).join('')
      const expected: number[] = []
      for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + secret.length)) expected.push(at)
      const known = new KnownSecrets()
      known.keep('secret', secret)
      const found = known.find(text).filter(({ value, end, start }) => end - start === value.length)
      expect(found.map(({ start }) => start)).toEqual(expected)
    }),
    { seed: 14 },
  )
})

test('for all secrets and texts, each is found wherever it stands by itself, however alike they are', () => {
  const letters = fc.stringMatching(/^[ab1]{8,14}$/)
  const secrets = fc.uniqueArray(letters, { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(secrets, fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), letters, (all, order, other) => {
      const known = new KnownSecrets()
      for (const secret of all) known.remember('secret', secret)
      const words = order.map((n) => (n % 3 === 0 ? other : all[n % all.length]!))
      const expected: [number, string][] = []
      let at = 0
      for (const word of words) {
        if (all.includes(word)) expected.push([at, word])
        at += word.length + 1
      }
      expect(known.find(words.join('~')).map(({ start, value }) => [start, value])).toEqual(expected)
    }),
    { seed: 14, numRuns: 1_000 },
  )
})

test('for every text, a look at its last letters lets no name go, in capitals, with a number or an accent of its own', () => {
  const words = ['password', 'contraseña', 'пароль', '密码', 'パスワード', 'หผ่าน', 'pw', 'cvv2', 'key42', 'sıfre']
  const endings = new Endings(words, { mostDigits: 1, isWide: true })
  const written = words.flatMap((word) => [word, word.toUpperCase(), word.normalize('NFD')])
  const before = fc.string({ unit: 'grapheme', maxLength: 12 })
  const behind = fc.constantFrom('', '2', '_1', '-3', '"', "'", ' ', '\\"', '2"', '_1 "', ' \t')
  fc.assert(
    fc.property(before, fc.constantFrom(...written), behind, (start, word, end) => {
      fc.pre(!/\d$/.test(word) || !/\d/.test(end))
      const text = Buffer.from(`  ${start}${word}${end}:`, 'latin1')
      expect(endings.mayStand(text, text.length - 1)).toBe(true)
    }),
    { seed: 14, numRuns: 2_000 },
  )
  for (const text of ['  function:', '  Step 0:', '  12:', '  word 7 :', '  description":'])
    expect(endings.mayStand(Buffer.from(text), text.length - 1)).toBe(false)
})
