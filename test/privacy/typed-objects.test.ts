import { expect, test } from 'vitest'
import { seventhFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'

// Made up, and put together here so that no scanner takes them for real ones.
const key = `${'7f3aB9cD'.repeat(3)}2eF4gH6j`
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
  JSON.stringify({ said: `- type: bearer\n  value: ${key}\n- type: other` }),
])('what an object holds is secret where it says that it is one: %s', (text) => {
  const redacted = createRedactor().text(text)
  expect(redacted).not.toContain(key)
  expect(scan(redacted)).toEqual([])
  if (text.startsWith('{"')) expect(() => JSON.parse(redacted) as unknown).not.toThrow()
})

test.each([
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

test('a name that promises nothing here does not by what stands beside it', () => {
  const text = `{"type":"api_key","key":"${key}"}`
  expect(createRedactor({ names: { never: ['key'] } }).text(text)).toBe(text)
})

test('a tape with the flag `redactor-7` is searched as then', () => {
  const text = `{"type":"api_key","key":"${key}"}`
  expect(createRedactor({}, { finders: seventhFinders }).text(text)).toBe(text)
})
