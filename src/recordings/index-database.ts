import { randomBytes } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { ignoreFolder } from '../tape/links.ts'

/** Of the tables below and of the facts in them. A database of another version is emptied and filled again. */
const schemaVersion = 9

// Filters look through all of `tape`, so what they do not look at stands in `detail`.
const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE folder (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, parent TEXT, stamp TEXT NOT NULL, is_settled INTEGER NOT NULL
  );
  CREATE TABLE tape (
    id INTEGER PRIMARY KEY, folder INTEGER NOT NULL, outcome TEXT NOT NULL, agent TEXT, started INTEGER,
    commit_hash TEXT, run TEXT, cost REAL, duration REAL, steps INTEGER, class TEXT, until INTEGER,
    signature TEXT NOT NULL, words TEXT NOT NULL
  );
  CREATE INDEX tape_started ON tape (started);
  CREATE INDEX tape_open ON tape (outcome) WHERE outcome IN ('truncated', 'unreadable');
  CREATE TABLE detail (
    tape INTEGER PRIMARY KEY, folder INTEGER NOT NULL, name TEXT NOT NULL, stamp TEXT NOT NULL, facts TEXT NOT NULL,
    ended TEXT, sum INTEGER NOT NULL, UNIQUE (folder, name)
  );
  CREATE TABLE content (tape INTEGER PRIMARY KEY, text TEXT NOT NULL, positions TEXT NOT NULL);
  CREATE TABLE vocabulary (kind TEXT NOT NULL, word TEXT NOT NULL, PRIMARY KEY (kind, word)) WITHOUT ROWID;
`

/**
 * Opens the database of an inbox, in `<inbox>/.index/`, and makes it where it is missing. A folder of its own, because
 * the files that come and go beside a database would change the time of the inbox, by which new tapes are noticed.
 *
 * @throws what SQLite or the system says; see {@link faultOf}
 */
export async function openIndexFile(inbox: string): Promise<DatabaseSync> {
  const folder = join(inbox, folderName)
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
  if (!lstatSync(folder).isDirectory()) throw Object.assign(new Error('not a folder'), { code: 'ENOTDIR' })
  // Kept out of git also where the inbox is not.
  ignoreFolder(folder)
  return open(join(folder, 'tapes.sqlite'))
}

/**
 * Opens the database of an inbox as it is, for reading; `undefined` without one of this version.
 *
 * @throws as {@link openIndexFile}
 */
export async function openIndexAsIs(inbox: string): Promise<DatabaseSync | undefined> {
  if (!hasIndexFile(inbox)) return undefined
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(join(inbox, folderName, 'tapes.sqlite'))
  try {
    database.exec('PRAGMA busy_timeout = 2000')
    if (versionOf(database) === schemaVersion) return database
  } catch (error) {
    database.close()
    throw error
  }
  database.close()
  return undefined
}

/** A database that is gone with this process. */
export function openIndexMemory(): Promise<DatabaseSync> {
  return open(':memory:')
}

/** Takes a database that cannot be used out of the way. One rename: who has it open keeps all its files. */
export function discardIndexFile(inbox: string): void {
  const away = join(inbox, `${folderName}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`)
  renameSync(join(inbox, folderName), away)
  rmSync(away, { recursive: true, force: true })
}

const folderName = '.index'

/** Whether an inbox has a database. */
export function hasIndexFile(inbox: string): boolean {
  return existsSync(join(inbox, folderName, 'tapes.sqlite'))
}

/** Writes everything into the database file and empties the one beside it; `false` while someone else reads there. */
export function settleIndex(database: DatabaseSync): boolean {
  return database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.['busy'] === 0
}

async function open(file: string): Promise<DatabaseSync> {
  // Loaded late: on Node 22 the import alone prints that it is experimental.
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(file)
  try {
    // The files are the truth: the last transactions may be lost with the power, what is there has to be whole.
    database.exec('PRAGMA busy_timeout = 2000; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
    // What is taken out is overwritten: a tape that was removed leaves nothing in the file.
    database.exec('PRAGMA secure_delete = ON')
    if (versionOf(database) !== schemaVersion) migrate(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
}

/** Empties it in place: another process may have it open. */
function migrate(database: DatabaseSync): void {
  transaction(database, () => {
    // Another process may have been faster.
    if (versionOf(database) === schemaVersion) return
    const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    for (const { name } of tables.all()) database.exec(`DROP TABLE "${String(name).replaceAll('"', '""')}"`)
    database.exec(schema)
    database.exec(`PRAGMA user_version = ${schemaVersion}`)
  })
}

/** Runs something whole or not at all, alone. */
export function transaction(database: DatabaseSync, run: () => void): void {
  enclose(database, 'BEGIN IMMEDIATE', run)
}

/** Asks several questions of one state: what another process writes meanwhile is not seen. */
export function snapshot<T>(database: DatabaseSync, ask: () => T): T {
  return enclose(database, 'BEGIN', ask)
}

function enclose<T>(database: DatabaseSync, begin: 'BEGIN' | 'BEGIN IMMEDIATE', run: () => T): T {
  database.exec(begin)
  try {
    const result = run()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // Some faults have rolled back already; the one that counts is on its way up.
    }
    throw error
  }
}

/** Says that a row is not what was written. */
export class DamagedRow extends Error {}

/** What is wrong with an index. */
export interface IndexFault {
  /** Making it again may help. */
  readonly isDamage: boolean
  /** A clause for people. */
  readonly what: string
}

/** What an error says about the index; `undefined` when it is about something else. */
export function faultOf(error: unknown): IndexFault | undefined {
  if (error instanceof DamagedRow) return { isDamage: true, what: 'it is damaged' }
  if (!(error instanceof Error)) return undefined
  const { code, errcode, message } = error as NodeJS.ErrnoException & { errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) {
    return code !== undefined && systemFaults.includes(code) ? { isDamage: false, what: `${code}` } : undefined
  }
  // Extended codes carry the primary one in their low byte.
  const primary = errcode & 0xff
  return { isDamage: damage.includes(primary), what: message }
}

// A missing table is SQLITE_ERROR, 1; the others are SQLITE_CORRUPT, SQLITE_SCHEMA, SQLITE_MISMATCH, SQLITE_NOTADB.
const damage = [1, 11, 17, 20, 26]

// Of making the folder and the file in it.
const systemFaults = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'ENOTDIR', 'EEXIST', 'ENOENT']
