// Over 300 lines: everything that touches files of recordings, so that nothing else does.
import * as fs from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { recordingsAround } from '../errors/above.ts'
import { here } from '../errors/here.ts'
import { HarvestError, shellWord } from '../errors/index.ts'
import { removeQuietly, unwritable } from '../tape/kept-files.ts'
import { isLink } from '../tape/links.ts'
import { isLeftOver, linkAs, temporaryFor, temporaryName } from '../tape/new-file.ts'

/**
 * Writes a file whole or not at all: a temporary file beside it (mode 0600), flushed, then renamed over it. Who reads
 * sees the old bytes or the new ones, also after a crash. A file that was there keeps its mode.
 *
 * @param options.exclusive - refuse when there is a file of this name; default false
 * @throws HARVEST_RECORDINGS_EXISTS with `exclusive`, HARVEST_RECORDINGS_LINK when the name is a symbolic link,
 * HARVEST_RECORDINGS_WRITE when the system says no; nothing is left behind
 */
export function writeFileAtomic(
  path: string,
  content: string | Buffer,
  options: { readonly exclusive?: boolean } = {},
): void {
  const temporary = temporaryFor(path)
  let isNamed = false
  try {
    const old = fs.lstatSync(path, { throwIfNoEntry: false })
    if (old?.isSymbolicLink()) throw isLink(path)
    if (old !== undefined && options.exclusive) throw exists(path)
    writeAndFlush(temporary, content, old === undefined ? 0o600 : old.mode & 0o777)
    if (options.exclusive) nameAs(temporary, path)
    else fs.renameSync(temporary, path)
    isNamed = true
    flushFolder(dirname(path))
  } catch (error) {
    // Reported as not written, so it must not be there; what was replaced cannot come back.
    if (isNamed && options.exclusive) removeQuietly(path)
    throw HarvestError.is(error) ? error : unwritable(path, error)
  } finally {
    removeQuietly(temporary)
  }
}

/**
 * Makes a new file whole or not at all, of content that is too large to be held at once.
 *
 * @param fill - makes the file under the temporary name it is given
 * @param options.replace - whether a file of this name is replaced, never a link; default false
 * @throws as {@link writeFileAtomic}, with `exclusive` unless it may replace; anything that `fill` throws. Nothing is left
 * behind
 */
export function writeNewFile(
  path: string,
  fill: (temporary: string) => void,
  options: { readonly replace?: boolean } = {},
): void {
  if (options.replace !== true) return writeNewFiles((add) => add(path, fill))
  const temporary = temporaryFor(path)
  try {
    if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw isLink(path)
    fill(temporary)
    flush(temporary)
    fs.renameSync(temporary, path)
    flushFolder(dirname(path))
  } catch (error) {
    throw HarvestError.is(error) ? error : unwritable(path, error)
  } finally {
    removeQuietly(temporary)
  }
}

/**
 * Makes several new files, all of them or none: each is written and flushed under a temporary name, and they get their
 * names when the last one is there. Only a process that is killed between two names leaves some.
 *
 * @param write - adds one file after the other; `fill` makes it under the temporary name it is given
 * @returns what `write` returns
 * @throws HARVEST_RECORDINGS_EXISTS when a name is taken, HARVEST_RECORDINGS_WRITE when the system says no; anything that
 *   `write` throws.
 * Nothing is left behind
 */
export function writeNewFiles<T>(write: (add: (path: string, fill: (temporary: string) => void) => void) => T): T {
  const files = new Map<string, string>()
  const named: string[] = []
  try {
    const result = write((path, fill) => {
      toldOf(path, () => {
        if (files.has(path) || fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw exists(path)
        const temporary = temporaryFor(path)
        files.set(path, temporary)
        fill(temporary)
        flush(temporary)
      })
    })
    for (const [path, temporary] of files) {
      toldOf(path, () => nameAs(temporary, path))
      named.push(path)
    }
    for (const folder of new Set(named.map((path) => dirname(path)))) toldOf(folder, () => flushFolder(folder))
    return result
  } catch (error) {
    // Reported as not written, so none may be there.
    for (const path of named) removeQuietly(path)
    throw error
  } finally {
    for (const temporary of files.values()) removeQuietly(temporary)
  }
}

/** What the system refuses is reported for the file it was about. */
function toldOf(path: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw HarvestError.is(error) ? error : unwritable(path, error)
  }
}

/** What killed processes left half-written below a folder, also in hidden ones; sorted. It holds what a tape or a fork holds. */
export function leftoversBelow(folder: string): readonly string[] {
  return listFolder(folder)
    .flatMap((entry) => {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) return leftoversBelow(path)
      return isLeftOver(path) ? [path] : []
    })
    .sort()
}

