import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { eq } from 'drizzle-orm'
import { integer, pgTable, text } from 'drizzle-orm/pg-core'
import { drizzle } from 'drizzle-orm/pglite'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { HarvestError } from '../../src/errors/index.ts'
import { createRecorder, retriever, tool, value } from '../../src/record/index.ts'
import { installReplay, replayTape, verdictOf } from '../../src/replay/index.ts'
import { readTape, stepsOf, type Tape } from '../../src/tape/index.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const dir = temporaryFolder('queries')
beforeAll(() => installReplay())

/** Statements that were run. */
const ran: string[] = []
beforeEach(() => void (ran.length = 0))

/** Runs when it is awaited, as of knex: its methods change it and return it. */
class Query {
  readonly #table: string
  readonly #filters: string[] = []
  constructor(table: string) {
    this.#table = table
  }
  where(filter: string): this {
    this.#filters.push(filter)
    return this
  }
  get table(): string {
    return this.#table
  }
  toSQL(): string {
    return `select * from ${this.#table}${this.#filters.map((one) => ` where ${one}`).join('')}`
  }
  async #run(): Promise<string[]> {
    await Promise.resolve()
    const sql = this.toSQL()
    ran.push(sql)
    if (sql.includes('fails')) throw new Error('no such table')
    return [sql]
  }
  // biome-ignore lint/suspicious/noThenProperty: that is what a query is
  then<A, B>(done?: (rows: string[]) => A, failed?: (error: unknown) => B): Promise<A | B> {
    // oxlint-disable-next-line promise/no-callback-in-promise -- whoever awaits it hands over callbacks
    return this.#run().then(done, failed)
  }
  catch<B>(failed: (error: unknown) => B): Promise<string[] | B> {
    return this.then(undefined, failed) as Promise<string[] | B>
  }
  finally(done: () => void): Promise<string[]> {
    return this.#run().finally(done)
  }
}

