import { expect, it } from 'vitest'
import { seventhFinders } from '../../src/privacy/earlier.ts'
import { createRedactor } from '../../src/privacy/index.ts'

const written = [
  '"password":"tr33house9"',
  '"session_id":"K7fq2Zr9Xv4Tn8Wb"',
  '\\"API_KEY\\": \\"tr33house9\\"',
  'DB_PASS=tr33house9',
  "['x-api-key', 'tr33house9']",
  'session id: K7fq2Zr9Xv4Tn8Wb',
  '**Password:** tr33house9',
]

it.each(written)('a name is read wherever in a long text it stands: %s', (text) => {
  // Texts are walked in stretches of 65,536 characters.
  for (let at = -text.length - 2; at <= 130; at += 1) {
    const long = `${'x'.repeat(65_535 + at)}\n${text}`
    expect(createRedactor().text(long), `${at}`).not.toMatch(/tr33house9|K7fq2Zr9Xv4Tn8Wb/)
  }
})

it('names of your own are read with any signs between their parts', () => {
  const redactor = createRedactor({ keys: ['door code'], names: { random: ['boarding'], always: ['größe'] } })
  for (const name of ['doorCode', 'DOOR_CODE', 'door-code', 'door.code'])
    expect(redactor.text(`{"${name}":"lemon tart"}`)).toBe(`{"${name}":"redacted-secret-1"}`)
  expect(redactor.text('{"boarding":"K7fq2Zr9Xv4Tn8Wb"}')).toBe('{"boarding":"redacted-secret-2"}')
})

it('more names than a person would list cost no more memory than their last letters', () => {
  const keys = Array.from({ length: 4_096 }, (_, n) => `customer number of the year ${n} in full`)
  const redactor = createRedactor({ keys })
  expect(redactor.text('{"customer_number_of_the_year_4000_in_full":"x1y2"}')).toContain('redacted-secret-1')
})

it('names of your own are read with a digit before their last letter', () => {
  const redactor = createRedactor({ keys: ['seal 4k'] })
  expect(redactor.text('{"seal4k":"lemon tart","seal_4_k":"plum tart","seal5k":"fig tart"}')).toBe(
    '{"seal4k":"redacted-secret-1","seal_4_k":"redacted-secret-2","seal5k":"fig tart"}',
  )
})

it('finds settings by the last words of their names, as lines, in JSON and as options', () => {
  const value = `${'Zx81mNq9'}${'2LwPo37R'}tKq7Y`
  const names = [
    'jasypt.encryptor.key',
    'azure.search.key',
    'app.jwt.key',
    'app.jwt.signing-key',
    'encrypt.key',
    'google.maps.key',
    'spring.security.oauth2.client.registration.x.client-secret',
  ]
  for (const name of names)
    for (const text of [`${name}=${value}\n`, `${name}: ${value}\n`, `{"${name}":"${value}"}`, `-D${name}=${value} x`])
      expect(createRedactor().text(text)).not.toContain(value)
  for (const text of ['search.key=next-page-of-the-list', '{"searchKey":"a1"}', `cache.key=${value}`])
    expect(createRedactor().text(text)).toBe(text)
})

const secret = `${'Zx81mNq9'}${'2LwPo37R'}`
/** A key in an object or a part of a file that has a name, and stands in others. */
const nested = (outer: string, parent: string, key: string, value: string): readonly string[] => [
  `${outer}:\n  ${parent}:\n    ${key}: ${value}\n`,
  `${outer}:\n  - ${parent}:\n      # of the shop\n      of:\n        - a: 1\n\n      ${key}: "${value}" # old\n`,
  `"${outer}":\r\n  "${parent}":\r\n    "${key}": "${value}"\r\n`,
  JSON.stringify({ [outer]: { of: {}, [parent]: { a: { b: 1 }, [key]: value } } }),
  JSON.stringify({ [outer]: { [parent]: { a: [1], [key]: value, b: '' } } }, undefined, 2),
  `${outer} = { ${parent} = { ${key} = '${value}' } }`,
  `[${outer}.${parent}]\na = 1\n${key} = "${value}"\n`,
]

it.each(['search', 'Encryptor', 'azureSearch', 'jwt', 'encrypt', 'maps'])(
  'finds the key of a setting below the names that say what it is: %s',
  (parent) => {
    for (const key of ['key', 'Key', 'KEY'])
      for (const text of nested('app', parent, key, secret).flatMap((one) => [one, JSON.stringify({ said: one })])) {
        const redacted = createRedactor().text(text)
        expect(redacted, text).not.toContain(secret)
        expect(createRedactor().text(redacted)).toBe(redacted)
      }
  },
)

it('finds it in a stream, wherever that is cut', () => {
  for (const text of nested('app', 'search', 'key', secret))
    for (let at = 1; at < text.length; at++) {
      const [one, two] = [text.slice(0, at), text.slice(at)].map((content) => JSON.stringify({ delta: { content } }))
      const redacted = createRedactor().text(`data: ${one}\n\ndata: ${two}\n\n`)
      const said = [...redacted.matchAll(/"content":(".*")/g)].map(([, piece]) => JSON.parse(piece!) as string)
      expect(said.join(''), text.slice(0, at)).not.toContain(secret)
    }
})

it.each(['cache', 'sort', 'public', 'object', 'user', 'of'])(
  'keeps what is called a key below a name that says that it is data, or nothing: %s',
  (parent) => {
    for (const text of nested('app', parent, 'key', secret)) expect(createRedactor().text(text)).toBe(text)
  },
)

it.each([
  'orders2024v12byuser',
  'getUserById2v1Handler',
  '550e8400-e29b-41d4-a716-446655440000',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV',
  'd41d8cd98f00b204e9800998ecf8427e',
  'search.results.Page2',
  '${AZURE_SEARCH_KEY_1}',
])('keeps below such names what may be the key of anything: %s', (value) => {
  for (const text of nested('app', 'search', 'key', value)) expect(createRedactor().text(text)).toBe(text)
})

it.each([
  `search:\n  a: 1\nkey: ${secret}\n`,
  `search: all\n  key: ${secret}\n`,
  `search:\n  of:\n    key: ${secret}\n`,
  `[search]\na = 1\n[other]\nkey = "${secret}"\n`,
  JSON.stringify({ search: { of: 1 }, key: secret }),
  JSON.stringify({ search: { of: { key: secret } } }),
  JSON.stringify({ search: [{ key: secret }] }),
  JSON.stringify({ search: { said: `the key: ${secret}` } }),
])('keeps a key that does not stand right in what has such a name: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})

it('reads no names above a name that promises nothing here', () => {
  const text = `search:\n  key: ${secret}\n`
  expect(createRedactor({ names: { never: ['key'] } }).text(text)).toBe(text)
  expect(createRedactor({}, { finders: seventhFinders }).text(text)).toBe(text)
})
