/** What native code can reach that no recorder sees. `files`: it reads and writes files that it is given. */
export type Reach = 'memory' | 'files' | 'network'

export interface KnownAddOn {
  readonly reach: Reach
  /** What it does, as the end of a sentence that begins with its name. */
  readonly why: string
}

const computes = (what: string): KnownAddOn => ({ reach: 'memory', why: `computes ${what} in memory` })
const compiles: KnownAddOn = { reach: 'files', why: 'compiles source files' }
const asks = (what: string): KnownAddOn => ({ reach: 'network', why: `speaks to ${what} from native code` })

/**
 * Native add-ons whose reach is known, by package without the platform in its name. All others count as reaching the network.
 * Those of `memory` import no function of sockets or files but to load themselves.
 */
export const knownAddOns: Readonly<Record<string, KnownAddOn>> = {
  '@msgpackr-extract/msgpackr-extract': computes('strings of MessagePack'),
  '@napi-rs/snappy': computes('compressed bytes'),
  argon2: computes('hashes of passwords'),
  bcrypt: computes('hashes of passwords'),
  bufferutil: computes('masks of WebSocket frames'),
  'isolated-vm': computes('JavaScript without modules of Node'),
  'utf-8-validate': computes('whether bytes are UTF-8'),

  '@img/sharp': { reach: 'files', why: 'decodes and encodes images' },
  '@napi-rs/canvas': { reach: 'files', why: 'draws images' },
  'better-sqlite3': { reach: 'files', why: 'opens SQLite databases; those it may write are listed' },
  'onnxruntime-node': { reach: 'files', why: 'runs models of this machine' },
  'sqlite-vec': computes('distances of vectors for SQLite'),

  '@oxc-parser/binding': compiles,
  '@parcel/watcher': { reach: 'files', why: 'watches files' },
  '@rolldown/binding': compiles,
  '@rollup/rollup': compiles,
  '@swc/core': compiles,
  '@tailwindcss/oxide': compiles,
  fsevents: { reach: 'files', why: 'watches files' },
  lightningcss: compiles,

  '@boundaryml/baml': asks('models over HTTP'),
  '@duckdb/node-bindings': asks('object stores and web servers, where a query names them'),
  '@lancedb/lancedb': asks('object stores and its cloud, where a database is not a folder'),
  '@libsql': asks('Turso, where a database is not a file'),
  '@prisma/client': asks('databases'),
  '@prisma/engines': asks('databases'),
  '@temporalio/core-bridge': asks('Temporal'),
  'node-pty': { reach: 'network', why: 'starts programs from native code' },
  'pg-native': asks('Postgres'),
}

export function knownAddOn(name: string): KnownAddOn | undefined {
  return Object.hasOwn(knownAddOns, name) ? knownAddOns[name] : undefined
}
