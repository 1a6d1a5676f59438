import Database from 'better-sqlite3'
import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import mysql from 'mysql2'
import mysqlPromises from 'mysql2/promise'
import postgres from 'postgres'
import { createClient } from 'redis'
import { describe, expect, test } from 'vitest'
import { client } from '../../../src/record/index.ts'
import { type Listening, recorded, replayed } from './both.ts'
import { mongoServer } from './mongo-server.ts'
import { mysqlServer } from './mysql-server.ts'
import { postgresServer } from './postgres-server.ts'
import { redisServer } from './redis-server.ts'

interface Asking {
  /** Of a driver that asks over a socket. */
  readonly server?: () => Promise<Listening>
  /** Asks for `name` with its driver. */
  ask(name: string, port: number): unknown
  /** What the message says of a question for another name. */
  readonly question: readonly [step: string, query: string, path: string]
}

const host = '127.0.0.1'

const asking: Readonly<Record<string, Asking>> = {
  'postgres.js': {
    server: postgresServer,
    async ask(name, port) {
      const ask = client(postgres({ host, port, user: 'postgres', database: 'postgres', max: 1 }))
      const [row] = await ask`select ${7}::int as id, ${name}::text as name`
      await ask.end()
      return row
    },
    question: ['postgres.query', 'select $1::int as id, $2::text as name', 'params[1]'],
  },
  mysql2: {
    server: mysqlServer,
    async ask(name, port) {
      const connection = client(mysql.createConnection({ host, port, user: 'root' }))
      const [rows] = await connection.promise().query('select * from users where id = ? and name = ?', [7, name])
      await connection.promise().end()
      return rows
    },
    question: ['mysql2.query', 'select * from users where id = ? and name = ?', 'params[1]'],
  },
  'mysql2/promise, a pool': {
    server: mysqlServer,
    async ask(name, port) {
      const pool = client(mysqlPromises.createPool({ host, port, user: 'root' }))
      const [rows] = await pool.query('update users set ? where id = ?', [{ name, age: 9 }, 7])
      await pool.end()
      return rows
    },
    question: ['mysql2.query', 'update users set ? where id = ?', 'params[0].name'],
  },
  redis: {
    server: redisServer,
    async ask(name, port) {
      const redis = client(createClient({ socket: { host, port } }))
      await redis.connect()
      const answer = await redis.set('name', name)
      await redis.close()
      return answer
    },
    question: ['redis.SET', 'name Ada', 'args[1]'],
  },
  ioredis: {
    server: redisServer,
    async ask(name, port) {
      const redis = client(new Redis({ host, port }))
      const answer = await redis.hset('user', { id: 7, name })
      redis.disconnect()
      return answer
    },
    question: ['ioredis.hset', 'user id 7 name Ada', 'args[4]'],
  },
  mongodb: {
    server: mongoServer,
    async ask(name, port) {
      const mongo = client(new MongoClient(`mongodb://${host}:${port}/?directConnection=true`))
      const found = await mongo.db('shop').collection('users').findOne({ id: 7, name })
      await mongo.close()
      return found
    },
    question: [
      'mongodb.find',
      '{"find":"users","filter":{"id":7,"name":"Ada"},"limit":1,"singleBatch":true}',
      'command.filter.name',
    ],
  },
  'better-sqlite3': {
    ask(name) {
      const db = client(() => new Database(':memory:'))
      const row = db.prepare('select ? as id, ? as name').get(7, name)
      db.close()
      return row
    },
    question: ['better-sqlite3.get', 'select ? as id, ? as name', 'params[1]'],
  },
  'node:sqlite': {
    ask(name) {
      // As modules that are loaded behind the replay see it.
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
      const db = client(() => new DatabaseSync(':memory:'))
      const row = db.prepare('select $id as id, $name as name').get({ $id: 7, $name: name })
      db.close()
      return row
    },
    question: ['node:sqlite.get', 'select $id as id, $name as name', 'params.$name'],
  },
}

describe('a changed value is different, with the question and the first value that differs:', () => {
  test.each(Object.entries(asking))('%s', async (_driver, { server, ask, question }) => {
    const open = await server?.()
    const first = await recorded(() => ask('Ada', open?.port ?? 0))
    await open?.[Symbol.asyncDispose]()
    const same = await replayed(first.tape, (port) => ask('Ada', port))
    expect([same.problems, same.outcome]).toEqual([[], { status: 'returned', value: first.recorded }])

    const { problems, reached } = await replayed(first.tape, (port) => ask('Eve', port))
    const [step, query, path] = question
    expect(problems.map(({ code, facts: { what, where, detail } }) => [code, what, where?.['query'], detail])).toEqual([
      [
        'HARVEST_DIVERGENCE',
        `The agent called ${step} with arguments that are not on the tape`,
        query,
        `  differs at ${path}\n  recorded  Ada\n  now       Eve`,
      ],
    ])
    expect(reached).toBe(0)
  })
})
