import { HarvestError } from '../../errors/index.ts'
import { seamState } from '../source.ts'
import { isReplaying, type Loose, type Port } from './ask.ts'
import { inMemory } from './in-memory.ts'
import type { Class } from './classes.ts'
import type { Driver } from './drivers.ts'
import { clientOfDrizzle, reseat } from './drizzle.ts'
import { instrumentIoredis, isIoredis } from './ioredis.ts'
import { instrumentMongo, isMongo } from './mongodb.ts'
import { instrumentMysql2, isMysql2 } from './mysql2.ts'
import { instrumentNodeRedis, isNodeRedis } from './node-redis.ts'
import { instrumentPg, isPg } from './pg.ts'
import { instrumentPostgresJs, isPostgresJs } from './postgres-js.ts'
import { instrumentPrisma, isPrisma } from './prisma.ts'
import { instrumentSqlite, isBetterSqlite, isNodeSqlite } from './sqlite.ts'

/** How a client is named. */
export interface ClientOptions {
  /**
   * What its steps are called by, such as `orders` for `orders.query`. Default: the driver; a second one of the same driver
   * in a run is `pg#2`. Name each where a run asks several databases of one kind.
   */
  readonly name?: string
  /**
   * What the driver exports, such as `Prisma` of a generated client: values and errors of its classes are of these again in a
   * replay. Default: the classes of its modules that this process has loaded.
   */
  readonly classes?: Readonly<Record<string, unknown>>
}

interface Kind {
  readonly driver: Driver
  is(given: Loose): boolean
  /** Puts the client behind the seam: in place, or as another object with the same type. */
  instrument(port: Port, given: Loose): unknown
}

const kinds: readonly Kind[] = [
  { driver: 'prisma', is: isPrisma, instrument: instrumentPrisma },
  { driver: 'pg', is: isPg, instrument: instrumentPg },
  { driver: 'postgres', is: isPostgresJs, instrument: instrumentPostgresJs },
  { driver: 'mysql2', is: isMysql2, instrument: instrumentMysql2 },
  { driver: 'mongodb', is: isMongo, instrument: instrumentMongo },
  { driver: 'redis', is: isNodeRedis, instrument: instrumentNodeRedis },
  { driver: 'ioredis', is: isIoredis, instrument: instrumentIoredis },
  { driver: 'better-sqlite3', is: isBetterSqlite, instrument: instrumentSqlite },
  { driver: 'node:sqlite', is: isNodeSqlite, instrument: instrumentSqlite },
]

const instrumented = new WeakMap<object, object>()

/**
 * Records what a client of a database or cache is asked: each query, with its parameters and rows, is a step. A replay
 * answers from the tape and connects to nothing.
 *
 * @param given - a function that makes it, which opens no file in a replay; or a client, pool or connection of pg, postgres.js, mysql2, redis, ioredis, mongodb, better-sqlite3, node:sqlite, drizzle or
 *   Prisma. It is changed in place and handed back; postgres.js and Prisma give another object of the same type
 * @throws HarvestError `HARVEST_CLIENT_UNKNOWN` when it is not one of these
 *
 * @example
 * const pool = client(new Pool({ connectionString: process.env.DATABASE_URL }))
 */
export function client<T extends object>(make: () => T, options?: ClientOptions): T
export function client<T extends object>(given: T, options?: ClientOptions): T
export function client<T extends object>(given: T | (() => T), options: ClientOptions = {}): T {
  if (typeof given === 'function' && !isPostgresJs(given)) return seated(made(given as () => T), options)
  return seated(given as T, options)
}

/** Makes a client; while a replay is under way, a database of a file is one in memory. */
function made<T>(make: () => T): T {
  if (!isReplaying()) return make()
  const { shared } = seamState()
  shared.set(inMemory, true)
  try {
    return make()
  } finally {
    shared.delete(inMemory)
  }
}

function seated<T extends object>(given: T, options: ClientOptions): T {
  if (typeof given !== 'function' && (typeof given !== 'object' || given === null)) throw unknownClient(given)
  const known = instrumented.get(given)
  if (known !== undefined) return known as T
  const inner = clientOfDrizzle(given as Loose)
  if (inner !== undefined) {
    reseat(given as Loose, seated(inner, options))
    return given
  }
  const kind = kinds.find((one) => one.is(given as Loose))
  if (kind === undefined) throw unknownClient(given)
  const behind = (kind.instrument(portOf(kind.driver, options), given as Loose) ?? given) as T
  instrumented.set(given, behind)
  instrumented.set(behind, behind)
  return behind
}

function portOf(driver: Driver, { name, classes = {} }: ClientOptions): Port {
  const known = Object.entries(classes).filter((entry): entry is [string, Class] => typeof entry[1] === 'function')
  return { driver, name, classes: Object.fromEntries(known) }
}

function unknownClient(given: unknown): HarvestError {
  const name = (given as { constructor?: { name?: unknown } } | null)?.constructor?.name
  return new HarvestError('HARVEST_CLIENT_UNKNOWN', {
    what: 'Unknown client: client() cannot record it',
    where: { given: typeof name === 'string' ? name : typeof given },
    why: 'The driver, or its version, is not supported.',
    fix: [
      'give it a client of pg, postgres, mysql2, redis, ioredis, mongodb, drizzle-orm, Prisma, better-sqlite3 or node:sqlite',
      'with mysql2/promise, give it a pool: client(mysql.createPool(…))',
      "or wrap the function that asks it in tool() from 'vitest-harvest/record'",
    ],
  })
}
