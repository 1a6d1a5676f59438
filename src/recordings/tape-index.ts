import { type Dirent, lstatSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { PriceTable } from '../providers/index.ts'
import { version } from '../version.ts'
import { listFolder, pathsBelow } from './files.ts'
import { transaction } from './index-database.ts'
import { columnNames, type IndexRow, inScope, lineOf, rowOf, rowQuery, type WordKind, wordsOf } from './index-rows.ts'
import { costOfRun } from './cost-of-run.ts'
import { type IndexedTape, readIndexed, type TapeFacts } from './tape-facts.ts'

/** What an index is of, and how costs are counted in it. */
export interface IndexSource {
  /** Folder the paths are seen from. */
  readonly root: string
  readonly prices: PriceTable | undefined
  /** Called while tapes are read. */
  readonly onProgress?: (done: number, total: number) => void
}

/** Brings an index up to date with the files below a folder. */
export class TapeIndex {
  readonly #database: DatabaseSync
  readonly #source: IndexSource
  readonly #statements = new Map<string, StatementSync>()
  readonly #below: (path: string) => string

  constructor(database: DatabaseSync, source: IndexSource) {
    this.#database = database
    this.#source = source
    this.#below = pathsBelow(source.root)
    this.#recount()
  }

  /**
   * Notices what came, went or changed below `scope`, and reads it.
   *
   * A folder is looked through when its time changed, and then every tape in it is looked at. Otherwise only tapes that
   * were not closed are: a closed one is never written to. `every` looks at all of them.
   */
  async update(scope: string, options: { readonly every: boolean }): Promise<void> {
    const found: Found = { unread: [], gone: [], folders: [], lost: [] }
    this.#walk(scope, found, options.every)
    this.#lookAtOpen(scope, found)
    if (found.gone.length > 0 || found.lost.length > 0)
      transaction(this.#database, () => {
        this.#forget(found.gone)
        for (const path of found.lost) this.#run(`DELETE FROM folder WHERE ${inScope('path')}`).run(path)
      })
    await this.#read(found.unread.sort())
    // Last: killed before, the next one looks again.
    if (found.folders.length > 0)
      transaction(this.#database, () => {
        for (const folder of found.folders) this.#writeFolder(folder)
      })
  }

  /** Reads these tapes again. */
  async read(paths: readonly string[]): Promise<void> {
    await this.#read(paths)
  }

  /** Takes tapes out, and the words only they had. */
  forget(paths: readonly string[]): void {
    transaction(this.#database, () => this.#forget(paths))
  }

  #forget(paths: readonly string[]): void {
    for (const path of paths) this.#remove(path)
    // Also words of what a tape said before it was written again.
    const words = this.#run('SELECT kind, word FROM vocabulary').all() as { kind: WordKind; word: string }[]
    for (const { kind, word } of words) {
      const isLeft = this.#run('SELECT 1 FROM tape WHERE instr(words, ?) > 0 LIMIT 1').get(`\n${lineOf([kind, word])}`)
      if (isLeft === undefined) this.#run('DELETE FROM vocabulary WHERE kind = ? AND word = ?').run(kind, word)
    }
  }

  /** Whether the file of a row is the one that was read; `undefined` when it is gone. */
  isFresh({ path, stamp }: Pick<IndexRow, 'path' | 'stamp'>): boolean | undefined {
    const stats = lstatSync(this.#below(path), quietly)
    return stats === undefined ? undefined : stampOf(stats) === stamp
  }

  #walk(path: string, found: Found, every: boolean): void {
    const now = Date.now()
    const stats = this.#folderAt(path)
    if (stats === undefined) return this.#forgetFolder(path, found)
    const stamp = folderStamp(stats)
    const known = this.#run('SELECT id, stamp, is_settled FROM folder WHERE path = ?').get(path)
    if (!every && known?.['stamp'] === stamp && known['is_settled'] === 1) {
      const below = this.#run('SELECT path FROM folder WHERE parent = ?').all(path)
      for (const { path: child } of below) this.#walk(String(child), found, every)
      return
    }
    const entries = listFolder(join(this.#source.root, path))
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    const children = new Set(folders.map(({ name }) => within(path, name)))
    for (const child of children) this.#walk(child, found, every)
    for (const { path: child } of this.#run('SELECT path FROM folder WHERE parent = ?').all(path))
      if (!children.has(String(child))) this.#forgetFolder(String(child), found)
    this.#compare(path, Number(known?.['id'] ?? -1), entries, found)
    // A file that comes in the same tick of the disk's clock would leave the time of the folder as it is.
    found.folders.push({ path, stamp, isSettled: stats.mtimeMs < now - tickMs })
  }

  #folderAt(path: string): Stats | undefined {
    const folder = join(this.#source.root, path)
    // Only the folder that was named may be a link.
    const stats =
      path === '' ? statSync(folder, { throwIfNoEntry: false }) : lstatSync(folder, { throwIfNoEntry: false })
    return stats?.isDirectory() === true ? stats : undefined
  }

  #compare(path: string, folderId: number, entries: readonly Dirent[], found: Found): void {
    const names = new Set(entries.filter(isTape).map(({ name }) => name))
    for (const row of this.#run('SELECT name, stamp FROM detail WHERE folder = ?').iterate(folderId)) {
      const name = String(row['name'])
      names.delete(name)
      this.#look({ path: within(path, name), stamp: String(row['stamp']) }, found)
    }
    for (const name of names) found.unread.push(within(path, name))
  }

  /** Tapes that were being written, or could not be read, when they were looked at last. */
  #lookAtOpen(scope: string, found: Found): void {
    const looked = new Set(found.folders.map(({ path }) => path))
    const open = this.#run(
      `SELECT path, name, detail.stamp FROM tape INDEXED BY tape_open JOIN detail ON detail.tape = tape.id
       JOIN folder ON folder.id = tape.folder
       WHERE outcome IN ('truncated', 'unreadable') AND ${inScope('path')}`,
    )
    for (const { path, name, stamp } of open.iterate(scope))
      if (!looked.has(String(path)))
        this.#look({ path: within(String(path), String(name)), stamp: String(stamp) }, found)
  }

  #look(row: { readonly path: string; readonly stamp: string }, found: Found): void {
    const isFresh = this.isFresh(row)
    if (isFresh === undefined) found.gone.push(row.path)
    else if (!isFresh) found.unread.push(row.path)
  }

  #forgetFolder(path: string, found: Found): void {
    const rows = this.#run(
      `SELECT path, name FROM detail JOIN folder ON folder.id = detail.folder WHERE ${inScope('path')}`,
    )
    for (const row of rows.all(path)) found.gone.push(within(String(row['path']), String(row['name'])))
    if (this.#run('SELECT 1 FROM folder WHERE path = ?').get(path) !== undefined) found.lost.push(path)
  }

  async #read(paths: readonly string[]): Promise<void> {
    const { root, onProgress } = this.#source
    let batch: Fresh[] = []
    let done = 0
    const store = (): void => {
      if (batch.length > 0) transaction(this.#database, () => batch.forEach((fresh) => this.#put(fresh)))
      batch = []
    }
    for (const path of paths) {
      const file = join(root, path)
      // Before it is read: what is written meanwhile is noticed the next time.
      const stats = lstatSync(file, { throwIfNoEntry: false })
      const read = stats === undefined ? undefined : await readIndexed(file, stats.size)
      const isGone = read === undefined || read.facts.problem?.code === 'HARVEST_TAPE_MISSING'
      batch.push(isGone ? { path } : { path, stamp: stampOf(stats!), ...read })
      if (batch.length === batchSize) store()
      if (++done % 100 === 0 || done === paths.length) onProgress?.(done, paths.length)
    }
    store()
  }

  #put({ path, stamp, facts, ended, content }: Fresh): void {
    this.#remove(path)
    if (stamp === undefined || facts === undefined) return
    const [folder, name] = split(path)
    const row = rowOf({ path, stamp, ended: ended ?? null }, facts, costOfRun(facts, this.#source.prices))
    const folderId = this.#folderId(folder)
    const { lastInsertRowid: id } = this.#run(
      `INSERT INTO tape (folder, ${columnNames.join(', ')}) VALUES (?${', ?'.repeat(columnNames.length)})`,
    ).run(folderId, ...columnNames.map((column) => row[column]))
    this.#run('INSERT INTO detail (tape, folder, name, stamp, facts, ended, sum) VALUES (?, ?, ?, ?, ?, ?, ?)').run(
      id,
      folderId,
      name,
      stamp,
      row.facts,
      row.ended,
      row.sum,
    )
    if (content !== undefined)
      this.#run('INSERT INTO content (tape, text, positions) VALUES (?, ?, ?)').run(id, content.text, content.positions)
    const know = this.#run('INSERT OR IGNORE INTO vocabulary (kind, word) VALUES (?, ?)')
    for (const [kind, word] of wordsOf(facts)) know.run(kind, word)
  }

  #remove(path: string): void {
    const [folder, name] = split(path)
    const row = this.#run(
      'SELECT tape FROM detail WHERE folder = (SELECT id FROM folder WHERE path = ?) AND name = ?',
    ).get(folder, name)
    if (row === undefined) return
    for (const sql of [
      'DELETE FROM content WHERE tape = ?',
      'DELETE FROM detail WHERE tape = ?',
      'DELETE FROM tape WHERE id = ?',
    ])
      this.#run(sql).run(row['tape']!)
  }

  #folderId(path: string): number {
    const known = this.#run('SELECT id FROM folder WHERE path = ?').get(path)
    if (known !== undefined) return Number(known['id'])
    const insert = this.#run('INSERT INTO folder (path, parent, stamp, is_settled) VALUES (?, ?, ?, 0)')
    return Number(insert.run(path, parentOf(path), '').lastInsertRowid)
  }

  #writeFolder({ path, stamp, isSettled }: FolderState): void {
    const id = this.#folderId(path)
    this.#run('UPDATE folder SET stamp = ?, is_settled = ? WHERE id = ?').run(stamp, isSettled ? 1 : 0, id)
  }

  /** Costs are by a price table: another one makes other costs. */
  #recount(): void {
    const { prices } = this.#source
    const table = JSON.stringify([version, prices ?? null])
    if (this.#run("SELECT value FROM meta WHERE key = 'prices'").get()?.['value'] === table) return
    transaction(this.#database, () => {
      const ids = this.#run('SELECT id FROM tape').all()
      for (const { id } of ids) {
        const row = this.#run(`${rowQuery} WHERE tape.id = ?`).get(id!) as unknown as IndexRow | undefined
        if (row === undefined) continue
        const facts = JSON.parse(row.facts) as TapeFacts
        const { cost, sum } = rowOf(row, facts, costOfRun(facts, prices))
        this.#run('UPDATE tape SET cost = ? WHERE id = ?').run(cost, id!)
        this.#run('UPDATE detail SET sum = ? WHERE tape = ?').run(sum, id!)
      }
      this.#run("INSERT OR REPLACE INTO meta (key, value) VALUES ('prices', ?)").run(table)
    })
  }

  #run(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql)
    this.#statements.set(sql, known)
    return known
  }
}

