import type { Pool, PoolConnection } from 'mysql2'
import promises from 'mysql2/promise'
import { client } from '../../../src/record/index.ts'

const said = (error: unknown): unknown => {
  const { code, errno, sqlState, message } = error as { code: string; errno: number; sqlState: string; message: string }
  return [code, errno, sqlState, message]
}

/** Asks what a server of MariaDB or MySQL understands, in each form of the driver. */
export async function everything(port: number, name = 'Ada'): Promise<unknown> {
  const pool = client(
    promises.createPool({
      host: '127.0.0.1',
      port,
      user: 'root',
      database: 'shop',
      connectionLimit: 1,
      supportBigNumbers: true,
    }),
  )
  const answers: unknown[] = []
  const query = async (sql: string, params?: unknown[]) => answers.push((await pool.query(sql, params))[0])
  await query('drop table if exists orders')
  await query(
    'create table orders (id bigint primary key, name text, total decimal(10,2), paid bool, at datetime(3), file blob, note json)',
  )
  await query('insert into orders values (?, ?, ?, ?, ?, ?, ?)', [
    '9007199254740993',
    name,
    '12.50',
    true,
    new Date('2026-03-04T05:06:07.008Z'),
    Buffer.from([0, 255, 10]),
    '{"a":[1]}',
  ])
  await query('insert into orders (id) values (?), (?)', [2, 3])
  await query('select * from orders order by id')
  await query('select name from orders where id in (?)', [[2, 3]])
  await query('update orders set ? where id = ?', [{ name: 'Bob' }, 2])
  await query('select null as none, 1.5 as real_one, -0.0 as zero, now() is not null as is_now')
  const [rows, fields] = await pool.execute('select id, name from orders where id = ?', [2])
  answers.push(
    rows,
    fields.map(({ name, columnType }) => [name, columnType]),
  )
  answers.push((await pool.query({ sql: 'select 1 as a, 2 as a', rowsAsArray: true }))[0])
  await pool.query('insert into orders (id) values (2)').catch((error: unknown) => answers.push(said(error)))
  await pool.query('select * from missing').catch((error: unknown) => answers.push(said(error)))
  await pool.execute('select * from missing').catch((error: unknown) => answers.push(said(error)))

  const one = await pool.getConnection()
  await one.beginTransaction()
  await one.query('update orders set name = ? where id = 3', ['Tom'])
  await one.rollback()
  await one.beginTransaction()
  await one.execute('update orders set name = ? where id = 3', ['Eve'])
  await one.commit()
  answers.push((await one.query('select name from orders where id = 3'))[0])
  const prepared = await one.prepare('select name from orders where id = ?')
  answers.push((await prepared.execute([2]))[0], (await prepared.execute([3]))[0])
  await prepared.close()
  await one.ping()
  one.release()
  answers.push(await withCallbacks(pool.pool as unknown as Pool))
  await pool.end()
  return answers
}

async function withCallbacks(pool: Pool): Promise<unknown> {
  const answers: unknown[] = []
  const done = Promise.withResolvers<void>()
  pool.query('select name from orders where id = ?', [2], (error, rows) => {
    answers.push(error, rows)
    done.resolve()
  })
  await done.promise
  const connection = await new Promise<PoolConnection>((resolve, reject) =>
    pool.getConnection((error, one) => (error ? reject(error) : resolve(one))),
  )
  answers.push(connection.escape("it's"), connection.format('select ?', [1]))
  for await (const row of connection.query('select id from orders order by id').stream()) answers.push(row)
  const end = Promise.withResolvers<void>()
  connection
    .query('select 5 as five')
    .on('result', (row) => answers.push(row))
    .on('end', () => end.resolve())
  await end.promise
  connection.release()
  return answers
}
