import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'

/** What a finder begins at, ends at or may run over, in the texts of one value. */
const pieces = [
  ...['password: ', 'password=', 'api_key = ', '--token ', 'pass:', 'Cookie: ', 'pin: ', 'mnemonic: ', '?token='],
  ...["'", '"', '`', '"""', "'''", '\\', '\\"', "\\'", "b'", "['", '{"value":"', '[', ']', '{', '}', '(', ')'],
  ...[
    '<token>',
    '</token>',
    '<a name="password" value=',
    "create user ada password '",
    "identified by '",
    'identified by "',
  ],
  ...[
    "insert into t (password) values ('",
    'where password = ?',
    '-----BEGIN PRIVATE KEY-----',
    'Bearer ',
    'curl -u ada:',
  ],
  ...['tr33house', 'K7fq2Zr9Xv4Tn8Wb', 'ada@shop.example', ' ', ', ', ': ', '\n', '=', "it's"],
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((parts) => parts.join(''))
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.record({ a: text, b: text }),
  fc.record({ a: text, b: fc.record({ c: text, d: fc.constant(1) }) }),
  fc.array(text, { minLength: 2, maxLength: 3 }),
)

test('a value keeps its fields, and the line of JSON it is written as keeps them too', () => {
  fc.assert(
    fc.property(value, fc.boolean(), (given, isNested) => {
      const whole: Json = isNested ? { arguments: JSON.stringify(given) } : given
      expect(shape(createRedactor().json(whole))).toEqual(shape(whole))
      expect(shape(JSON.parse(createRedactor().text(JSON.stringify(whole))) as Json)).toEqual(shape(whole))
    }),
    { numRuns: 3_000, seed: 34 },
  )
})

/** The value without its texts; those that are JSON in their turn are read. */
function shape(json: Json): Json {
  if (typeof json === 'string') {
    try {
      const inner = JSON.parse(json) as Json
      return typeof inner === 'object' && inner !== null ? shape(inner) : ''
    } catch (error) {
      if (error instanceof SyntaxError) return ''
      throw error
    }
  }
  if (Array.isArray(json)) return json.map(shape)
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([key, item]) => [key, shape(item)]))
}

test.each([
  'password = input("Password: ")',
  "prompt('Password: ')",
  'read -sp "Password: " PW; echo "read"',
  'throw new Error("Invalid password: " + name)',
  'expect(page.getByLabel("Password:")).toBeVisible()',
  'if "password=" in line: found("that")',
  'args = ["--password=", "--user="]',
])('a literal that ends with a name and its sign is no secret: %s', (line) => {
  for (const said of [line, `a = 1\n${line}\nb = "2"\n`]) {
    expect(createRedactor().text(said)).toBe(said)
    expect(createRedactor().json({ source: said, note: "it's" })).toEqual({ source: said, note: "it's" })
  }
})

test.each([
  ["don't use password: 'tr33house' here", "don't use password: 'redacted-secret-1' here"],
  ['say "hi", then password: "tr33house"', 'say "hi", then password: "redacted-secret-1"'],
  ['"a" "b" password="tr33house"', '"a" "b" password="redacted-secret-1"'],
])('a value behind other literals is one: %s', (said, expected) => {
  expect(createRedactor().text(said)).toBe(expected)
})
