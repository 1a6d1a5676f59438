import fc from 'fast-check'
import { expect, test } from 'vitest'
import { twelfthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'
import { decodeValue, encodeValue, type Json } from '../../src/tape/index.ts'

// Made up: no scanner takes it for a real one.
const secret = 'K7fq2Zr9Xv4T' + 'n8Wb'
const scalar = fc.oneof(
  fc.constantFrom(
    secret,
    'total',
    '',
    'Please log in',
    '4111111111111111',
    'https://shop.example/a?password=tr33house',
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.bigInt(),
  fc.constantFrom(4711n, 4111111111111111n, -4n),
  fc.date(),
  fc.double(),
  fc.integer(),
  fc.constantFrom(undefined, null, true, Number.NaN, -0, Infinity, Symbol.iterator, Symbol(secret), Symbol.for(secret)),
  fc.constantFrom('https://ada:tr33house@shop.example/a', 'mailto:jane@shop.example', 'x:y').map((url) => new URL(url)),
  fc.constantFrom(`a=${secret}&b=total`, secret, '').map((query) => new URLSearchParams(query)),
  fc.constantFrom(secret, `(?:password=${secret})(\\d+)`, 'a{3}', '[a-z]+').map((source) => new RegExp(source, 'gi')),
  fc.uint8Array({ maxLength: 40 }),
  fc.uint16Array({ maxLength: 12 }),
  fc.float64Array({ maxLength: 6 }),
  fc.bigInt64Array({ maxLength: 6 }),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc.constantFrom(secret, `password=${secret}`, 'für Ada').map((text) => Buffer.from(text)),
  fc.constantFrom(secret, `password=${secret} `).map((text) => new Uint32Array(Buffer.from(text).buffer.slice(0, 16))),
  fc.constantFrom(secret, 'a\0b').map((text) => new DataView(new TextEncoder().encode(text).buffer)),
  fc.constantFrom(new Headers({ authorization: `Bearer ${secret}` }), () => secret, Object(secret), Object(4711n)),
)
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, scalar, tie('holder')),
  holder: fc.oneof(
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new Set(items)),
    fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.tuple(fc.string(), tie('value')).map(([message, cause]) => new Error(message, { cause })),
    fc.array(tie('value'), { maxLength: 2 }).map((errors) => new AggregateError(errors, secret)),
    fc.dictionary(fc.constantFrom('value', 'password', 'pin', 'a', '$type'), tie('value'), { maxKeys: 3 }),
    tie('value').map((value) => Object.assign(new Date(0), { value })),
    tie('value').map((value) => Object.assign([1, , 2], { token: value })),
  ),
})).value
const name = fc.constantFrom(
  'password',
  'token',
  'pin',
  'session',
  'secret',
  'cookie',
  'mnemonic',
  'customerNumber',
  'a',
)

test('for every value under every name, what is redacted is read back and says the same once more', () => {
  fc.assert(
    fc.property(name, anyValue, (under, value) => {
      const redactor = createRedactor({ keys: ['customerNumber'] })
      const redacted = redactor.json(encodeValue({ [under]: value }))
      const again = encodeValue(decodeValue(redacted))
      expect(redactor.json(again)).toEqual(again)
      expect(redactor.json(redacted)).toEqual(redacted)
      // What a tool gave back stands in the place of what a replay hands on.
      expect(again).toEqual(encodeValue(decodeValue(again)))
    }),
    { numRuns: 300 },
  )
})

const kept: Readonly<Record<string, unknown>> = {
  'a BigInt': { pin: 4711n, password: 7391846205917364n },
  'a date': { password: new Date(1_700_000_000_000), session: new Date(0), cookie: new Date(Number.NaN) },
  'a number that is none': { password: Number.NaN, pin: -0, secret: Infinity },
  'a set of numbers': { pin: new Set([4711, 4712n]) },
  'counts by word': { tokens: new Map([['total', 12]]), token: new Map([['total', 'unknown']]) },
  'bytes of a token that is a number': { token: new Uint8Array([1, 2, 3]) },
  'a function and a symbol': { password: () => 1, secret: Symbol.iterator },
  'an error about a token': { token: new Error('The token has expired') },
}

test.each(Object.entries(kept))('under a name that promises a secret, %s stays what it is', (_, value) => {
  const encoded = encodeValue(value)
  expect(createRedactor().json(encoded)).toBe(encoded)
  expect(createRedactor().scan(JSON.stringify(encoded))).toEqual([])
})

test('a card number in a BigInt is replaced by a number', () => {
  expect(decodeValue(createRedactor().json(encodeValue({ pin: 4111111111111111n })))).toEqual({
    pin: 8000000000000001n,
  })
})

