import fc from 'fast-check'
import { expect, test } from 'vitest'
import { thirteenthFinders } from '../../src/privacy/earlier.ts'
import { Endings } from '../../src/privacy/endings.ts'
import { createRedactor } from '../../src/privacy/index.ts'
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

/** One way to spell a character, in texts of which each may be spelled so. */
const spellings: Readonly<Record<string, (char: string) => string>> = {
  JSON: (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  'JSON in capitals': (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
  'JSON in JSON': (char) => `\\\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  'JSON as PHP writes it': (char) => (char === '/' ? '\\/' : char),
  'a URL': (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  'a URL in a URL': (char) => `%25${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  HTML: (char) => `&#${char.charCodeAt(0)};`,
  'HTML by name': (char) => ({ '&': '&amp;', '<': '&lt;', '=': '&equals;' })[char] ?? char,
}

test.each(Object.entries(spellings))(
  'a secret that is known is found where %s spells some of its characters',
  (_, spell) => {
    const secret = fc.stringMatching(/^[a-z]{3}[A-Z0-9]{4}[a-z0-9/+=&]{4,20}[a-z]\d$/)
    const each = fc.tuple(secret, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }))
    fc.assert(
      fc.property(each, ([secret, spelled]) => {
        const written = [...secret].map((char, at) => (spelled[at] ? spell(char) : char)).join('')
        const redactor = createRedactor({})
        expect(redactor.json({ client_secret: secret })).toEqual({ client_secret: 'redacted-secret-1' })
        const said = redactor.text(`the id "${written}" of today`)
        expect(said).toBe('the id "redacted-secret-1" of today')
        const other = createRedactor({})
        other.json({ client_secret: `${secret}other` })
        expect(other.scan(`the id "${written}" of today`)).toEqual([])
      }),
      { seed: 16, numRuns: 60 },
    )
  },
)

test('the redactor of an older tape finds a known secret where it found it before', () => {
  const redactor = createRedactor({}, { finders: thirteenthFinders })
  redactor.json({ client_secret: 'ab/esc000Zr9Xv4Tn8WbQm2' })
  expect(redactor.text('{"id":"ab\\/esc000Zr9Xv4Tn8WbQm2"}')).toContain('esc000')
  expect(createRedactor({}).text('EAN 4006381301855')).toContain('4006381301855')
  expect(redactor.text('EAN 4006381301855')).not.toContain('4006381301855')
})

test.each([
  'Authorization: Bearer NFqlmtmiiwHNFGUqSMun',
  'curl -H "Authorization: Bearer NFqlmtmiiwHNFGUqSMun" https://x.example',
  'Authorization: NFqlmtmiiwHNFGUqSMun',
  '[["authorization","Bearer NFqlmtmiiwHNFGUqSMun"]]',
  '[{"name":"authorization","value":"Bearer NFqlmtmiiwHNFGUqSMun"}]',
])('a token of letters alone is found behind what says that it is one: %s', (text) => {
  const [redactor, before] = [createRedactor({}), createRedactor({}, { finders: thirteenthFinders })]
  expect(redactor.text(text)).not.toContain('NFql')
  expect(before.text(text)).toContain('NFql')
})

test.each([
  'Authorization: Bearer authentication is required',
  'authorization: Bearer accessTokenOfThisUser',
  'headers: { authorization: Bearer getAccessTokenSilently }',
  'The header Authorization: Bearer AccessTokenProvider',
  'Authorization: Bearer YOUR_ACCESS_TOKEN_HERE',
  'token: getAccessTokenSilently',
  'token: RefreshTokenGrantHandler',
])('words behind it stay: %s', (text) => {
  expect(createRedactor({}).text(text)).toBe(text)
})

test('of 13 digits, a barcode is no card, and a card that is no barcode is one', () => {
  const redactor = createRedactor({})
  for (const barcode of ['4006381301855', '4006381304818', '4006381310369'])
    expect(redactor.json({ gtin: barcode, text: `EAN ${barcode}` })).toEqual({ gtin: barcode, text: `EAN ${barcode}` })
  expect(redactor.text('4222222222222')).toBe('8000000000000001')
})

test.each(['admin', '1234', '2026-12-01', 'abc123', 'lemontart', '1234567890'])(
  'a value under a name stays elsewhere where it is short, a word, a number or a date: %s',
  (value) => {
    const redactor = createRedactor({})
    expect(redactor.json({ password: value, text: `It is ${value} here.` })).toEqual({
      password: 'redacted-secret-1',
      text: `It is ${value} here.`,
    })
  },
)