/** What killed processes left half-written of a file. */
export function leftoversOf(file: string): readonly string[] {
  return temporariesOf(file).filter(isLeftOver)
}

/** What is half-written of a file, also by a process that still runs: who removes the file wants none of it to stay. */
export function temporariesOf(file: string): readonly string[] {
  const folder = dirname(file)
  const head = `.${basename(file)}.`
  return namesInFolder(folder)
    .filter(
      (name) => name.startsWith(head) && temporaryName.test(name) && !/\.tape\.jsonl\./.test(name.slice(head.length)),
    )
    .map((name) => join(folder, name))
}

/**
 * Every file below a folder whose name fits, sorted; links are listed, never followed, and hidden folders left out.
 *
 * @param without - a folder in it that is left out
 * @throws HARVEST_RECORDINGS_FOLDER when a folder cannot be looked through
 */
export function filesBelow(folder: string, fits: (name: string) => boolean, without?: string): readonly string[] {
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  const before = join(folder, 'x').slice(0, -1)
  const folders = new Set<string>()
  const names: string[] = []
  for (const entry of listFolder(folder)) {
    const { name } = entry
    if (name.startsWith('.')) continue
    if (entry.isDirectory()) {
      if (name === without) continue
      folders.add(name)
    } else if (!fits(name)) continue
    names.push(name)
  }
  const files: string[] = []
  for (const name of names.sort()) {
    if (folders.has(name)) for (const file of filesBelow(before + name, fits)) files.push(file)
    else files.push(before + name)
  }
  return files
}

/** The path of a file that is seen from a folder, for thousands of them: to join two paths, both are taken apart first. */
export function pathsBelow(root: string): (path: string) => string {
  const before = join(root, 'x').slice(0, -1)
  return sep === '/' ? (path) => before + path : (path) => join(root, path)
}

/** The cases and tapes below a folder of recordings. Inbox and the rest are looked through once each, when they are asked for. */
export class RecordingFiles {
  readonly #folder: string
  readonly #inbox: string
  #inboxTapes: readonly string[] | undefined
  #outside: readonly string[] | undefined
  #cases: readonly string[] | undefined
  #tapes: readonly string[] | undefined
  #tapesOutside: readonly string[] | undefined

  constructor(folder: string) {
    this.#folder = folder
    this.#inbox = join(folder, 'inbox') + sep
  }

