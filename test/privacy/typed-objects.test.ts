import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seventhFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'

// Made up, and put together here so that no scanner takes them for real ones.
const key = `${'7f3aB9cD'.repeat(3)}2eF4gH6j`
const hex = '3f2a9c7d'.repeat(3) + '0b1e5d64'
const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
const part = (value: unknown): string =>
  `--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n${JSON.stringify(value)}\r\n--b--`

test.each([
  JSON.stringify({
    data_sources: [{ type: 'azure_search', parameters: { authentication: { type: 'api_key', key } } }],
  }),
  JSON.stringify({ said: JSON.stringify({ key, of: { a: [1, '{'] }, type: 'apiKey' }, undefined, 2) }),
  JSON.stringify({ said: JSON.stringify({ said: JSON.stringify({ auth_type: 'bearer', value: key }) }) }),
  part({ kind: 'access_token', value: key }),
  `{'type': 'key_and_key_id', 'key_id': 'k1', 'key': '${key}'}`,
  `{ scheme: 'Bearer', credential: '${key}' }`,
  `{"type":"authorization_code","code":"${key}"}`,
  `{"type":"connection_string","value":"Endpoint=sb://x/;Id=${key}"}`,
  `auth:\n  key: ${key}\n  type: api_key\n`,
  `{"type": bearer, "key": "${key}"}`,
  // What says it ends like a name, and all that may stand behind it.
  ...['}', ' }', ',', ' ,', '\n}', '\r\n}', '\t}', ''].flatMap((next) => [
    `{"key":"${key}","type":"bearer"${next}`,
    `{'key': '${key}', 'type': 'API key'${next}`,
    JSON.stringify({ said: `{"key": "${key}", "type": "api_key_2"${next}` }),
  ]),
  ...['\n', ' # of the shop', ''].flatMap((next) => [
    `key = "${key}"\ntype   = "bearer"${next}`,
    JSON.stringify({ said: `auth:\n  key: ${key}\n  type: 'api_key'${next}` }),
  ]),
  JSON.stringify({ said: `- type: bearer\n  value: ${key}\n- type: other` }),
  `{type: api_key, key: ${key}}`,
  `auth = { type = "api_key", key = "${key}" }`,
  JSON.stringify({ ARN: 'a', SecretString: key }),
  `{"Name":"/prod/db","Type":"SecureString","Value":"${key}"}`,
  ...[' # rotated', ' # "old"'].map((comment) => `auth:\n  type: api_key\n  key: ${key}${comment}\n`),
  ...[
    `"type": "api_key"\n  "key": "${key}"`,
    `"type": api_key\n  "key": ${key}`,
    `'key': '${key}' # rotated\n  'type': 'api_key'`,
    `type: api_key\n  key: !!str ${key}`,
    `type: api_key\n  key: >-\n    ${key}\n  for: shop`,
    `key: |\n    ${key}\n  type: api_key`,
  ].flatMap((lines) => [`auth:\n  ${lines}\n`, JSON.stringify({ said: `auth:\n  ${lines}` })]),
  ...['', '# the key', 'scopes:\n    - a\n    - b', 'scopes:\n  - a', 'of:\n    a: 1', 'for: any of you'].flatMap(
    (line) => [
      `auth:\n  type: api_key\n  ${line}\n  key: ${key}\n`,
      JSON.stringify({ said: `auth:\n  key: ${key}\n  ${line}\n  type: api_key` }),
    ],
  ),
])('what an object holds is secret where it says that it is one: %s', (text) => {
  const redacted = createRedactor().text(text)
  expect(redacted).not.toContain(key)
  expect(scan(redacted)).toEqual([])
  expect(isJson(redacted)).toBe(isJson(text))
})

test.each([
  ...['api_key', 'apikey', 'access-key', 'password', 'secret', 'bearer', 'access_token'].flatMap((type) =>
    ['key', 'value'].map((name) => ({ type, [name]: hex })),
  ),
  { type: 'password', value: 'SuperPass1' },
  { type: 'apikey', key: 'Zr9Xv4Tn8Wb2Kq7Secret' },
])(
  'of an object that is nothing but a secret, a number of 32 digits is one, and so is what ends like a name: %j',
  (value) => {
    const redacted = createRedactor().json(value) as Record<string, string>
    const { type, ...rest } = redacted
    expect(type).toBe(value.type)
    expect(Object.values(rest)).toEqual([expect.stringMatching(/^redacted-secret-/)])
  },
)

test.each(['SuperPass1', 'Sup3rS3cretPassword', 'admin_pwd1', 'lemon7Pass', 'blue7OrangePIN'])(
  'a value that ends like a name, and looks like none, is secret behind a name: %s',
  (value) => {
    for (const text of [
      JSON.stringify({ name: 'password', value }),
      JSON.stringify(['--password', value]),
      `<property name="password" value="${value}"/>`,
    ]) {
      expect(createRedactor().text(text)).not.toContain(value)
      expect(createRedactor({}, { finders: seventhFinders }).text(text)).toBe(text)
    }
  },
)

