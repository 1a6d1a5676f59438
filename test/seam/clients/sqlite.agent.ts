import Database from 'better-sqlite3'
import { client } from '../../../src/record/index.ts'

const table = 'create table orders (id integer primary key, name text, total real, big integer, file blob)'
const bytes = Buffer.from([0, 255, 10])
const values = [null, 0, -1, 2 ** 40, 1.5, 1e300, '', 'ß 😀', "it's", '\0', bytes, 9007199254740993n, -1n]

export function withBetterSqlite(file: string, name = 'Ada'): unknown {
  const db = client(() => new Database(file))
  const answers: unknown[] = []
  db.exec(table)
  const insert = db.prepare('insert into orders (name, total, big, file) values (?, ?, ?, ?)')
  answers.push(insert.run(name, 12.5, 9007199254740993n, bytes), insert.run(null, -0.5, null, null))
  const all = db.prepare('select * from orders order by id')
  answers.push(db.prepare('select * from orders where id = ?').get(2), db.prepare('select 1 where 0').get())
  answers.push(db.prepare('select id, name, file from orders where name = @name').all({ name: 'Ada' }))
  answers.push(all.safeIntegers().all(), db.prepare('select name from orders').pluck().all(), all.raw().all())
  answers.push(all.source, all.columns().length, db.pragma('user_version', { simple: true }))
  const move = db.transaction((from: number, to: number) => {
    db.prepare('update orders set total = total - 1 where id = ?').run(from)
    db.prepare('update orders set total = total + 1 where id = ?').run(to)
    if (to === 9) throw new Error('no such order')
    return 'moved'
  })
  answers.push(move(1, 2), move.immediate(2, 1))
  try {
    move(1, 9)
  } catch (error) {
    answers.push(String(error))
  }
  answers.push(db.prepare('select total from orders').pluck().all())
  for (const sql of ['select * from missing', 'insert into orders (id) values (1)']) {
    try {
      answers.push(db.prepare(sql).run())
    } catch (error) {
      answers.push([error instanceof Database.SqliteError, (error as { code: string }).code, (error as Error).message])
    }
  }
  let sum = 0
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n) select i from n'
  for (const { i } of db.prepare<[], { i: number }>(numbers).iterate()) {
    sum += i
    if (i === 150) break
  }
  answers.push(sum, [...db.prepare('select name from orders where id = ?').bind(1).iterate()])
  for (const value of values) answers.push(db.prepare('select ? as value, typeof(?) as type').get(value, value))
  db.close()
  return answers
}

export function withNodeSqlite(file: string, name = 'Ada'): unknown {
  // As modules that are loaded behind the replay see it.
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const db = client(() => new DatabaseSync(file))
  const answers: unknown[] = []
  db.exec(table)
  const insert = db.prepare('insert into orders (name, total, big, file) values (?, ?, ?, ?)')
  answers.push(insert.run(name, 12.5, 5n, bytes), insert.run(null, -0.5, null, null))
  const all = db.prepare('select * from orders order by id')
  answers.push(all.all(), db.prepare('select * from orders where id = ?').get(2), db.prepare('select 1 where 0').get())
  answers.push(db.prepare('select id, file from orders where name = $name').all({ $name: 'Ada' }))
  all.setReadBigInts(true)
  answers.push(all.all(), all.columns().length, all.sourceSQL)
  db.exec('begin')
  db.prepare('update orders set name = ?').run('Eve')
  db.exec('rollback')
  for (const sql of ['select * from missing', 'insert into orders (id) values (1)']) {
    try {
      answers.push(db.prepare(sql).run())
    } catch (error) {
      answers.push([(error as { code: string }).code, (error as { errstr: string }).errstr, (error as Error).message])
    }
  }
  answers.push([...db.prepare('select name from orders').iterate()])
  answers.push(
    db.prepare('select count(*) as n from orders').get(),
    db.prepare('select max(id) as n from orders').get(),
  )
  const typed = db.prepare('select ? as value, typeof(?) as type')
  typed.setReadBigInts(true)
  for (const value of values) answers.push(typed.get(value, value))
  db.close()
  return answers
}