  /** Those outside of the inbox. */
  get cases(): readonly string[] {
    return (this.#cases ??= this.#others().filter((file) => !isTapeFile(file)))
  }

  /** All of them. */
  get tapes(): readonly string[] {
    if (this.#tapes !== undefined) return this.#tapes
    const others = this.tapesOutside
    const from = this.#inbox.length - 'inbox'.length - sep.length
    // In the order they would have if they were looked through together.
    const behind = others.findIndex((file) => file.slice(from).split(sep, 1)[0]! > 'inbox')
    const at = behind === -1 ? others.length : behind
    return (this.#tapes = [...others.slice(0, at), ...this.inboxTapes, ...others.slice(at)])
  }

  get tapesOutside(): readonly string[] {
    return (this.#tapesOutside ??= this.#others().filter(isTapeFile))
  }

  get inboxTapes(): readonly string[] {
    return (this.#inboxTapes ??= this.#hasInbox() ? filesBelow(this.#inbox.slice(0, -sep.length), isTapeFile) : [])
  }

  /** In these letters: on some disks `Inbox` is found by them, too. A link is not followed. */
  #hasInbox(): boolean {
    if (fs.statSync(this.#folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false
    return listFolder(this.#folder).some((entry) => entry.name === 'inbox' && entry.isDirectory())
  }

  #others(): readonly string[] {
    return (this.#outside ??= filesBelow(this.#folder, isRecording, 'inbox'))
  }
}

function isRecording(name: string): boolean {
  return isTapeFile(name) || isCaseFile(name)
}

export function isCaseFile(name: string): boolean {
  return /\.case\.ya?ml$/.test(name)
}

export function isTapeFile(name: string): boolean {
  return name.endsWith('.tape.jsonl')
}

/**
 * What is in a folder; nothing without one.
 *
 * @throws HARVEST_RECORDINGS_FOLDER when it cannot be looked through
 */
export function listFolder(folder: string): readonly fs.Dirent[] {
  return lookedThrough(folder, () => fs.readdirSync(folder, { withFileTypes: true }))
}

/** As {@link listFolder}, the names alone: of thousands, to say of each what it is takes as long again. */
export function namesInFolder(folder: string): readonly string[] {
  return lookedThrough(folder, () => fs.readdirSync(folder))
}

function lookedThrough<T>(folder: string, look: () => readonly T[]): readonly T[] {
  try {
    return look()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new HarvestError(
      'HARVEST_RECORDINGS_FOLDER',
      {
        what: 'Cannot read a folder of the recordings',
        where: { folder, system: message },
        why: 'A list without this folder would be incomplete.',
        fix: [`to see its permissions: ls -ld ${shellWord(folder)}`],
      },
      { cause: error },
    )
  }
}

/** The bytes of a regular file; a symbolic link is not followed. Errors are those of the system. */
export function readRegularFile(path: string): Buffer {
  const file = openRegular(path)
  try {
    return fs.readFileSync(file)
  } finally {
    fs.closeSync(file)
  }
}

/** Opens a file for reading without following a link, or waiting for whoever writes to a pipe. */
export function openRegular(path: string): number {
  const { O_RDONLY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants as Partial<typeof fs.constants>
  return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
}

/**
 * The absolute path of a file the user named, seen from here or from the folder it must lie in; `undefined` when
 * there is no such file.
 *
 * @throws HARVEST_RECORDINGS_OUTSIDE when it lies elsewhere, also by way of a linked folder
 */
export function locate(folder: string, path: string): string | undefined {
  const found = [resolve(path), resolve(folder, path)].find(
    (each) => fs.lstatSync(each, { throwIfNoEntry: false }) !== undefined,
  )
  if (found === undefined) return undefined
  const real = join(fs.realpathSync(dirname(found)), basename(found))
  const root = fs.realpathSync(folder)
  if (isInside(root, real)) return found
  throw new HarvestError('HARVEST_RECORDINGS_OUTSIDE', {
    what: 'The file is outside the recordings folder',
    where: { file: real, recordings: root },
    fix: [...toItsRecordings(found), `to use it, copy it into ${join(folder, 'inbox')}`],
  })
}

/** Of a file in the recordings of another package. */
function toItsRecordings(file: string): readonly string[] {
  const recordings = recordingsAround(file)
  return recordings === undefined ? [] : [`to use it where it is: --dir ${shellWord(here(recordings))}`]
}

/**
 * Refuses a tape that does not lie in the inbox.
 *
 * @throws HARVEST_RECORDINGS_GOLDEN
 */
export function refuseOutsideInbox(recordings: string, file: string): void {
  if (isInside(resolve(recordings, 'inbox'), resolve(file))) return
  throw new HarvestError('HARVEST_RECORDINGS_GOLDEN', {
    what: 'The tape is not in the inbox, so it is neither removed nor held',
    where: { tape: file },
    why: 'A tape of the golden set stays as long as its case does.',
    fix: [
      `to remove its case from the golden set: npx vitest-harvest tapes demote ${shellWord(basename(file, '.tape.jsonl'))}`,
    ],
  })
}

/** Makes a folder and those above it, and flushes the one they were made in. */
export function makeFolder(folder: string): void {
  const first = fs.mkdirSync(folder, { recursive: true })
  if (first !== undefined) flushFolder(dirname(first))
}

/** Whether a path lies below a folder, which is not below itself; absolute paths. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function writeAndFlush(path: string, content: string | Buffer, mode: number): void {
  const file = fs.openSync(path, 'wx', 0o600)
  try {
    const bytes = Buffer.from(content)
    for (let done = 0; done < bytes.length; ) done += fs.writeSync(file, bytes, done)
    if (mode !== 0o600) fs.fchmodSync(file, mode)
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
}

function flush(path: string): void {
  const file = fs.openSync(path, 'r+')
  try {
    fs.fsyncSync(file)
  } finally {
    fs.closeSync(file)
  }
}

/** @throws HARVEST_RECORDINGS_EXISTS when the name is taken */
function nameAs(temporary: string, path: string): void {
  try {
    linkAs(temporary, path)
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? exists(path, error) : error
  }
}

/** A new name is only safe once its folder is. */
function flushFolder(folder: string): void {
  let handle: number
  try {
    handle = fs.openSync(folder, 'r')
  } catch (error) {
    // Windows opens no folders, and flushes them by itself.
    if (process.platform === 'win32') return
    throw error
  }
  try {
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
}

function exists(path: string, cause?: unknown): HarvestError {
  return new HarvestError(
    'HARVEST_RECORDINGS_EXISTS',
    {
      what: 'The file exists already',
      where: { file: path },
      why: 'Reviewed files are never overwritten.',
      fix: [`if it is obsolete: git rm ${shellWord(path)}`, "or choose another name: --as '<id>'"],
    },
    { cause },
  )
}
