import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tenthFinders } from '../../src/privacy/earlier.ts'
import { createRedactor, scan } from '../../src/privacy/index.ts'
import type { Json } from '../../src/tape/index.ts'

const value = 'tr33house!9'

const valueNames = [
  'value',
  'Value',
  'val',
  'default',
  'defaultValue',
  'stringValue',
  'ParameterValue',
  'content',
  'text',
]
const nameKeys = ['name', 'Key', 'key', 'ParameterKey', 'field', 'label', 'header', 'id', 'type']
const secretNames = [
  'password',
  'DB_PASSWORD',
  'x-api-key',
  '--token',
  'API key',
  'contraseña',
  '密码',
  'pin',
  'mnemonic',
  'session',
]
const values = [
  'tr33house!9',
  'lemon tart 7',
  'K7fq2Zr9Xv4Tn8Wb',
  '4711',
  'a"b\\c9',
  'none',
  'apiKey',
  '',
  'DB_PASSWORD_2',
  'ab1\\',
]
const between: Readonly<Record<string, Json>> = { on: true, n: 4711, for: 'the shop', of: 'x' }
const spellings: readonly ((object: Json) => string)[] = [
  (object) => JSON.stringify(object),
  (object) => JSON.stringify([{ name: 'zone', value: 'eu' }, object]),
  (object) => JSON.stringify(object, undefined, 2),
  (object) => JSON.stringify(object, undefined, 1).replaceAll(/,\n */g, ' , ').replaceAll('": ', '" : '),
  (object) => JSON.stringify(object, undefined, 2).replaceAll(/,\n( +)/g, '\n$1, '),
  (object) => JSON.stringify({ said: JSON.stringify(object, undefined, 2).replaceAll(/,\n( +)/g, '\n$1, ') }),
  (object) => JSON.stringify({ said: JSON.stringify(object) }),
  (object) => JSON.stringify({ said: JSON.stringify([object], undefined, 2) }),
  (object) => JSON.stringify({ said: JSON.stringify({ said: JSON.stringify(object) }) }),
  (object) => `data: ${JSON.stringify(object)}\n\n`,
  (object) => encodeURIComponent(JSON.stringify(object)),
  (object) => Buffer.from(JSON.stringify(object)).toString('base64'),
  (object) => JSON.stringify(object).replaceAll('=', '\\u003d').replaceAll('p', '\\u0070'),
]

test('the order of the members of an object makes no difference to whether its value is a secret', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.constantFrom(...valueNames),
      fc.constantFrom(...nameKeys),
      fc.constantFrom(...secretNames),
      fc.constantFrom(...values),
      fc.constantFrom(...spellings),
      fc.subarray(Object.keys(between), { maxLength: 3 }),
      fc.boolean(),
      (valueName, nameKey, name, said, spelled, more, isBehind) => {
        const others = more.map((key) => [key, between[key]!] as const)
        const [one, other] = [
          [nameKey, name],
          [valueName, said],
        ] as const
        const object = (first: readonly string[], last: readonly string[]): string =>
          spelled(Object.fromEntries(isBehind ? [first, last, ...others] : [first, ...others, last]) as unknown as Json)
        const isFound = [object(one, other), object(other, one)].map((text) => {
          const redacted = createRedactor().text(text)
          expect(scan(redacted)).toEqual([])
          return redacted !== text
        })
        // What its type tells is read in any order by other rules: a type is no name.
        if (nameKey !== 'type') expect(isFound[1], object(other, one)).toBe(isFound[0])
        if (isFound[1]) found++
      },
    ),
    { seed: 11, numRuns: 1_500 },
  )
  expect(found).toBeGreaterThan(300)
})

test.each([
  `{'value': '${value}', 'name': 'password'}`,
  `{ value: '${value}', name: 'password' }`,
  `{ value = "${value}", name = "db_password" }`,
  `<property value="${value}" name="password"/>`,
  `<input type="hidden" id="f1" value="${value}" name="password">`,
  `<input value = "${value}" name = "password">`,
  `<input value="${value}" title="a > b" name="password">`,
  JSON.stringify({ html: `<meta content="${value}" name="csrf_secret">` }),
  `name=password&value=tr33house9`,
  // Longer than what is looked at around a name.
  `{"value":"${'plain words, and a 7. '.repeat(300)}","name":"password"}`,
])('a value before its name is a secret where it is one behind it: %s', (text) => {
  const redacted = createRedactor().text(text)
  expect(redacted).not.toMatch(/tr33house|plain words/)
  expect(redacted).toContain('redacted-secret-1')
  expect(scan(redacted)).toEqual([])
})

test.each([
  '{"value":"DB_PASSWORD_2","name":"password"}',
  '{"value":"${DB_PASSWORD}","name":"password"}',
  '{"value":"eu-1","name":"zone"}',
  '{"note":"build 17","name":"password"}',
  '{"a":{"value":"build 17"},"name":"password"}',
  '["build 17","password"]',
  '{"role":"tool","content":"A mail was sent in 2 minutes.","name":"reset_password"}',
  '{"content":"A mail was sent in 2 minutes.","name":"reset_password","tool_call_id":"c1"}',
  '{"text":"[1,2]","name":"reset_password"}',
  '{"output":"x","value":"done in 2 s","function":"reset_password"}',
  '{"value":"X-Api-Key-V2-2024","type":"token"}',
  '<a value="build 17"></a><b name="password">',
  'the value: build17, and its name: password managers differ',
])('what stands before a name and is no value of it is kept: %s', (text) => {
  expect(createRedactor().text(text)).toBe(text)
})

test('a value of a tool is read so as well', () => {
  expect(createRedactor().json([{ value, name: 'password' }, { n: 1 }])).toEqual([
    { value: 'redacted-secret-1', name: 'password' },
    { n: 1 },
  ])
})

test('a body under way ends before a value whose name may come', () => {
  const redactor = createRedactor()
  const whole = `{"id":1,"value":"${value} ${'and more of it, '.repeat(100)}","on":true,"name":"password"}`
  const end = whole.indexOf('"value"')
  for (let at = end; at < whole.length; at += 7) expect(redactor.settled(whole.slice(0, at))).toBeLessThanOrEqual(end)
})

test('a tape of the tenth version is read as it was recorded', () => {
  const text = JSON.stringify({ value, name: 'password' })
  expect(createRedactor({}, { finders: tenthFinders }).text(text)).toBe(text)
})
