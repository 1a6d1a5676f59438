import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { resolve } from 'node:path'
import { confinedRefusal, confinement } from './confine.ts'
import { pathOf } from './path-of.ts'
import { list } from './work.ts'

/**
 * Lists a database file that may be written; in a confined process it is refused.
 *
 * @param by - what opens it: `node:sqlite`, `better-sqlite3`
 */
export function requireWritable(file: unknown, by: string): void {
  const path = databaseOf(file)
  if (path === undefined) return
  if (confinement() !== 'strict') return list(confinement() === 'watch' ? 'audit' : 'write', by, path)
  const error = confinedRefusal(by, path)
  if (error) throw error
}

/** As {@link requireWritable}, for a database that is opened to be read: in WAL mode readers write two files beside it. */
export function requireReadable(file: string, by: string): void {
  if (isWriteAhead(file)) requireWritable(`${file}-wal`, by)
}

/** Its format, as the 19th byte of its file says. */
function isWriteAhead(file: string): boolean {
  // SQLite says so itself.
  if (!existsSync(file)) return false
  const head = Buffer.alloc(20)
  const opened = openSync(file, 'r')
  try {
    return readSync(opened, head) === head.length && head[18] === 2
  } finally {
    closeSync(opened)
  }
}

/** `undefined` for what is in memory, or a temporary file of SQLite's own. */
function databaseOf(file: unknown): string | undefined {
  const path = pathOf(file) ?? String(file)
  if (path === ':memory:' || path === '') return undefined
  return path.startsWith('file:') ? path : resolve(path)
}

/** Where SQLite itself is not asked: a statement that says these words opens a file. */
export function requireText(statement: unknown, by: string): void {
  const opens = /\battach\b|\bvacuum\b/i.exec(String(statement))?.[0]
  if (opens !== undefined) requireWritable(`a file named in ${opens.toUpperCase()}`, by)
}
