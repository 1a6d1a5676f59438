import pg from 'pg'
import Cursor from 'pg-cursor'
import QueryStream from 'pg-query-stream'
import { client } from '../../../src/record/index.ts'

export const poolAt = (port: number) =>
  client(new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 1 }))

/** What an error says to whoever catches it. */
const said = (error: unknown): unknown =>
  error instanceof pg.DatabaseError ? ['DatabaseError', error.code, error.message, error.table] : String(error)

export async function everything(port: number, name = 'Ada'): Promise<unknown> {
  const pool = poolAt(port)
  const answers: unknown[] = []
  const query = async (sql: string, params?: unknown[]) => answers.push((await pool.query(sql, params)).rows)
  await query('drop table if exists orders')
  await query(
    'create table orders (id bigint primary key, name text, total numeric, paid boolean, at timestamptz, tags text[], file bytea, note jsonb)',
  )
  await query('insert into orders values ($1, $2, $3, $4, $5, $6, $7, $8) returning *', [
    9007199254740993n,
    name,
    '12.50',
    true,
    new Date('2026-03-04T05:06:07.008Z'),
    ['a', 'b,c'],
    Buffer.from([0, 255, 10]),
    { a: [1, null] },
  ])
  await query('insert into orders (id) values ($1)', [2])
  await query('select * from orders order by id')
  await query('select $1::text as none, $2::int as n', [null, 7])
  await query(
    "select now() is not null as is_now, interval '1 day 2 hours' as lasts, point(1,2) as place, '[1,5)'::int4range as span",
  )
  await query("select '{1,2,NULL}'::int[] as list, 'NaN'::float8 as nan, '-0'::float8 as zero, ''::text as empty")
  const first = await pool.query<{ lasts: { toPostgres(): string } }>("select interval '3 hours' as lasts")
  answers.push(
    first.rows[0]?.lasts.toPostgres(),
    first,
    first instanceof pg.Result,
    first.fields[0]?.name,
    first.command,
    first.rowCount,
  )
  answers.push(await pool.query({ text: 'select 1 as a, 2 as a', rowMode: 'array' }))
  answers.push((await pool.query({ name: 'by-id', text: 'select name from orders where id = $1', values: [2] })).rows)
  answers.push(
    await new Promise((resolve) =>
      pool.query('select 5 as five', (error: unknown, result: pg.QueryResult) => resolve([error, result.rows])),
    ),
  )
  await pool.query('insert into orders (id) values (2)').catch((error: unknown) => answers.push(said(error)))
  await pool.query('select * from missing').catch((error: unknown) => answers.push(said(error)))
  const several = (await pool.query('select 1 as one; select 2 as two')) as unknown as pg.QueryResult[]
  answers.push(several.map(({ rows }) => rows as unknown))

  const one = await pool.connect()
  answers.push(one instanceof pg.Client, one.escapeIdentifier('a"b'))
  await one.query('begin')
  await one.query('update orders set name = $1 where id = $2', ['Bob', 2])
  await one.query('rollback')
  await one.query('begin')
  await one.query("update orders set name = 'Eve' where id = 2")
  await one.query('commit')
  answers.push((await one.query('select name from orders where id = 2')).rows)
  const cursor = one.query(new Cursor<{ n: number }>('select n from generate_series(1, $1::int) as n', [5]))
  answers.push(await cursor.read(2), await cursor.read(2), await cursor.read(2), await cursor.read(2))
  await cursor.close()
  for await (const row of one.query(new QueryStream('select n from generate_series(1, 3) as n', [], { batchSize: 2 })))
    answers.push(row)
  one.release()
  await pool.end()
  return answers
}
