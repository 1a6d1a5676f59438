import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import mysql from 'mysql2/promise'
import pg from 'pg'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { client, createRecorder } from '../../../src/record/index.ts'
import { scratch } from '../../recordings/make.ts'

// Nothing listens there: what was asked is on the tape all the same.
const nowhere = { host: '127.0.0.1', port: 1 }
const secret = 'lemon-tart-of-ada-4711'
const [where, insert] = [
  'select 1 from users where name = ? and password = ?',
  'insert into users (name, password) values (?, ?)',
]
const numbered = (sql: string): string => sql.replace('?', '$1').replace('?', '$2')
const table = 'create table users (name text, password text)'

const clients: Readonly<Record<string, () => unknown>> = {
  pg: () => client(new pg.Pool(nowhere)).query(numbered(where), ['Ada', secret]),
  'pg insert': () => client(new pg.Pool(nowhere)).query({ text: numbered(insert), values: ['Ada', secret] }),
  postgres: () =>
    client(
      postgres({ ...nowhere, connect_timeout: 1 }),
    )`select 1 from users where name = ${'Ada'} and password = ${secret}`,
  'postgres unsafe': () =>
    client(postgres({ ...nowhere, connect_timeout: 1 })).unsafe(numbered(insert), ['Ada', secret]),
  'mysql2 query': () => client(mysql.createPool(nowhere)).query(where, ['Ada', secret]),
  'mysql2 execute': () => client(mysql.createPool(nowhere)).execute(insert, ['Ada', secret]),
  'mysql2 names': () =>
    client(mysql.createPool({ ...nowhere, namedPlaceholders: true })).query(
      'select 1 from users where name = :n and password = :p',
      { n: 'Ada', p: secret },
    ),
  'better-sqlite3': () => {
    const db = client(() => new Database(':memory:'))
    db.exec(table)
    db.prepare(insert).run('Ada', secret)
    return db.prepare('select name from users where name = @n and password = @p').all({ n: 'Ada', p: secret })
  },
  'node:sqlite': () => {
    const db = client(() => new DatabaseSync(':memory:'))
    db.exec(table)
    db.prepare(insert).run('Ada', secret)
    db.prepare('update users set password = $p where name = :n').run({ $p: secret, ':n': 'Ada' })
    return db.prepare(where).all('Ada', secret)
  },
}

test.each(Object.entries(clients))('%s: the parameter of a secret column is not on the tape', async (_, ask) => {
  const recorder = createRecorder({ dir: scratch() })
  await recorder
    .run({ agent: 'login', id: 'login' }, async () => ask())
    .catch((error: unknown) => expect(String(error)).toMatch(/ECONNREFUSED|connect/i))
  const tape = readFileSync(recorder.lastTape!, 'utf8')
  expect(tape).toContain('Ada')
  expect(tape).toContain('redacted-secret-1')
  expect(tape).not.toContain(secret)
})
