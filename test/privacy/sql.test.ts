import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

/** What of the parameters is left, at any depth of JSON. */
function left(query: object, depth: number): unknown {
  const nested = (value: unknown, times: number): string =>
    times === 0 ? JSON.stringify(value) : JSON.stringify({ text: nested(value, times - 1) })
  let value = JSON.parse(createRedactor().text(nested(query, depth))) as unknown
  for (let at = 0; at < depth; at++) value = JSON.parse((value as { readonly text: string }).text)
  const all = Array.isArray(value) ? (value[1] as unknown) : Object.values(value as object)[1]
  return JSON.parse(JSON.stringify(all).replaceAll(/redacted-secret-\d+/g, '*'))
}

test.each<readonly [sql: string, params: unknown, left: unknown]>([
  ['select id from users where name = ? and password = ?', ['ada', 'lemon tart'], ['ada', '*']],
  ['select id from users where "password" = $2 and name=$1', ['ada', 'lemon tart'], ['ada', '*']],
  ['select id from users where u.`password` <> ?2 and name = ?1', ['ada', 'lemon tart'], ['ada', '*']],
  ['select id from users where [password] = @p and name = @n', { p: 'lemon tart', n: 'ada' }, { p: '*', n: 'ada' }],
  ['select id from users where password = :p', { ':p': 'lemon tart' }, { ':p': '*' }],
  ['select id from users where password = $p', { $p: 'lemon tart' }, { $p: '*' }],
  ['select id from users where $1 = password', ['lemon tart'], ['*']],
  ['select id from users where password in (?, ?) and name = ?', ['lemon', 'tart', 'ada'], ['*', '*', 'ada']],
  ['select id from users where password = any($1) or name = $2', [['lemon', 'tart'], 'ada'], [['*', '*'], 'ada']],
  ['select id from users where (name, password) = (?, ?)', ['ada', 'lemon tart'], ['ada', '*']],
  [
    'insert into users (name, password) values (?, ?), (?, ?)',
    ['ada', 'lemon', 'bob', 'tart'],
    ['ada', '*', 'bob', '*'],
  ],
  ['insert into users (password, name) select $1, $2 from x', ['lemon tart', 'ada'], ['*', 'ada']],
  ['insert into users (name, api_key) values ($1, sha2($2, 256))', ['ada', 'lemon tart'], ['ada', '*']],
  ['update users set password = crypt($1, gen_salt($2)), name = $3', ['lemon tart', 'bf', 'ada'], ['*', 'bf', 'ada']],
  ['select \'?\', "?" -- ?\n from users /* ? */ where password = ?', ['lemon tart'], ['*']],
  ['select id from users where token = $1', ['K7fq2Zr9Xv4Tn8Wb'], ['*']],
])('%s: of its parameters the secret ones are replaced', (sql, params, expected) => {
  for (const depth of [0, 1, 2]) {
    expect(left({ sql, params }, depth)).toEqual(expected)
    expect(left([sql, params], depth)).toEqual(expected)
    expect(left({ query: sql, values: params, more: 1 }, depth)).toEqual(expected)
  }
})

test.each<readonly [sql: string, params: unknown]>([
  ['select id from users where has_password = ? and name = ?', ['yes', 'ada']],
  ['select id from users where password is not null and name = ?', ['ada']],
  ['select id from users where password is null or ? = name', ['ada']],
  ['select id from users where token = ? and next_page_token = ?', ['the', 'CAUQAAbCdEf0123456789']],
  ['select id from users where password = ?', ['${PASSWORD}']],
  ['select password from users where id = ?', ['user-4711-of-ada']],
  ['select id from users order by password limit ?', ['4711']],
])('%s: its parameters stay', (sql, params) => {
  for (const depth of [0, 1]) expect(left({ sql, params }, depth)).toEqual(params)
})

test('a parameter that was secret once is one in the next query, and redacts to itself', () => {
  const redactor = createRedactor()
  const first = redactor.json({ sql: 'update users set password = ? where id = ?', params: ['tr33house-of-ada', 'u1'] })
  expect(first).toEqual({ sql: 'update users set password = ? where id = ?', params: ['redacted-secret-1', 'u1'] })
  expect(createRedactor().json(first)).toEqual(first)
  expect(redactor.json({ note: 'it is tr33house-of-ada' })).toEqual({ note: 'it is redacted-secret-1' })
})

test('for every text beside a list, what it says is JSON still', () => {
  const piece = fc.constantFrom(
    'password',
    '=',
    '?',
    '$1',
    '(',
    ')',
    ',',
    "'",
    '"',
    '\\',
    ' in ',
    'values',
    '--',
    '/*',
    '[',
    ']',
    ' ',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 24 }),
      fc.array(fc.json({ maxDepth: 2 }), { maxLength: 3 }),
      (sql, values) => {
        const given = { sql: sql.join(''), params: values.map((one) => JSON.parse(one) as unknown), other: 'stays' }
        const text = JSON.stringify({ text: JSON.stringify(given) })
        const redacted = JSON.parse((JSON.parse(createRedactor().text(text)) as { text: string }).text) as typeof given
        expect({ ...redacted, params: redacted.params.length }).toEqual({ ...given, params: given.params.length })
      },
    ),
  )
})

test('queries, lists and quotes without an end are looked through in no more time than the text is long', () => {
  const hostile = [
    '"password=?",['.repeat(60_000),
    '["password = ?",['.repeat(60_000),
    `"${'/*'.repeat(8_000)}",[`.repeat(60),
    `"password = ? ${"'".repeat(8_001)}",["a",`.repeat(60),
    '\\\\\\\\\\\\\\",['.repeat(80_000),
    `"(${'a,'.repeat(7_000)}a) values (?)","params":["x"],`.repeat(60),
    `"${'(a) values '.repeat(1_400)}","params":["x"],`.repeat(60),
  ]
  for (const text of hostile) expect(createRedactor().scan(text).length).toBeLessThan(100_000)
})
