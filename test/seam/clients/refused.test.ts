import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import mysql from 'mysql2'
import pg from 'pg'
import postgres from 'postgres'
import { createClient } from 'redis'
import { describe, expect, test } from 'vitest'
import { client } from '../../../src/record/index.ts'
import { Recording } from '../../replay/tapes.ts'
import { replayed } from './both.ts'
import { subscriptions } from './subscriptions.ts'

const empty = new Recording().tape({ value: null })
const host = '127.0.0.1'
const quiet = <T extends { on(event: 'error', listener: () => void): unknown }>(emitter: T): T => {
  emitter.on('error', () => undefined)
  return emitter
}

/** Connects with a client that is not behind the seam. */
const raw: Readonly<Record<string, (port: number) => Promise<unknown>>> = {
  pg: (port) => new pg.Client({ host, port }).connect(),
  postgres: (port) => postgres({ host, port, max: 1, connect_timeout: 1 })`select 1`.execute(),
  mysql2: (port) => new Promise((resolve) => mysql.createConnection({ host, port }).on('error', resolve)),
  redis: (port) => quiet(createClient({ socket: { host, port, reconnectStrategy: false } })).connect(),
  ioredis: (port) => quiet(new Redis({ host, port, lazyConnect: true, retryStrategy: () => null })).connect(),
  mongodb: (port) => new MongoClient(`mongodb://${host}:${port}`, { serverSelectionTimeoutMS: 50 }).connect(),
}
const doors: Readonly<Record<string, string>> = {
  pg: 'client(new Pool(…))',
  postgres: 'client(postgres(…))',
  mysql2: 'client(mysql.createPool(…))',
  redis: 'client(createClient(…))',
  ioredis: 'client(new Redis(…))',
  mongodb: 'client(new MongoClient(…))',
}

describe('a connection that is not behind the seam is refused with the line to write:', () => {
  test.each(Object.entries(raw))('%s', async (driver, connect) => {
    const { problems, reached } = await replayed(empty, (port) => connect(port).catch(() => null))
    expect(problems[0]?.message).toContain(`Blocked a connection of ${driver} during replay: socket`)
    expect(problems[0]?.message).toContain(doors[driver])
    expect(reached).toBe(0)
  })
})

describe('messages that come when the server sends them are refused:', () => {
  test.each(Object.entries(subscriptions))('%s', async (name, subscribe) => {
    const { problems, reached } = await replayed(empty, async (port) => {
      try {
        await subscribe(port)
      } catch {
        return null
      }
      return null
    })
    expect(problems.map(({ code, facts }) => [code, facts.what.split(':')[0]])).toEqual([
      ['HARVEST_ESCAPE', `A replay cannot answer this ${name.split(' ')[0]} subscription`],
    ])
    expect(reached).toBe(0)
  })
})

test.each([[{}], [Promise.resolve()], [undefined]])('what is no client is refused: %s', (given) => {
  expect(() => client(given as object)).toThrow('Unknown client')
})