const quietly = { throwIfNoEntry: false } as const

/** Another one: something came into the folder, or went. */
export function folderStamp({ mtimeMs, ctimeMs, ino }: Stats): string {
  return `${mtimeMs} ${ctimeMs} ${ino}`
}

/** Milliseconds a file system may take to tell two changes of a folder apart: two seconds on the coarsest. */
const tickMs = 2_500

/** Tapes per transaction: a killed index loses the reading of these, others wait for the writing of these. */
const batchSize = 250

interface Found {
  readonly unread: string[]
  readonly gone: string[]
  readonly folders: FolderState[]
  /** Folders that are gone. */
  readonly lost: string[]
}

interface FolderState {
  readonly path: string
  readonly stamp: string
  readonly isSettled: boolean
}

/** A tape that was read; without facts it is gone. */
interface Fresh extends Partial<IndexedTape> {
  readonly path: string
  readonly stamp?: string
}

function stampOf({ size, mtimeMs, ctimeMs, ino }: Stats): string {
  return `${size} ${mtimeMs} ${ctimeMs} ${ino}`
}

function isTape(entry: Dirent): boolean {
  return entry.name.endsWith('.tape.jsonl') && !entry.name.startsWith('.') && !entry.isDirectory()
}

function within(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function split(path: string): readonly [folder: string, name: string] {
  const at = path.lastIndexOf('/')
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)]
}

function parentOf(path: string): string | null {
  return path === '' ? null : split(path)[0]
}
