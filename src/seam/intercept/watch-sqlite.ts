import { HarvestError } from '../../errors/index.ts'
import { fileOf } from '../clients/in-memory.ts'
import { patchProperty } from '../patch.ts'
import { confinement } from './confine.ts'
import { type AnyFunction, guard } from './guarding.ts'
import { refusal } from './outside.ts'
import { requireReadable, requireText, requireWritable } from './sqlite-files.ts'
import { isAgentAtWork } from './work.ts'

type Sqlite = typeof import('node:sqlite')
type Authorizer = (code: number, ...about: (string | null)[]) => number
interface Database {
  location(): string | null
}

/** Opening a second file, by `ATTACH` or `VACUUM INTO`: Node's permission model does not ask SQLite. */
const attach = 24
const deny = 1

const by = 'node:sqlite'

/** What reads or writes a database. Its file is opened at the first of them, not before. */
const uses = ['exec', 'prepare', 'createTagStore', 'createSession', 'applyChangeset', 'deserialize', 'serialize']

/** Databases whose file was asked about. */
const asked = new WeakSet<object>()

/**
 * Tells which databases an agent writes to, and refuses the files of a confined process: only memory and databases opened
 * for reading are left.
 */
export function watchSqlite(): void {
  const sqlite = process.getBuiltinModule('node:sqlite') as Sqlite | undefined
  // Not in every Node we run in.
  if (sqlite === undefined) return
  const { prototype } = sqlite.DatabaseSync
  const { setAuthorizer } = prototype as { readonly setAuthorizer?: AnyFunction }
  patchProperty(sqlite, 'DatabaseSync', (Original) => {
    return class DatabaseSync extends Original {
      constructor(...args: ConstructorParameters<typeof Original>) {
        args[0] = fileOf(args[0])
        const [file, options] = args
        const isRead = options?.readOnly === true
        if (!isRead && isWatched()) requireWritable(file, by)
        super(...args)
        if (isRead) readOnly.add(this)
      }
    }
  })
  // Whoever had the class before has no other prototype.
  for (const key of uses) {
    guard(prototype, key, (original) => {
      return function (this: Database, ...args: unknown[]) {
        if (isWatched()) askAbout(this, setAuthorizer)
        if (setAuthorizer === undefined && isWatched()) requireText(args[0], by)
        return original.apply(this, args) as unknown
      }
    })
  }
  guard(prototype, 'setAuthorizer', (original) => {
    return function (this: Database, own: Authorizer | null) {
      return isWatched() ? authorize(this, original, own ?? undefined) : (original.call(this, own) as unknown)
    }
  })
  guard(prototype, 'loadExtension', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      const error = refusal('node:sqlite extension', String(args[0]))
      if (error) throw error
      return original.apply(this, args) as unknown
    }
  })
  guard(sqlite, 'backup', (original) => {
    return function (this: unknown, ...args: unknown[]) {
      if (isWatched()) requireWritable(args[1], by)
      return original.apply(this, args) as unknown
    }
  })
}

const readOnly = new WeakSet<object>()

function isWatched(): boolean {
  return confinement() === 'strict' || isAgentAtWork()
}

/** Before its first statement: neither was its file opened by then. */
function askAbout(database: Database, setAuthorizer: AnyFunction | undefined): void {
  if (asked.has(database)) return
  const file = database.location()
  if (file !== null) (readOnly.has(database) ? requireReadable : requireWritable)(file, by)
  asked.add(database)
  if (setAuthorizer !== undefined) authorize(database, setAuthorizer)
}

/** Asks SQLite itself what a statement opens: a comment or a parameter hides nothing from it. */
function authorize(database: Database, set: AnyFunction, own?: Authorizer): unknown {
  asked.add(database)
  const ask: Authorizer = (code, ...about) => {
    if (code === attach && isWatched() && !isLetThrough(about[0])) return deny
    return own === undefined ? 0 : own(code, ...about)
  }
  return set.call(database, ask)
}

function isLetThrough(file: string | null | undefined): boolean {
  try {
    requireWritable(file ?? 'a file its statement computes', by)
    return true
  } catch (error) {
    // SQLite tells the agent that it is not authorized; the refusal itself is noted.
    if (HarvestError.is(error)) return false
    throw error
  }
}
