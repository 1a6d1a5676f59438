import { and, count, eq, inArray, isNull, sql, sum } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import { bigint, boolean, customType, jsonb, numeric, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import pg from 'pg'
import Cursor from 'pg-cursor'
import { client } from '../../../src/record/index.ts'

const bytea = customType<{ data: Buffer }>({ dataType: () => 'bytea' })

const orders = pgTable('orders', {
  id: bigint('id', { mode: 'bigint' }).primaryKey(),
  name: text('name'),
  total: numeric('total'),
  paid: boolean('paid'),
  at: timestamp('at', { withTimezone: true }),
  tags: text('tags').array(),
  file: bytea('file'),
  note: jsonb('note'),
})

/** What an error says to whoever catches it: drizzle puts its own around that of the driver. */
const said = (error: unknown): unknown => {
  const { message, cause } = error as Error
  return [message, cause instanceof pg.DatabaseError, (cause as { code?: string } | undefined)?.code]
}

/** Asks in each form of the builder, on pg. */
export async function everything(port: number, name = 'Ada'): Promise<unknown> {
  const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 1 })
  const db = client(drizzle(pool))
  const answers: unknown[] = []
  const ask = async (question: PromiseLike<unknown>): Promise<void> => {
    answers.push(await Promise.resolve(question).catch(said))
  }
  await db.execute(sql`drop table if exists orders`)
  await db.execute(
    sql`create table orders (id bigint primary key, name text, total numeric, paid boolean, at timestamptz, tags text[], file bytea, note jsonb)`,
  )
  const ada = {
    id: 9_007_199_254_740_993n,
    name,
    total: '12.50',
    paid: true,
    at: new Date('2026-03-04T05:06:07.008Z'),
    tags: ['a', 'b,c'],
    file: Buffer.from([0, 255, 10]),
    note: { a: [1, null] },
  }
  await ask(db.insert(orders).values(ada).returning())
  await ask(db.insert(orders).values([{ id: 2n, name: 'Bob' }, { id: 3n, name: null, tags: [] }, { id: 4n }]))
  await ask(db.insert(orders).values({ id: 2n, name: 'Tom' }).onConflictDoNothing())
  await ask(
    db
      .insert(orders)
      .values({ id: 2n })
      .onConflictDoUpdate({ target: orders.id, set: { paid: false } }),
  )
  await ask(db.select().from(orders).orderBy(orders.id))
  await ask(
    db
      .select({ id: orders.id, upper: sql<string>`upper(${orders.name})` })
      .from(orders)
      .where(eq(orders.name, name)),
  )
  await ask(
    db
      .select()
      .from(orders)
      .where(inArray(orders.id, [2n, 3n]))
      .orderBy(orders.id),
  )
  await ask(
    db
      .select()
      .from(orders)
      .where(and(isNull(orders.name), eq(orders.id, 4n)))
      .limit(1),
  )
  await ask(db.select({ all: count(), total: sum(orders.total) }).from(orders))
  await ask(db.select({ paid: orders.paid, n: count() }).from(orders).groupBy(orders.paid).orderBy(orders.paid))
  await ask(db.selectDistinct({ paid: orders.paid }).from(orders).orderBy(orders.paid))
  await ask(db.$count(orders, isNull(orders.name)))
  await ask(
    db
      .update(orders)
      .set({ name: 'Eve', at: new Date(0) })
      .where(eq(orders.id, 3n))
      .returning({ at: orders.at }),
  )
  await ask(
    db
      .update(orders)
      .set({ note: null, tags: ['ß 😀', '', "it's"] })
      .where(eq(orders.id, 2n)),
  )
  await ask(db.delete(orders).where(eq(orders.id, 77n)))
  await ask(db.execute(sql`select ${null}::text as none, ${7}::int as n`))
  await ask(db.execute(sql`select '{1,2,NULL}'::int[] as list, 'NaN'::float8 as nan, '-0'::float8 as zero`))
  await ask(db.execute(sql`select interval '1 day' as lasts, point(1,2) as place, ''::text as empty`))
  const byId = db
    .select()
    .from(orders)
    .where(eq(orders.id, sql.placeholder('id')))
    .prepare('by_id')
  await ask(byId.execute({ id: 2n }))
  await ask(byId.execute({ id: 99n }))
  const bobs = db.$with('bobs').as(db.select().from(orders).where(eq(orders.name, 'Bob')))
  await ask(db.with(bobs).select({ id: bobs.id }).from(bobs))
  await ask(db.insert(orders).values({ id: 2n }))
  await ask(db.execute(sql`select * from missing`))
  await ask(
    db.transaction(async (tx) => {
      await tx.update(orders).set({ name: 'Tom' }).where(eq(orders.id, 4n))
      return tx.select({ name: orders.name }).from(orders).where(eq(orders.id, 4n))
    }),
  )
  await ask(
    db.transaction(async (tx) => {
      await tx.delete(orders)
      await tx.transaction(async (inner) => inner.execute(sql`select 1 as one`))
      tx.rollback()
    }),
  )
  await ask(db.select({ all: count() }).from(orders))
  // The driver below it has cursors; drizzle has none on Postgres.
  const one = await db.$client.connect()
  const cursor = one.query(new Cursor<{ id: string }>('select id from orders where id < $1 order by id', [5]))
  answers.push(await cursor.read(2), await cursor.read(2))
  await cursor.close()
  one.release()
  await db.$client.end()
  return answers
}
