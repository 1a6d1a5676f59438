import postgres from 'postgres'
import { client } from '../../../src/record/index.ts'

const said = (error: unknown): unknown =>
  error instanceof Error ? [error.name, (error as { code?: string }).code, error.message] : error

export async function everything(port: number, name = 'Ada'): Promise<unknown> {
  const sql = client(
    postgres({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 1, onnotice: () => undefined }),
  )
  const answers: unknown[] = []
  await sql`drop table if exists orders`
  answers.push(
    await sql`create table orders (id bigint primary key, name text, total numeric, at timestamptz, tags text[], file bytea, note jsonb)`,
  )
  const row = {
    id: 7n,
    name,
    total: '12.50',
    at: new Date('2026-03-04T05:06:07.008Z'),
    file: Buffer.from([0, 255]),
    note: sql.json({ a: [1] }),
  }
  answers.push(await sql`insert into orders ${sql(row as never)} returning *`)
  answers.push(
    await sql`insert into orders ${sql(
      [
        { id: 8, name: 'Bob' },
        { id: 9, name: null },
      ],
      'id',
      'name',
    )}`,
  )
  const all = await sql`select id, name from orders order by id`
  answers.push(
    [...all],
    all.count,
    all.command,
    all.columns.map(({ name }) => name),
    all.map(({ name }) => name as unknown),
  )
  const later = sql`and id > ${7}`
  answers.push(await sql`select name from ${sql('orders')} where name = ${'Bob'} ${later}`)
  answers.push(await sql`select name from orders where id in ${sql([7, 8])} order by 1`)
  answers.push(await sql`select ${null}::text as none, ${true}::bool as yes, ${sql.array(['a', 'b'])}::text[] as list`)
  answers.push(
    await sql`select id, file from orders where id = 7`.values(),
    await sql`select file from orders where id = 7`.raw(),
  )
  answers.push(await sql.unsafe('select $1::int as n', [5]), await sql.unsafe('select 1 as a; select 2 as b'))
  answers.push((await sql`select id from orders`.describe()).columns.map(({ name }) => name))
  answers.push(await sql`update orders set ${sql({ name: 'Eve' }, 'name')} where id = 9`)
  await sql`insert into orders (id) values (7)`.catch((error: unknown) =>
    answers.push([error instanceof postgres.PostgresError, said(error)]),
  )
  await sql`select * from missing`.catch((error: unknown) => answers.push(said(error)))

  answers.push(
    await sql.begin(async (tx) => {
      const [one] = await tx`update orders set name = 'Tom' where id = 8 returning name`
      await tx
        .savepoint(async (inner) => {
          await inner`delete from orders where id = 9`
          throw new Error('not that one')
        })
        .catch((error: unknown) => answers.push(said(error)))
      return one
    }),
  )
  await sql
    .begin('read write', async (tx) => {
      await tx`delete from orders`
      throw new Error('undo')
    })
    .catch((error: unknown) => answers.push(said(error)))
  answers.push(await sql.begin((tx) => [tx`select 1 as one`, tx`select 2 as two`]))
  for await (const rows of sql`select n from generate_series(1, 5) as n`.cursor(2)) answers.push([...rows])
  await sql`select n from generate_series(1, 5) as n`.cursor(2, (rows) => {
    answers.push([...rows])
    return rows[0]?.['n'] === 3 ? sql.CLOSE : undefined
  })
  await sql`select n from generate_series(1, 3) as n`.forEach((one) => void answers.push(one))
  const reserved = await sql.reserve()
  answers.push(await reserved`select 6 as six`)
  reserved.release()
  await sql.notify('news', 'x')
  await sql.end()
  return answers
}
