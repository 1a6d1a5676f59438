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
  ...['%22', '%27', '%2522', '&quot;', '&#39;', '\\u0022', '\\u0027', '%5C', '\\\\', '\x1b[1m'],
  ...['tr33house', 'K7fq2Zr9Xv4Tn8Wb', 'ada@shop.example', ' ', ', ', ': ', '\n', '=', "it's"],
]
const text = fc.array(fc.constantFrom(...pieces), { maxLength: 7 }).map((parts) => parts.join(''))
const name = fc.constantFrom('a', 'password', 'api_key', 'token', 'cookie', 'authorization')
const left = 'the red sofa'
const value: fc.Arbitrary<Json> = fc.oneof(
  fc.tuple(name, text, text).map(([key, one, other]) => ({ [key]: one, left, other })),
  fc.tuple(name, text, text).map(([key, one, other]) => ({ a: one, b: { [key]: other, d: 1 }, left })),
  fc.tuple(text, text).map(([one, other]) => [left, one, other]),
)
const nested = fc.tuple(value, fc.nat(2)).map(([given, depth]) => {
  let whole: Json = given
  for (let at = 0; at < depth; at++) whole = { arguments: JSON.stringify(whole), left }
  return whole
})

test('a value keeps its fields, and the line of JSON it is written as keeps them too; a second time nothing changes', {
  tags: 'thorough',
}, () => {
  fc.assert(
    fc.property(nested, (whole) => {
      const redacted = createRedactor().json(whole)
      expect(shape(redacted)).toEqual(shape(whole))
      expect(createRedactor().json(redacted)).toEqual(redacted)
      const line = createRedactor().text(JSON.stringify(whole))
      expect(shape(JSON.parse(line) as Json)).toEqual(shape(whole))
      expect(createRedactor().text(line)).toBe(line)
    }),
    {
      numRuns: 3_000,
      seed: 34,
      examples: [
        [["identified by '%5C", '%27', '']],
        [{ arguments: `["identified by '%5C","%27",""]` }],
        [['%22-----BEGIN PRIVATE KEY-----password=', '', '']],
      ],
    },
  )
})

const rules = [{ kind: 'order', pattern: /\d{4,10}|true/g }]
const scalar = fc.oneof(
  fc.integer({ min: -20_000_000, max: 20_000_000 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(true, false, null, 0, 1_234_567_890),
)
const numbers = fc
  .tuple(fc.dictionary(fc.constantFrom('a', 'b', 'id'), scalar), fc.array(scalar), fc.nat(2))
  .map(([fields, list, depth]) => {
    let whole: Json = { ...fields, list, left }
    for (let at = 0; at < depth; at++) whole = { arguments: JSON.stringify(whole), left }
    return whole
  })

test('a number, or a word, that a rule of the application finds becomes a text, and JSON stays JSON', () => {
  fc.assert(
    fc.property(numbers, fc.array(fc.nat(200), { maxLength: 4 }), (whole, cuts) => {
      const redacted = createRedactor({ rules }).json(whole)
      expect(clear(redacted)).toEqual([])
      expect(names(redacted)).toEqual(names(whole))
      expect(createRedactor({ rules }).json(redacted)).toEqual(redacted)
      const line = createRedactor({ rules }).text(JSON.stringify(whole))
      expect(clear(JSON.parse(line) as Json)).toEqual([])
      expect(createRedactor({ rules }).text(line)).toBe(line)
      // As a model streams it, in pieces that begin anywhere.
      const events = piecesOf(JSON.stringify(whole), cuts).map(
        (piece) => `data: ${JSON.stringify({ delta: { text: piece } })}`,
      )
      const streamed = createRedactor({ rules }).text(events.join('\n\n'))
      const said = streamed
        .split('\n\n')
        .map((event) => (JSON.parse(event.slice(6)) as { delta: { text: string } }).delta.text)
      expect(clear(JSON.parse(said.join('')) as Json)).toEqual([])
    }),
    { numRuns: 400, seed: 35 },
  )
})

function piecesOf(line: string, cuts: readonly number[]): readonly string[] {
  const places = [0, ...cuts.map((cut) => cut % line.length), line.length].toSorted((a, b) => a - b)
  return places.slice(1).map((end, at) => line.slice(places[at], end))
}

/** What the rule finds in the scalars of a value, in texts that are JSON, too. */
function clear(json: Json): readonly string[] {
  return scalarsOf(json).flatMap((one) => {
    const written = typeof one === 'string' ? one : JSON.stringify(one)
    return /^redacted-order-\d+$/.test(written) ? [] : (written.match(/\d{4,10}|true/g) ?? [])
  })
}

function scalarsOf(json: Json): readonly Json[] {
  if (typeof json === 'string' && json.startsWith('{')) return scalarsOf(JSON.parse(json) as Json)
  if (typeof json !== 'object' || json === null) return [json]
  return (Object.values(json) as readonly Json[]).flatMap(scalarsOf)
}

function names(json: Json): Json {
  if (typeof json === 'string' && json.startsWith('{')) return names(JSON.parse(json) as Json)
  if (typeof json !== 'object' || json === null) return null
  return Object.entries(json).map(([key, item]) => [key, names(item as Json)])
}

/** The value without the texts that may be secret; those that are JSON in their turn are read. */
function shape(json: Json): Json {
  if (json === left) return left
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

test.each([
  [`DB_PASSWORD='tr33",house'`, `DB_PASSWORD='redacted-secret-1'`],
  ["config({ password: 'tr\"}33' })", "config({ password: 'redacted-secret-1' })"],
  ["create user ada password 'a\"],b9'", "create user ada password 'redacted-secret-1'"],
  ["don't: password='-tr33house'", "don't: password='redacted-secret-1'"],
  ['it is 5" wide, password="%tr33house"', 'it is 5" wide, password="redacted-secret-1"'],
  ['f"a" + login(password="*tr33house")', 'f"a" + login(password="redacted-secret-1")'],
  ['password=",tr33house"', 'password="redacted-secret-1"'],
])('signs of JSON and of code in a value are of the value, in a text and in JSON: %s', (said, expected) => {
  expect(createRedactor().text(said)).toBe(expected)
  expect(createRedactor().text(JSON.stringify({ said, id: 'k1' }))).toBe(JSON.stringify({ said: expected, id: 'k1' }))
})

const unwritten = [
  ...['- name: DB_PASSWORD\n    value: ', '- name: "API_TOKEN"\n  value: ', 'variable "db_password" {\n  default = '],
  ...[
    'ENV DB_PASSWORD ',
    'set -x DB_PASSWORD ',
    'setenv DB_PASSWORD ',
    'password: !x ',
    'password: b',
    'password: |\n  ',
  ],
  ...['password: ', 'password = ', 'run --token ', '<input name="password" value=', 'setPassword(', 'the password is '],
]

test.each(unwritten)('a text that ends where a value would begin keeps its end: %j', (said) => {
  for (const whole of [
    { old: said, new: 'x1y2z3' },
    { choices: [{ delta: { content: said }, at: null }] },
    [said, 'x', said],
  ])
    for (const space of [undefined, 2])
      for (let depth = 0, line = JSON.stringify(whole, undefined, space); depth < 3; depth++) {
        expect(createRedactor().text(line)).toBe(line)
        line = JSON.stringify({ said: line, id: 7 }, undefined, space)
      }
})
