import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

// Made up, and put together here so that no scanner takes them for real ones.
const secrets = [
  'jane.doe@example.com',
  `sk-proj-${'aB3dE5gH'.repeat(8)}`,
  `ghp_${'a1B2c3D4'.repeat(4)}e5F6`,
  `AKIA${'IOSFODNN7EXAMPLQ'}`,
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  `password: hunter2-${'x9'.repeat(9)}`,
  `"api_key": "${'k3Y7'.repeat(10)}"`,
  `Authorization: Bearer ${'t0K3n'.repeat(12)}`,
  `eyJhbGciOiJIUzI1NiJ9.eyJ${'zdWIiOiIx'.repeat(20)}.${'s1G'.repeat(14)}`,
  `-----BEGIN RSA PRIVATE KEY-----\nMIIE${'oAbC0123\n'.repeat(40)}-----END RSA PRIVATE KEY-----`,
  `postgres://admin:${'p4ss'.repeat(4)}@db.example.com/shop`,
  `curl -sS -u "ada:${'p4ss'.repeat(4)}" https://shop.example`,
  `["mysql","-uroot","-p${'p4ss'.repeat(4)}","shop"]`,
  `{"args":["-s","-u","ada:${'p4ss'.repeat(4)}"],"command":"curl"}`,
  `{"args":["-u","ada:${'l0ng'.repeat(4)}","-H","note: ${'which is long, and '.repeat(30)}"],"command":"curl"}`,
  // One that is too long to be waited for is not read once its program follows.
  `{"args":["-u","ada:${'f4r0'.repeat(4)}","-H","note: ${'which is long, and '.repeat(500)}"],"command":"curl"}`,
  `- args:\n  - -uroot\n  - -p${'p4ss'.repeat(4)}\n  command:\n  - mysql\n`,
  `echo ada:${'p4ss'.repeat(4)} | sudo chpasswd`,
  `tool --password \\\n  ${'p4ss'.repeat(4)}`,
  `{"value":"${'p4ss'.repeat(4)}","name":"password"}`,
  `{"value":"${'a long one, and 4 words. '.repeat(50)}","for":"${'x'.repeat(60)}","name":"password"}`,
  // Too long to be waited for, as above.
  `{"value":"${'a long one, and 4 words. '.repeat(400)}","name":"password"}`,
]
const words = 'I have looked at your order and will refund it. The customer wrote, twice: 3 items of "A-17" (25 EUR). '

const texts = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.nat(words.length).map((at) => words.slice(at)) },
      { weight: 1, arbitrary: fc.constantFrom(...secrets) },
      { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
    ),
    { minLength: 1, maxLength: 8 },
  )
  .map((parts) => parts.join(' '))

/** The text as a model streams it, in deltas of a few characters. */
const sse = (text: string, sizes: readonly number[]): string => {
  let rest = text
  let lines = ''
  for (let at = 0; rest !== ''; at++) {
    const size = sizes[at % sizes.length]!
    lines += `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: rest.slice(0, size) } }] })}\n\n`
    rest = rest.slice(size)
  }
  return `${lines}data: [DONE]\n\n`
}

test.each<[string, (text: string, sizes: readonly number[]) => string]>([
  ['plain text', (text) => text],
  ['one JSON body', (text) => JSON.stringify({ id: 'x1', answer: { text }, more: [text, 17] })],
  ['a stream of deltas', sse],
])('what is written early of %s is what the whole of it begins with once it is redacted', (_, spelled) => {
  let written = 0
  fc.assert(
    fc.property(
      texts,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
      (text, sizes, cuts) => {
        const body = spelled(text, sizes)
        const whole = createRedactor().text(body)
        const redactor = createRedactor()
        for (const cut of cuts) {
          const arrived = body.slice(0, cut % (body.length + 1))
          const early = arrived.slice(0, redactor.settled(arrived))
          expect(whole.startsWith(early), JSON.stringify([arrived, early.slice(-80)])).toBe(true)
          written += early.length
        }
        expect(createRedactor().settled(body)).toBeLessThanOrEqual(body.length)
      },
    ),
    { seed: 11, numRuns: 300 },
  )
  expect(written).toBeGreaterThan(5_000)
})

test('prose is written to its last word but one, and nothing after a secret', () => {
  const redactor = createRedactor()
  const plain = sse('Your order has been found and will be sent tomorrow', [3]).replace('data: [DONE]\n\n', '')
  const early = plain.slice(0, redactor.settled(plain))
  expect([...early.matchAll(/"content":"(.*?)"/g)].map(([, text]) => text).join('')).toMatch(/will be sent.{0,2}$/)
  const secret = `Dear jane.doe@example.com, ${words.repeat(20)}`
  expect(redactor.settled(secret)).toBe(5)
  expect(createRedactor({ rules: [{ kind: 'name', pattern: /Jane/g }] }).settled(words.repeat(20))).toBe(0)
})
