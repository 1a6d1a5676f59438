import { sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Redis } from 'ioredis'
import { MongoClient } from 'mongodb'
import pg from 'pg'
import postgres from 'postgres'
import { createClient } from 'redis'
import { client } from '../../../src/record/index.ts'

const host = '127.0.0.1'

/** Waits for messages, by the driver it waits with. */
export const subscriptions: Readonly<Record<string, (port: number) => unknown>> = {
  'pg LISTEN': (port) => client(new pg.Pool({ host, port })).query('/* wait */ LISTEN orders'),
  'pg LISTEN below drizzle': (port) => client(drizzle(new pg.Pool({ host, port }))).execute(sql`listen orders`),
  'postgres listen': (port) => client(postgres({ host, port })).listen('orders', () => undefined),
  'redis subscribe': (port) => client(createClient({ socket: { host, port } })).subscribe('orders', () => undefined),
  'ioredis subscribe': (port) => client(new Redis({ host, port })).subscribe('orders'),
  'mongodb change stream': (port) =>
    client(new MongoClient(`mongodb://${host}:${port}`))
      .db('shop')
      .collection('orders')
      .watch()
      .next(),
}
