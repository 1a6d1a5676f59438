/** The client libraries that `client()` takes, by the name their steps have. */
export type Driver =
  | 'pg'
  | 'postgres'
  | 'mysql2'
  | 'redis'
  | 'ioredis'
  | 'mongodb'
  | 'prisma'
  | 'better-sqlite3'
  | 'node:sqlite'

interface Known {
  /** Where its code and its classes are. */
  readonly packages: readonly string[]
  /** What one writes for it. */
  readonly door: string
}

const known: Readonly<Record<Driver, Known>> = {
  pg: {
    packages: ['pg', 'pg-pool', 'pg-protocol', 'pg-types', 'postgres-interval', 'pg-cursor', 'pg-query-stream'],
    door: 'client(new Pool(…))',
  },
  postgres: { packages: ['postgres'], door: 'client(postgres(…))' },
  mysql2: { packages: ['mysql2'], door: 'client(mysql.createPool(…))' },
  redis: { packages: ['@redis/client', 'redis'], door: 'client(createClient(…))' },
  ioredis: { packages: ['ioredis', 'redis-errors', 'redis-parser'], door: 'client(new Redis(…))' },
  mongodb: { packages: ['mongodb', 'bson', 'mongodb-connection-string-url'], door: 'client(new MongoClient(…))' },
  prisma: {
    packages: ['@prisma/client', '.prisma', '@prisma/adapter-pg', '@prisma/engines'],
    door: 'client(new PrismaClient(…))',
  },
  'better-sqlite3': { packages: ['better-sqlite3'], door: "client(new Database('…'))" },
  'node:sqlite': { packages: [], door: "client(new DatabaseSync('…'))" },
}

/** In the order in which a stack is searched: Prisma stands above the driver that it uses. */
const onSockets: readonly Driver[] = ['prisma', 'mongodb', 'ioredis', 'redis', 'mysql2', 'postgres', 'pg']

export function packagesOf(driver: Driver): readonly string[] {
  return known[driver].packages
}

/** What one writes for a driver: `client(new Pool(…))`. */
export function doorOf(driver: Driver): string {
  return known[driver].door
}

/** The driver whose code is on a stack, if there is one. */
export function driverIn(stack: string): Driver | undefined {
  const text = stack.replaceAll('\\', '/')
  return onSockets.find((driver) => packagesOf(driver).some((name) => text.includes(`/node_modules/${name}/`)))
}
