/**
 * Records what clients of databases ask of real servers, stops these, and replays: `postgresql`, `mariadb-server` and `redis-server`
 * of Debian, SQLite, Prisma on PGlite, and a stand-in for MongoDB. Prints how many questions each asked and of which kinds, whether
 * all were answered the same without a server, what the first of another parameter is red with, and what is refused.
 * `--write` keeps the tape that the tests replay where npm has no server; other words are parts of the names of clients.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { rowId, stackRows } from '../fixtures/stacks/rows.ts'
import { encodeValue, readTape, type Tape } from '../src/tape/index.ts'
import { Recording } from '../test/replay/tapes.ts'
import { recorded, replayed } from '../test/seam/clients/both.ts'
import * as drizzle from '../test/seam/clients/drizzle.agent.ts'
import { mongoServer } from '../test/seam/clients/mongo-server.ts'
import * as mongodb from '../test/seam/clients/mongodb.agent.ts'
import * as mysql2 from '../test/seam/clients/mysql2.agent.ts'
import * as pg from '../test/seam/clients/pg.agent.ts'
import * as postgresJs from '../test/seam/clients/postgres-js.agent.ts'
import * as redis from '../test/seam/clients/redis.agent.ts'
import { withBetterSqlite, withNodeSqlite } from '../test/seam/clients/sqlite.agent.ts'
import { subscriptions } from '../test/seam/clients/subscriptions.ts'
import { installPacked } from './install-packed.ts'
import { debianServers, type DebianServer } from './servers/debian.ts'
import { type Kind, kinds, kindsOf, questionsOf } from './servers/kinds.ts'
import { tryRow } from './stacks/try-row.ts'
import type { StackOutcome } from './stacks/outcome.ts'

interface Row {
  readonly server?: () => Promise<DebianServer>
  /** Asks with its driver; with another name one parameter is another. */
  readonly agent: (port: number, name?: string) => unknown
  /** What the database or its driver does not have. */
  readonly lacks: readonly Kind[]
  /** Questions whose rows are read as a stream, where the step does not say so. */
  readonly streamed?: readonly string[]
  /** What waits for messages of the server; absent: its driver can not. */
  readonly subscribes?: string
}

const [flags, parts] = [true, false].map((isFlag) =>
  process.argv.slice(2).filter((word) => word.startsWith('--') === isFlag),
) as [string[], string[]]
const folder = mkdtempSync(join(tmpdir(), 'harvest-servers-'))
const servers = debianServers(folder)
const file = join(folder, 'orders.db')
const ofRedis: readonly Kind[] = ['dates']
const ofSqlite: readonly Kind[] = ['dates', 'arrays']

const rows: Readonly<Record<string, Row>> = {
  pg: { server: servers.postgres, agent: pg.everything, lacks: [], subscribes: 'pg LISTEN' },
  'postgres.js': { server: servers.postgres, agent: postgresJs.everything, lacks: [], subscribes: 'postgres listen' },
  mysql2: {
    server: servers.mariadb,
    agent: mysql2.everything,
    lacks: [],
    streamed: ['select id from orders order by id', 'select 5 as five'],
  },
  redis: { server: servers.redis, agent: redis.withRedis, lacks: ofRedis, subscribes: 'redis subscribe' },
  ioredis: { server: servers.redis, agent: redis.withIoredis, lacks: ofRedis, subscribes: 'ioredis subscribe' },
  mongodb: { server: mongo, agent: mongodb.everything, lacks: [], subscribes: 'mongodb change stream' },
  // It makes texts of dates itself, above the driver.
  drizzle: {
    server: servers.postgres,
    agent: drizzle.everything,
    lacks: ['dates'],
    subscribes: 'pg LISTEN below drizzle',
  },
  'better-sqlite3': { agent: (_port, name) => withBetterSqlite(file, name), lacks: ofSqlite },
  'node:sqlite': { agent: (_port, name) => withNodeSqlite(file, name), lacks: ofSqlite },
}