test('what a rule of the application finds in a number or a BigInt becomes a text, and check names the Date that stays', () => {
  const options = { rules: [{ kind: 'ticket', pattern: /\d{8}|2031/g }] }
  const when = new Date('2031-02-03')
  const encoded = encodeValue({ id: 12345678n, of: 12345678, other: -12345678.5, note: 'of 12345678', when })
  const redacted = createRedactor(options).json(encoded)
  const [one, other] = ['redacted-ticket-1', 'redacted-ticket-2']
  expect(decodeValue(redacted)).toEqual({ id: one, of: one, other, note: `of ${one}`, when })
  expect(createRedactor(options).json(redacted)).toEqual(redacted)
  expect(createRedactor(options).json(12_345_678)).toBe(one)
  expect(
    createRedactor(options)
      .scan(JSON.stringify(redacted))
      .map(({ kind }) => kind),
  ).toEqual(['ticket'])
})

const holders: Readonly<Record<string, (text: string) => unknown>> = {
  'a set': (text) => new Set([text]),
  'a map': (text) => new Map([['ada', text]]),
  'the keys of a map': (text) => new Map([[text, 1]]),
  'lists in maps in sets': (text) => new Set([new Map([['ada', [text]]])]),
  'an error': (text) => new Error(text),
  'the cause of an error': (text) => new Error('no', { cause: new Error(text) }),
  'several errors': (text) => new AggregateError([new Error(text)], 'no'),
  'a buffer': (text) => Buffer.from(text),
  'a typed array': (text) => new TextEncoder().encode(text),
  'a typed array of longer items': (text) => new Uint32Array(new TextEncoder().encode(text).buffer),
  'a buffer of an array': (text) => new TextEncoder().encode(text).buffer,
  'bytes that are no text': (text) => Buffer.from(`\0${text}`),
  'a list with holes': (text) => [, text],
  'a list with fields': (text) => Object.assign([text], { more: 1 }),
  'a set with fields': (text) => Object.assign(new Set([text]), { more: 1 }),
  'a string that is an object': (text) => Object(text),
  'a symbol': (text) => Symbol(text),
  'a regular expression': (text) => new RegExp(text),
  'the parameters of an address': (text) => new URLSearchParams({ ada: text }),
  'an address': (text) => new URL(`https://shop.example/${text}`),
}

test.each(Object.entries(holders))('a value under a telling name is found in %s', (_, hold) => {
  for (const under of ['password', 'api_key', 'customerNumber']) {
    const options = { keys: ['customerNumber'] }
    const encoded = encodeValue({ [under]: hold(secret) })
    const redacted = createRedactor(options).json(encoded)
    expect(saidIn(redacted), under).not.toContain(secret)
    expect(createRedactor(options).json(redacted), 'once more').toEqual(redacted)
    expect(encodeValue(decodeValue(redacted)), 'read back').toEqual(redacted)
    // What bears no name stays, and so does all of it on tapes of before.
    const unnamed = encodeValue({ note: hold(secret) })
    expect(createRedactor(options).json(unnamed)).toBe(unnamed)
  }
  const before = createRedactor({}, { finders: twelfthFinders }).json(encodeValue({ mnemonic: hold(secret) }))
  expect(before).toEqual(encodeValue({ mnemonic: hold(secret) }))
})

test('in a map the names are its keys: those that are words stay', () => {
  const map = new Map<string, unknown>([
    ['ada', secret],
    ['password', 'lemon tart'],
  ])
  expect(decodeValue(createRedactor().json(encodeValue({ credentials: map })))).toEqual({
    credentials: new Map([
      ['ada', 'redacted-secret-1'],
      ['password', 'redacted-secret-2'],
    ]),
  })
})

test('bytes that are no text are replaced by as many, where their base64 is what the name promises', () => {
  const key = Buffer.from('00ff13a7c2d95b8e4f6017283940aabbccddeeff0102030405060708090a0b0c', 'hex')
  for (const under of ['encryptionKey', 'token']) {
    const { [under]: instead } = decodeValue(createRedactor().json(encodeValue({ [under]: key }))) as Record<
      string,
      Buffer
    >
    expect(instead?.toString()).toBe(`redacted-secret-1${'.'.repeat(15)}`)
  }
  const image = encodeValue({ session: Buffer.alloc(64, 1) })
  expect(createRedactor().json(image)).toBe(image)
})

/** What a value says, its bytes read as text. */
function saidIn(json: Json): string {
  return JSON.stringify(json, (key, value: unknown) =>
    key === 'base64' ? Buffer.from(String(value), 'base64').toString('latin1') : value,
  )
}