test.each([
  '["password","newPassword","password2","api_key","DB_PASSWORD_2"]',
  '["--password","DB_PASSWORD_2"]',
  '{"name":"password","value":"DB_PASSWORD_2"}',
  '{"type":"token","value":"550e8400-e29b-41d4-a716-446655440000"}',
  `{"type":"token","value":"${hex}0a1b2c3d"}`,
  '{"type":"token","value":"claude-sonnet-4-5-20250929"}',
  '{"type":"token","value":"/usr/lib/x86_64-linux-gnu"}',
  '{"type":"token","value":"getUserById2v1Handler"}',
  '{"type":"Token","key":"node-1f2e3d4c5b6a7988","ref":null}',
  '{"type":"secret","key":"DATABASE_URL_V2_PROD"}',
  '{"type":"api_key","value":"OPENAI_API_KEY_2024_PROD"}',
  '{"type":"api_key","key":"env.OPENAI_API_KEY_2024"}',
  '{"type":"password","value":"op://Private/Stripe2024/credential1"}',
  '{"type":"secret","value":"arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdE1"}',
  '{"type":"api_key","key":[{"a":"x1y2z3x1y2z3x1y2z3"}],"z":1}',
  '{"type":"apikey","apikey":4711471147114711}',
  `auth:\n  type: bearer\n  key: >-\n    a text of ${key}\n`,
  `of:\n  type: bearer\n  key: >-\n  ${key}\n`,
  '"type": "password",\n"value": 4711471147114711',
  `auth:\n  type: bearer\nnext:\n  key: ${key}\n`,
  JSON.stringify({ text: 'env:\n  - name: DB_PASSWORD\n    value: ', model: 'stop123456789abcd' }),
  '{"role":"tool","name":"reset_password","content":"A mail was sent to the user in 2 minutes."}',
  '{"type":"apiKey","key":"X-Api-Key-V2-2024","in":"header"}',
  '{"type":"secret","key":"billingAddress2Line1"}',
  JSON.stringify({ a: 'type: bearer', b: `x\nvalue: ${key}` }),
  JSON.stringify({ a: `x\nvalue: ${key}`, b: 'y\ntype: bearer' }),
  '{"kind":"session","key":"a1b2c3d4e5f6a7b8c9d0"}',
  '{"type":"token","value":"the"}',
  '{"type":"token","value":"HelloWorld123"}',
  '{"type":"hash-token","value":"a1b2c3"}',
  '{"type":"basic","key":"a"}',
  '{"type":"basic","key":"menu-item-2024-summer-sale"}',
  '{"type":"password","key":"newPassword1","label":"Again"}',
  '{"type":"password","key":"550e8400-e29b-41d4-a716-446655440000"}',
  '{"type":"apiKey","name":"X-API-Key","in":"header","key":"X-API-Key"}',
  '{"type":"api_key","key":"<your key>","value":"${API_KEY}"}',
  `{"type":"string","key":"${key}"}`,
  `{"type":"public_key","value":"${key}"}`,
  `{"of":{"type":"api_key"},"key":"${key}"}`,
  `type: bearer\n\nother:\n  key: ${key}\n`,
])('what only looks like such an object is kept: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})

const streamed = (parts: readonly string[]): string =>
  parts.map((content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`).join('')

test.each([
  `auth:\n  type: api_key\n  key: ${key}\n`,
  `auth:\n  'key': '${key}'\n\n  'type': 'api_key'\n`,
  `- "type": "api_key"\n  "key": "${key}"\n`,
  `auth:\n  key: >-\n    ${key}\n  type: api_key\n`,
  JSON.stringify({ auth: { type: 'api_key', key } }, undefined, 2),
])('wherever a stream is cut, what it says of a secret is read: %j', (text) => {
  for (let at = 1; at < text.length; at++) {
    const redacted = createRedactor().text(streamed([text.slice(0, at), text.slice(at)]))
    const said = [...redacted.matchAll(/"content":(".*")/g)].map(([, one]) => JSON.parse(one!) as string).join('')
    expect(said.includes(key), text.slice(0, at)).toBe(false)
  }
})

test('a name that promises nothing here does not by what stands beside it', () => {
  const text = `{"type":"api_key","key":"${key}"}`
  expect(createRedactor({ names: { never: ['key'] } }).text(text)).toBe(text)
})

test('a tape with the flag `redactor-7` is searched as then', () => {
  const text = `{"type":"api_key","key":"${key}"}`
  expect(createRedactor({}, { finders: seventhFinders }).text(text)).toBe(text)
})

test('whichever values its members have, an object keeps its shape, its numbers and its lists, and is JSON', () => {
  const names = ['type', 'kind', 'scheme', 'key', 'value', 'token', 'secret', 'apikey', 'a']
  const said = fc.constantFrom('api_key', 'apikey', 'bearer', 'password', 'access_token', 'token', 'secret')
  const texts = fc.constantFrom(key, 'SuperPass1', '{type: api_key, key: abcdef123}', 'type: bearer\nkey: [abc1]')
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.oneof(said, texts, fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 6 })),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 5, noNullPrototype: true }),
      fc.tuple(said, fc.constantFrom(...names), tie('tree')).map(([type, name, of]) => ({ type, [name]: of })),
      fc.jsonValue({ maxDepth: 2 }),
    ),
  }))
  fc.assert(
    fc.property(tree, fc.constantFrom(undefined, 2), fc.nat(2), (value, space, depth) => {
      let text = JSON.stringify(value, undefined, space)
      for (let at = 0; at < depth; at++) text = JSON.stringify({ of: text })
      let redacted = createRedactor().text(text)
      for (let at = 0; at < depth; at++) redacted = (JSON.parse(redacted) as { of: string }).of
      expect(shape(JSON.parse(redacted) as Json)).toEqual(shape(JSON.parse(JSON.stringify(value)) as Json))
    }),
    {
      numRuns: 2_000,
      examples: [
        [{ type: 'api_key', key: [{ a: 'x1' }], z: 1 }, undefined, 0],
        [{ type: 'apikey', apikey: 4711471147114711 }, undefined, 1],
      ],
    },
  )
})

/** All but texts, in which secrets may stand. */
function shape(json: Json): Json {
  if (typeof json === 'string') return ''
  if (Array.isArray(json)) return json.map(shape)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([name, item]) => [name, shape(item)]))
}