let failures = 0
const head = ['client', 'questions', ...kinds, 'without server', 'subscription', 'another parameter is red with']
const widths = head.map((word, at) => (at === 0 ? 16 : word.length))
print(head)
try {
  for (const [name, row] of Object.entries(rows)) if (isWanted(name)) await tryClient(name, row)
  if (isWanted('Prisma')) await tryPrisma()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(failures === 0 ? 0 : 1)

function isWanted(name: string): boolean {
  return parts.length === 0 || parts.some((part) => name.includes(part))
}

async function mongo(): Promise<DebianServer> {
  const server = await mongoServer()
  return { port: server.port, stop: async () => server[Symbol.asyncDispose]() }
}

async function tryClient(name: string, row: Row): Promise<void> {
  const { server: start, agent } = row
  const server = await start?.()
  const first = await recorded(() => agent(server?.port ?? 0))
  await server?.stop()
  rmSync(file, { force: true })
  const again = await replayed(first.tape, (port) => agent(port))
  const value = again.outcome.status === 'returned' ? again.outcome.value : undefined
  const isEqual =
    // With all that a tape tells apart: classes, bigints, bytes.
    JSON.stringify(encodeValue(value)) === JSON.stringify(encodeValue(first.recorded)) &&
    again.problems.length === 0 &&
    again.reached === 0 &&
    first.tape.close?.unrecorded === undefined &&
    !existsSync(file)
  const other = await replayed(first.tape, (port) => agent(port, 'Eve'))
  const [problem] = other.problems
  const [path, was, now] =
    /differs at (\S+)\n +recorded +(.*)\n +now +(.*)/.exec(problem?.facts.detail ?? '')?.slice(1) ?? []
  const isRed = problem?.code === 'HARVEST_DIVERGENCE' && was === 'Ada' && now === 'Eve' && other.reached === 0
  const query = problem?.facts.where?.['query'] ?? problem?.message ?? 'green'
  const red = `${query.slice(0, 60)}…: ${path} ${was} → ${now}`
  const refused = row.subscribes === undefined ? '-' : await refusal(row.subscribes)
  show(name, first.tape, row, isEqual, refused, isRed, red)
  for (const { message } of again.problems) console.log(message)
  if (name === 'mysql2' && flags.includes('--write'))
    writeFileSync('test/seam/clients/mysql2.answers.json', `${JSON.stringify(first.tape)}\n`)
}

/** Its client is generated, so it is installed and tried in a folder of its own, as the row of the stacks is. */
async function tryPrisma(): Promise<void> {
  const row = stackRows.find(({ agent }) => agent === 'prisma')!
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'vitest-harvest-clients')
  mkdirSync(cache, { recursive: true })
  installPacked(cache)
  const results = JSON.parse(readFileSync('fixtures/stacks/results.json', 'utf8')) as Record<string, StackOutcome>
  const { red, replays, canary } = await tryRow(row, cache, results[rowId(row)]?.packages ?? {})
  const tape = readTape(join(cache, 'rows', rowId(row), 'recordings/golden/promoted.tape.jsonl'))
  const isEqual = replays && canary === 0
  show('Prisma', tape, { lacks: ['cursors'] }, isEqual, '-', red === 'HARVEST_DIVERGENCE', String(red))
}

async function refusal(name: string): Promise<'refused' | 'NOT REFUSED'> {
  const { problems, reached } = await replayed(new Recording().tape({ value: null }), async (port) => {
    await Promise.resolve(subscriptions[name]!(port)).catch(() => null)
    return null
  })
  return problems[0]?.code === 'HARVEST_ESCAPE' && reached === 0 ? 'refused' : 'NOT REFUSED'
}

function show(
  name: string,
  tape: Tape,
  { lacks, streamed = [] }: Pick<Row, 'lacks' | 'streamed'>,
  isEqual: boolean,
  refused: string,
  isRed: boolean,
  red: string,
): void {
  const counts = kindsOf(tape, (sql) => streamed.includes(sql))
  const asked = questionsOf(tape).length
  const missing = kinds.filter((kind) => counts[kind] === 0 && !lacks.includes(kind))
  if (!isEqual || asked < 30 || missing.length > 0 || refused === 'NOT REFUSED' || !isRed) failures += 1
  print([
    name,
    `${asked}`,
    ...kinds.map((kind) => (lacks.includes(kind) && counts[kind] === 0 ? '-' : `${counts[kind]}`)),
    isEqual ? 'equal' : 'OTHER',
    refused,
    isRed ? red : `NOT RED: ${red}`,
  ])
}

function print(cells: readonly string[]): void {
  console.log(
    cells
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join('  ')
      .trimEnd(),
  )
}
