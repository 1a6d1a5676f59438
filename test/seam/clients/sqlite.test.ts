import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { eq, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { expect, test } from 'vitest'
import { client } from '../../../src/record/index.ts'
import { recorded, replayed } from './both.ts'
import { withBetterSqlite, withNodeSqlite } from './sqlite.agent.ts'

test.each([
  ['better-sqlite3', withBetterSqlite],
  ['node:sqlite', withNodeSqlite],
])('%s is answered the same without its file', async (_driver, agent) => {
  const dir = mkdtempSync(join(tmpdir(), 'harvest-sqlite-'))
  const file = join(dir, 'orders.db')
  const first = await recorded(() => agent(file))
  rmSync(file)
  expect(first.warnings).toEqual([])
  const again = await replayed(first.tape, () => agent(file))
  expect(again.problems.map(({ message }) => message)).toEqual([])
  expect(again.outcome).toEqual({ status: 'returned', value: first.recorded })
  expect(first.tape.events.filter(({ kind }) => kind === 'tool').length).toBeGreaterThanOrEqual(30)
  expect([existsSync(file), again.listed.filter(({ kind }) => kind === 'write')]).toEqual([false, []])
  rmSync(dir, { recursive: true })
})

test.each([
  ['better-sqlite3', () => client(() => new Database(':memory:'))],
  ['node:sqlite', () => client(() => new (process.getBuiltinModule('node:sqlite').DatabaseSync)(':memory:'))],
])('closing a client of %s is a step', async (_driver, open) => {
  const agent = (end?: (db: ReturnType<typeof open>) => void) => (): unknown => {
    const db = open()
    const one = db.prepare('select 1 as one').get()
    end?.(db)
    return one
  }
  const closing = agent((db) => db.close())
  const { tape } = await recorded(closing)
  expect((await replayed(tape, closing)).problems).toEqual([])
  expect((await replayed(tape, agent())).problems.map(({ code }) => code)).toEqual(['HARVEST_UNUSED'])
  const left = await recorded(agent())
  expect((await replayed(left.tape, closing)).problems.map(({ code }) => code)).not.toEqual([])
})

test('drizzle asks through the client below it', async () => {
  const orders = sqliteTable('orders', { id: integer('id').primaryKey(), name: text('name') })
  const agent = (name: string) => (): unknown => {
    const db = client(drizzle(new Database(':memory:')))
    db.run(sql`create table orders (id integer primary key, name text)`)
    db.insert(orders)
      .values([{ name: 'Ada' }, { name: 'Bob' }])
      .run()
    db.transaction((tx) => tx.update(orders).set({ name: 'Eve' }).where(eq(orders.id, 2)).run())
    return [db.select().from(orders).all(), db.select().from(orders).where(eq(orders.name, name)).get()]
  }
  const first = await recorded(agent('Eve'))
  const again = await replayed(first.tape, agent('Eve'))
  expect([again.problems, again.outcome]).toEqual([[], { status: 'returned', value: first.recorded }])
  const changed = await replayed(first.tape, agent('Bob'))
  expect(changed.problems.map(({ facts }) => [facts.where?.['query'], facts.detail])).toMatchInlineSnapshot(`
    [
      [
        "select "id", "name" from "orders" where "orders"."name" = ?",
        "  differs at params[0]
      recorded  Eve
      now       Bob",
      ],
    ]
  `)
})
