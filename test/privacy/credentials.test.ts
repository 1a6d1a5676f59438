import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

// Seeded, so that a failure is one of the product and not of the day.
const runs = { seed: 13, numRuns: 400 }
const names = ['authorization', 'Authorization', 'x-api-key', 'api-key', 'X-Goog-Api-Key', 'x-auth-token', 'cookie']
const token = fc.string({
  unit: fc.constantFrom(...'ABCDEFGHJKMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789-_.~+/'),
  minLength: 8,
  maxLength: 60,
})
/** What stands around the secret in the value of a header. */
const forms: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `Bearer ${secret}`,
  (secret) => `bearer  ${secret}==`,
  (secret) => `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`,
  (secret) => `Token token=${secret}`,
  (secret) => `${secret} and more words`,
  (secret) => `Digest username="${secret}", realm="r", response="${secret}"`,
  (secret) =>
    `AWS4-HMAC-SHA256 Credential=${secret}/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature=${secret}`,
  (secret) => `SharedKey account${secret}:${secret}=`,
  (secret) => `OAuth oauth_consumer_key="${secret}", oauth_token="${secret}", oauth_signature="${secret}"`,
  (secret) => `Hawk id="${secret}", mac="${secret}"`,
  (secret) => `sid=${secret}; theme=dark; __Host-a=${secret}`,
  (secret) => `  ${secret}  `,
]

test('for every key, header and scheme, no piece of the key is kept, and what is kept goes through again unchanged', () => {
  fc.assert(
    fc.property(token, fc.constantFrom(...names), fc.constantFrom(...forms), (secret, name, form) => {
      const redactor = createRedactor({}, { keys: true })
      // Of another number than a redactor that begins would give.
      redactor.requestHeaders([['x-api-key', 'another-key-of-the-run']])
      const value = form(secret)
      const kept = redactor.requestHeaders([[name, value]])
      const text = JSON.stringify(kept)
      const pieces = [secret, Buffer.from(secret).toString('base64')].flatMap((whole) =>
        Array.from({ length: Math.max(0, whole.length - 5) }, (_, at) => whole.slice(at, at + 6)),
      )
      // A piece of a key may spell a word that stands around it.
      const around = name + form('')
      for (const piece of pieces) expect(text.includes(piece) && !around.includes(piece)).toBe(false)
      expect(text).not.toContain(secret)
      expect(createRedactor({}, { keys: true }).scan(text)).toEqual([])
      expect(createRedactor({}, { keys: true }).requestHeaders(kept)).toEqual(kept)
    }),
    runs,
  )
})

test('for every two keys, they share a number exactly when they are the same', () => {
  fc.assert(
    fc.property(token, token, fc.constantFrom(...forms.slice(0, 4)), (one, other, form) => {
      const redactor = createRedactor({}, { keys: true })
      const shown = (secret: string) => redactor.requestHeaders([['authorization', form(secret)]])[0]?.[1]
      const [first, second, again] = [shown(one), shown(other), shown(one)]
      expect([first === second, first === again]).toEqual([one === other, true])
    }),
    runs,
  )
})

test('for every key in a query, no piece of it is kept', () => {
  const parameters = ['api_key', 'apikey', 'access_token', 'key', 'token', 'auth_token', 'subscription-key']
  fc.assert(
    fc.property(token, fc.constantFrom(...parameters), (secret, name) => {
      const value = `${secret}0123456789abcdef`
      const kept = createRedactor({}, { keys: true }).url(
        `https://x.example/a?b=1&${name}=${encodeURIComponent(value)}&c=2`,
      )
      expect(kept).toBe(`https://x.example/a?b=1&${name}=[key-1]&c=2`)
      expect(createRedactor({}, { keys: true }).url(kept)).toBe(kept)
    }),
    runs,
  )
})

test('a cookie that is named after who has it has no name on the tape', () => {
  const redactor = createRedactor({}, { keys: true })
  const cookie = 'wp_user_3f2a9c77d1=abcd; __Host-sid=efgh; _ga4=; dGVzdA=='
  expect(redactor.requestHeaders([['cookie', cookie]])).toEqual([
    ['cookie', '[key-1]; [key-3]; [key-4]; __Host-sid=[key-2]'],
  ])
})
