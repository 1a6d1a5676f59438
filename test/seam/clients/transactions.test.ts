import pg from 'pg'
import { expect, test } from 'vitest'
import { client } from '../../../src/record/index.ts'
import { Recording } from '../../replay/tapes.ts'
import { replayed } from './both.ts'

const sql = 'update orders set paid = true where id = $1'

test('a query that leaves its transaction is different', async () => {
  const recording = new Recording()
  const rows = { command: 'UPDATE', rowCount: 1, oid: null, rows: [], fields: [] }
  recording.call('pg.connect', {}, { connection: 1 })
  recording.call('pg.query', { sql: 'begin', connection: 1 }, { ...rows, command: 'BEGIN' })
  recording.call('pg.query', { sql, params: [7], connection: 1 }, rows)
  recording.call('pg.query', { sql: 'commit', connection: 1 }, { ...rows, command: 'COMMIT' })
  const agent = (leaves: boolean) => async (port: number) => {
    const pool = client(new pg.Pool({ host: '127.0.0.1', port }))
    const one = await pool.connect()
    await one.query('begin')
    const { rowCount } = await (leaves ? pool : one).query(sql, [7])
    await one.query('commit')
    one.release()
    return rowCount
  }
  const tape = recording.tape({ value: 1 })
  expect(await replayed(tape, agent(false))).toMatchObject({ problems: [], reached: 0 })
  const { problems, reached } = await replayed(tape, agent(true))
  expect(problems.map(({ code, facts }) => [code, facts.detail])).toMatchInlineSnapshot(`
    [
      [
        "HARVEST_DIVERGENCE",
        "  differs at connection
      recorded  1
      now       (absent)",
      ],
    ]
  `)
  expect(reached).toBe(0)
})
