import { generateKeyPairSync, type JsonWebKey, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ninthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

/*
 * Keys as JSON (RFC 7517), made by Node.
 */
const pairs = {
  RSA: generateKeyPairSync('rsa', { modulusLength: 4096 }),
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  OKP: generateKeyPairSync('ed25519'),
}
const keys: Readonly<Record<string, JsonWebKey>> = {
  RSA: pairs.RSA.privateKey.export({ format: 'jwk' }),
  EC: pairs.EC.privateKey.export({ format: 'jwk' }),
  OKP: pairs.OKP.privateKey.export({ format: 'jwk' }),
  oct: { kty: 'oct', k: randomBytes(32).toString('base64url') },
}
const secret = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'] as const
const known = ['kty', 'n', 'e', 'x', 'y', 'crv'] as const

const places: Readonly<Record<string, (key: JsonWebKey) => string>> = {
  JSON: (key) => JSON.stringify(key),
  'JSON in lines': (key) => JSON.stringify({ keys: [key] }, null, 2),
  'JSON whose type comes last': ({ kty, ...key }) => JSON.stringify({ ...key, kty }),
  'JSON in JSON': (key) => JSON.stringify({ body: JSON.stringify({ keys: [key] }) }),
  'a literal of code': (key) =>
    `const key = { ${Object.entries(key)
      .map(([name, value]) => `${name}: '${String(value)}'`)
      .join(', ')} }`,
}

test.each(Object.keys(keys).flatMap((type) => Object.keys(places).map((place) => [type, place] as const)))(
  'what is private in a key of type %s is found in %s, and the rest stays',
  (type, place) => {
    const key = { ...keys[type]!, kid: 'main', use: 'sig' } as JsonWebKey
    const text = createRedactor().text(places[place]!(key))
    for (const name of secret)
      if (key[name] !== undefined) expect([name, text.includes(key[name]!)]).toEqual([name, false])
    for (const name of known)
      if (key[name] !== undefined) expect([name, text.includes(key[name]!)]).toEqual([name, true])
    expect(text).toContain('main')
  },
)

test('a public key stays, and so does what has the same names and is no key', () => {
  for (const type of ['RSA', 'EC', 'OKP'] as const) {
    const text = JSON.stringify(pairs[type].publicKey.export({ format: 'jwk' }))
    expect(createRedactor().text(text)).toBe(text)
  }
  for (const value of [
    { d: 'M10-20a4b8c12d16e20f', p: 'q' },
    { kty: 'a', d: 'short' },
  ])
    expect(createRedactor().json(value)).toEqual(value)
})

test('a key in a value is found', () => {
  expect(JSON.stringify(createRedactor().json({ key: keys['EC'] } as never))).not.toContain(keys['EC']!.d)
})

test('a tape of the ninth version is read as it was recorded', () => {
  const text = JSON.stringify(keys['oct'])
  expect(createRedactor({}, { finders: ninthFinders }).text(text)).toBe(text)
})
