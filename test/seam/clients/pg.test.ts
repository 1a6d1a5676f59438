import { expect, test } from 'vitest'
import { recorded, replayed } from './both.ts'
import { everything, poolAt } from './pg.agent.ts'
import { postgresServer } from './postgres-server.ts'

test('what pg answered is answered the same without a server', { tags: 'thorough' }, async () => {
  const server = await postgresServer()
  const first = await recorded(() => everything(server.port))
  await server[Symbol.asyncDispose]()
  expect(first.warnings).toEqual([])
  expect(first.tape.close?.unrecorded).toBeUndefined()
  const again = await replayed(first.tape, everything)
  expect(again.problems).toEqual([])
  expect(again.outcome).toEqual({ status: 'returned', value: first.recorded })
  expect(again.reached).toBe(0)
  expect(first.tape.events.filter(({ kind }) => kind === 'tool').length).toBeGreaterThan(30)
})

test('a changed parameter is different, with the query and the value', { tags: 'thorough' }, async () => {
  const server = await postgresServer()
  const agent = (id: number) => async (port: number) => {
    const pool = poolAt(port)
    const { rows } = await pool.query('select $1::int as id, $2::text as name', [id, 'Ada'])
    await pool.end()
    return rows as unknown
  }
  const { tape } = await recorded(() => agent(4)(server.port))
  await server[Symbol.asyncDispose]()
  const again = await replayed(tape, agent(5))
  expect(again.problems.map(({ message }) => message)).toMatchInlineSnapshot(`
    [
      "The agent called pg.query with arguments that are not on the tape

      tape      asks
      step      1 of this replay (2 recorded)
      at        test/seam/clients/pg.test.ts:23:33
      after     the start of the run
      recorded  step 1, tool pg.query
      query     select $1::int as id, $2::text as name

      differs at params[0]
      recorded  4
      now       5

    The recorded rows answer another query.
    → to see the recorded steps: npx vitest-harvest show asks
    → if the new behaviour is right: record the run again and promote the new tape
    (HARVEST_DIVERGENCE)",
    ]
  `)
})