/** As of drizzle: its methods return another one. */
class Derived {
  readonly #filters: readonly string[]
  constructor(filters: readonly string[] = []) {
    this.#filters = filters
  }
  where(filter: string): Derived {
    return new Derived([...this.#filters, filter])
  }
  // biome-ignore lint/suspicious/noThenProperty: that is what a query is
  then<A>(done: (rows: readonly string[]) => A): Promise<A> {
    ran.push(this.#filters.join())
    // oxlint-disable-next-line promise/no-callback-in-promise -- whoever awaits it hands over callbacks
    return Promise.resolve(this.#filters).then(done)
  }
}

const q = tool('q', (table: string) => new Query(table))
const derived = tool('derived', () => new Derived())

let count = 0
async function record(agent: () => unknown) {
  const warnings: HarvestError[] = []
  const recorder = createRecorder({ dir, onWarning: (warning) => void warnings.push(warning as HarvestError) })
  const id = `run-${++count}`
  const value: unknown = await recorder.run({ agent: 'desk', id }, async () => agent())
  recorder.flush()
  const tape: Tape = readTape(join(dir, `${id}.tape.jsonl`))
  return { tape, value, warned: warnings.map(({ code, facts }) => [code, facts.where?.['lost']]) }
}

const agents: readonly (readonly [
  what: string,
  agent: () => Promise<unknown>,
  ran: readonly string[],
  lost: string | undefined,
])[] = [
  ['awaited as it is', async () => q('orders'), ['select * from orders'], undefined],
  ['built further in place', async () => q('orders').where('id = 7'), ['select * from orders where id = 7'], 'where()'],
  [
    'built further in statements of their own',
    async () => {
      const query = q('orders')
      query.where('id = 7')
      if (query.table === 'orders') query.where('paid')
      return query
    },
    ['select * from orders where id = 7 where paid'],
    'where(), table',
  ],
  ['derived from', async () => derived().where('id = 7').where('paid'), ['id = 7,paid'], 'where()'],
  ['looked at and not awaited', async () => q('orders').where('x').toSQL(), [], 'where(), toSQL()'],
  ['left alone', async () => [q('orders') instanceof Query].length, [], undefined],
  [
    'that fails, and is caught',
    async () => q('fails').catch((error) => (error as Error).message),
    ['select * from fails'],
    undefined,
  ],
  [
    'with an end of its own',
    async () => q('orders').finally(() => ran.push('end')),
    ['select * from orders', 'end'],
    undefined,
  ],
]

describe('a query that a wrapped function returns', () => {
  test.each(agents)(
    '%s runs in a recording as it does without a wrapper, and says what of it is lost',
    async (_, agent, expected, lost) => {
      const plain = await agent()
      expect(ran).toEqual(expected)
      ran.length = 0
      const { tape, value, warned } = await record(agent)
      expect(value).toEqual(plain)
      expect(ran).toEqual(expected)
      const said = lost === undefined ? undefined : [`result: a query that was built further: ${lost}`]
      expect(stepsOf(tape).map((step) => (step.kind === 'exchange' ? [] : step.lost))).toEqual([said])
      expect(warned).toEqual(said === undefined ? [] : [['HARVEST_TOOL_LOSS', said[0]]])
    },
  )

  test('that was awaited as it is replays the same, and does not run', async () => {
    const agent = async () => (await q('orders')).length
    const { tape } = await record(agent)
    ran.length = 0
    const result = await replayTape(tape, agent)
    expect([verdictOf(result).verdict, ran]).toEqual(['same', []])
  })

  test.each<[how: string, agent: (filter: string) => Promise<readonly string[]>]>([
    ['built to the same', async (filter) => q('orders').where(filter)],
    ['not built any more', async () => q('orders')],
    ['built where it can be', async (filter) => (q('orders') as Partial<Query>).where?.(filter) ?? []],
  ])('that was built further is no green replay, %s, and the error says what no tape holds', async (_, agent) => {
    const { tape } = await record(async () => (await q('orders').where('id = 7')).length)
    ran.length = 0
    for (const filter of ['id = 7', 'id = 8'])
      for (const more of [{}, { tools: 'run' }] as const) {
        const result = await replayTape(tape, async () => (await agent(filter)).length, more)
        expect([verdictOf(result).verdict, ran]).toEqual(['different', []])
        const [message = ''] = result.problems.map((one) => one.message)
        expect(message).toMatch(/^The tape does not hold to what the agent built the query that a function returned\n/)
        expect(message).toMatch(
          /\n {2}call +step 1, tool q\n {2}lost +result: a query that was built further: where\(\)\n/,
        )
        expect(message).toContain('→ wrap the function that awaits the query, and record the run again')
      }
  })

  test('that is awaited once more is run once more, and the recorder says so', async () => {
    const { warned } = await record(async () => {
      const query = q('orders')
      return [await query, await query]
    })
    expect(ran).toEqual(['select * from orders', 'select * from orders'])
    expect(warned).toEqual([['HARVEST_TOOL_LOSS', 'result: a query that was built further: awaited more than once']])
  })

  test('has the same methods each time, and a field that is set is lost as well', async () => {
    const limited = tool('limited', () => Object.assign(new Query('orders'), { limit: 1 }))
    const { value: isSame, warned } = await record(async () => {
      const query = limited()
      const { where } = query
      query.limit = 7
      await query
      return where === query.where
    })
    expect(isSame).toBe(true)
    expect(warned).toEqual([['HARVEST_TOOL_LOSS', 'result: a query that was built further: limit =']])
  })

  test('whose `then` cannot be heard is lost, and works as without a wrapper', async () => {
    // biome-ignore lint/suspicious/noThenProperty: that is what a query is
    const frozen = tool('frozen', () => Object.freeze({ then: (done: (rows: number[]) => unknown) => done([7]) }))
    const { value: rows, warned } = await record(async () => frozen())
    expect(rows).toEqual([7])
    expect(warned).toEqual([['HARVEST_TOOL_LOSS', 'result: a query that was built further: then']])
  })

  test('is built and run in a replay where its function runs', async () => {
    const real = tool('real', (table: string) => new Query(table), { replay: 'run' })
    const agent = async () => real('orders').where('id = 7')
    const { tape, warned } = await record(agent)
    expect(warned).toEqual([])
    ran.length = 0
    const result = await replayTape(tape, agent)
    expect(result.problems.map(({ message }) => message)).toEqual([])
    expect(ran).toEqual(['select * from orders where id = 7'])
  })

  test('is not run for a comparison of what tools return', async () => {
    const agent = async () => (await q('orders')).length
    const { tape } = await record(agent)
    ran.length = 0
    const result = await replayTape(tape, agent, { tools: 'run' })
    expect(ran).toEqual([])
    expect(result.notCompared).toMatchObject([{ step: 0, path: 'result', placeholder: 'a query' }])
  })

  test('is heard of a retriever and of a value, too', async () => {
    const found = retriever('found', () => new Query('passages') as unknown as Promise<string[]>)
    const { tape, value: got } = await record(async () => [await found(), await value('rows', () => new Query('rows'))])
    expect(got).toEqual([['select * from passages'], ['select * from rows']])
    expect(stepsOf(tape).map((step) => step.kind !== 'exchange' && step.result)).toEqual(got)
  })
})

test('a query of drizzle is built by the agent, and its statement runs once', async () => {
  const orders = pgTable('orders', { id: integer('id').primaryKey(), state: text('state') })
  const client = new PGlite()
  await client.exec(
    "create table orders (id integer primary key, state text); insert into orders values (7, 'paid'), (8, 'open')",
  )
  const statements: string[] = []
  const db = drizzle(client, { logger: { logQuery: (query) => void statements.push(query) } })
  const open = tool('open', () => db.select().from(orders))
  const { value: rows, warned } = await record(async () => open().where(eq(orders.id, 8)))
  expect(rows).toEqual([{ id: 8, state: 'open' }])
  expect(statements).toEqual(['select "id", "state" from "orders" where "orders"."id" = $1'])
  expect(warned.map(([code]) => code)).toEqual(['HARVEST_TOOL_LOSS'])
  await client.close()
})
