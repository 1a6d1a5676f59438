import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fifthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'

/*
 * So many secrets in encoded words that no body of a program has them: to encode each word again would take its sender's
 * megabyte too long. What does not fit is replaced whole.
 */
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const base64url = (text: string): string => Buffer.from(text).toString('base64url')

const secretOf = (n: number): string => `zq${n.toString(36).padStart(6, '0')}7x`
const isSecret = /zq[0-9a-z]{6}7x/

const said: readonly ((secret: string) => string)[] = [
  (secret) => `{"password":"${secret}"}`,
  (secret) => `password%3D${secret}%26`,
  (secret) => `密码：${secret}，`,
  (secret) => `mail ${secret}@shop.example now`,
  (secret) => `["--password","${secret}"]`,
  (secret) => `The password is ${secret}. `,
  (secret) => `Authorization: Bearer ${secret}${secret}`,
]
const chains: readonly (readonly ((text: string) => string)[])[] = [
  [base64],
  [base64url],
  [base64, base64],
  [base64url, base64],
  [base64, JSON.stringify, base64],
]

/** All that can be read in a text by whoever undoes three encodings. */
function layersOf(text: string, depth = 3): string {
  const words = text.match(/[\w+/-]{24,}={0,2}/g) ?? []
  const inner = depth === 0 ? [] : words.map((word) => layersOf(Buffer.from(word, 'base64').toString(), depth - 1))
  return [text, decodeURIComponent(text.replace(/%(?![\da-f]{2})/gi, '')), ...inner].join('\n')
}

const wordsOf = (count: number, from = 0, say = said[0]!): string[] =>
  Array.from({ length: count }, (_, n) => base64(say(secretOf(from + n))))

const whole = /^redacted-secret-\d+$/

test('of all secrets in more encoded words than are read again, none is left, and the text stays as it is from then on', {
  tags: 'thorough',
}, () => {
  const words = fc.record({
    count: fc.integer({ min: 1_900, max: 2_400 }),
    from: fc.integer({ min: 0, max: 1_000_000 }),
    ways: fc.array(fc.tuple(fc.constantFrom(...said), fc.constantFrom(...chains)), { minLength: 1, maxLength: 6 }),
    between: fc.constantFrom(' ', '","', '\n', ', ', '='),
    around: fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => JSON.stringify({ items: text.split(' ') }),
      (text) => `data: {"delta":"${text}"}\n\ndata: {"delta":" and more"}\n\n`,
      (text) => base64(text),
      (text) => `${text} ${base64(Array.from({ length: 17_000 }, (_, n) => `pwd=${secretOf(n)}`).join(' '))}`,
    ),
  })
  fc.assert(
    fc.property(words, ({ count, from, ways, between, around }) => {
      const text = Array.from({ length: count }, (_, n) => {
        const [say, chain] = ways[n % ways.length]!
        return chain.reduce((inner, as) => as(inner), say(secretOf(from + n)))
      }).join(between)
      const given = around(text)
      const redacted = createRedactor().text(given)
      expect(isSecret.exec(layersOf(redacted))?.[0]).toBeUndefined()
      expect(scan(redacted)).toStrictEqual([])
      expect(createRedactor().text(redacted) === redacted).toBe(true)
      expect(scan(given).length).toBeGreaterThan(0)
    }),
    { seed: 31, numRuns: 12 },
  )
})

test('the words that come first are read and encoded again, as long as there is room, and the others are replaced whole', () => {
  const words = createRedactor().text(wordsOf(2_500).join(' ')).split(' ')
  const first = words.findIndex((word) => whole.test(word))
  expect(first).toBe(1_820)
  for (const word of words.slice(0, first)) expect(atob(word)).toMatch(/^\{"password":"redacted-secret-\d+"\}$/)
  for (const word of words.slice(first)) expect(word).toMatch(whole)
  expect(new Set(words).size).toBe(2_500)
})

test('one word with a whole table in it is encoded again, and with more than any table has it is replaced', () => {
  const table = (rows: number): string =>
    base64(Array.from({ length: rows }, (_, n) => `${secretOf(n)}@shop.example`).join('\n'))
  expect(atob(createRedactor().text(table(10_000)))).toMatch(/^(?:redacted-\d+@email\.invalid\n?){10000}$/)
  expect(createRedactor().text(`${table(20_000)} ${table(10)}`)).toMatch(/^redacted-secret-1 [A-Za-z0-9]{24,}=*$/)
})

test('texts of one value share the room there is', () => {
  const redacted = createRedactor().json(wordsOf(2_500)) as string[]
  expect(redacted).toStrictEqual(createRedactor().text(wordsOf(2_500).join(' ')).split(' '))
})

test('what a request quotes of an answer is redacted as it was there', () => {
  const redactor = createRedactor()
  const answer = wordsOf(2_500)
  const shown = redactor.text(answer.join(' ')).split(' ')
  expect(redactor.text(`about ${answer.at(-1)!}`)).toBe(`about ${shown.at(-1)!}`)
  expect(redactor.text(`about ${answer[0]!}`)).toBe(`about ${shown[0]!}`)
})

test('a request that quotes several answers, together more than are read again, is redacted as they were', () => {
  const redactor = createRedactor()
  const answers = [0, 1, 2].map((nth) => wordsOf(1_000, nth * 1_000).join(' '))
  redactor.text(answers[0]!)
  const shown = answers.map((answer) => redactor.text(answer)).join(' ')
  expect(redactor.text(answers.join(' ')) === shown).toBe(true)
  expect(shown).not.toMatch(/redacted-secret/)
})

test('the secret of a word that was replaced whole is found where it stands plain', () => {
  const redactor = createRedactor()
  const addresses = wordsOf(2_000, 0, (secret) => `mail ${secret}@shop.example now`)
  const nested = base64(`{"note":"${base64('{"password":"correct-7-horse"}')}"}`)
  expect(
    redactor
      .text([...addresses, nested].join(' '))
      .split(' ')
      .at(-1),
  ).toMatch(whole)
  expect(redactor.text('I log in with correct-7-horse.')).toMatch(/^I log in with redacted-secret-\d+\.$/)
})

test('what a placeholder keeps of an address it does not keep of a word that was replaced whole', () => {
  const redactor = createRedactor({ keep: ['email-domain', 'card-last4'] })
  const words = wordsOf(2_500, 0, (secret) => `${secret}@shop.example, a note`)
  const lines = redactor.text(words.join('\n')).split('\n')
  expect(lines.slice(1_820).filter((line) => !whole.test(line))).toStrictEqual([])
})

test('a tape of earlier finders is read as it was: each of its words is encoded again', () => {
  const words = createRedactor({}, { finders: fifthFinders }).text(wordsOf(2_500).join(' ')).split(' ')
  expect(words.filter((word) => whole.test(word))).toStrictEqual([])
})
