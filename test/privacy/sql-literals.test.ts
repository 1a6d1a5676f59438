import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRedactor } from '../../src/privacy/index.ts'

/** A statement as it stands by itself, in JSON, and in JSON in JSON. */
function redacted(sql: string): readonly string[] {
  const [plain, once, twice] = [
    sql,
    JSON.stringify({ sql }),
    JSON.stringify({ body: JSON.stringify({ query: sql, id: 1 }) }),
  ].map((text) => createRedactor().text(text))
  const inner = JSON.parse((JSON.parse(twice!) as { body: string }).body) as { query: string }
  const all = [plain!, (JSON.parse(once!) as { sql: string }).sql, inner.query]
  return [...new Set(all.map((text) => text.replaceAll(/redacted-secret-\d+/g, '*')))]
}

test.each([
  ["create user ada with password 'lemon tart' valid until 'x'", "create user ada with password '*' valid until 'x'"],
  ["ALTER ROLE ada WITH ENCRYPTED PASSWORD 'lemon tart'", "ALTER ROLE ada WITH ENCRYPTED PASSWORD '*'"],
  ["create user 'ada'@'%' identified by 'lemon tart'", "create user 'ada'@'%' identified by '*'"],
  ["create user ada identified by password 'lemon tart'", "create user ada identified by password '*'"],
  ["alter user ada identified with caching by 'le''mon'", "alter user ada identified with caching by '*'"],
  ["alter user ada identified via caching using 'lemon'", "alter user ada identified via caching using '*'"],
  ['create user ada identified by "lemon tart"', 'create user ada identified by "*"'],
  ["set password for 'ada'@'localhost' = 'lemon tart'", "set password for 'ada'@'localhost' = '*'"],
  ["set password for ada = password('lemon tart')", "set password for ada = password('*')"],
  ["create secret (type s3, key_id 'x', secret 'lemon tart')", "create secret (type s3, key_id 'x', secret '*')"],
  [
    "insert into users (name, password) values ('ada', 'lemon')",
    "insert into users (name, password) values ('ada', '*')",
  ],
  [
    "INSERT INTO shop.users(password, name)\nVALUES\n ('lemon','ada'), ('tart', 'bob')",
    "INSERT INTO shop.users(password, name)\nVALUES\n ('*','ada'), ('*', 'bob')",
  ],
  [
    'insert into "users" ("name", "password") values (null, crypt(\'lemon\', gen_salt(\'bf\')))',
    'insert into "users" ("name", "password") values (null, crypt(\'*\', gen_salt(\'bf\')))',
  ],
  ["insert into users (id, password) values (1, 'it''s, (33)')", "insert into users (id, password) values (1, '*')"],
])('%s: its secret is replaced, at any depth of JSON', (sql, expected) => {
  expect(redacted(sql)).toEqual([expected])
})

test.each([
  "the password 'again' is asked for",
  "select name as 'password' from users",
  "insert into notes (title, body) values ('password', 'lemon tart')",
  "create user ada with password '${PASSWORD}'",
  "create table users (password varchar(20) default 'none')",
  "insert into users (next_page_token) values ('CAUQAAbCdEf0123456789')",
  "create view v as select 'x'; and his password 'again'",
])('%s: nothing of it is replaced', (sql) => {
  expect(redacted(sql)).toEqual([sql])
})

test('whatever the row holds, what stands in the secret column is gone and all else stays', () => {
  const value = fc.stringMatching(/^[a-z ,()=]{1,24}$/).map((text) => `v${text}`)
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), fc.nat(5), (values, nth) => {
      const at = nth % values.length
      const columns = values.map((_, n) => (n === at ? 'password' : `c${n}`))
      const sql = (row: readonly string[]): string =>
        `insert into t (${columns.join(', ')}) values (${row.map((one) => `'${one}'`).join(', ')})`
      expect(redacted(sql(values))).toEqual([sql(values.map((one, n) => (n === at ? '*' : one)))])
    }),
    { numRuns: 150, seed: 14 },
  )
})
